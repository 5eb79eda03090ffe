"""On a real cluster of processes: the same models, bit by bit, for any number of workers, and when workers die."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

import chainfield.dask  # noqa: E402
from chainfield import EmpiricalCRF, HMMClassifier, LatentCRF, LinearCRF, load_corpus  # noqa: E402
from chainfield.corpora import SourceCorpus, encode_corpus, open_corpus, plan_columns, plan_sources  # noqa: E402
from chainfield.dask import connecting, stalling  # noqa: E402
from chainfield.dask.memory import check_sizes  # noqa: E402
from chainfield.dask.places import Places, shared_out  # noqa: E402
from chainfield.dask.work import WorkerError, work  # noqa: E402
from chainfield.errors import ConfigError, DataError  # noqa: E402
from chainfield.problem import HeldPieces  # noqa: E402
from chainfield.problem.pieces import halves  # noqa: E402

# Dask opens sockets and files that are closed when the process ends; its own warnings are not ours.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("dask")]
PIECE = 900


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = load_corpus(files("chainfield.data") / "demo" / "snips.train.conll.xz")
    path = tmp_path_factory.mktemp("data") / "data.txt"
    with path.open("w", encoding="utf-8") as out:
        for rows, labels in zip(corpus.rows[:150], corpus.labels[:150], strict=True):
            out.writelines(f"{row[0]}\t{label}\n" for row, label in zip(rows, labels, strict=True))
            out.write("\n")
    return path


def cluster(n: int, threads: int = 1) -> Any:
    return distributed.LocalCluster(
        n_workers=n, threads_per_worker=threads, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL
    )


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster(2) as two, distributed.Client(two, direct_to_workers=True) as found:
        yield found


def local(data: Path) -> SourceCorpus:
    return SourceCorpus(HeldPieces(plan_columns(data, piece_bytes=PIECE)))


def bits(model: Any, tmp_path: Path) -> bytes:
    model.save(tmp_path / "model.cf")
    return (tmp_path / "model.cf").read_bytes()


MODELS = {
    "lbfgs": lambda: LinearCRF(max_iter=4, min_count=2),
    "owlqn": lambda: LinearCRF(max_iter=3, l1=0.1, trainer="owlqn", class_weight="balanced"),
    "rprop": lambda: LatentCRF(max_iter=3, n_init=1, trainer="rprop"),
    "perceptron": lambda: LinearCRF(max_iter=3, objective="perceptron", strands=3),
    "counts": lambda: EmpiricalCRF(),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_bytes_as_on_one_machine(name: str, client: Any, data: Path, tmp_path: Path) -> None:
    ours = MODELS[name]().fit(chainfield.dask.corpus(data, client, piece_bytes=PIECE))
    assert bits(ours, tmp_path) == bits(MODELS[name]().fit(local(data)), tmp_path)


@pytest.mark.parametrize(("workers", "threads"), [(1, 3), (3, 1)])
def test_the_same_bytes_on_other_clusters(workers: int, threads: int, data: Path, tmp_path: Path) -> None:
    """Branches of the tree lie on one worker or on several, in one task or in several."""
    with cluster(workers, threads) as other, distributed.Client(other, direct_to_workers=True) as client:
        ours = MODELS["lbfgs"]().fit(chainfield.dask.corpus(data, client, piece_bytes=PIECE))
    assert bits(ours, tmp_path) == bits(MODELS["lbfgs"]().fit(local(data)), tmp_path)


@pytest.mark.parametrize("trainer", ["em", "ebw"])
def test_hmms_have_the_same_bytes(trainer: str, client: Any, tmp_path: Path) -> None:
    """One label per sequence, from files of arrays, and from a bag."""
    import dask.bag

    rng = np.random.default_rng(1)
    y = [i % 3 for i in range(60)]
    X = [rng.normal(size=(6, 2)) + label for label in y]
    for i in range(6):
        np.savez(tmp_path / f"{i}.npz", X=np.concatenate(X[i::6]), lengths=[6] * 10, y=y[i::6])

    def model() -> HMMClassifier:
        return HMMClassifier(n_states=2, trainer=trainer, max_iter=4)

    ours = model().fit(chainfield.dask.corpus(tmp_path / "*.npz", client))
    assert bits(ours, tmp_path) == bits(
        model().fit(SourceCorpus(HeldPieces(plan_sources(tmp_path / "*.npz")))), tmp_path
    )
    bag = dask.bag.from_sequence(list(zip(X, y, strict=True)), npartitions=3)
    objective = model().fit(chainfield.dask.corpus(bag, client)).history_[-1]["objective"]
    assert objective == pytest.approx(model().fit(X, y).history_[-1]["objective"], rel=1e-6)


def test_counts_of_pieces_are_those_of_the_whole(data: Path) -> None:
    corpus = load_corpus(data)
    pieces, whole = EmpiricalCRF().fit(local(data)), EmpiricalCRF().fit(corpus.rows, corpus.labels)
    assert pieces.predict(corpus.rows) == whole.predict(corpus.rows)
    assert pieces.counts_.samples.counts.sum() == whole.counts_.samples.counts.sum()


def test_progress_tells_of_the_cluster(client: Any, data: Path) -> None:
    seen: list[Any] = []
    LinearCRF(max_iter=2).fit(chainfield.dask.corpus(data, client, piece_bytes=PIECE), callback=seen.append)
    assert seen[-1].to_dict()["workers"] == 2
    assert seen[-1].to_dict()["bytes_moved"] > 0
    assert seen[-1].to_dict()["pieces"] > 4


def test_bags_and_encoded_folders(client: Any, data: Path, tmp_path: Path) -> None:
    import dask.bag

    corpus = load_corpus(data)
    pairs = list(zip(map(list, corpus.rows), corpus.labels, strict=True))
    model = LinearCRF(max_iter=2).fit(chainfield.dask.corpus(dask.bag.from_sequence(pairs, npartitions=3), client))
    whole = LinearCRF(max_iter=2, trainer="lbfgs").fit(corpus.rows, corpus.labels)
    np.testing.assert_allclose(model.history_[0]["objective"], whole.history_[0]["objective"], rtol=1e-9)
    choose = LinearCRF()._features
    encoded = encode_corpus(plan_columns(data, piece_bytes=PIECE), tmp_path / "encoded", choose)
    ours = LinearCRF(max_iter=3).fit(chainfield.dask.corpus(encoded, client))
    assert bits(ours, tmp_path) == bits(LinearCRF(max_iter=3).fit(open_corpus(tmp_path / "encoded")), tmp_path)
    with pytest.raises(ConfigError, match="encoded corpus holds numbers"):
        EmpiricalCRF().fit(chainfield.dask.corpus(encoded, client))


def test_killed_workers_change_no_bit(data: Path, tmp_path: Path) -> None:
    """SIGKILL while features are counted, and while gradients are taken."""
    wanted = bits(LinearCRF(max_iter=6).fit(local(data)), tmp_path)
    with cluster(2) as two, distributed.Client(two, direct_to_workers=True) as found:
        corpus = chainfield.dask.corpus(data, found, piece_bytes=PIECE)
        killed: list[int] = []

        def kill(*_: Any) -> None:
            pids = [pid for pid in found.run(os.getpid).values() if pid not in killed]
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

        threading.Timer(0.3, kill).start()
        model = LinearCRF(max_iter=6).fit(corpus, callback=lambda progress: progress.iteration == 3 and kill())
        assert len(killed) == 2
    assert bits(model, tmp_path) == wanted


def test_workers_that_die_while_they_are_asked_are_left_out(client: Any) -> None:
    def answer(dask_worker: Any) -> int:
        if dask_worker.address == first:
            raise distributed.comm.core.CommClosedError("gone")
        return 1

    def fail() -> None:
        raise ValueError("no")

    first, second = sorted(client.nthreads())
    assert connecting.ask_workers(client, answer) == {second: 1}
    assert all(isinstance(found, ValueError) for found in connecting.ask_workers(client, fail).values())


def test_all_workers_may_die_at_once(data: Path, tmp_path: Path) -> None:
    """Others take their places; nothing waits for those that are gone."""
    wanted = bits(LinearCRF(max_iter=4).fit(local(data)), tmp_path)
    with cluster(2) as two, distributed.Client(two, direct_to_workers=True) as found:

        def kill() -> None:
            for pid in found.run(os.getpid).values():
                os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + 5
            while found.nthreads() and time.monotonic() < deadline:
                time.sleep(0.01)

        corpus = chainfield.dask.corpus(data, found, piece_bytes=PIECE)
        model = LinearCRF(max_iter=4).fit(corpus, callback=lambda progress: progress.iteration == 2 and kill())
    assert bits(model, tmp_path) == wanted


CLIENT = """
import sys, os, chainfield.dask
from chainfield import LinearCRF
if __name__ == "__main__":
    address, data, mark = sys.argv[1:]
    corpus = chainfield.dask.corpus(data, address, piece_bytes=900)
    stop = lambda progress: progress.iteration == 3 and os.kill(os.getpid(), 9)
    LinearCRF(max_iter=6).fit(corpus, checkpoint=mark, callback=stop)
"""


def test_a_killed_client_goes_on_from_its_checkpoint(client: Any, data: Path, tmp_path: Path) -> None:
    script, mark = tmp_path / "client.py", tmp_path / "checkpoint"
    script.write_text(CLIENT)
    ended = subprocess.run([sys.executable, script, client.scheduler.address, data, mark], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert mark.exists()
    corpus = chainfield.dask.corpus(data, client, piece_bytes=PIECE)
    model = LinearCRF(max_iter=6).fit(corpus, checkpoint=mark, resume=True)
    assert bits(model, tmp_path) == bits(LinearCRF(max_iter=6).fit(local(data)), tmp_path)


# ---- networks ----------------------------------------------------------------------------------------------------


def test_networks_train_on_workers() -> None:
    """The recipe of docs/cluster.md, on workers that no other test has killed: each waits for all others.

    On a machine that was much too busy, both have waited for each other without an end, though rarely (46 runs beside
    other work had none): a second try tells a fault of the recipe from such an accident.
    """
    torch = pytest.importorskip("torch", reason="needs the extra torch")
    page = (Path(__file__).parent.parent / "docs" / "cluster.md").read_text(encoding="utf-8")
    recipe = page.split("## Networks")[1].split("```py\n")[1].split("```")[0]
    recipe = recipe.replace("timeout=3600", "timeout=90")  # no test waits for an hour
    for last in (False, True):
        with cluster(2) as fresh, distributed.Client(fresh) as client:
            client.wait_for_workers(2, timeout=60)
            found: dict[str, Any] = {"client": client, "__name__": "__main__"}
            try:
                exec(compile(recipe, "recipe", "exec"), found)
                break
            except TimeoutError:
                print(client.call_stack())  # where they wait
                if last:
                    raise
    first, second = found["trained"]
    assert first["losses"][-1] < first["losses"][0]
    for name, value in first["weights"].items():
        torch.testing.assert_close(value, second["weights"][name], rtol=0, atol=0)


# ---- tagging -----------------------------------------------------------------------------------------------------


def test_every_piece_is_tagged_once(client: Any, data: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from chainfield.commands.main import group

    model = tmp_path / "model.cf"
    LinearCRF(max_iter=3, trainer="lbfgs").fit(local(data)).save(model)
    CliRunner().invoke(group, ["tag", str(model), str(data), "-o", str(tmp_path / "one.txt")], catch_exceptions=False)
    out, seen = tmp_path / "tagged", []
    found = chainfield.dask.tag(model, data, out, client, piece_bytes=PIECE, watch=lambda *done: seen.append(done))
    assert found.n_pieces == len(seen) == len(plan_columns(data, piece_bytes=PIECE)) > 4
    assert found.n_sentences == 150
    pieces = sorted(path for path in out.iterdir() if path.name != "about.json")
    whole = b"".join(path.read_bytes() for path in pieces)
    assert whole == (tmp_path / "one.txt").read_bytes()
    stamps = {path: path.stat().st_mtime_ns for path in pieces}
    pieces[1].unlink()
    again = chainfield.dask.tag(model, data, out, client, piece_bytes=PIECE)
    assert (again.n_pieces - again.n_skipped, again.n_pieces) == (1, found.n_pieces)
    assert b"".join(path.read_bytes() for path in pieces) == whole
    assert [path for path in pieces if path.stat().st_mtime_ns != stamps[path]] == [pieces[1]]
    words = ["tag", str(model), str(data), "-o", str(tmp_path / "three"), "--dask", client.scheduler.address]
    told = CliRunner().invoke(group, words, catch_exceptions=False)
    assert "1 pieces, 150 sentences" in told.output
    assert (tmp_path / "three" / data.name).read_bytes() == whole
    with pytest.raises(ConfigError, match="needs a pattern of files and a folder"):
        CliRunner().invoke(group, ["tag", str(model), "--dask", "tcp://x:1"], catch_exceptions=False)
    LinearCRF(max_iter=1, trainer="lbfgs").fit(local(data)).save(model)
    with pytest.raises(ConfigError, match="labels of another model"):
        chainfield.dask.tag(model, data, out, client, piece_bytes=PIECE)
    with pytest.raises(ConfigError, match="was not made by tagging"):
        chainfield.dask.tag(model, data, tmp_path, client)
    with pytest.raises(FileNotFoundError, match="no model file"):
        chainfield.dask.tag(tmp_path / "none.cf", data, out, client)
    (tmp_path / "wide.txt").write_text("a\tb\tc\td\n")
    with pytest.raises(DataError, match=r"wide\.txt, line 1: there are 4 columns; the model reads 1"):
        chainfield.dask.tag(model, tmp_path / "wide.txt", tmp_path / "other", client)
    assert not (tmp_path / "other" / "wide.txt").exists()


def test_parquet_in_parquet_out(client: Any, data: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra frames")
    import pyarrow.parquet as pq

    corpus = load_corpus(data)
    X = [list(rows) for rows in corpus.rows]
    for i, (lo, hi) in enumerate([(0, 70), (70, 150)]):
        words = [[row[0] for row in x] for x in X[lo:hi]]
        table = pa.table({"id": list(range(lo, hi)), "tokens": words, "ner_tags": corpus.labels[lo:hi]})
        pq.write_table(table, tmp_path / f"{i}.parquet", row_group_size=40)
    pattern = tmp_path / "*.parquet"
    ours = LinearCRF(max_iter=3).fit(chainfield.dask.corpus(pattern, client))
    here = SourceCorpus(HeldPieces(plan_sources(pattern)))
    assert bits(ours, tmp_path) == bits(LinearCRF(max_iter=3).fit(here), tmp_path)
    out = tmp_path / "tagged"
    told = chainfield.dask.tag(tmp_path / "model.cf", pattern, out, client)
    assert (told.n_pieces, told.n_sentences, told.n_tokens) == (4, 150, sum(map(len, X)))
    found = pa.concat_tables([pq.read_table(path) for path in sorted(out.glob("*.parquet"))])
    assert found.column_names == ["id", "tokens", "ner_tags", "labels"]
    assert found["id"].to_pylist() == list(range(150))
    assert found["labels"].to_pylist() == ours.predict(X)
    assert chainfield.dask.tag(tmp_path / "model.cf", pattern, out, client).n_skipped == 4
    # Pieces are read side by side: whichever is refused first is named.
    with pytest.raises(DataError, match=r"\d\.parquet \(rows \d+ to \d+\): there is a column 'id' already"):
        chainfield.dask.tag(tmp_path / "model.cf", pattern, tmp_path / "more", client, into="id")


def test_data_frames(client: Any, data: Path) -> None:
    frames = pytest.importorskip("dask.dataframe", reason="needs dask[dataframe]")
    import pandas as pd

    corpus = load_corpus(data)
    numbers = [s for s, x in enumerate(corpus.rows) for _ in x]
    words = [row[0] for x in corpus.rows for row in x]
    labels = [label for own in corpus.labels for label in own]
    table = pd.DataFrame({"id": numbers, "word": words, "slot": labels})
    ends = [0, *table["id"].searchsorted([50, 100]), len(table)]
    parts = [table.iloc[lo:hi] for lo, hi in pairwise(ends)]
    names = {"words": "word", "label": "slot", "sequence": "id"}

    def corpus_of(make: Any, n: int) -> Any:
        frame = frames.from_map(make, range(n), meta=parts[0].iloc[:0], enforce_metadata=False)
        return chainfield.dask.corpus(frame, client, **names)

    model = LinearCRF(max_iter=2).fit(corpus_of(lambda i: parts[i], 3))
    whole = LinearCRF(max_iter=2, trainer="lbfgs").fit(corpus.rows, corpus.labels)
    np.testing.assert_allclose(model.history_[0]["objective"], whole.history_[0]["objective"], rtol=1e-9)
    with pytest.raises(DataError, match="partition 1 of the frame: there is no row"):
        LinearCRF().fit(corpus_of(lambda i: parts[i].iloc[: 10 * (1 - i)], 2))
    with pytest.raises(DataError, match="partition 1 of the frame: there is no column 'slot'"):
        LinearCRF().fit(corpus_of(lambda i: parts[i] if i < 1 else parts[i].drop(columns="slot"), 2))


# ---- bad input ---------------------------------------------------------------------------------------------------


def test_no_cluster_at_that_address() -> None:
    with pytest.raises(ConfigError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1 "):
        chainfield.dask.connect("tcp://127.0.0.1:1", timeout=1)


def test_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise ValueError

    monkeypatch.setattr(distributed, "get_client", none)
    with pytest.raises(ConfigError, match="no Dask client"):
        chainfield.dask.connect()


def test_a_cluster_without_workers() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None, silence_logs=logging.CRITICAL) as none,
        distributed.Client(none) as found,
        pytest.raises(ConfigError, match="has no workers"),
    ):
        chainfield.dask.connect(found, timeout=0.5)


def test_another_version_is_refused(client: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "what_runs", lambda: ("9.9.9", "f" * 64))
    with pytest.raises(ConfigError, match=r"worker tcp://.* has chainfield .*, and this process has 9\.9\.9"):
        chainfield.dask.corpus(data, client)
    with pytest.raises(ConfigError, match=r"the client has 9\.9\.9"):
        work(("9.9.9", "f" * 64), abs, -1)


def test_workers_out_of_memory_and_disk_are_named(client: Any) -> None:
    def eat() -> None:
        raise MemoryError

    def fill() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(WorkerError, match=r"worker tcp://.* is out of memory"):
        client.submit(work, connecting.what_runs(), eat).result()
    with pytest.raises(WorkerError, match=r"disk of the worker tcp://.* is full"):
        client.submit(work, connecting.what_runs(), fill).result()


def test_pieces_that_do_not_fit_into_a_worker_are_refused(data: Path) -> None:
    class Small:
        def scheduler_info(self, n_workers: int) -> Any:
            return {"workers": {"tcp://small:1": {"memory_limit": 200_000}, "tcp://free:1": {"memory_limit": 0}}}

    with pytest.raises(ConfigError, match=r"worker tcp://small:1 may use 0\.0 GB; use piece_bytes=5000"):
        check_sizes(Small(), plan_columns(data))
    check_sizes(Small(), plan_columns(data, piece_bytes=4000))


@pytest.mark.parametrize("n_workers", [2, 4, 8])
def test_workers_hold_whole_branches_of_the_tree(n_workers: int) -> None:
    """Then each of them has one sum to send."""

    def branches(first: int, n: int) -> set[tuple[int, int]]:
        left, right = halves(n)
        below = branches(first, left) | branches(first + left, right) if right else set()
        return {(first, first + n)} | below

    for n in range(8 * n_workers, 400):
        cuts = shared_out(n, n_workers)
        assert set(pairwise(cuts)) <= branches(0, n)
        assert len(cuts) == n_workers + 1
        assert max(b - a for a, b in pairwise(cuts)) - min(b - a for a, b in pairwise(cuts)) <= 2


@pytest.mark.parametrize("n_workers", [3, 5, 7, 12])
def test_workers_hold_about_as_many_pieces(n_workers: int) -> None:
    for n in range(300):
        cuts = shared_out(n, n_workers)
        assert all(a <= b <= a + 1.14 * n / n_workers + 1.5 for a, b in pairwise(cuts))


def test_stragglers_give_pieces_away() -> None:
    places = Places(None, 8, ["a"] * 4 + ["b"] * 4)
    assert places.balance({"a": 1.0, "b": 1.2}) == 0
    assert places.balance({"a": 0.1, "b": 0.4}) == 0  # not worth it
    assert places.balance({"a": 1.0, "b": 3.0}) == 0  # once is not enough
    assert places.balance({"a": 1.0, "b": 3.0}) == 2
    assert places._of == ["a"] * 4 + ["b"] * 2 + ["a"] * 2
    assert places.balance({"a": 1.5, "b": 1.5}) == 0


def test_bad_pieces_are_named(client: Any, data: Path, tmp_path: Path) -> None:
    import dask.bag

    for name, content in (("a.txt", data.read_bytes()), ("b.txt", b"one\ttwo\tX\n")):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"do not belong together: Rows of 1 and of 2 columns"):
        LinearCRF().fit(chainfield.dask.corpus(tmp_path / "*.txt", client))
    (tmp_path / "b.txt").write_bytes(b"")
    with pytest.raises(DataError, match=r"b\.txt: there is no sentence"):
        LinearCRF().fit(chainfield.dask.corpus(tmp_path / "*.txt", client))
    bag = dask.bag.from_sequence([("no pair",)], npartitions=1)
    with pytest.raises(DataError, match="partition 0 of the bag: item 0"):
        LinearCRF().fit(chainfield.dask.corpus(bag, client))


@pytest.mark.parametrize("kind", ["folder", "file", "memory"])
def test_finished_pieces_appear_whole_wherever_they_go(kind: str, tmp_path: Path) -> None:
    from chainfield.dask.output import Folder

    places = {
        "folder": str(tmp_path / "a" / "b"),
        "file": f"file://{tmp_path}/a/b",
        "memory": f"memory://{tmp_path}/a/b",
    }
    folder = Folder(places[kind])
    folder.make()
    assert folder.names() == set()
    folder.write("one", b"1")
    folder.write("two", b"")
    folder.write("one", b"2")
    assert folder.names() == {"one", "two"}
    assert folder.read("one") == b"2"


def test_addresses_that_nobody_can_open(tmp_path: Path) -> None:
    from chainfield.dask.output import Folder

    with pytest.raises(ConfigError, match="nowhere://bucket/x cannot be opened"):
        Folder("nowhere://bucket/x").make()
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be used"):
        Folder(f"file://{tmp_path}/file/below").make()


# ---- nothing goes on ---------------------------------------------------------------------------------------------


def test_a_cluster_that_loses_all_workers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setattr(stalling, "LOOK", 0.1)
    monkeypatch.setattr(stalling, "ALONE", 0.6)
    with cluster(1) as one, distributed.Client(one) as client:
        corpus = chainfield.dask.corpus(data, client, piece_bytes=PIECE)
        one.scale(0)
        with pytest.raises(WorkerError, match="The cluster has had no worker for 0 minutes; start some, and continue"):
            LinearCRF(max_iter=2, trainer="lbfgs").fit(corpus)


def test_workers_whose_memory_is_full_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        """A client of workers that have stopped; the second still runs a task at first."""

        looks, cancelled = 0, ()

        def scheduler_info(self, n_workers: int) -> dict[str, Any]:
            self.looks += 1
            busy = {"executing": 1} if self.looks < 5 else {}
            full = {"status": "paused", "memory_limit": 160_000_000, "metrics": {"task_counts": {}}}
            return {"workers": {"a": full, "b": {**full, "metrics": {"task_counts": busy}}}}

        def cancel(self, futures: list[Any]) -> None:
            self.cancelled = tuple(futures)
            noticed.set()

    monkeypatch.setattr(stalling, "LOOK", 0.01)
    monkeypatch.setattr(stalling, "FULL", 0.03)
    noticed, client = threading.Event(), Full()
    with stalling.watched(client, ["future"]) as found:
        assert noticed.wait(30)
    assert client.cancelled == ("future",)
    assert client.looks >= 7
    assert "memory of all 2 workers is full" in found.reason
    assert "0.16 GB" in found.reason
