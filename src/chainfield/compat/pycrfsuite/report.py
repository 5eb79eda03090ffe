"""The text of a training's log, as CRFsuite writes it: one message per line, so that programs can go on reading it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Int, Int32, Ragged

from .parameters import LOGGED, TITLES

STORING = (
    "Writing labels",
    "Writing attributes",
    "Writing feature references for transitions",
    "Writing feature references for attributes",
)


def starting(parameters: Mapping[str, Any], holdout: int) -> Iterator[str]:
    """Up to the beginning of the feature generation."""
    if holdout >= 0:
        yield from (f"Holdout group: {holdout + 1}\n", "\n")
    yield from ("Feature generation\n", "type: CRF1d\n")
    for name in ("feature.minfreq", "feature.possible_states", "feature.possible_transitions"):
        yield f"{name}: {_shown(parameters[name])}\n"


def generated(algorithm: str, parameters: Mapping[str, Any], n_features: int, seconds: float) -> Iterator[str]:
    """Progress in one go (it takes no time), and what training is about to do."""
    for percent in range(0, 101, 2):
        yield str(percent // 10) if percent % 10 == 0 else "."
    yield from ("\n", f"Number of features: {n_features}\n", f"Seconds required: {seconds:.3f}\n", "\n")
    yield f"{TITLES[algorithm]}\n"
    for name, value in parameters.items():
        if not name.startswith("feature."):
            yield f"{LOGGED.get(name, name) if algorithm == 'lbfgs' else name}: {_shown(value)}\n"
    yield "\n"


def iteration(algorithm: str, number: int, facts: Mapping[str, Any]) -> Iterator[str]:
    """The numbers of an iteration; what is not known (None) is left out."""
    yield f"***** {'Epoch' if algorithm == 'l2sgd' else 'Iteration'} #{number} *****\n"
    for title, name, form in (
        ("Loss", "loss", ".6f"),
        ("Feature norm", "feature_norm", ".6f"),
        ("Error norm", "error_norm", ".6f"),
        ("Active features", "active", "d"),
        ("Seconds required for this iteration", "seconds", ".3f"),
    ):
        if facts.get(name) is not None:
            yield f"{title}: {facts[name]:{form}}\n"


def evaluation(labels: Sequence[str], truth: Int32, guess: Int32, ragged: Ragged) -> Iterator[str]:
    """How good the labels of held-out sequences are."""
    n = len(labels)
    right = truth == guess
    counts = zip(*(np.bincount(of, minlength=n).tolist() for of in (truth[right], guess, truth)), labels, strict=True)
    yield "Performance by label (#match, #model, #ref) (precision, recall, F1):\n"
    sums = np.zeros(3)
    for match, model, ref, label in counts:
        if model == ref == 0:
            yield f"    {label}: (0, 0, 0) (******, ******, ******)\n"
            continue
        precision, recall = match / model if model else 0.0, match / ref if ref else 0.0
        f1 = 2 * precision * recall / (precision + recall) if match else 0.0
        sums += (precision, recall, f1)
        yield f"    {label}: ({match}, {model}, {ref}) ({precision:.4f}, {recall:.4f}, {f1:.4f})\n"
    means = sums / max(n, 1)
    whole: Int = np.array([part.all() for part in ragged.cut(right)], np.int64)
    yield f"Macro-average precision, recall, F1: ({means[0]:.6f}, {means[1]:.6f}, {means[2]:.6f})\n"
    for title, part in (("Item", right), ("Instance", whole)):
        yield f"{title} accuracy: {int(part.sum())} / {len(part)} ({part.sum() / max(len(part), 1):.4f})\n"


def storing(n_active: tuple[int, int, int], n_all: tuple[int, int, int], seconds: float) -> Iterator[str]:
    """The end."""
    yield "Storing the model\n"
    for title, active, total in zip(("features", "attributes", "labels"), n_active, n_all, strict=True):
        yield f"Number of active {title}: {active} ({total})\n"
    yield from (f"{line}\n" for line in STORING)
    yield from (f"Seconds required: {seconds:.3f}\n", "\n")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:.6f}" if isinstance(value, float) else str(value)
