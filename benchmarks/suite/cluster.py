"""Clusters of Dask's on this machine: the same bytes, time per iteration, tagging; and training from disk."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import resource
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import chainfield
import chainfield.dask
from chainfield import EmpiricalCRF, HMMClassifier, LinearCRF, load_corpus
from chainfield.corpora import SourceCorpus, encode_corpus, open_corpus, plan_columns, plan_sources
from chainfield.features import parse_template
from chainfield.models.inputs import as_template, choose_map
from chainfield.problem import HeldPieces

from . import cluster_data
from .measure import Measurements, Options, Table

KILLS = 20
SETTLED = 1.0  # seconds after which a worker that answers has started
SENTENCES = 1_000_000  # for the time of an iteration
TAGGED = 10_000_000
DISK_SENTENCES = 3_750_000  # of eight tokens: 30 million
PART = 20_000  # sentences that are trained in memory as well
ROUNDS = 7
MODELS: dict[str, Callable[[], Any]] = {
    "L-BFGS": lambda: LinearCRF(max_iter=8, min_count=2, trainer="lbfgs"),
    "RProp": lambda: LinearCRF(max_iter=8, min_count=2, trainer="rprop"),
    "perceptron": lambda: LinearCRF(max_iter=4, min_count=2, objective="perceptron", strands=4),
    "counts": lambda: EmpiricalCRF(),
    "EM": lambda: HMMClassifier(n_states=3, n_components=2, max_iter=8),
}


@contextmanager
def client_of(n_workers: int) -> Iterator[Any]:
    """A client of real processes, with one thread each, behind sockets."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster, direct_to_workers=True) as client,
    ):
        yield client


# ---- the same bytes ----------------------------------------------------------------------------------------------


def run_bits(options: Options) -> Measurements:
    """Model files for 1, 2 and 4 workers, and when workers are killed at random moments."""
    root = Path(os.environ["CHAINFIELD_DATA"])
    result, rows = Measurements("cluster-bits"), []
    random.seed(0)
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # files without the seconds of training
    with tempfile.TemporaryDirectory() as name:
        for corpus, file in (("CoNLL-2000", "conll2000/train.txt"), ("JNLPBA", "jnlpba/train.iob2")):
            text, arrays = _files(root / file, Path(name) / corpus, options.sample)
            for trainer, make in MODELS.items():
                pattern, own = (arrays, {}) if trainer == "EM" else (text, {"piece_bytes": text.stat().st_size // 15})
                wanted = _digest(make().fit(SourceCorpus(HeldPieces(plan_sources(pattern, **own), 2))))
                same = 0
                for n in (1, 2, 4):
                    with client_of(n) as client:
                        same += _digest(make().fit(chainfield.dask.corpus(pattern, client, **own))) == wanted
                killed, survived, trainings = _killed(make, pattern, own, wanted)
                rows.append([f"{corpus}, {trainer}", same, killed, trainings, survived])
                result.figures[f"{corpus} {trainer} killed workers"] = killed
                result.figures[f"{corpus} {trainer} other bytes"] = trainings - survived + 3 - same
                print(rows[-1], flush=True)
    head = ["training", "clusters of 1, 2, 4 workers with the local bytes", "workers killed", "trainings", "same bytes"]
    result.tables, result.tabled = [Table("Model files, compared byte by byte", head, rows)], list(result.figures)
    result.notes = [
        "Workers are killed (SIGKILL) at random moments of a training on two workers, while features are counted, "
        "pieces encoded and gradients taken; all files are compared with that of the same pieces on one machine.",
        "EM: hidden Markov models over numbers made of the words (length, capitals, digits and letters), one class per "
        "sentence: whether it has an odd number of words.",
    ]
    return result


def _files(path: Path, folder: Path, sample: int | None) -> tuple[Path, str]:
    """A column file of some sentences, and six files of arrays made of their words."""
    found = load_corpus(path)
    n = min(sample or len(found.rows), len(found.rows))
    folder.mkdir()
    text = folder / "train.txt"
    with text.open("w", encoding="utf-8") as out:
        for x, y in zip(found.rows[:n], found.labels[:n], strict=True):
            out.writelines("\t".join((*row, label)) + "\n" for row, label in zip(x, y, strict=True))
            out.write("\n")
    X = [np.array([_numbers(row[0]) for row in x]) for x in found.rows[:n] if len(x) > 2]
    for i in range(6):
        own = X[i::6]
        labels = [len(x) % 2 for x in own]
        np.savez(folder / f"{i}.npz", X=np.concatenate(own), lengths=[len(x) for x in own], y=labels)
    return text, str(folder / "*.npz")


def _numbers(word: str) -> tuple[float, ...]:
    vowels, capitals = sum(map("aeiou".count, word)), sum(map(str.isupper, word))
    return float(len(word)), float(vowels), float(capitals), float(sum(map(str.isdigit, word))), ord(word[-1]) / 32.0


def _digest(model: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.cf")
        return hashlib.sha256((Path(folder) / "model.cf").read_bytes()).hexdigest()


def _killed(make: Callable[[], Any], pattern: Any, own: dict[str, Any], wanted: str) -> tuple[int, int, int]:
    """Trainings during which workers die, until enough have died: how many died, how many files were right."""
    killed, right, trainings = 0, 0, 0
    with _patience(), client_of(2) as client:
        while killed < KILLS:
            stop = threading.Event()
            deaths: list[int] = []
            thread = threading.Thread(target=_kill, args=(client, stop, deaths, KILLS - killed))
            thread.start()
            try:
                right += _digest(make().fit(chainfield.dask.corpus(pattern, client, **own))) == wanted
            finally:
                stop.set()
                thread.join()
            trainings, killed = trainings + 1, killed + len(deaths)
    return killed, right, trainings


@contextmanager
def _patience() -> Iterator[None]:
    import dask

    patience = {"distributed.scheduler.allowed-failures": 50, "distributed.deploy.lost-worker-timeout": "1 hour"}
    with dask.config.set(patience):
        yield


def _kill(client: Any, stop: threading.Event, deaths: list[int], most: int) -> None:
    """Kill workers that have answered for a while: one that is only starting would not be started again."""
    since: dict[int, float] = {}
    moment = time.monotonic() + random.uniform(0.2, 3.0)
    while len(deaths) < most and not stop.wait(0.2):
        try:
            answers = client.run(os.getpid, on_error="return")
        except OSError:
            continue
        now = time.monotonic()
        since = {pid: since.get(pid, now) for pid in answers.values() if isinstance(pid, int) and pid not in deaths}
        ready = [pid for pid, first in since.items() if now - first > SETTLED]
        if ready and now > moment:
            deaths.append(random.choice(ready))
            os.kill(deaths[-1], signal.SIGKILL)
            moment = now + random.uniform(0.2, 3.0)


# ---- time of an iteration ----------------------------------------------------------------------------------------


def encoded(folder: Path, n_sentences: int) -> Any:
    """Made-up sentences, encoded, once."""
    if not (folder / "encoded" / "corpus.cf").exists():
        cluster_data.write_files(folder / "text", n_sentences)
        template = as_template(parse_template(cluster_data.TEMPLATE))
        sources = plan_columns(str(folder / "text" / "*.txt"))
        encode_corpus(sources, folder / "encoded", lambda X: choose_map(X, template), min_count=3)
    return open_corpus(folder / "encoded", memory=16 << 30, n_jobs=2)


def run_speed(options: Options) -> Measurements:
    """Seconds per iteration: two threads against two workers of one thread, over the same pieces."""
    folder = Path(os.environ.get("CHAINFIELD_CLUSTER_DATA", tempfile.mkdtemp()))
    n = options.sample or SENTENCES
    corpus, result = encoded(folder, n), Measurements("cluster-speed")
    rounds = options.repeats or ROUNDS

    def timed(source: Any) -> tuple[list[float], list[dict[str, Any]]]:
        seen: list[float] = []
        notes: list[dict[str, Any]] = []

        def watch(progress: Any) -> None:
            seen.append(time.perf_counter())
            notes.append(progress.to_dict())

        # RProp takes one gradient in every iteration.
        model = LinearCRF(trainer="rprop", max_iter=rounds + 2, n_jobs=2)
        model.fit(source, callback=watch)
        return list(np.diff(seen)[1:]), notes

    local, _ = timed(corpus)
    with client_of(2) as client:
        spread, notes = timed(chainfield.dask.corpus(corpus, client))
    empty = _overhead()
    for name, times in (("local, 2 threads", local), ("Dask, 2 workers", spread)):
        result.samples[name] = times
    moved = [b["bytes_moved"] - a["bytes_moved"] for a, b in pairwise(notes[1:])]
    ratio = statistics.median(spread) / statistics.median(local)
    result.figures = {
        "sentences": float(n),
        "tokens": float(corpus.profile.n_positions),
        "pieces": float(len(corpus.files)),
        "features": float(corpus.features.n_features),
        "local seconds per iteration": statistics.median(local),
        "Dask seconds per iteration": statistics.median(spread),
        "ratio": ratio,
        "overhead, milliseconds": 1000 * empty,
        "megabytes moved per iteration": statistics.median(moved) / 1e6,
    }
    result.notes = ["overhead: an iteration of a corpus of 32 words in 16 pieces, on two workers: all of it is Dask."]
    return result


def _overhead() -> float:
    with client_of(2) as client, tempfile.TemporaryDirectory() as name:
        path = Path(name) / "small.txt"
        path.write_text("".join(f"w{i % 7}\tL{i % 3}\nw{i % 5}\tL{i % 2}\n\n" for i in range(16)))
        seen: list[float] = []
        corpus = chainfield.dask.corpus(path, client, piece_bytes=10)
        LinearCRF(trainer="rprop", max_iter=60).fit(corpus, callback=lambda _: seen.append(time.perf_counter()))
        return float(np.median(np.diff(seen)[5:]))


# ---- tagging -----------------------------------------------------------------------------------------------------


def run_tag(options: Options) -> Measurements:
    """Tokens per second on one and two workers; a worker is killed on the way, and its files are the same."""
    n, result = options.sample or TAGGED, Measurements("cluster-tag")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster_data.write_files(folder / "text", n)
        few = SourceCorpus(HeldPieces(plan_columns(str(cluster_data.write_files(folder / "few", 20_000)[0])), 2))
        template = parse_template(cluster_data.TEMPLATE)
        LinearCRF(template=template, max_iter=5, min_count=3, trainer="lbfgs").fit(few).save(folder / "model.cf")
        digests = {}
        for workers, kill in ((1, False), (2, False), (2, True)):
            with client_of(workers) as client:
                client.run(lambda: __import__("chainfield.dask"))
                label, done = f"{workers} workers{', one killed' if kill else ''}", []

                def watch(
                    number: int, of: int, client: Any = client, kill: bool = kill, done: list[Any] = done
                ) -> None:
                    done.append(_largest(client) if number in (of // 4, of // 2, of) else None)
                    if kill and number == of // 3:
                        alive = [w.process.pid for w in client.cluster.workers.values() if w.process is not None]
                        os.kill(alive[0], signal.SIGKILL)

                started = time.perf_counter()
                told = chainfield.dask.tag(
                    folder / "model.cf", str(folder / "text" / "*.txt"), folder / label, client, watch=watch
                )
                seconds = time.perf_counter() - started
            memory = [value for value in done if value is not None]
            result.figures[f"{label}: tokens per second"] = told.n_tokens / seconds
            result.figures[f"{label}: largest worker at the quarter, MB"] = memory[0]
            result.figures[f"{label}: largest worker at the end, MB"] = memory[-1]
            files = sorted(path for path in (folder / label).iterdir() if path.name != "about.json")
            digests[label] = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
        result.figures["sentences"] = float(n)
        result.figures["different outputs"] = float(len(set(digests.values())) - 1)
    return result


def _largest(client: Any) -> float:
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return float(max((worker["metrics"].get("memory", 0) for worker in workers), default=0)) / 1e6


# ---- from disk ---------------------------------------------------------------------------------------------------


def run_disk(options: Options) -> Measurements:
    """Encoding and training a corpus that is not held in memory: seconds, and the peak of the process."""
    folder = Path(os.environ.get("CHAINFIELD_CLUSTER_DATA", tempfile.mkdtemp())) / "disk"
    n, result = options.sample or DISK_SENTENCES, Measurements("cluster-disk")
    there = (folder / "encoded").exists()
    started = time.perf_counter()
    corpus = encoded(folder, n)
    made = {} if there else {"seconds to write and encode": time.perf_counter() - started}
    seen: list[float] = []
    model = LinearCRF(trainer="rprop", max_iter=2, n_jobs=2)
    model.fit(open_corpus(corpus.folder, n_jobs=2), callback=lambda _: seen.append(time.perf_counter()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (path,) = cluster_data.write_files(folder / "part", PART)
    part = plan_columns(path)
    template = parse_template(cluster_data.TEMPLATE)
    pieces = LinearCRF(template=template, min_count=3, trainer="lbfgs", max_iter=3).fit(
        SourceCorpus(HeldPieces(part, 2))
    )
    rows = load_corpus(path)
    whole = LinearCRF(template=template, min_count=3, trainer="lbfgs", max_iter=3).fit(rows.rows, rows.labels)
    ours, theirs = (found.history_[-1]["objective"] for found in (pieces, whole))
    result.figures = {
        "tokens": float(corpus.profile.n_positions),
        "features": float(corpus.features.n_features),
        "weights": float(model.fitted_.theta.size),
        "pieces": float(len(corpus.files)),
        **made,
        "seconds per iteration": float(np.diff(seen).mean()),
        "peak of the process, GB": peak / 1e6,
        "relative difference of objectives on a part in memory": abs(ours / theirs - 1.0),
    }
    return result
