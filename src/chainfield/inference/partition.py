"""Log-partition and posteriors (sum-product)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.potentials import Potentials
from chainfield.states import StateSpace

from .checks import check_gathering, check_precision, check_scores, check_values
from .summing import sum_all


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posteriors of a batch: expected counts of rows and edges, and each sequence's log-partition."""

    expected: Potentials  # node (N, R); edge (1, E) summed over positions, or (N, E)
    log_z: Float  # (S,)


def add_posteriors(space: StateSpace, potentials: Potentials, weight: Float, into: Potentials) -> Float:
    """Add weight[s] × posteriors of each sequence to ``into``; return the log-partitions (S,)."""
    check_scores(space, potentials)
    check_gathering(potentials, weight, into)
    if into.shared and not potentials.shared and len(potentials.node) > 1:
        raise ConfigError("Edges that every position has for itself need a gradient for every position.")
    log_z = sum_all(space, potentials, weight, into)
    check_values(log_z)
    return log_z


def log_partition(space: StateSpace, potentials: Potentials, *, strict: bool = True) -> Float:
    """(S,) log of the sum over all paths of exp(score).

    A sequence without a path is an error, or has -inf if not ``strict``.
    """
    check_scores(space, potentials)
    log_z = sum_all(space, potentials)
    check_values(log_z, strict=strict)
    return log_z


def marginals(space: StateSpace, potentials: Potentials, *, edges_per_position: bool = False) -> Posterior:
    """Posterior probabilities of emission rows (N, R) and of edges (summed over positions, or (N, E))."""
    into = potentials.zeros(per_position=edges_per_position or not potentials.shared)
    log_z = add_posteriors(space, potentials, np.ones(potentials.n_sequences), into)
    check_precision(potentials, into.node)
    return Posterior(into, log_z)


def label_marginals(space: StateSpace, potentials: Potentials) -> Float:
    """(N, L) posterior probabilities of labels: those of their rows, added up."""
    return add_rows(space, marginals(space, potentials).expected.node)


def add_rows(space: StateSpace, rows: Float) -> Float:
    """(N, R) numbers of rows as (N, L) numbers of labels: added up."""
    if np.array_equal(space.label_of_row, np.arange(space.n_labels)):
        return rows
    labels = np.zeros((len(rows), space.n_labels))
    for row, label in enumerate(space.label_of_row):
        labels[:, label] += rows[:, row]
    return labels
