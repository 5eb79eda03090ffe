"""The first HMM: frames shared out over states, and clusters within a state."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, offsets_of
from chainfield.errors import DataError
from chainfield.features.batch import Batch
from chainfield.models.material import Examples, Material
from chainfield.states import StateSpace

from .hmm import HMM

ROUNDS = 20  # of k-means
# Positions that an HMM of data in pieces starts from, together; and at least those of a class in each piece.
SAMPLE, LEAST = 1_000_000, 2000
LARGEST = 1e100  # absolute value of an observation; 1 / LARGEST is the least


def data_units(material: Material) -> tuple[Float, Float]:
    """Mean and deviation of each column; refuses one that never changes, or that has no squares."""
    names, n = material.features.feature_names(), material.extent.n_positions
    scale, total = material.fold(_sizes, _join_sizes)
    extreme = np.flatnonzero((scale > LARGEST) | ((scale > 0.0) & (scale < 1.0 / LARGEST)))
    if len(extreme):
        at, size = int(extreme[0]), float(scale[extreme[0]])
        raise DataError(f"Column {at} ({names[at]}) has values of up to {size:.3g}: they cannot be squared; scale it.")
    centre = total / n
    spread = np.sqrt(material.fold(_squares, np.add, centre) / n)
    flat = np.flatnonzero(~(spread > 1e-10 * scale))
    if len(flat):
        raise DataError(
            f"Column {int(flat[0])} ({names[int(flat[0])]}) has the same value at every position; a Gaussian over it "
            "would be infinitely narrow, and it tells nothing apart. Leave it out."
        )
    return centre, spread


def _sizes(examples: Examples) -> tuple[Float, Float]:
    """The largest absolute value of each column, and its sum."""
    dense = examples.batch.dense
    assert dense is not None
    return np.abs(dense).max(axis=0, initial=0.0), dense.sum(axis=0)


def _join_sizes(ours: tuple[Float, Float], theirs: tuple[Float, Float]) -> tuple[Float, Float]:
    return np.maximum(ours[0], theirs[0]), ours[1] + theirs[1]


def _squares(examples: Examples, centre: Float) -> Float:
    """The sum of squared distances from the centre, by column."""
    dense = examples.batch.dense
    assert dense is not None
    from_centre = dense - centre
    return np.asarray(np.multiply(from_centre, from_centre, out=from_centre).sum(axis=0))


@dataclass(frozen=True, eq=False)
class Sample:
    """Sequences of numbers with their labels; -1: unknown."""

    batch: Batch
    labels: Int  # (S,)

    def __add__(self, other: Sample) -> Sample:
        dense = [part.batch.dense for part in (self, other) if part.batch.dense is not None]
        lengths = np.concatenate([self.batch.ragged.lengths, other.batch.ragged.lengths])
        batch = Batch(offsets_of(lengths), dense=np.concatenate(dense))
        return Sample(batch, np.concatenate([self.labels, other.labels]))


def start_sample(material: Material, space: StateSpace) -> Sample:
    """What an HMM starts from: the data, or where they are in pieces, some sequences of each class from every piece."""
    if material.whole is not None:
        return take_sample(material.whole, space, None)
    quota = max(SAMPLE // (len(material.examples) * space.n_labels), LEAST)
    return material.fold(take_sample, operator.add, space, quota)


def take_sample(examples: Examples, space: StateSpace, quota: int | None) -> Sample:
    """The first sequences of each class that have ``quota`` positions together; None: all sequences."""
    batch, clamp = examples.batch, examples.clamp
    labels = clamp.only_label(space)[clamp.index[batch.offsets[:-1]]].astype(np.int64)
    if quota is None:
        return Sample(batch, labels)
    chosen = []
    for label in range(space.n_labels):
        own = np.flatnonzero(labels == label)
        before = np.cumsum(batch.ragged.lengths[own]) - batch.ragged.lengths[own]
        chosen.append(own[before < quota])
    some = np.sort(np.concatenate(chosen))
    return Sample(batch.take(some), labels[some])


def first_hmm(
    space: StateSpace,
    sample: Sample,
    names: tuple[Any, ...],
    n_components: int,
    floor: float,
    units: tuple[Float, Float],
    rng: np.random.Generator,
    *,
    ends: bool,
) -> HMM:
    """From labelled sequences; those of unknown labels do not take part here.

    States in a row (left to right) get equal parts of every sequence; other states get clusters of their class's
    frames. Components are clusters of a state's frames.
    """
    batch, labels = sample.batch, sample.labels
    assert batch.dense is not None
    z = (batch.dense - units[0]) / units[1]
    k, d = space.n_states, z.shape[1]
    weight, mean = np.zeros((k, n_components)), np.zeros((k, n_components, d))
    variance, start = np.ones((k, n_components, d)), np.zeros(k)
    end, move = np.where(space.end, 1.0, 0.0), np.zeros(space.n_edges)
    known = labels[labels >= 0]
    for block in space.blocks:
        chosen = np.flatnonzero(labels == block.label)
        if not len(chosen):
            raise DataError(f"No sequence has the label {names[block.label]!r}: its states cannot be estimated.")
        own = batch.take(chosen)
        frames, n = z[batch.positions(chosen)], len(block.states)
        if len(frames) < n * n_components:
            raise DataError(
                f"The class {names[block.label]!r} has {len(frames)} positions; {n} states of {n_components} Gaussians "
                f"need at least {n * n_components}. Use fewer, or leave the class out."
            )
        in_row = bool((block.space.dst - block.space.src >= 0).all()) and int(block.space.start.sum()) == 1
        state = _in_row(own.offsets, n) if in_row else cluster(frames, n, rng)[0]
        for i, s in enumerate(block.states.tolist()):
            mine = frames[state == i]
            mine = mine if len(mine) >= n_components else frames
            weight[s], mean[s], variance[s] = fit_components(mine, n_components, floor, rng)
        first = block.states[block.space.start]
        start[first] = len(chosen) / len(known) / len(first)
        stays = np.bincount(state, minlength=n) / len(chosen)
        for i in range(n):
            edges = block.edges[block.space.src == i]
            lasting = ends and bool(block.space.end[i])
            if in_row:  # the probability to stay follows from how long a state lasts
                stay = 1.0 - 1.0 / max(stays[i], 1.5)
                selves = space.dst[edges] == space.src[edges]
                others = int((~selves).sum()) + lasting
                share = (1.0 - stay) / others if others else 0.0
                move[edges] = np.where(selves, stay if others else 1.0, share)
                end[block.states[i]] = share if lasting else end[block.states[i]]
            else:
                exit_share = min(0.5, len(chosen) / len(frames)) if lasting and len(edges) else float(lasting)
                move[edges] = (1.0 - exit_share) / max(len(edges), 1)
                end[block.states[i]] = exit_share if lasting else end[block.states[i]]
    return HMM(weight, units[0] + units[1] * mean, units[1] ** 2 * variance, start, end, move)


def _in_row(offsets: Int, n: int) -> Int:
    """Equal parts of each sequence, for states in a row."""
    lengths = np.diff(offsets)
    within = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], lengths)
    return within * n // np.repeat(lengths, lengths)


def fit_components(x: Float, m: int, floor: float, rng: np.random.Generator) -> tuple[Float, Float, Float]:
    """Weights, means and variances of clusters; a cluster of a few points borrows the variance of all."""
    of, means = cluster(x, m, rng)
    whole = np.maximum(x.var(axis=0), floor)
    counts = np.bincount(of, minlength=m).astype(np.float64)
    variances = np.empty_like(means)
    for i in range(m):
        mine = x[of == i]
        own = mine.var(axis=0) if len(mine) else whole
        variances[i] = np.maximum((len(mine) * own + 2.0 * whole) / (len(mine) + 2.0) if m > 1 else own, floor)
    return (counts + 1e-3) / (counts + 1e-3).sum(), means, variances


def cluster(x: Float, k: int, rng: np.random.Generator) -> tuple[Int, Float]:
    """k-means with the seeding of Arthur and Vassilvitskii (2007): the cluster of each row, and the means (k, D)."""
    n = len(x)
    if k == 1:
        return np.zeros(n, np.int64), x.mean(axis=0, keepdims=True)
    means = x[[int(rng.integers(n))]]
    nearest = ((x - means[0]) ** 2).sum(axis=1)
    while len(means) < k:
        total = float(nearest.sum())
        chosen = int(rng.choice(n, p=nearest / total)) if total > 0 else int(rng.integers(n))
        means = np.concatenate([means, x[[chosen]]])
        nearest = np.minimum(nearest, ((x - x[chosen]) ** 2).sum(axis=1))
    of = np.full(n, -1)
    for _ in range(ROUNDS):
        distance = (means**2).sum(axis=1) - 2.0 * (x @ means.T)
        new = distance.argmin(axis=1)
        if np.array_equal(new, of):
            break
        of = new
        for i in range(k):
            if (of == i).any():
                means[i] = x[of == i].mean(axis=0)
    return of, means


def split(hmm: HMM, n_components: int) -> HMM:
    """Twice the components (at most ``n_components``): the heaviest are split along their deviations."""
    k, m, d = hmm.mean.shape
    new = min(2 * m, n_components)
    weight, mean, variance = np.zeros((k, new)), np.zeros((k, new, d)), np.zeros((k, new, d))
    for s in range(k):
        order = np.argsort(-hmm.weight[s], kind="stable")
        twice = order[: new - m]
        once = order[new - m :]
        step = 0.2 * np.sqrt(hmm.variance[s, twice])
        weight[s] = np.concatenate([hmm.weight[s, once], np.tile(0.5 * hmm.weight[s, twice], 2)])
        mean[s] = np.concatenate([hmm.mean[s, once], hmm.mean[s, twice] + step, hmm.mean[s, twice] - step])
        variance[s] = np.concatenate([hmm.variance[s, once], np.tile(hmm.variance[s, twice], (2, 1))])
    return HMM(weight, mean, variance, hmm.start, hmm.end, hmm.move)
