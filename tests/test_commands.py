"""The command line from end to end: what it writes, what it refuses, how it stops."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import chainfield.commands.progress
import chainfield.data
import chainfield.models.estimator
from chainfield import load, load_corpus
from chainfield.commands.main import main

QUICK = ("--quiet", "--max-iter", "15")
TINY = "the\tD\ncat\tN\nsleeps\tV\n\ndogs\tN\nbark\tV\n\n"


@dataclass(frozen=True)
class Result:
    code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        return self.stdout.splitlines()


def run(*args: object, stdin: bytes = b"") -> Result:
    """The command in this process: starting an interpreter and its compiler takes longer than most tests."""
    before = sys.stdin, sys.stdout, sys.stderr
    raw = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(buffer, encoding="utf-8", write_through=True) for buffer in raw]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout, sys.stderr = streams
    code: Any = 0
    try:
        main([str(arg) for arg in args])
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in streams:
            stream.flush()
    return Result(code, *(buffer.getvalue().decode() for buffer in raw))


def start(*args: object, **options: Any) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "chainfield", *map(str, args)]
    pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")} | options
    return subprocess.Popen(command, text=True, encoding="utf-8", bufsize=1, **pipes)


def corpus_text(part: str, first: int, last: int) -> str:
    """Some sentences of the corpus that comes along, as the text of a column file."""
    packed = (files("chainfield.data") / "demo" / f"snips.{part}.conll.xz").read_bytes()
    return "\n\n".join(lzma.decompress(packed).decode().split("\n\n")[first:last]) + "\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.txt, dev.txt, test.txt and model.cf; tests leave them as they are."""
    path = tmp_path_factory.mktemp("commands")
    (path / "train.txt").write_text(corpus_text("train", 0, 120), encoding="utf-8")
    (path / "dev.txt").write_text(corpus_text("test", 0, 50), encoding="utf-8")
    (path / "test.txt").write_text(corpus_text("test", 50, 100), encoding="utf-8")
    result = run("train", path / "train.txt", path / "model.cf", "--scheme", "bio", *QUICK)
    assert result == Result(0, "", "")
    return path


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with tiny.txt and tiny.cf."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.txt").write_text(TINY, encoding="utf-8")
    assert run("train", "tiny.txt", "tiny.cf", *QUICK).code == 0
    return tmp_path


def assert_refused(*args: object, stdin: bytes = b"") -> str:
    """The one line that an error gives."""
    result = run(*args, stdin=stdin)
    assert result.code == 1, result
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stdout == ""
    return result.stderr.rstrip("\n")


# ---- nothing heavy before it is needed -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import chainfield",
        "from chainfield.commands.main import group as g; g.main(['--help'], standalone_mode=False)",
        "from chainfield.commands.main import group as g; g.main(['tag', '--help'], standalone_mode=False)",
    ],
)
def test_help_and_import_are_light(code: str) -> None:
    heavy = "('numba', 'llvmlite', 'numpy', 'scipy', 'sklearn', 'rich', 'safetensors')"
    check = f"{code}\nimport sys\nprint('HEAVY', [name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "HEAVY []"


def test_help_on_training_needs_the_declarations_of_models_only() -> None:
    code = "from chainfield.commands.main import group as g; g.main(['train', '--help'], standalone_mode=False)"
    heavy = "('sklearn', 'rich', 'torch', 'matplotlib')"
    check = f"{code}\nimport sys\nprint('HEAVY', [name for name in {heavy} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "HEAVY []"


def test_help_lists_the_commands_in_order() -> None:
    shown = run("--help").stdout
    assert re.findall(r"^  (\w+) {2,}", shown, re.MULTILINE) == [
        "demo",
        "train",
        "encode",
        "tag",
        "classify",
        "evaluate",
        "report",
        "review",
        "serve",
        "convert",
        "show",
        "import",
        "export",
        "update",
        "compile",
    ]


def test_version() -> None:
    assert run("--version").stdout == f"chainfield, version {chainfield.__version__}\n"


@pytest.mark.parametrize("args", [("frobnicate",), ("train",), ("train", "--frobnicate", "a", "b")])
def test_wrong_usage_exits_with_two(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert result.code == 2
    assert "Usage: chainfield" in result.stderr


# ---- train -----------------------------------------------------------------------------------------------------------


def test_training_says_what_it_did(folder: Path, tmp_path: Path) -> None:
    data, model = folder / "train.txt", tmp_path / "m.cf"
    result = run("train", data, model, "--max-iter", 5)
    assert result.code == 0
    assert result.stdout == ""
    first, *iterations, summary, last = result.stderr.splitlines()
    assert re.search(r"train\.txt: 120 sentences, [\d,]+ tokens$", first)
    assert [int(line.split()[0]) for line in iterations] == [1, 2, 3, 4, 5]
    assert all(re.search(r"objective [\d.]+  gradient [\d.e+-]+  [\d.]+ s$", line) for line in iterations)
    assert re.match(r"\d+ labels, [\d,]+ features, [\d,]+ weights, 5 iterations of auto; objective", summary)
    assert f"Wrote {model}" in last
    assert not list(tmp_path.glob("*.checkpoint"))


def test_quiet_says_nothing(folder: Path, tmp_path: Path) -> None:
    assert run("train", folder / "train.txt", tmp_path / "m.cf", *QUICK) == Result(0, "", "")


def test_the_same_settings_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for name, jobs in (("a.cf", 1), ("b.cf", 2)):
        assert run("train", folder / "train.txt", tmp_path / name, "--jobs", jobs, *QUICK).code == 0
    assert (tmp_path / "a.cf").read_bytes() == (tmp_path / "b.cf").read_bytes()


def test_development_data_stop_training(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    options = ("--dev", folder / "dev.txt", "--patience", 2, "--log", log)
    result = run("train", folder / "train.txt", tmp_path / "m.cf", *options)
    assert result.code == 0
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    scores = [record["dev_score"] for record in records]
    best = scores.index(max(scores))
    assert len(scores) == best + 3
    assert f"best development score {100 * scores[best]:.2f} (iteration {best + 1})" in result.stderr
    assert "has not risen for 2 iterations" in result.stderr


def test_log_is_a_json_object_an_iteration(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    assert run("train", folder / "train.txt", tmp_path / "m.cf", "--log", log, *QUICK).code == 0
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [record["iteration"] for record in records] == list(range(1, len(records) + 1))
    assert {"iteration", "max_iter", "objective", "gradient_norm", "seconds"} <= set(records[0])
    objectives = [record["objective"] for record in records]
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize(
    "options",
    [
        ("--objective", "perceptron"),
        ("--objective", "large_margin", "--margin", "0.5", "--max-iter", "3"),
        ("--objective", "softmax_margin", "--max-iter", "5"),
        ("--trainer", "owlqn", "--l1", "0.1", "--l2", "0.1", "--max-iter", "5"),
        ("--trainer", "sgd", "--learning-rate", "0.1", "--batch-size", "2", "--average-from", "1", "--max-iter", "2"),
        ("--trainer", "adam", "--seed", "3", "--max-iter", "2"),
        ("--trainer", "rprop", "--max-iter", "5"),
        ("--trainer", "sdca", "--max-iter", "2"),
        ("--trainer", "lbfgs", "--tol", "0.01"),
        ("--order", "2", "--scheme", "auto", "--max-iter", "3"),
        ("--min-count", "2", "--all-features", "--no-boundary", "--max-iter", "3"),
        ("--class-weight", "balanced", "--max-iter", "3"),
        ("--class-weight", '{"O": 0.5}', "--max-iter", "3"),
        ("--scheme", "bio", "--forbid", ",B-playlist", "--forbid", "B-playlist_owner,", "--max-iter", "3"),
    ],
    ids=lambda options: options[1],
)
def test_main_options_train_a_model_that_tags(options: tuple[str, ...], folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.cf"
    assert run("train", folder / "train.txt", model, "--quiet", *options) == Result(0, "", "")
    result = run("tag", model, folder / "test.txt")
    assert result.code == 0
    labels = {line.split("\t")[-1] for line in result.lines if "\t" in line}
    assert "O" in labels


def test_settings_reach_the_model(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.cf"
    options = ("--l2", 2.5, "--scheme", "bio", "--min-count", 2, "--seed", 7, *QUICK)
    assert run("train", folder / "train.txt", model, *options).code == 0
    crf = load(model)
    assert (crf.l2, crf.scheme, crf.min_count, crf.random_state) == (2.5, "bio", 2, 7)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.ZstdCompressor().compress),
    ],
)
def test_compressed_files(suffix: str, pack: Any, tiny: Path) -> None:
    Path(f"packed.txt{suffix}").write_bytes(pack(TINY.encode()))
    assert run("train", f"packed.txt{suffix}", "packed.cf", *QUICK).code == 0
    assert Path("packed.cf").read_bytes() == Path("tiny.cf").read_bytes()
    assert run("tag", "packed.cf", f"packed.txt{suffix}").stdout == run("tag", "tiny.cf", "tiny.txt").stdout


def test_refused_data_leave_no_output(tiny: Path) -> None:
    Path("strange.txt").write_text("one two three four five\n\n", encoding="utf-8")
    assert run("tag", "tiny.cf", "strange.txt", "-o", "out.txt").code == 1
    assert not Path("out.txt").exists()
    Path("empty.txt").write_text("", encoding="utf-8")
    assert run("tag", "tiny.cf", "empty.txt", "-o", "out.txt").code == 0
    assert Path("out.txt").read_bytes() == b""


def test_standard_input(tiny: Path) -> None:
    assert run("train", "-", "other.cf", *QUICK, stdin=TINY.encode()).code == 0
    assert Path("other.cf").read_bytes() == Path("tiny.cf").read_bytes()
    tagged = run("tag", "tiny.cf", stdin=TINY.encode())
    assert tagged.stdout == run("tag", "tiny.cf", "tiny.txt").stdout
    assert run("evaluate", "-", stdin=tagged.stdout.encode()).code == 0
    assert run("evaluate", "tiny.cf", "-", stdin=TINY.encode()).code == 0


def test_byte_order_mark_and_windows_lines_are_accepted(tiny: Path) -> None:
    Path("windows.txt").write_bytes(b"\xef\xbb\xbf" + TINY.replace("\n", "\r\n").encode())
    assert run("train", "windows.txt", "windows.cf", *QUICK).code == 0
    assert Path("windows.cf").read_bytes() == Path("tiny.cf").read_bytes()


def test_line_ends_stay_as_they_are(tiny: Path) -> None:
    data = ("# note\n" + TINY).replace("\n", "\r\n").encode()
    for options in ((), ("--marginals",), ("--n-best", 2)):
        tagged = run("tag", "tiny.cf", *options, stdin=data).stdout
        assert tagged.count("\n") == tagged.count("\r\n") > 5
        assert tagged.replace("\r\n", "\n") == run("tag", "tiny.cf", *options, stdin=data.replace(b"\r", b"")).stdout


def test_decoders(tiny: Path) -> None:
    assert run("train", "tiny.txt", "posterior.cf", "--decoder", "posterior", *QUICK).code == 0
    assert load("posterior.cf").decoder == load("posterior.cf").tagger_.decoder == "posterior"
    plain = run("tag", "tiny.cf", "tiny.txt").stdout
    for decoder in ("viterbi", "posterior", "latent-dynamic"):
        assert run("tag", "posterior.cf", "tiny.txt", "--decoder", decoder).stdout == plain
    assert run("tag", "tiny.cf", "tiny.txt", "--decoder", "beam").code == 2


def test_encoding_and_separator(tiny: Path) -> None:
    Path("latin.txt").write_bytes("café,N\nnoir,A\n\n".encode("latin-1"))
    options = ("--encoding", "latin-1", "--separator", ",")
    assert run("train", "latin.txt", "latin.cf", *options, *QUICK).code == 0
    assert load("latin.cf").predict([["café"]]) == [["N"]]
    assert run("tag", "latin.cf", "latin.txt", *options, "-o", "tagged.txt").code == 0
    assert "café,N" in Path("tagged.txt").read_text(encoding="latin-1")


def test_label_column_and_unknown_labels(tiny: Path) -> None:
    Path("first.txt").write_text("D\tthe\nN\tcat\n?\tsleeps\n\nN\tdogs\nV\tbark\n\n", encoding="utf-8")
    assert run("train", "first.txt", "first.cf", "--label-column", 0, "--unknown", "?", *QUICK).code == 0
    assert load("first.cf").classes_ == ["D", "N", "V"]
    # The model remembers which column the label was in.
    assert run("tag", "first.cf", "first.txt").lines[0] == "D\tthe\tD"
    assert run("evaluate", "first.cf", "first.txt", "--json").code == 0


def test_comments_and_docstart(tiny: Path) -> None:
    Path("c.txt").write_text("# id = 1\nthe\tD\ncat\tN\n\n-DOCSTART-\tO\n\ndogs\tN\n\n", encoding="utf-8")
    assert run("train", "c.txt", "c.cf", *QUICK).code == 0
    assert load("c.cf").classes_ == ["D", "N"]
    tagged = run("tag", "c.cf", "c.txt").lines
    assert tagged[0] == "# id = 1"
    assert "-DOCSTART-\tO" in tagged
    assert run("train", "c.txt", "d.cf", "--keep-docstart", *QUICK).code == 0
    assert load("d.cf").classes_ == ["D", "N", "O"]
    Path("h.txt").write_text("#\tH\nthe\tD\n\n", encoding="utf-8")
    assert run("train", "h.txt", "h.cf", "--no-comments", *QUICK).code == 0
    assert load("h.cf").classes_ == ["D", "H"]


def test_templates(tiny: Path) -> None:
    Path("t").write_text("U00:%x[0,0]\nB\n", encoding="utf-8")
    assert run("train", "tiny.txt", "t.cf", "--template", "t", *QUICK).code == 0
    assert run("show", "t.cf", "--template").stdout == "U00:%x[0,0]\nB\n"
    assert "U00:cat" in load("t.cf").feature_names_


# ---- stopping and going on -------------------------------------------------------------------------------------------


class Interruption:
    """A callback that is interrupted in some iteration, as if by Ctrl-C."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, iteration: int) -> None:
        show = chainfield.commands.progress.Reporter.show

        def stopped(reporter: Any, progress: Any) -> None:
            if progress.iteration == iteration:
                raise KeyboardInterrupt
            show(reporter, progress)

        monkeypatch.setattr(chainfield.commands.progress.Reporter, "show", stopped)


def test_an_interrupted_training_goes_on(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, whole, model = folder / "train.txt", tmp_path / "whole.cf", tmp_path / "m.cf"
    options = ("--max-iter", 12)
    assert run("train", data, whole, *options, "--quiet").code == 0
    monkeypatch.setattr(chainfield.models.run, "CHECKPOINT_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        Interruption(patch, 5)
        result = run("train", data, model, *options)
    assert result.code == 130
    assert "holds the best model so far" in result.stderr
    assert "--resume" in result.stderr
    checkpoint = tmp_path / "m.cf.checkpoint"
    assert checkpoint.exists()
    assert run("tag", model, folder / "test.txt").code == 0
    assert model.read_bytes() != whole.read_bytes()

    assert "other data or settings" in run("train", data, model, "--l2", 9, *options, "--resume").stderr
    assert run("train", data, model, *options, "--resume", "--quiet") == Result(0, "", "")
    assert model.read_bytes() == whole.read_bytes()
    assert not checkpoint.exists()


def test_an_early_interruption_leaves_a_checkpoint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        Interruption(patch, 5)
        assert run("train", folder / "train.txt", tmp_path / "m.cf").code == 130
    assert (tmp_path / "m.cf.checkpoint").exists()


def test_interrupted_before_the_first_iteration(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(chainfield.models.LinearCRF, "fit", stopped)
    old = Path("tiny.cf").read_bytes()
    result = run("train", "tiny.txt", "tiny.cf", "--quiet")
    assert (result.code, result.stderr.count("\n")) == (130, 1)
    assert "nothing was saved" in result.stderr
    assert Path("tiny.cf").read_bytes() == old


def test_resume_without_a_checkpoint(tiny: Path) -> None:
    result = run("train", "tiny.txt", "x.cf", "--resume", "--quiet")
    assert result.code == 1
    assert "There is no checkpoint x.cf.checkpoint" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_keeps_the_best_model(tmp_path: Path) -> None:
    model = tmp_path / "m.cf"
    data = files("chainfield.data") / "demo" / "snips.train.conll.xz"
    # Steps go on for ever: however late the signal comes, training is under way.
    endless = ("--trainer", "sgd", "--max-iter", 1_000_000, "--tol", 1e-300)
    # A shell ignores the signal in what it runs in the background, and children inherit that.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with start("train", data, model, "--scheme", "bio", *endless, preexec_fn=heed) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("   1  objective"):
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        assert process.wait(60) == 130
    assert "Traceback" not in rest
    assert "holds the best model so far" in rest
    assert load(model).predict([["play", "music"]])


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals")
def test_a_terminal_gets_a_bar(tiny: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    with start("train", "tiny.txt", "bar.cf", "--max-iter", 3, stdin=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # how Linux tells that the other side is closed
                break
            if not chunk:
                break
            shown += chunk
        assert process.wait(60) == 0
    os.close(ours)
    assert b"training" in shown
    assert b"\x1b[" in shown


# ---- tag -------------------------------------------------------------------------------------------------------------


def test_tagging_adds_a_column(folder: Path) -> None:
    text = (folder / "test.txt").read_text(encoding="utf-8")
    result = run("tag", folder / "model.cf", folder / "test.txt")
    assert result.code == 0
    assert result.stderr == ""
    corpus = load_corpus(folder / "test.txt")
    expected = [label for labels in load(folder / "model.cf").predict(corpus.rows) for label in labels]
    rows = [line for line in result.lines if "\t" in line]
    assert [row.rpartition("\t")[2] for row in rows] == expected
    # Without the new column the file is what it was.
    stripped = [line.rpartition("\t")[0] if "\t" in line else line for line in result.lines]
    assert stripped == [*text.rstrip("\n").split("\n"), ""]


def test_the_label_column_may_be_missing(folder: Path) -> None:
    text = (folder / "test.txt").read_text(encoding="utf-8")
    bare = re.sub(r"\t.*$", "", text, flags=re.MULTILINE)
    with_labels = run("tag", folder / "model.cf", folder / "test.txt").lines
    without = run("tag", folder / "model.cf", stdin=bare.encode()).lines
    assert [line.rpartition("\t")[2] for line in with_labels] == [line.rpartition("\t")[2] for line in without]


def test_marginals(folder: Path) -> None:
    result = run("tag", folder / "model.cf", "--marginals", stdin=b"add\nthis\nsong\n\n")
    rows = [line.split("\t") for line in result.lines[:-1]]
    assert [row[0] for row in rows] == ["add", "this", "song"]
    expected = load(folder / "model.cf").predict_confidence([["add", "this", "song"]])[0]
    assert [row[1] for row in rows] == expected.labels
    assert [float(row[2]) for row in rows] == pytest.approx(expected.tokens, abs=1e-6)


def test_n_best(folder: Path) -> None:
    result = run("tag", folder / "model.cf", "--n-best", 3, stdin=b"add\nthis\nsong\n\n")
    expected = load(folder / "model.cf").predict_n_best([["add", "this", "song"]], 3)[0]
    parts = [part.split("\n") for part in result.stdout.rstrip("\n").split("\n\n")]
    assert [part[0] for part in parts] == [f"#{rank}:{p:.6f}" for rank, (_, p) in enumerate(expected)]
    assert [[row.split("\t")[1] for row in part[1:]] for part in parts] == [labels for labels, _ in expected]


def test_json(folder: Path) -> None:
    result = run("tag", folder / "model.cf", folder / "test.txt", "--json", "--n-best", 2)
    sentences = [json.loads(line) for line in result.lines]
    corpus = load_corpus(folder / "test.txt")
    assert [s["tokens"] for s in sentences] == [[row[0] for row in rows] for rows in corpus.rows]
    assert [s["labels"] for s in sentences] == load(folder / "model.cf").predict(corpus.rows)
    for s in sentences:
        assert s["n_best"][0]["labels"] == s["labels"]
        assert s["n_best"][0]["probability"] == pytest.approx(s["probability"], abs=2e-6)
        for span in s["spans"]:
            assert span["text"] == " ".join(s["tokens"][span["start"] : span["end"]])
            assert 0 <= span["probability"] <= 1


def test_no_input_gives_no_output(tiny: Path) -> None:
    Path("empty.txt").touch()
    assert run("tag", "tiny.cf", "empty.txt") == Result(0, "", "")


def test_a_running_tagger_answers_each_sentence(tiny: Path) -> None:
    with start("tag", "tiny.cf") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for words in (["the", "cat", "sleeps"], ["dogs", "bark"], ["the", "dogs", "sleeps"]):
            process.stdin.write("\n".join(words) + "\n\n")
            process.stdin.flush()
            answer = [process.stdout.readline() for _ in range(len(words) + 1)]
            assert [line.split("\t")[0] for line in answer[:-1]] == words
            assert answer[-1] == "\n"
        process.stdin.close()
        assert process.wait(60) == 0


OWN_PROCESS = [("show", "tiny.cf"), ("evaluate", "tiny.cf", "tiny.txt"), ("tag", "tiny.cf", "tiny.txt")]


@pytest.mark.parametrize("args", OWN_PROCESS, ids=" ".join)
def test_commands_work_in_a_process_of_their_own(args: tuple[str, ...], tiny: Path) -> None:
    with start(*args) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert out


@pytest.mark.parametrize("model", ["empirical", "latent", "memm", "hidden-unit"])
def test_every_kind_of_model_is_known_in_a_process_that_only_loads_it(model: str, tiny: Path) -> None:
    assert run("train", "tiny.txt", "kind.cf", "--model", model, "--quiet").code == 0
    for args in OWN_PROCESS:
        with start(args[0], "kind.cf", *args[2:]) as process:
            out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert out


COLD = """
import sys, threading
from chainfield.files.model import load_model
gate, found = threading.Barrier(8), []
def load():
    gate.wait()
    found.append(load_model(sys.argv[1]))
threads = [threading.Thread(target=load) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found))
"""


def test_threads_of_a_cold_process_load_a_model_at_once(tiny: Path) -> None:
    assert run("train", "tiny.txt", "kind.cf", "--model", "empirical", "--quiet").code == 0
    shown = subprocess.run([sys.executable, "-c", COLD, "kind.cf"], capture_output=True, text=True, check=True)
    assert shown.stdout == "8\n", shown.stderr


def test_a_model_of_arrays_is_not_taken_for_an_unknown_one(tiny: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez("x.npz", X=rng.normal(size=(40, 2)), lengths=np.full(8, 5), y=np.array(["a", "b"] * 4))
    assert run("train", "x.npz", "hmm.cf", "--model", "hmm", "--quiet").code == 0
    for command in ("tag", "evaluate"):
        with start(command, "hmm.cf", "tiny.txt") as process:
            _, err = process.communicate()
        assert process.returncode == 1
        assert "labels whole sequences, not positions; use chainfield classify" in err


# ---- evaluate --------------------------------------------------------------------------------------------------------


def test_a_model_and_its_output_evaluate_alike(folder: Path, tmp_path: Path) -> None:
    tagged = tmp_path / "tagged.txt"
    assert run("tag", folder / "model.cf", folder / "test.txt", "-o", tagged) == Result(0, "", "")
    for options in ((), ("--json",), ("--conlleval",), ("--confusion",), ("--scheme", "bio")):
        direct = run("evaluate", folder / "model.cf", folder / "test.txt", *options)
        assert direct.code == 0
        assert direct.stderr == ""
        assert run("evaluate", tagged, *options) == direct


def test_evaluation_as_json(folder: Path) -> None:
    report = json.loads(run("evaluate", folder / "model.cf", folder / "test.txt", "--json").stdout)
    corpus = load_corpus(folder / "test.txt")
    guess = load(folder / "model.cf").predict(corpus.rows)
    assert report == json.loads(json.dumps(chainfield.evaluate(corpus.labels, guess).to_dict()))
    assert 0.5 < report["spans"]["micro"]["f1"] < 1


def test_unknown_gold_labels_are_errors_with_a_warning(tiny: Path) -> None:
    Path("new.txt").write_text("the\tD\ncat\tX\n\n", encoding="utf-8")
    result = run("evaluate", "tiny.cf", "new.txt", "--json")
    assert result.code == 0
    assert result.stderr == "Warning: labels that the model has never seen count as errors: X.\n"
    report = json.loads(result.stdout)
    assert report["unknown_labels"] == ["X"]
    assert report["token_accuracy"] == 0.5


def test_gold_labels_in_another_column(tiny: Path) -> None:
    Path("three.txt").write_text("N\tdogs\tN\nV\tbark\tN\n\n", encoding="utf-8")
    report = json.loads(run("evaluate", "three.txt", "--label-column", 0, "--json").stdout)
    assert report["token_accuracy"] == 0.5


# ---- show and demo ---------------------------------------------------------------------------------------------------


def test_show(folder: Path) -> None:
    shown = run("show", folder / "model.cf", "--top", 2)
    assert shown.code == 0
    for title in ("features for a label", "features against a label", "likely transitions", "unlikely transitions"):
        assert title in shown.stdout
    one = run("show", folder / "model.cf", "--label", "B-playlist").stdout
    assert "→ B-playlist" in one
    assert "→ B-artist\n" not in one


def test_show_as_json(folder: Path) -> None:
    shown = json.loads(run("show", folder / "model.cf", "--json").stdout)
    crf = load(folder / "model.cf")
    assert shown["labels"] == crf.classes_
    assert {(f["feature"], f["label"]): f["weight"] for f in shown["features"]} == crf.feature_weights_
    assert {tuple(t["labels"]): t["weight"] for t in shown["transitions"]} == crf.transition_weights_
    assert set(shown["boundary"]) == {"start", "end"}


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fewer(path: Path) -> Any:
        corpus = load_corpus(path)
        return chainfield.data.Corpus(corpus.rows[:300:3], corpus.labels[:300:3], corpus.source)

    monkeypatch.setattr(chainfield.data, "load_corpus", fewer)
    model = tmp_path / "demo.cf"
    result = run("demo", "-o", model)
    assert result.code == 0
    for step in ("1. Train", "2. Evaluate", "3. Tag", "4. Look inside"):
        assert step in result.stdout
    assert run("tag", model, stdin=b"play\nmusic\n\n").code == 0


def test_a_reader_that_goes_away(tiny: Path) -> None:
    Path("tagged.txt").write_text("a\tX\tX\n\n", encoding="utf-8")
    with start("evaluate", "tagged.txt", "--json", stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) != 0


# ---- bad input -------------------------------------------------------------------------------------------------------

BAD_DATA = {
    "a row with a missing column": (b"the\tD\ncat\n\n", "bad.txt, line 2: 1 column, but 2 expected"),
    "an empty file": (b"", "bad.txt holds no sentence"),
    "nothing but blank lines": (b"\n\n\n", "bad.txt holds no sentence"),
    "only one column": (b"the\ncat\n\n", "bad.txt, line 1: there is only one column"),
    "an empty label": (b"the\tD\ncat\t\n\n", "bad.txt, line 2: the label is empty"),
    "invalid UTF-8": (b"the\tD\ncaf\xe9\tN\n\n", "bad.txt, line 2: the bytes are not valid utf-8"),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_training_data_that_cannot_be_used(kind: str, tiny: Path) -> None:
    content, expected = BAD_DATA[kind]
    Path("bad.txt").write_bytes(content)
    old = Path("tiny.cf").read_bytes()
    assert expected in assert_refused("train", "bad.txt", "tiny.cf")
    assert expected in assert_refused("train", "tiny.txt", "tiny.cf", "--dev", "bad.txt")
    assert Path("tiny.cf").read_bytes() == old
    assert expected in assert_refused("evaluate", "tiny.cf", "bad.txt")


@pytest.mark.parametrize("kind", ["a row with a missing column", "invalid UTF-8"])
def test_data_that_cannot_be_tagged(kind: str, tiny: Path) -> None:
    content, expected = BAD_DATA[kind]
    Path("bad.txt").write_bytes(content)
    result = run("tag", "tiny.cf", "bad.txt")
    assert (result.code, result.stderr.count("\n")) == (1, 1)
    assert expected in result.stderr


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("train", "none.txt", "x.cf"), "There is no file none.txt"),
        (("train", ".", "x.cf"), "give the files in it by name"),
        (("train", "tiny.txt", "x.cf", "--encoding", "klingon"), "There is no encoding 'klingon'"),
        (("train", "tiny.txt", "x.cf", "--label-column", "5"), "tiny.txt, line 1: there is no column 5"),
        (("train", "tiny.txt", "x.cf", "--template", "none.template"), "There is no file none.template"),
        (("train", "tiny.txt", "x.cf", "--forbid", "D"), "--forbid D: write FROM,TO"),
        (("train", "tiny.txt", "x.cf", "--class-weight", "{"), "--class-weight {: give"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--forbid", "D,X"), "the label 'X', which the training data"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--class-weight", '{"X": 2}'), "'X', which is not a label"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--scheme", "bio"), "'D' does not belong to the scheme"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--trainer", "sdca", "--l2", "0"), "needs l2 > 0"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--trainer", "lbfgs", "--l1", "1"), "cannot handle l1"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--trainer", "lbfgs", "--objective", "perceptron"), "smooth"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--l2", "-1"), "l2 is -1.0"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--max-iter", "0"), "max_iter is 0"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--trainer", "sgd", "--batch-size", "0"), "batch_size is 0"),
        (("train", "tiny.txt", "x.cf", "--quiet", "--jobs", "0"), "n_jobs is 0"),
        (("tag", "none.cf", "tiny.txt"), "There is no file none.cf"),
        (("tag", "tiny.cf", "none.txt"), "There is no file none.txt"),
        (("tag", "tiny.txt", "tiny.txt"), "tiny.txt is not a chainfield file"),
        (("tag", "tiny.cf", "tiny.txt", "--n-best", "0"), "--n-best 0: give 1 or more"),
        (("tag", "tiny.cf", "tiny.txt", "-o", "none/out.txt"), "none/out.txt"),
        (("evaluate", "a", "b", "c"), "Give a model and a data file"),
        (("evaluate", "tiny.cf", "tiny.txt", "--scheme", "x"), "Unknown reading of labels 'x'"),
        (("show", "none.cf"), "There is no file none.cf"),
        (("show", "tiny.cf", "--label", "X"), "The model has no label 'X'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_arguments_get_one_line(args: tuple[str, ...], expected: str, tiny: Path) -> None:
    assert expected in assert_refused(*args)
    assert not Path("x.cf").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("U00:%x[0,3]\nB\n", "template line 1 asks for column 3"),
        ("X00:%x[0,0]\n", "t, line 1"),
        ("U00:%x[0,0]\nU01:%x[0\n", "t, line 2"),
        ("U:a=%x[0,0,nothing]\n", "no transform 'nothing'"),
        ("# nothing\n", "t holds no template"),
    ],
)
def test_templates_that_cannot_be_used(text: str, expected: str, tiny: Path) -> None:
    Path("t").write_text(text, encoding="utf-8")
    assert expected in assert_refused("train", "tiny.txt", "x.cf", "--template", "t", "--quiet")


def test_more_columns_than_the_model_reads(tiny: Path) -> None:
    Path("wide.txt").write_text("the\tDT\tD\n\n", encoding="utf-8")
    assert "wide.txt, line 1: there are 3 columns; the model reads 1" in assert_refused("tag", "tiny.cf", "wide.txt")
    assert "wide.txt has 3 columns" in assert_refused("evaluate", "tiny.cf", "wide.txt")


def test_gold_and_predicted_labels_need_two_columns(tiny: Path) -> None:
    Path("one.txt").write_text("the\n\n", encoding="utf-8")
    assert "one.txt, line 1: gold and predicted labels need two columns" in assert_refused("evaluate", "one.txt")


def test_unwritable_output_is_refused_before_the_data_are_read(tiny: Path) -> None:
    assert "the folder none does not exist" in assert_refused("train", "none.txt", "none/x.cf")
    assert "is a folder" in assert_refused("train", "none.txt", ".")
    assert "the folder none does not exist" in assert_refused("demo", "-o", "none/x.cf")


@pytest.fixture
def damaged(tiny: Path) -> dict[str, bytes]:
    whole = Path("tiny.cf").read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header, tensors = whole[8 : 8 + size], whole[8 + size :]

    def rewritten(old: bytes, new: bytes) -> bytes:
        assert old in header
        changed = header.replace(old, new)
        return len(changed).to_bytes(8, "little") + changed + tensors

    flipped = bytearray(whole)
    flipped[-1] ^= 1
    return {
        "truncated": whole[: len(whole) // 2],
        "cut by a byte": whole[:-1],
        "a few bytes": whole[:5],
        "empty": b"",
        "tampered": bytes(flipped),
        "newer": rewritten(rb"\"version\":7", rb"\"version\":99"),
        "another kind": rewritten(rb"\"kind\":\"model\"", rb"\"kind\":\"novel\""),
        "described otherwise": rewritten(b"likelihood", b"likelyhood"),
    }


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("truncated", "cut off"),
        ("cut by a byte", "cut off"),
        ("a few bytes", "cut off"),
        ("empty", "cut off"),
        ("tampered", "do not match its checksum"),
        ("newer", "newer chainfield (format 99"),
        ("another kind", "is a novel file"),
        ("described otherwise", "do not match its checksum"),
    ],
)
def test_damaged_models(kind: str, expected: str, damaged: dict[str, bytes]) -> None:
    Path("bad.cf").write_bytes(damaged[kind])
    for args in (("tag", "bad.cf", "tiny.txt"), ("evaluate", "bad.cf", "tiny.txt"), ("show", "bad.cf")):
        line = assert_refused(*args)
        assert "bad.cf" in line
        assert expected in line


@pytest.mark.parametrize(
    "args",
    [
        ("train", "tiny.txt", "x.cf", "--quiet", "--class-weight", "3"),
        ("train", "tiny.txt", "x.cf", "--quiet", "--class-weight", '{"D": "much"}'),
        ("evaluate", "tiny.txt", "--label-column", "9"),
    ],
    ids=" ".join,
)
def test_wrong_values_get_one_line(args: tuple[str, ...], tiny: Path) -> None:
    assert_refused(*args)


def test_an_error_without_a_message_is_named(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr(chainfield.models.LinearCRF, "fit", fail)
    assert assert_refused("train", "tiny.txt", "x.cf", "--quiet") == "chainfield: MemoryError"


def test_the_log_is_refused_before_training(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[object] = []
    monkeypatch.setattr(chainfield.models.LinearCRF, "fit", lambda *args, **options: fitted.append(args))
    run("train", "tiny.txt", "x.cf", "--quiet", "--log", "none/log.jsonl")
    assert not fitted


def test_development_data_with_other_columns_are_named(tiny: Path) -> None:
    Path("wide.txt").write_text("the\tDT\tD\n\n", encoding="utf-8")
    assert "wide.txt" in assert_refused("train", "tiny.txt", "x.cf", "--quiet", "--dev", "wide.txt")


def test_development_data_may_be_labelled_in_part(tiny: Path) -> None:
    Path("spans.txt").write_text("the\tO\ncat\tB-X\n\n", encoding="utf-8")
    Path("partly.txt").write_text("the\t?\ncat\tB-X\n\n", encoding="utf-8")
    assert run("train", "spans.txt", "x.cf", "--dev", "partly.txt", "--unknown", "?", *QUICK).code == 0


def test_an_error_while_standard_input_is_open(tiny: Path) -> None:
    command = [sys.executable, "-m", "chainfield", "tag", "tiny.cf"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tiny, text=True, **pipes) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("a\tb\tc\td\te\n\n")
        process.stdin.flush()  # and it stays open
        assert process.wait(timeout=60) == 1
        assert process.stderr.read().count("\n") == 1


def test_nothing_that_is_read_is_written_over(tiny: Path) -> None:
    text = Path("tiny.txt").read_bytes()
    Path("notes.txt").write_text("mine", encoding="utf-8")
    assert "would be written over" in assert_refused("train", "tiny.txt", "tiny.txt")
    assert "would be written over" in assert_refused("tag", "tiny.cf", "tiny.txt", "-o", "tiny.txt")
    assert "is no model file" in assert_refused("train", "tiny.txt", "notes.txt")
    assert "plain text" in assert_refused("tag", "tiny.cf", "tiny.txt", "-o", "out.txt.gz")
    assert Path("tiny.txt").read_bytes() == text
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine"


def test_the_separator_is_remembered(tiny: Path) -> None:
    Path("places.txt").write_text("New York\tLOC\nis\tO\n\nLos Angeles\tLOC\n", encoding="utf-8")
    assert run("train", "places.txt", "places.cf", *QUICK).code == 0
    result = run("tag", "places.cf", stdin=b"New York\nis\n\n")
    assert result.stdout == "New York\tLOC\nis\tO\n\n"


def test_n_best_can_be_told_from_rows(tiny: Path) -> None:
    Path("two.txt").write_text("a X\nb Y\n\n", encoding="utf-8")
    assert run("train", "two.txt", "two.cf", *QUICK).code == 0
    best = run("tag", "two.cf", "two.txt", "--n-best", 1).stdout
    Path("best.txt").write_text(best, encoding="utf-8")
    assert json.loads(run("evaluate", "best.txt", "--json").stdout)["n_tokens"] == 2


def test_a_forgotten_model_is_noticed(tiny: Path) -> None:
    assert "chainfield evaluate MODEL DATA" in assert_refused("evaluate", "tiny.txt")


def test_a_scheme_that_does_not_fit_names_the_place(tiny: Path) -> None:
    Path("iob1.txt").write_text("a O\nb I-X\n\nc I-X\n", encoding="utf-8")
    message = assert_refused("train", "iob1.txt", "x.cf", "--scheme", "bio", "--quiet")
    assert "Sequence 0" in message
    assert "position 1" in message
    assert "'I-X' cannot follow 'O'" in message
    assert "scheme iob1" in run("train", "iob1.txt", "x.cf", "--scheme", "auto", "--max-iter", 2).stderr


def test_options_that_would_do_nothing(tiny: Path) -> None:
    assert "has no effect" in assert_refused("train", "tiny.txt", "x.cf", "--quiet", "--learning-rate", "0.1")
    assert "needs development data" in assert_refused("train", "tiny.txt", "x.cf", "--patience", "3")


@pytest.mark.filterwarnings("default::chainfield.errors.DataWarning")
def test_warnings_are_lines(tiny: Path) -> None:
    Path("dev.txt").write_text(TINY.replace("D", "Q"), encoding="utf-8")
    result = run("train", "tiny.txt", "x.cf", "--quiet", "--max-iter", 2, "--dev", "dev.txt")
    assert result.code == 0
    assert "chainfield: warning: The development data have labels that training never saw" in result.stderr


def test_choices_are_those_of_the_library() -> None:
    from chainfield.commands import tag, train
    from chainfield.inference import DECODERS
    from chainfield.models import MODELS

    choices = {p.name: list(p.type.choices) for p in train.train.params if hasattr(p.type, "choices")}
    assert sorted(choices["model"]) == sorted(MODELS)
    choices = {p.name: list(p.type.choices) for p in tag.tag.params if hasattr(p.type, "choices")}
    assert choices["decoder"] == list(DECODERS)


@pytest.mark.parametrize("model", ["empirical", "memm", "hidden-unit", "latent"])
def test_other_models_are_trained_and_used_alike(model: str, tiny: Path) -> None:
    result = run("train", "tiny.txt", "m.cf", "--model", model)
    assert result.code == 0, result.stderr
    assert "Wrote m.cf" in result.stderr
    tagged = run("tag", "m.cf", "tiny.txt")
    assert tagged.code == 0, tagged.stderr
    for options in ((), ("--json",), ("--marginals",), ("--n-best", 2)):
        assert run("tag", "m.cf", "tiny.txt", *options).code == 0
    assert run("evaluate", "m.cf", "tiny.txt").code == 0
    shown = run("show", "m.cf")
    assert shown.code == 0
    names = {"empirical": "EmpiricalCRF", "memm": "MEMM", "hidden-unit": "HiddenUnitCRF", "latent": "LatentCRF"}
    assert names[model] in shown.stdout
    assert ("hidden units" in shown.stdout) == (model == "hidden-unit")
    assert run("show", "m.cf", "--json").code == 0


def test_latent_models_have_options_of_their_own(tiny: Path) -> None:
    options = ["--states", '{"N": 3}', "--objective", "perceptron", "--order", "2", "--n-init", "2", "--max-iter", "3"]
    result = run("train", "tiny.txt", "m.cf", "--model", "latent", *options, "--decoder", "latent-dynamic")
    assert result.code == 0, result.stderr
    model = load("m.cf")
    assert (model.n_states, model.order, model.n_init, model.restart_every) == ({"N": 3}, 2, 2, "auto")
    assert sum(getattr(state, "label", "") == "N" for state in model.states_) == 3
    result = run("train", "tiny.txt", "m.cf", "--model", "latent", "--states", "many")
    assert result.code != 0
    assert "n_states is 'many'; a whole number of at least 1, or a dict" in result.stderr
    result = run("train", "tiny.txt", "m.cf", "--states", "2")
    assert "--states has no effect with --model linear" in result.stderr
    result = run("train", "tiny.txt", "m.cf", "--model", "latent", "--restart-every", "0", "--objective", "perceptron")
    assert "restart_every is 0" in result.stderr


def test_counts_are_added_to_an_older_model(tiny: Path) -> None:
    text = Path("tiny.txt").read_text(encoding="utf-8")
    parts = [part + "\n" for part in text.strip().split("\n\n")]
    Path("a.txt").write_text(parts[0], encoding="utf-8")
    Path("b.txt").write_text("\n".join(parts[1:]), encoding="utf-8")
    for oov in ("empirical", "exponential"):
        common = ("--model", "empirical", "--oov", oov, "--quiet")
        assert run("train", "tiny.txt", "whole.cf", *common).code == 0
        assert run("train", "a.txt", "a.cf", *common).code == 0
        result = run("train", "-", "both.cf", *common, "--add", "a.cf", stdin=Path("b.txt").read_bytes())
        assert result.code == 0, result.stderr
        assert run("tag", "both.cf", "tiny.txt").stdout == run("tag", "whole.cf", "tiny.txt").stdout
    # What is not given stays as the older model has it.
    assert run("train", "b.txt", "both.cf", "--model", "empirical", "--add", "a.cf").code == 0
    assert load("both.cf").oov == "exponential"
    assert load("both.cf").min_count == 3
    refused = ("--model", "empirical", "--add", "a.cf", "--scheme", "bio")
    assert "--scheme has no effect with --add" in assert_refused("train", "b.txt", "x.cf", *refused)
    assert run("train", "tiny.txt", "linear.cf", "--quiet", "--max-iter", 2).code == 0
    refused = ("--model", "empirical", "--add", "linear.cf")
    assert "no empirical model" in assert_refused("train", "a.txt", "x.cf", *refused)


@pytest.mark.parametrize(
    ("model", "option"),
    [
        ("empirical", ("--l1", 1)),
        ("empirical", ("--trainer", "lbfgs")),
        ("empirical", ("--order", 2)),
        ("empirical", ("--dev", "tiny.txt")),
        ("empirical", ("--seed", 3)),
        ("memm", ("--objective", "perceptron")),
        ("memm", ("--no-boundary",)),
        ("memm", ("--oov", "exponential")),
        ("linear", ("--add", "tiny.txt")),
    ],
)
def test_options_without_effect_are_refused(model: str, option: tuple, tiny: Path) -> None:
    told = assert_refused("train", "tiny.txt", "x.cf", "--model", model, *option)
    assert f"{option[0]} has no effect with --model {model}" in told


def test_the_demos_data_are_written_but_never_over_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "requests"
    result = run("demo", "--data", folder)
    assert result.code == 0
    assert f"{folder / 'train.txt'}: 2,100 requests" in result.stdout
    assert {path.name: len(load_corpus(path).rows) for path in folder.iterdir()} == {
        "train.txt": 2100, "dev.txt": 350, "test.txt": 350,
    }  # fmt: skip
    assert "is there already; give another folder" in assert_refused("demo", "--data", folder)
    assert "--data trains nothing" in assert_refused("demo", "--data", tmp_path / "x", "-o", tmp_path / "m.cf")


def test_an_option_with_an_underscore_is_told_with_its_hyphen(tiny: Path) -> None:
    result = run("train", "tiny.txt", "m.cf", "--max_iter", "3")
    assert result.code == 2
    assert "There is no option --max_iter; did you mean --max-iter?" in result.stderr
