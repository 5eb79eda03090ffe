"""Small trainings of every model, whose results version 0.1.0 left as model files in ``tests/data/models-0.1.0``.

``python tests/support/trainings.py FOLDER`` trains them again and tells which files have other parameters, bit by bit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from chainfield import (
    MEMM,
    EmpiricalCRF,
    HiddenCRF,
    HiddenUnitCRF,
    HMMClassifier,
    LatentCRF,
    LinearCRF,
    NeuralCRF,
    load_corpus,
)

KEPT = Path(__file__).parent.parent / "data" / "models-0.1.0"


def text(n: int = 40) -> tuple[list[Any], list[Any]]:
    """Sentences of the demo, with their slots."""
    corpus = load_corpus(files("chainfield.data") / "demo" / "snips.train.conll.xz")
    return [list(map(tuple, rows)) for rows in corpus.rows[:n]], [list(labels) for labels in corpus.labels[:n]]


def dicts(n: int = 40) -> tuple[list[Any], list[Any]]:
    """The same as dicts."""
    rows, labels = text(n)
    return [
        [{"word": w, "low": w.lower(), "n": len(w) / 8, "first": t == 0} for t, (w,) in enumerate(s)] for s in rows
    ], labels


def arrays(n: int = 40) -> tuple[list[Any], list[Any]]:
    """Positions of numbers with a label each."""
    rng = np.random.default_rng(5)
    labels = [rng.integers(0, 3, rng.integers(3, 9)).tolist() for _ in range(n)]
    return [rng.normal(size=(len(y), 4)) + np.array(y)[:, None] for y in labels], labels


def wholes(n: int = 40) -> tuple[list[Any], list[Any]]:
    """Sequences of numbers with one label."""
    rng = np.random.default_rng(6)
    labels = [("rise", "fall")[i % 2] for i in range(n)]
    sign = {"rise": 1.0, "fall": -1.0}
    return [
        np.column_stack([sign[y] * np.linspace(-1, 1, 8), np.zeros(8)]) + 0.5 * rng.normal(size=(8, 2)) for y in labels
    ], labels


def obedient() -> tuple[list[Any], list[Any]]:
    """Labels in which 2 never follows 0."""
    X, y = arrays()
    return X, [[1 if b == 2 and a == 0 else b for a, b in zip([None, *labels], labels, strict=False)] for labels in y]


def even(y: list[Any]) -> dict[Any, float]:
    """The weights of "balanced" in 0.1.0: every label counts the same."""
    labels = [label for sequence in y for label in sequence]
    kinds = sorted(set(labels))
    return {label: len(labels) / (len(kinds) * labels.count(label)) for label in kinds}


Made = tuple[Callable[[], Any], Callable[[], tuple[list[Any], list[Any]]]]
TRAININGS: dict[str, Made] = {
    "linear": (lambda: LinearCRF(l2=0.5, scheme="bio"), text),
    "linear-dicts": (lambda: LinearCRF(l2=0.1), dicts),
    "linear-arrays": (LinearCRF, arrays),
    "linear-order-2": (lambda: LinearCRF(l2=0.5, order=2, max_iter=20), lambda: text(15)),
    "linear-l1": (lambda: LinearCRF(l1=0.5, l2=0.5, max_iter=50), text),
    "linear-lbfgs": (lambda: LinearCRF(l2=0.5, trainer="lbfgs", max_iter=15), text),
    "linear-sgd": (lambda: LinearCRF(l2=0.5, trainer="sgd", max_iter=5), text),
    "linear-adam": (lambda: LinearCRF(l2=0.5, trainer="adam", max_iter=5), text),
    "linear-rprop": (lambda: LinearCRF(l2=0.5, trainer="rprop", max_iter=10), text),
    "perceptron": (lambda: LinearCRF(objective="perceptron", max_iter=5), text),
    "large-margin": (lambda: LinearCRF(objective="large_margin", max_iter=5), dicts),
    "piecewise": (lambda: LinearCRF(objective="plain_piecewise", l2=0.5, max_iter=10), text),
    "balanced": (lambda: LinearCRF(class_weight=even(obedient()[1]), max_iter=10, forbidden=[(0, 2)]), obedient),
    "memm": (lambda: MEMM(l2=0.5, max_iter=10), text),
    "latent": (lambda: LatentCRF(l2=0.5, n_init=2, max_iter=10), lambda: text(15)),
    "latent-perceptron": (lambda: LatentCRF(objective="perceptron", max_iter=4, n_init=1), lambda: text(15)),
    "latent-low-rank": (lambda: LatentCRF(rank=3, max_iter=10, n_init=1), arrays),
    "hidden-units": (lambda: HiddenUnitCRF(hidden_units=8, max_iter=4), text),
    "hidden-units-likelihood": (lambda: HiddenUnitCRF(hidden_units=5, objective="likelihood", max_iter=8), arrays),
    "hidden-units-pretrained": (lambda: HiddenUnitCRF(hidden_units=5, pretraining="frames", max_iter=3), arrays),
    "herding": (lambda: HiddenUnitCRF(hidden_units=4, trainer="herding", objective="perceptron", max_iter=6), arrays),
    "empirical": (lambda: EmpiricalCRF(oov="empirical"), text),
    "empirical-exponential": (lambda: EmpiricalCRF(oov="exponential"), text),
    "hmm": (lambda: HMMClassifier(n_components=2), wholes),
    "hmm-ebw": (lambda: HMMClassifier(trainer="ebw", max_iter=5), wholes),
    "hmm-gradient": (lambda: HMMClassifier(trainer="rprop", max_iter=5, constraints="renormalised"), wholes),
    "hcrf": (lambda: HiddenCRF(kappa=0.3, l2=10.0, max_iter=50), wholes),
    "hcrf-random": (lambda: HiddenCRF(start="random", trainer="lbfgs", max_iter=10), wholes),
    "hcrf-text": (  # by the defaults of 0.1.0, and by the step that it chose by itself
        lambda: HiddenCRF(l2=0.5, n_states=2, max_iter=4, learning_rate=0.05, topology="left-to-right"),
        lambda: (text(20)[0], ["a", "b"] * 10),
    ),
}  # fmt: skip
NEURAL: dict[str, Made] = {
    "neural": (
        lambda: NeuralCRF(
            context="none",
            word_dim=8,
            char_dim=4,
            char_hidden=4,
            hidden=8,
            max_iter=2,
            n_states=2,
            rank=3,
            learning_rate=1e-3,
        ),
        lambda: text(15),
    ),
}


def train(name: str) -> Any:
    """The model of that name, fitted."""
    make, data = {**TRAININGS, **NEURAL}[name]
    X, y = data()
    return make().set_params(n_jobs=2).fit(X, y)


def main(folder: Path) -> None:
    """Train all, save them to the folder, and compare them with the kept ones."""
    from safetensors.numpy import load_file

    folder.mkdir(parents=True, exist_ok=True)
    for name in {**TRAININGS, **NEURAL}:
        model = train(name)
        model.save(folder / f"{name}.cf")
        old, new = KEPT / f"{name}.cf", folder / f"{name}.cf"
        if old.exists() and old != new:
            a, b = load_file(old), load_file(new)
            changed = [k for k in {**a, **b} if k not in a or k not in b or a[k].tobytes() != b[k].tobytes()]
            print(name, "same bits" if not changed else f"differs in {', '.join(sorted(changed))}", flush=True)
        else:
            print(name, new.stat().st_size, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
