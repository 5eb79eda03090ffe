"""What a pruner leaves of a batch: a lattice in which every sequence still has a path, and the best labels in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Int32
from chainfield.errors import NoPathError
from chainfield.features.batch import Batch
from chainfield.inference import alive, lattice_paths, make_net
from chainfield.parallel import ordered_map
from chainfield.potentials import Clamp, Lattice, lattice_of
from chainfield.scorers import Chain, Triples

if TYPE_CHECKING:
    from chainfield.kernels.chain.lattice import Net

    from .model import FittedModel

BLOCK = 1 << 22  # bytes of scores at a time
WIDER = 1 / 16  # a threshold that leaves no path is lowered by this factor, again and again
LOWEST = 1e-9


def plausible(chain: Chain, batch: Batch, clamp: Clamp | None = None, *, keep_known: bool = False) -> Lattice:
    """The rows that the chain's pruner leaves, of those that a clamp allows.

    Where it leaves none of them, all that the clamp allows stay; where rules then leave a sequence without a path, more
    rows are let in. keep_known: for training, a known row stays beside the plausible ones, whatever its probability.
    """
    parts = [
        _block(chain, batch.window(lo, hi), _part(clamp, batch, lo, hi), keep_known) for lo, hi in _blocks(chain, batch)
    ]
    first = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.first) for part in parts)]).cumsum()
    return Lattice(first, np.concatenate([np.empty(0, np.int32), *(part.rows for part in parts)]))


def best_labels(model: FittedModel, batch: Batch, given: Sequence[Any] | None = None) -> Int32:
    """(N,) the labels of the best paths through the lattice."""
    chain = model.chain
    clamp = None if given is None else model.task.known(chain.space, given, batch.offsets)
    net = net_of(chain)
    edge = np.zeros((1, chain.space.n_edges))
    for scorer in chain.transitions:
        if not isinstance(scorer, Triples):
            scorer.forward(model.own(scorer), batch, model.how, edge)
    triples = next((model.own(s)["weight"] for s in chain.transitions if isinstance(s, Triples)), None)

    def block(bounds: tuple[int, int]) -> Int32:
        lo, hi = bounds
        window = batch.window(lo, hi)
        part = _part(clamp, batch, lo, hi)
        lattice = _block(chain, window, part, False)
        cells = model.scoring.cells(window, lattice)
        if part is not None and part.added is not None:
            cells += part.added[lattice.position_of(), lattice.rows]
        rows, score = lattice_paths(net, lattice, window.offsets, cells, edge[0], triples)
        lost = np.flatnonzero(score == -np.inf)
        if len(lost):
            raise NoPathError(lo + int(lost[0]))
        return chain.space.label_of_row[rows]

    found = list(ordered_map(block, _blocks(chain, batch), model.n_jobs))
    return np.concatenate([np.empty(0, np.int32), *found])


def net_of(chain: Chain) -> Net:
    """The chain's space and triples, for the kernels."""
    triples = next((scorer for scorer in chain.transitions if isinstance(scorer, Triples)), None)
    return make_net(chain.space) if triples is None else make_net(chain.space, triples.after, triples.third)


def _blocks(chain: Chain, batch: Batch) -> list[tuple[int, int]]:
    return list(batch.ragged.blocks(max(1, BLOCK // (8 * chain.space.n_rows))))


def _part(clamp: Clamp | None, batch: Batch, lo: int, hi: int) -> Clamp | None:
    return None if clamp is None else clamp[batch.ragged.slice_of(lo, hi)]


def _block(chain: Chain, batch: Batch, clamp: Clamp | None, keep_known: bool) -> Lattice:
    """The lattice of a few sequences."""
    pruner, space = chain.pruner, chain.space
    assert pruner is not None
    threshold = pruner.threshold
    lattice = pruner.lattice(chain.emissions, batch, clamp, keep_known=keep_known)
    if space.n_edges == space.n_states**2 and space.start.all() and space.end.all():
        return lattice
    net = make_net(space)
    while True:
        right = lattice.agrees(clamp) if clamp is not None else None
        dead = np.flatnonzero(~alive(net, lattice, batch.offsets, right))
        if not len(dead) or threshold == 0.0:
            return lattice
        threshold = threshold * WIDER if threshold > LOWEST else 0.0
        mask = lattice.mask(space.n_rows)
        for s in dead.tolist():
            known, window = _part(clamp, batch, s, s + 1), batch.window(s, s + 1)
            wider = pruner.lattice(chain.emissions, window, known, keep_known=keep_known, threshold=threshold)
            mask[batch.ragged.slice_of(s, s + 1)] = wider.mask(space.n_rows)
        lattice = lattice_of(mask)
