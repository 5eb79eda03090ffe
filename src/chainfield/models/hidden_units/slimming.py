"""Hidden-unit models of their size: what training hardly moved is left out, and the rest is kept in few bits.

Units are told apart by a random start. A feature that was never part of a mistake still has it: weights that say
nothing, for two thirds of the features of a text corpus. Without them, and with numbers of 8 bits, a model takes a
twentieth of the room. Each step is taken only if the model gives the same answers on training data; where 8 bits are
too few, 16 are tried.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chainfield.arrays import Bool, Float
from chainfield.features.batch import Batch
from chainfield.fitted import Herd, Tagger
from chainfield.fitted.eight_bit import eight_bit, restored
from chainfield.scorers import HiddenUnits

LARGE = 1_000_000  # parameters; smaller models stay as they are
HARDLY = 0.1  # of the length of a start
SAME = 0.999  # of the answers
N_JUDGED = 300


def slimmed(model: Tagger, start: Float, batch: Batch) -> Tagger:
    """A smaller model with the same answers on the first sequences of a batch; ``start``: where training began."""
    units = next((s for s in model.chain.emissions if isinstance(s, HiddenUnits) and s.source == "sparse"), None)
    if units is None or isinstance(model, Herd) or len(model.theta) < LARGE:
        return model
    judged = batch.window(0, min(N_JUDGED, batch.n_sequences))
    answers = model.labels(judged)

    def same(theta: Float) -> bool:
        return bool(np.mean(replace(model, theta=theta).labels(judged) == answers) >= SAME)

    name = f"{units.name}.input"
    own, first = model.params[name], model.chain.views(start)[name]
    moved = np.linalg.norm(own - first, axis=1) / max(float(np.linalg.norm(first, axis=1).mean()), 1e-300)
    keep = np.ones(len(own), np.bool_)
    for least in (HARDLY, 0.0):
        trial = model.theta.copy()
        model.chain.views(trial)[name][moved <= least] = 0.0
        if same(trial):
            keep = moved > least
            break
    slim = _only(model, units, keep)
    for rounded in (_in_bytes(slim.theta), _in_half(slim.theta)):
        if rounded is None:
            continue
        smaller = replace(slim, theta=rounded)
        if same(smaller.theta if slim is model else _filled_up(model, smaller, name, keep)):
            return smaller
    return slim


def _in_bytes(theta: Float) -> Float | None:
    """Rounded to what eight bits can hold."""
    found = eight_bit(theta)
    return None if found is None else restored(*found, str(theta.dtype))


def _in_half(theta: Float) -> Float | None:
    """Rounded to half precision; None where numbers are too large for that."""
    with np.errstate(over="ignore"):
        rounded = theta.astype(np.float16).astype(theta.dtype)
    return rounded if np.isfinite(rounded).all() else None


def _filled_up(model: Tagger, slim: Tagger, name: str, keep: Bool) -> Float:
    """The parameters of a smaller model where the larger one has them; those of features that went are 0."""
    theta = np.zeros_like(model.theta)
    for key, place in model.chain.views(theta).items():
        place[keep if key == name else ...] = slim.params[key]
    return theta


def _only(model: Tagger, units: HiddenUnits, keep: Bool) -> Tagger:
    """The model with some of its features, if its feature map can do without the others."""
    numbers = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    smaller = model.features.selected(numbers, np.arange(model.features.n_edge_features, dtype=np.int32))
    if smaller is None or keep.all():
        return model
    slim = replace(units, n_inputs=int(np.count_nonzero(keep)))
    emissions = tuple(slim if scorer is units else scorer for scorer in model.chain.emissions)
    chain = replace(model.chain, emissions=emissions)
    theta = np.empty(chain.n_parameters, model.theta.dtype)
    for name, place in chain.views(theta).items():
        place[...] = model.params[name][keep] if name == f"{units.name}.input" else model.params[name]
    return replace(model, features=smaller, chain=chain, theta=theta)
