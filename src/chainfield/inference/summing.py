"""Which kernel sums over the paths of a batch: all give the same numbers, and each is the fastest somewhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from chainfield.arrays import Float
from chainfield.kernels.chain.clamped import narrow_sum
from chainfield.kernels.chain.products import sum_by_products
from chainfield.kernels.chain.sum import sum_product
from chainfield.parallel import load_products, one_blas_thread
from chainfield.potentials import Potentials
from chainfield.states import StateSpace

# Measured on dense spaces, microseconds a position, at 64, 128, 248 and 512 states:
#   one sequence at a time              1.0   4.2   13.6   147   (the matrix has left the cache)
#   by products of matrices             1.3   3.8   12.0    46   (of which BLAS: 0.6, 2.2, 8.2, 38)
#   clamped to an eighth of the states  0.4   1.0    3.1    12
PRODUCTS = 128  # states
ABREAST = 3  # sequences that run side by side, on average
# Where so few scores are above -inf, listing them is cheaper than going over all.
NARROW = 0.25
NARROW_STATES = 32


def sum_all(
    space: StateSpace, potentials: Potentials, weight: Float | None = None, into: Potentials | None = None
) -> Float:
    """(S,) log-partitions; with ``into``, weight[s] × the posteriors of each sequence are added to it.

    -inf: a sequence has no path; NaN or +inf: its scores are not finite.
    """
    log_z = np.full(potentials.n_sequences, np.nan)
    weight = np.ones(potentials.n_sequences) if weight is None else weight
    quick = _quick(space, potentials)
    if quick is not None and (into is None or into.shared):
        found = _empty(potentials) if into is None else into
        data = (potentials.node, potentials.edge[0], potentials.offsets, weight)
        with one_blas_thread():
            quick(space.graph, *data, into is not None, found.node, found.edge[0], log_z)
    # The rest: every sequence, or those in which the quick kernel found that it might lose something.
    left = np.flatnonzero(np.isnan(log_z))
    if len(left) == potentials.n_sequences:
        _plain(space, potentials, weight, into, log_z)
    for s in left.tolist() if len(left) < potentials.n_sequences else []:
        window = slice(s, s + 1)
        _plain(space, potentials.window(s), weight[window], None if into is None else into.window(s), log_z[window])
    return log_z


def _quick(space: StateSpace, potentials: Potentials) -> Callable[..., None] | None:
    """A kernel for many states, if one suits: see their modules."""
    n, k = len(potentials.node), space.n_states
    if not potentials.shared or n < 2 or k < NARROW_STATES or not space.dense:
        return None
    if np.count_nonzero(potentials.node > -np.inf) <= NARROW * potentials.node.size:
        return narrow_sum
    if k < PRODUCTS or n < ABREAST * int(potentials.ragged.lengths.max(initial=0)):
        return None
    load_products()
    return sum_by_products


def _plain(space: StateSpace, potentials: Potentials, weight: Float, into: Potentials | None, log_z: Float) -> None:
    found = _empty(potentials) if into is None else into
    sum_product(
        space.graph,
        potentials.node,
        potentials.edge,
        potentials.offsets,
        weight,
        into is not None,
        found.node,
        found.edge,
        not found.shared,
        log_z,
    )


def _empty(potentials: Potentials) -> Potentials:
    """Nothing to gather in."""
    return Potentials(np.empty((0, 0)), np.empty((1, 0)), potentials.offsets)
