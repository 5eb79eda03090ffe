"""Checks around every inference function: do the scores fit the space, are they numbers, is there a path?"""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.errors import DataError, NoPathError
from chainfield.potentials import Potentials
from chainfield.states import StateSpace


def check_scores(space: StateSpace, potentials: Potentials) -> None:
    """Refuse scores of another shape than the space's, which kernels would read beyond their ends, and those that are
    no numbers.
    """
    check_shapes(space, potentials)
    check_numbers(potentials)


def check_numbers(potentials: Potentials) -> None:
    """Refuse scores that are NaN or +inf: comparisons would pass over a NaN without a word."""
    for scores in (potentials.node, potentials.edge):
        # The maximum of anything with a NaN is NaN.
        if not np.maximum.reduce(scores, axis=None, initial=-np.inf) < np.inf:
            row = int(np.argmax(~(scores.max(axis=1) < np.inf)))
            where = "Every sequence" if len(scores) == 1 else f"Sequence {potentials.ragged.place(row)[0]}"
            raise DataError(f"{where} has scores that are NaN or +inf; check its features and the model's weights.")


def check_shapes(space: StateSpace, potentials: Potentials) -> None:
    """Refuse arrays that do not fit the space, or each other."""
    node, edge, offsets = potentials.node, potentials.edge, potentials.offsets
    fits = node.ndim == edge.ndim == 2 and node.shape[1] == space.n_rows and edge.shape[1] == space.n_edges
    if not (fits and edge.shape[0] in (1, len(node))):
        raise DataError(
            f"Scores have the shapes {node.shape} and {edge.shape}; expected are ({len(node)}, {space.n_rows}), and "
            f"(1, {space.n_edges}) or ({len(node)}, {space.n_edges})."
        )
    check_offsets(offsets, len(node))


def check_offsets(offsets: Int, n_positions: int) -> None:
    """Refuse offsets that lead outside of the positions."""
    fits = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == n_positions
    if not fits or (len(offsets) > 2 and (offsets[1:] < offsets[:-1]).any()):
        raise DataError(f"offsets must rise from 0 to the number of positions ({n_positions}).")


def check_gathering(potentials: Potentials, weight: Float, into: Potentials) -> None:
    """Refuse arrays that have no room for what is gathered in them."""
    node, edge = into.node, into.edge
    fits = node.shape == potentials.node.shape and edge.shape[1:] == potentials.edge.shape[1:]
    if not (fits and edge.shape[0] in (1, len(node)) and weight.shape == (potentials.n_sequences,)):
        raise DataError(
            f"What is gathered has the shapes {node.shape} and {edge.shape} with {weight.shape} weights, which do not "
            f"fit scores of the shapes {potentials.node.shape} and {potentials.edge.shape}."
        )


def check_paths(space: StateSpace, potentials: Potentials, states: Int32, edges: Int32) -> None:
    """Refuse paths over states and edges that the space does not have."""
    check_shapes(space, potentials)
    n = len(potentials.node)
    fits = states.shape == edges.shape == (n,)
    if fits and n:
        fits = states.min() >= 0 and states.max() < space.n_states and edges.min() >= -1
        fits = fits and edges.max() < space.n_edges
    if not fits:
        raise DataError(f"A path needs a state and an edge of the space at each of {n} positions.")


def check_values(values: Float, *, strict: bool = True) -> None:
    """Raise for the first sequence whose log-partition or best score is not finite; -inf passes if not ``strict``."""
    if not strict:
        values = np.where(values == -np.inf, 0.0, values)
    if np.logical_and.reduce(np.isfinite(values)):
        return
    s = int(np.argmin(np.isfinite(values)))
    if values[s] == -np.inf:
        raise NoPathError(s)
    raise DataError(f"Sequence {s} has scores that are NaN or +inf; check its features and the model's weights.")


# Beyond this, a score's last digit is worth more than 1e-7, and so is what sums of scores lose.
LARGE = 1e9


def check_precision(potentials: Potentials, rows: Float) -> None:
    """Refuse posteriors (N, R) that do not add up to 1: scores so large that doubles cannot tell them apart.

    Large scores as such are fine, as long as one state wins clearly. Where they lose digits that matter, the two
    recursions lose different ones, and the sums show it.
    """
    if not len(rows):
        return
    largest = max(_largest(potentials.node), _largest(potentials.edge))
    off = np.abs(rows.sum(axis=1) - 1.0)
    wrong = ~(off <= (1e-6 if largest < LARGE else 1e-9))
    if wrong.any():
        raise too_large(potentials.ragged.place(int(np.argmax(wrong)))[0], largest)


def _largest(scores: Float) -> float:
    """The largest number that is not infinite, without its sign."""
    finite = np.where(np.isfinite(scores), scores, 0.0)
    return max(float(finite.max(initial=0.0)), -float(finite.min(initial=0.0)))


def too_large(sequence: int, score: float) -> DataError:
    """What to say of scores that leave no digits for probabilities."""
    return DataError(
        f"Sequence {sequence} has scores up to {score:.0e}, too large to compute probabilities from; scale its "
        "features, or train with a stronger penalty."
    )
