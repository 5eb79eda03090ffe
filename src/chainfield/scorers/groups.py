"""Groups of rows: weights of a whole label beside those of its states.

A scorer with groups has one column more for each group than there are rows: score(t, r) = own(t, r) + own(t, R + g(r)).
The states of a label then share what is common to them, and differ by what is seen often enough to tell them apart.
Shapes: R rows, G groups, C = R + G columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Float, Int, Int32, distinct
from chainfield.schema import Tensor, demand

if TYPE_CHECKING:
    from chainfield.states import StateSpace

NO_GROUPS: Int32 = np.empty(0, np.int32)
GROUP_OF = Tensor(
    "group_of", ("I32",), ("R",), "the label whose weights a row shares; -1: none", least=-1, below="L", empty=True
)


def label_groups(space: StateSpace) -> Int32:
    """(R,) the label of each row, -1 where a label has no other row: nothing is shared there. Empty if nowhere."""
    several = np.bincount(space.label_of_row, minlength=space.n_labels) > 1
    if not several.any():
        return NO_GROUPS
    return np.where(several[space.label_of_row], space.label_of_row, -1).astype(np.int32)


def n_groups(group_of: Int32) -> int:
    """G."""
    return int(group_of.max(initial=-1)) + 1


def members(group_of: Int32) -> Float:
    """(R, G) 1 where a row belongs to a group."""
    return (group_of[:, None] == np.arange(n_groups(group_of))).astype(np.float64)


def add_grouped(wide: Float, group_of: Int32, scores: Float) -> None:
    """Scores (N, R) += those of rows and those of their groups, from all columns (N, C)."""
    n_rows = len(group_of)
    scores += wide[:, :n_rows]
    scores += wide[:, n_rows:] @ members(group_of).T


def with_groups(d: Float, group_of: Int32) -> Float:
    """(N, C): the way back, gradients of rows and their sums over groups."""
    return np.hstack([d, d @ members(group_of)])


def old_columns(old: Int32, new: Int32, rows: Int) -> Int:
    """(C,) where each column was before, -1: nowhere; ``rows`` (R,) tells it for rows.

    Rows without groups that became several give their weights to the group, and the rows begin anew: a latent model
    that starts from a plain one.
    """
    groups = np.full(n_groups(new), -1, np.int64)
    own = rows.copy()
    for g in range(len(groups)):
        inside = np.flatnonzero(new == g)
        before = distinct(rows[inside][rows[inside] >= 0])
        if len(old) and len(before) and old[before[0]] >= 0:
            groups[g] = len(old) + old[before[0]]
        elif len(before) == 1:
            groups[g] = before[0]
            own[inside] = -1
    return np.concatenate([own, groups])


def check_groups(group_of: Int32, space: StateSpace) -> None:
    """Refuse groups from a file that are not the space's labels."""
    good = group_of.dtype == np.int32 and group_of.shape in ((0,), (space.n_rows,))
    good = good and (len(group_of) == 0 or bool(((group_of == -1) | (group_of == space.label_of_row)).all()))
    demand(good, "the groups of rows")
