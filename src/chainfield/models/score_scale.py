"""The scale of scores that training leaves open: to perceptrons and margins, every multiple of them is alike.

One temperature T makes probabilities of such scores: P(path) ~ exp(score / T). It is the one under which the labels of
data that training did not see are most probable. Those are development data, or a part of the training data, of which a
smaller model is asked that was trained on another part. Scores grow with the amount of data, about by its sixth root
(on chunks, names in two languages, and slots of utterances: by powers from 0.11 to 0.2), and so does T.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.confidence.temperature import best_temperature
from chainfield.errors import DataWarning
from chainfield.fitted import FittedModel
from chainfield.fitted.model import clamped_sums
from chainfield.inference import log_partition

LEAST_SEQUENCES = 20  # with fewer the scale stays open
PART, FEW, MOST = 0.2, 200, 2000  # of the sequences, for the smaller model; at least, at most
HELD_OUT = 500
SCORES = 4_000_000  # that are kept at a time: positions times rows
GROWTH = 1 / 6


def fit_temperature(model: FittedModel, sequences: Sequence[Any], targets: Sequence[Any]) -> float:
    """The temperature under which the targets are most probable; 1 if none of them has a probability."""
    batch = model.encode(sequences)
    clamp = model.task.clamp(model.chain.space, targets, batch.offsets)
    parts = []
    for lo, hi in model.blocks(batch):
        at = batch.ragged.slice_of(lo, hi)
        if at.start * model.chain.space.n_rows > SCORES:
            break
        space, potentials = model.scored(batch.window(lo, hi))
        parts.append((space, potentials, clamp[at]))

    def losses(t: float) -> Any:
        found = []
        for space, potentials, own in parts:
            scaled = potentials.divided(t)
            found.append(log_partition(space, scaled, strict=False) - clamped_sums(space, scaled, own))
        return np.concatenate(found or [np.empty(0)])

    possible = np.isfinite(losses(1.0))
    if not possible.any():
        return 1.0
    return best_temperature(lambda t: float(losses(t)[possible].sum()), 0.01, 1000.0, 30)


def crossfit_temperature(model: Any, sequences: Sequence[Any], targets: Sequence[Any], weight: Any, seed: int) -> float:
    """The temperature of a model of these settings that was trained on all of the data; 1 if there are too few."""
    total = len(sequences)
    if total < LEAST_SEQUENCES:
        return 1.0
    order = np.random.default_rng(seed).permutation(total)
    n_held = min(total // 5, HELD_OUT)
    held, rest = order[:n_held], order[n_held:]
    n = int(min(max(PART * total, min(FEW, 0.5 * total)), MOST, len(rest)))
    small = type(model)(**model.get_params()).set_params(temperature=1.0, verbose=False)
    for name, value in (("warm_start", False), ("n_init", 1), ("patience", None)):
        if name in small.settings:
            setattr(small, name, value)
    part = rest[:n].tolist()
    weights = None if weight is None else np.asarray(weight)[part]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the model itself has said it
        small.fit([sequences[i] for i in part], [targets[i] for i in part], weights)
    known = set(small.fitted_.task.labels)
    judged = [i for i in held.tolist() if _names(targets[i]) <= known]
    found = fit_temperature(small.fitted_, [sequences[i] for i in judged], [targets[i] for i in judged])
    return float(found * (total / n) ** GROWTH)


def _names(target: Any) -> set[Any]:
    """The labels that a target names: those of positions, sets of them, or one of a whole sequence."""
    if target is None or isinstance(target, str) or not hasattr(target, "__iter__"):
        return set() if target is None else {target}
    found: set[Any] = set()
    for one in target:
        found |= set(one) if isinstance(one, set | frozenset) else set() if one is None else {one}
    return found
