"""Pruned training: a model of single positions leaves a few rows at each, and the chain is trained on those.

1. A softmax over rows, without transitions, is trained by two passes of AdaGrad (:func:`train_pruner`).
2. Rows whose probability reaches the threshold stay; the right one always does.
3. The chain starts from the softmax's weights: a pruner that has seen the training data leaves less there than
   elsewhere, and a chain that starts from zero would learn too little from what is left.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, union
from chainfield.errors import ConfigError
from chainfield.fitted.pruning import plausible
from chainfield.kernels.train.zero_order import zero_order_pass
from chainfield.objectives import Contrast, Objective
from chainfield.problem import Problem
from chainfield.scorers import Chain, Pruner, SparseLinear
from chainfield.scorers.pruner import sparse_scorer
from chainfield.scorers.triples import Triples, known_codes
from chainfield.states import StateSpace
from chainfield.trainers.trainer import orders

from .label_dictionary import count_pruner
from .material import Material

THRESHOLD = 1e-3  # what "auto" leaves out: 3 or 4 of 472 labels stay, and 0.3 % of right ones are lost
# A pruner that has seen little is less sure: at 1e-3 it loses 1 % of right labels after 1,000 sentences of the Brown
# corpus, and accuracy falls 0.15 points below that of exact training. (0.0003: 0.15 points above it.)
LITTLE_DATA = 3e-4
MANY_POSITIONS = 50_000
EDGES = 20_000  # that many are worth it: 142 labels in first order, 28 in second
PASSES = 2
RATE = 0.5  # of AdaGrad, falling to 0; where old weights are continued, a fifth of it
L2 = 0.05
SHARES = 0.1  # of shares of labels, in which a start only points the way


def threshold_of(model: Any, problem: Problem) -> float:
    """The setting, or what "auto" stands for: less is left out where little data teach the pruner."""
    if isinstance(model.prune, numbers.Real):
        return float(model.prune)
    return THRESHOLD if problem.n_positions >= MANY_POSITIONS else LITTLE_DATA


def prunes(model: Any, objective: Objective, material: Material, space: StateSpace) -> bool:
    """Whether a model is to be pruned: as its settings say, or by the number of edges that inference would go over.

    A training that goes on from an older model goes its way, unless the settings say otherwise.
    """
    if model.prune is None:
        return False
    why = _obstacle(objective, material, space)
    if isinstance(model.prune, numbers.Real):
        if why:
            raise ConfigError(f"prune={float(model.prune):g} is not possible here: {why}. Leave prune at its default.")
        return True
    if why:
        return False
    if material.previous is not None and len(material.previous.task.labels) == len(material.labels):
        return material.previous.chain.pruner is not None
    return len(material.labels) ** (model.order + 1) >= EDGES


def _obstacle(objective: Objective, material: Material, space: StateSpace) -> str:
    """What speaks against pruning; empty: nothing."""
    if not isinstance(objective, Contrast):
        return "the objective does not compare whole paths"
    if material.whole is None:
        return "the data are in pieces"
    if material.pairs is None or material.extent.dense:
        return "it needs sparse features (text, dicts, strings), not columns of numbers"
    if material.extent.edges:
        return "features of transitions need all labels of the position before"
    if space.n_states != space.n_rows:
        return "labels have several states"
    return ""


def triples(material: Material, space: StateSpace) -> Triples:
    """A weight for every triple of labels in the training data, and for those of an older model."""
    rows = material.clamp.single_row[material.clamp.index]
    code = known_codes(rows, material.batch.offsets, space)
    scorer = Triples(code, space.n_edges, space.n_rows)
    if material.previous is not None:
        scorer = replace(scorer, code=union(code, _old_codes(material, space)))
    return scorer


def _old_codes(material: Material, space: StateSpace) -> Any:
    """The triples of an older model, by the numbers that rows and edges have now."""
    assert material.previous is not None
    old = next((s for s in material.previous.chain.transitions if isinstance(s, Triples)), None)
    if old is None:
        return np.empty(0, np.int64)
    origin = material.origin(space)
    edges, rows = (_inverse(part, size) for part, size in ((origin.edges, old.n_edges), (origin.rows, old.n_rows)))
    pair = np.concatenate([edges, np.where(rows >= 0, space.n_edges + rows, -1)])[old.pair]
    third = rows[old.third]
    there = (pair >= 0) & (third >= 0)
    return np.sort(pair[there] * space.n_rows + third[there])


def _inverse(origin: Any, size: int) -> Any:
    """Where the old ones are now, -1: nowhere."""
    now = np.full(size, -1, np.int64)
    now[origin[origin >= 0]] = np.flatnonzero(origin >= 0)
    return now


def pruned(
    problem: Problem, material: Material, theta: Float, threshold: float, seed: int, kind: str = "softmax"
) -> tuple[Problem, Float]:
    """The problem over the rows that a pruner leaves, and θ with the pruner's weights where it would start from 0."""
    chain = problem.chain
    scorer = sparse_scorer(chain.scorers)
    if kind == "softmax":
        pruner = train_pruner(problem, material, threshold, seed)
    elif material.previous is not None:
        raise ConfigError(f'prune_by="{kind}" counts all of the training data and cannot go on; use "softmax".')
    else:
        pruner = count_pruner(problem, material.features, kind, threshold)
    chain = replace(chain, pruner=pruner)
    lattice = plausible(chain, problem.batch, problem.targets.clamp, keep_known=True)
    chain = replace(chain, pruner=replace(pruner, width=lattice.width))
    start = theta.copy()
    if material.previous is None:
        chain.views(start)[f"{scorer.name}.weight"][...] = (1.0 if kind == "softmax" else SHARES) * pruner.weight
    return replace(problem, chain=chain, lattice=lattice), start


def train_pruner(problem: Problem, material: Material, threshold: float, seed: int) -> Pruner:
    """The softmax over rows, by AdaGrad on the positions whose labels are known."""
    scorer, batch, clamp = sparse_scorer(problem.chain.scorers), problem.batch, problem.targets.clamp
    sparse, pairs = batch.sparse, scorer.pairs
    assert sparse is not None
    weight, old = np.zeros(pairs.n_pairs), _old_weights(material, scorer, problem.chain)
    if old is not None:
        weight = old
    squares = np.ones(pairs.n_pairs)  # a start of 1, not 0: first steps must not be bold (1 to 2 points)
    seen = np.maximum(np.bincount(sparse.indices[sparse.indices >= 0], minlength=pairs.n_features), 1)
    known = ~clamp.table.all(axis=1)
    counted = np.flatnonzero(problem.targets.weight > 0)
    prior = _prior(problem, material)
    rate, lost = RATE if old is None else RATE / 5, 0.0
    for number in range(PASSES):
        order = batch.positions(counted[orders(seed, number, len(counted))])
        rates = rate * (1 - (number + (np.arange(len(order)) + 0.5) / max(len(order), 1)) / PASSES)
        half = len(order) // 2
        for part in (slice(0, half), slice(half, None)):
            _, n, n_lost = zero_order_pass(
                sparse.indptr, sparse.indices, sparse.weights(), pairs.first, pairs.row, pairs.n_full, pairs.n_single,
                pairs.mask, clamp.index, clamp.table, known, order[part], rates[part], 2 * L2 / seen, threshold,
                prior, weight, squares,
            )  # fmt: skip
            if number == 0 and n:
                lost = n_lost / n  # of positions never seen before, in the end those of the second half
    return Pruner(_single(weight), threshold, threshold, lost=lost, prior=prior)


def _prior(problem: Problem, material: Material) -> Float:
    """(R,) the logarithms of how often rows are the right ones; those of an older pruner stay, new rows are rare."""
    clamp = problem.targets.clamp
    known = ~clamp.table.all(axis=1)
    seen = np.bincount(clamp.index, minlength=len(clamp.table)) * known
    share = clamp.table / np.maximum(clamp.table.sum(axis=1, keepdims=True), 1)
    count = 1.0 + seen @ share
    found = np.log(count / count.sum())
    before = None if material.previous is None else material.previous.chain
    if before is not None and before.pruner is not None:
        there, then = material.origin(problem.chain.space).rows, before.pruner.prior
        then = then if len(then) else np.zeros(before.space.n_rows)
        found = np.where(there >= 0, then[there], then.min())
    return _single(found)


def _single(values: Float) -> Float:
    """As a file holds them."""
    return values.astype(np.float32).astype(np.float64)


def _old_weights(material: Material, scorer: SparseLinear, chain: Chain) -> Float | None:
    """The weights of an older model's pruner, by the numbers that pairs have now."""
    previous = material.previous
    if previous is None or previous.chain.pruner is None:
        return None
    ours = {"weight": np.zeros(scorer.pairs.n_pairs)}
    old = sparse_scorer(previous.chain.scorers)
    scorer.carry(old, material.origin(chain.space), {"weight": previous.chain.pruner.weight}, ours)
    return ours["weight"]
