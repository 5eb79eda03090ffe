"""The documentation runs: every Python block, every `$ chainfield` line; links, defaults and options are checked."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import chainfield.models
import chainfield.trainers
from chainfield.commands.main import COMMANDS
from chainfield.errors import ConfigError
from chainfield.features.transform import TRANSFORM_NAMES
from support.pages import DOCS, PAGES, ROOT, blocks, commands, difference, execute, page_name, prepare, shell
from test_commands import corpus_text

# Packages that pages may import and installations may lack.
EXTRAS = (
    "torch",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "spacy",
    "transformers",
    "usaddress",
    "pyspark",
)


@contextlib.contextmanager
def skipped_without_extra() -> Iterator[None]:
    """What needs an extra is skipped where the extra is missing: the library's own message says so."""
    try:
        yield
    except (ConfigError, ImportError) as error:
        if "pip install 'chainfield[" in str(error) or getattr(error, "name", None) in EXTRAS:
            pytest.skip(str(error))
        raise


RUNNING = [page for page in PAGES if any(block.language in ("python", "console") for block in blocks(page))]


@pytest.mark.parametrize("page", RUNNING, ids=page_name)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    wrong = []
    for block in blocks(page):
        if block.language == "python":
            with skipped_without_extra():
                wrong += [(block.line, difference(block.below or "", execute(page, block, namespace)))]
        elif block.language == "console":
            wrong += [(block.line, difference(shown, shell(command, page))) for command, shown in commands(block)]
    told = [f"{page_name(page)}, block at line {line}: {found}" for line, found in wrong if found is not None]
    assert not told, "\n".join([*told, "If that is right, write it with: python tests/support/outputs.py PAGE"])


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+://|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{page_name(page)}: {target} does not exist"
        if anchor:
            assert anchor in anchors(path), f"{page_name(page)}: {target}: no such heading"


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_index_names_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index


def test_readme_begins_with_two_commands() -> None:
    shells = [block.text.strip() for block in blocks(ROOT / "README.md") if block.language == "sh"]
    assert shells == ["pip install . && chainfield demo", "pip install -e '.[test]' && pytest"]


@pytest.mark.skipif(os.name != "posix", reason="on Windows, bash may be that of another system")
def test_ci_runs_the_commands_of_the_readme() -> None:
    """`.ci/run` takes both commands from the README, so that they cannot drift apart."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = subprocess.run(["bash", "-c", f"{script.split('# -- run')[0]}\nprintf '%s\\n' \"${{commands[@]}}\""],
                           cwd=ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    shells = [block.text.strip() for block in blocks(ROOT / "README.md") if block.language == "sh"]
    assert found.stdout.splitlines() == shells
    assert 'eval "${commands[0]}"' in script
    assert 'eval "${commands[1]}"' in script


def rows(section: str) -> list[list[str]]:
    """The cells of a section's tables, heads and rules left out."""
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def section(page: str, title: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"{page} has no section {title!r}"
    return found[1]


def test_documented_trainers_are_those_that_exist() -> None:
    documented = {cells[0].strip("`"): cells[1:] for cells in rows(section("models.md", "Trainers"))}
    assert {*documented, "auto", "averaged"} == set(chainfield.trainers.TRAINERS)
    for name, settings, l1, smooth in documented.values():
        kind = getattr(chainfield.trainers, name.strip("`"))
        actual = ", ".join(f"`{f.name}={f.default!r}`" for f in dataclasses.fields(kind))
        assert settings == actual
        assert (l1, smooth) == ("yes" if kind.handles_l1 else "no", "yes" if kind.needs_smooth else "no")


def test_documented_commands_are_all() -> None:
    text = (DOCS / "command_line.md").read_text(encoding="utf-8")
    assert re.findall(r"^## chainfield (\w+)$", text, re.MULTILINE) == list(COMMANDS)


def test_documented_transforms_are_all() -> None:
    documented = [cells[0].strip("`").partition(":")[0] for cells in rows(section("templates.md", "Transforms"))]
    assert documented == list(TRANSFORM_NAMES)


def test_pages_name_no_machine() -> None:
    for page in PAGES:
        assert not re.search(r"/(work|root|home|tmp)/", page.read_text(encoding="utf-8")), page_name(page)


def header(path: Path) -> tuple[dict[str, str], dict[str, object]]:
    """Types of the tensors of a file, and its config."""
    data = path.read_bytes()
    entries = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    described = json.loads(entries.pop("__metadata__")["chainfield"])
    return {name: entry["dtype"] for name, entry in entries.items()}, described["config"]


def documented_tensors() -> dict[str, str]:
    text = (DOCS / "file_format.md").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for cells in rows(text):
        if len(cells) in (4, 5):  # scorers may have different tensors of one name
            name = cells[0].strip("`")
            found[name] = f"{found[name]}, {cells[1]}" if name in found else cells[1]
    return found


def tensor_pattern(name: str) -> str:
    name = re.sub(r"^features\.values\.\d+$", "features.values.{c}", name)
    return re.sub(r"^scorer\.\w+\.", "scorer.{name}.", name)


WORDS = [("the", "D"), ("cat", "N"), ("sleeps", "V")]
ROWS = [WORDS, WORDS[1:], WORDS[:2] * 3]
LABELS = [["B-X", "I-X", "O"], ["O", "O"], ["B-X", "I-X", "O", "O", "B-X", "I-X"]]
TEMPLATE = "U0:%x[0,0]/%x[0,1]\nU1:%x[0,1]\nB0:%x[0,0]\nB\n"
MODELS = {
    "attributes": ({}, [[{"w": word, "n": 0.5} for word, _ in row] for row in ROWS]),
    "dense": ({}, [np.eye(len(row), 7) for row in ROWS]),
    "sparse": ({}, [sparse.csr_array(np.eye(len(row), 7)) for row in ROWS]),
    "templates": ({"template": TEMPLATE}, ROWS),
    "second order": ({"template": TEMPLATE, "order": 2, "scheme": "bio"}, ROWS),
    "perceptron": ({"objective": "perceptron", "all_features": True, "boundary": False}, ROWS),
}


COUNTED = {
    "empirical": chainfield.models.EmpiricalCRF(),
    "exponential": chainfield.models.EmpiricalCRF(oov="exponential", scheme="bio"),
    "memm": chainfield.models.MEMM(max_iter=3),
    "hidden-unit": chainfield.models.HiddenUnitCRF(hidden_units=4, max_iter=3, dtype="float32"),
    "latent": chainfield.models.LatentCRF(max_iter=3),
    "latent, low rank": chainfield.models.LatentCRF(rank=2, max_iter=3),
}


NEURAL = {
    "neural": {"n_states": 2, "rank": 2, "context": "none"},
    "neural, second order": {"order": 2, "context": "lstm", "chars": "cnn"},
}


@pytest.mark.parametrize("kind", [*MODELS, *COUNTED, *NEURAL])
def test_documented_tensors_are_those_of_model_files(kind: str, tmp_path: Path) -> None:
    settings, X = MODELS.get(kind, ({}, ROWS))
    if kind in NEURAL:
        pytest.importorskip("torch")
        model = chainfield.NeuralCRF(max_iter=1, **NEURAL[kind])
    else:
        model = COUNTED[kind] if kind in COUNTED else chainfield.LinearCRF(max_iter=3, **settings)
    model.fit(X, LABELS).save(tmp_path / "m.cf")
    tensors, config = header(tmp_path / "m.cf")
    documented, text = documented_tensors(), (DOCS / "file_format.md").read_text(encoding="utf-8")
    for name, dtype in tensors.items():
        assert dtype in re.findall(r"\w+", documented[tensor_pattern(name)]), name
    keys = {*config, *config["features"], *config["chain"], *config["estimator"], *config["chain"]["space"]}
    for scorer in (*config["chain"]["emissions"], *config["chain"]["transitions"]):
        keys |= {*scorer, scorer["type"]}
    for key in keys - {"kind"}:
        assert re.search(rf"[`\"]{key}[`\"]", text), key


@pytest.mark.parametrize("trainer", ["lbfgs", "owlqn", "sgd", "averaged", "adam", "rprop", "sdca"])
def test_documented_tensors_are_those_of_checkpoints(
    trainer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chainfield.models.run, "CHECKPOINT_SECONDS", 0.0)
    crf = chainfield.LinearCRF(trainer=trainer, max_iter=2)
    crf.fit(ROWS, LABELS, checkpoint=tmp_path / "c")
    tensors, config = header(tmp_path / "c")
    documented = documented_tensors()
    for name, dtype in tensors.items():
        assert dtype in re.findall(r"\w+", documented[name]), name
    assert set(config) == {"mark", "state", "session"}
    assert set(config["session"]) == {"best_score", "best_iteration", "seconds", "history", "reason"}


def test_migrating_gives_the_same_model_as_crfsuite(tmp_path: Path) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    corpus = chainfield.load_corpus(corpus_text("train", 0, 40).splitlines())
    X = [[{"word": word, "last": word[-1], "length": len(word) / 10} for (word,) in row] for row in corpus.rows]
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0, "c2": 0.7, "delta": 1e-12, "epsilon": 1e-9}, verbose=False)
    for x, labels in zip(X, corpus.labels, strict=True):
        trainer.append(x, labels)
    trainer.train(str(tmp_path / "m.crfsuite"))
    ours = chainfield.LinearCRF(l2=0.7, boundary=False, all_transitions=False, tol=1e-12).fit(X, corpus.labels)
    assert ours.history_[-1]["objective"] == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-7)
