"""Kills at random moments: ``python fuzz/kills.py COUNTS.json --kills 1000``.

A process trains with checkpoints and is killed (SIGKILL) at a moment drawn at random; another one goes on from what is
there, and may be killed as well. The model that comes out in the end must have the bytes of one that was never killed.
``saving`` is killed while it replaces a model by another one: the file must always hold one of the two.

Processes are forked from one that has imported everything, so that a kill takes some tenths of a second. Checkpoints
are written after every iteration, not twice a second, so that most kills hit a training that has one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scratch import folder

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import chainfield
from chainfield import MEMM, HiddenCRF, HiddenUnitCRF, HMMClassifier, LatentCRF, LinearCRF, NeuralCRF
from chainfield.models import run as running
from support.trainings import arrays, text, wholes

ONLINE = ("sgd", "averaged", "adam", "sdca")
TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]\nB\n"
MARGIN = ("pa", "pa-i", "pa-ii", "mira", "arow")
SIZES = {"word_dim": 6, "char_dim": 3, "char_hidden": 3, "hidden": 6}
Make = Callable[[], Any]


def _models() -> dict[str, tuple[Make, Callable[[], Any]]]:
    """Models with their data; every trainer, every family."""
    words = lambda: text(12)  # noqa: E731
    found: dict[str, tuple[Make, Callable[[], Any]]] = {
        f"linear {trainer}": (lambda t=trainer: LinearCRF(trainer=t, max_iter=12), words)
        for trainer in ("auto", "lbfgs", "rprop", *ONLINE)
    }
    found["linear owlqn"] = (lambda: LinearCRF(trainer="owlqn", l1=0.1, max_iter=12), words)
    found["linear order 2"] = (lambda: LinearCRF(order=2, max_iter=8), lambda: text(6))
    found["linear pruned"] = (lambda: LinearCRF(prune=1e-3, max_iter=8), words)
    for trainer in MARGIN:
        found[f"linear {trainer}"] = (
            lambda t=trainer: LinearCRF(objective="large_margin", trainer=t, max_iter=10), words,
        )  # fmt: skip
    for objective in ("perceptron", "large_margin", "softmax_margin", "piecewise", "pseudolikelihood"):
        found[f"linear {objective}"] = (lambda o=objective: LinearCRF(objective=o, max_iter=8), words)
    found |= {
        "memm": (lambda: MEMM(max_iter=10), words),
        "latent": (lambda: LatentCRF(n_init=2, max_iter=8), lambda: text(6)),
        "latent perceptron": (lambda: LatentCRF(objective="perceptron", n_init=1, max_iter=8), lambda: text(6)),
        "hidden units": (lambda: HiddenUnitCRF(hidden_units=5, max_iter=8), arrays),
        "hidden units likelihood": (
            lambda: HiddenUnitCRF(hidden_units=5, objective="likelihood", max_iter=8), arrays,
        ),
        "herding": (
            lambda: HiddenUnitCRF(hidden_units=4, trainer="herding", objective="perceptron", max_iter=8), arrays,
        ),
        "hmm em": (lambda: HMMClassifier(n_components=2, max_iter=10), wholes),
        "hmm ebw": (lambda: HMMClassifier(trainer="ebw", max_iter=8), wholes),
        "hmm rprop": (lambda: HMMClassifier(trainer="rprop", max_iter=8, constraints="renormalised"), wholes),
        "hidden crf": (lambda: HiddenCRF(max_iter=10), wholes),
        "hidden crf random": (lambda: HiddenCRF(start="random", trainer="lbfgs", max_iter=10), wholes),
    }  # fmt: skip
    if find_spec("torch"):
        found["neural"] = (lambda: NeuralCRF(max_iter=5, n_states=2, rank=3, **SIZES), words)
        found["neural lstm"] = (lambda: NeuralCRF(max_iter=4, context="lstm", context_hidden=4, **SIZES), words)
    return found


def _training(make: Make, data: Callable[[], Any]) -> Callable[[Path, bool], None]:
    def train(place: Path, resume: bool) -> None:
        X, y = data()
        model = make().set_params(n_jobs=1)
        model.fit(X, y, checkpoint=place / "c", resume=resume and (place / "c").exists())
        model.save(place / "model.cf")

    return train


def _cluster(place: Path, resume: bool) -> None:
    """On a cluster of two workers in this process: all of it is killed at once."""
    import logging

    import distributed

    import chainfield.dask

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as both,
        distributed.Client(both) as client,
    ):
        corpus = chainfield.dask.corpus(_columns(), client, piece_bytes=400)
        model = LinearCRF(max_iter=6, trainer="lbfgs")
        model.fit(corpus, checkpoint=place / "c", resume=resume and (place / "c").exists())
    model.save(place / "model.cf")


def _encoded(place: Path, resume: bool) -> None:
    """From an encoded corpus in pieces on disk."""
    from chainfield.corpora import open_corpus

    model = LinearCRF(max_iter=8, n_jobs=1)
    model.fit(open_corpus(_folder_of_pieces()), checkpoint=place / "c", resume=resume and (place / "c").exists())
    model.save(place / "model.cf")


def _columns() -> Path:
    path = Path(folder()) / "data.txt"
    if not path.exists():
        X, y = text(12)
        path.write_text(
            "".join(
                "".join(f"{w}\t{b}\n" for (w,), b in zip(s, t, strict=True)) + "\n" for s, t in zip(X, y, strict=True)
            ),
            encoding="utf-8",
        )
    return path


def _folder_of_pieces() -> Path:
    from chainfield.corpora import encode_corpus, plan_columns
    from chainfield.features import TemplateFeatures, parse_template

    path = Path(folder()) / "encoded"
    if not path.exists():
        encode_corpus(
            plan_columns(_columns(), piece_bytes=400),
            path,
            lambda _: TemplateFeatures(parse_template(TEMPLATE)),
            n_jobs=1,
        )
    return path


def cases() -> dict[str, Callable[[Path, bool], None]]:
    """Everything that is killed, by name: functions that train in a folder, from its checkpoint if they may."""
    found = {name: _training(*model) for name, model in _models().items()}
    found["pieces on disk"] = _encoded
    if find_spec("distributed"):
        found["cluster"] = _cluster
    return found


# ---- processes ---------------------------------------------------------------------------------------------------


def _start(work: Callable[[], None]) -> int:
    """A process that does something; returns its number."""
    child = os.fork()
    if child:
        return child
    try:
        warnings.simplefilter("ignore")
        work()
        os._exit(0)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def _ended(child: int, seconds: float | None) -> int | None:
    """How a process ended within some time (None: as long as it takes); None if it is still running."""
    until = time.monotonic() + seconds if seconds is not None else float("inf")
    while time.monotonic() < until:
        done, status = os.waitpid(child, 0 if seconds is None else os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def _killed(child: int, after: float) -> bool:
    """Kill a process after some time; False if it had ended by then."""
    status = _ended(child, after)
    if status is not None:
        assert status == 0, "the training failed"
        return False
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def once(name: str, train: Callable[[Path, bool], None], expected: bytes, seconds: float, rng: random.Random) -> int:
    """One training with kills until it is through; returns how many there were."""
    place, kills = Path(folder()) / "work", 0
    place.mkdir(exist_ok=True)
    for left in place.iterdir():
        left.unlink()
    while True:
        child = _start(lambda: train(place, True))
        if rng.random() < 0.15 or kills > 20:
            assert _ended(child, None) == 0, f"{name} failed after {kills} kills"
            break
        if not _killed(child, rng.uniform(0, 1.1 * seconds)):
            break
        kills += 1
    assert (place / "model.cf").read_bytes() == expected, f"{name} has other bytes after {kills} kills"
    return kills


def once_saving(models: list[Any], expected: list[bytes], seconds: float, rng: random.Random) -> int:
    """A process that replaces one model by another again and again, killed once."""
    path = Path(folder()) / "saved" / "model.cf"
    path.parent.mkdir(exist_ok=True)

    def work() -> None:
        for number in range(1000):
            models[number % 2].save(path)

    models[0].save(path)
    kills = int(_killed(_start(work), rng.uniform(0, seconds)))
    assert path.read_bytes() in expected
    chainfield.load(path)
    models[1].save(path)  # and what was left behind is cleaned up
    assert [left.name for left in path.parent.iterdir()] == ["model.cf"]
    return kills


def main() -> None:
    """Round after round over all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--until", default="99:99", help="HH:MM (UTC)")
    parser.add_argument("--only", help="cases whose name holds this")
    given = parser.parse_args()
    running.CHECKPOINT_SECONDS = 0.0
    os.environ |= {"OMP_NUM_THREADS": "1", "SOURCE_DATE_EPOCH": "0"}  # files without times
    chosen = {name: train for name, train in cases().items() if given.only is None or given.only in name}
    counts = json.loads(given.counts.read_text()) if given.counts.exists() else {}
    for module in ("torch", "distributed"):
        if find_spec(module):
            __import__(module)
    known: dict[str, tuple[bytes, float]] = {}
    pair = [LinearCRF(max_iter=n).fit(*text(4)) for n in (1, 3)]
    both = []
    for model in pair:
        model.save(Path(folder()) / "pair.cf")
        both.append((Path(folder()) / "pair.cf").read_bytes())
    rng = random.Random(sum(counts.values()))
    while sum(counts.values()) < given.kills and time.strftime("%H:%M", time.gmtime()) < given.until:
        for name, train in chosen.items():
            if name not in known:
                known[name] = _reference(train)
            counts[name] = counts.get(name, 0) + once(name, train, *known[name], rng)
            given.counts.write_text(json.dumps(counts, indent=1) + "\n")
        if given.only is None:
            counts["saving"] = counts.get("saving", 0) + sum(once_saving(pair, both, 0.05, rng) for _ in range(5))
    print(f"{sum(counts.values()):,} kills over {len(counts)} cases; every result is as it should be")


def _reference(train: Callable[[Path, bool], None]) -> tuple[bytes, float]:
    """The bytes of a training that nobody kills, and how long it takes."""
    place = Path(folder()) / "reference"
    place.mkdir(exist_ok=True)
    for left in place.iterdir():
        left.unlink()
    began = time.monotonic()
    assert _ended(_start(lambda: train(place, False)), None) == 0
    return (place / "model.cf").read_bytes(), time.monotonic() - began


if __name__ == "__main__":
    main()
