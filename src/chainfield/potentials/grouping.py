"""Sums over groups of columns, in the log domain."""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Float, Int32


def log_sums(scores: Float, group: Int32, n_groups: int) -> Float:
    """(M, E) scores, (E,) groups → (M, groups) log of the sum of exp over the columns of a group; -inf: it has none."""
    out = np.full((len(scores), n_groups), -np.inf)
    if scores.shape[1] == 0:
        return out
    order = np.argsort(group, kind="stable")
    ranked = group[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    own = scores[:, order]
    top = np.maximum.reduceat(own, first, axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    sizes = np.diff(np.append(first, len(ranked)))
    with np.errstate(divide="ignore"):
        sums = np.log(np.add.reduceat(np.exp(own - np.repeat(shift, sizes, axis=1)), first, axis=1))
    out[:, ranked[first]] = sums + shift
    return out


def log_sum(scores: Float) -> Float:
    """(M, K) → (M,) log of the sum of exp over a row; -inf where all of it is."""
    return log_sums(scores, np.zeros(scores.shape[1], np.int32), 1)[:, 0]


def shares(scores: Float, totals: Float) -> Float:
    """exp(scores - totals), 0 where a score is -inf."""
    return np.exp(np.where(scores > -np.inf, scores - np.where(np.isfinite(totals), totals, 0.0), -np.inf))


def add_groups(values: Float, group: Int32, n_groups: int) -> Float:
    """(M, E) values, (E,) groups → (M, groups) sums over the columns of a group."""
    if values.shape[1] == n_groups and np.array_equal(group, np.arange(n_groups)):
        return values
    out = np.zeros((len(values), n_groups))
    if values.shape[1]:
        order = np.argsort(group, kind="stable")
        ranked = group[order]
        first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
        out[:, ranked[first]] = np.add.reduceat(values[:, order], first, axis=1)
    return out
