"""Random state spaces and potentials for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from chainfield.potentials import Potentials, make_potentials
from chainfield.states import (
    Rules,
    StateSpace,
    class_blocks,
    left_to_right,
    one_per_label,
    partitioned,
    restrict,
    second_order,
)


def bio_rules() -> Rules:
    """O, B, I: I only after B or I."""
    edge = np.ones((3, 3), bool)
    edge[0, 2] = False
    return Rules(np.array([True, True, False]), np.ones(3, bool), edge)


SPACES = {
    "one label": lambda: one_per_label(1),
    "two labels": lambda: one_per_label(2),
    "three labels": lambda: one_per_label(3),
    "latent": lambda: partitioned([2, 1]),
    "bio": lambda: restrict(one_per_label(3), bio_rules()),
    "second order": lambda: second_order(one_per_label(2)),
    "second order bio": lambda: second_order(restrict(one_per_label(3), bio_rules())),
    "second order latent": lambda: second_order(partitioned([1, 2])),
    "left to right": lambda: left_to_right(3, skip=2),
    "class blocks": lambda: class_blocks([left_to_right(2), one_per_label(1), partitioned([2])]),
    "restricted latent": lambda: restrict(partitioned([1, 2, 1]), bio_rules()),
}


@st.composite
def problems(
    draw: st.DrawFn, names: tuple[str, ...] = tuple(SPACES), max_length: int = 4
) -> tuple[StateSpace, Potentials]:
    """A space and potentials for one to three sequences, of small or enormous scores, some of them -inf."""
    space = SPACES[draw(st.sampled_from(names))]()
    minimum = 2 if not (space.start & space.end).any() else 1
    longest = max_length if space.n_states <= 6 else 3
    lengths = draw(st.lists(st.integers(max(minimum, 1), longest), min_size=1, max_size=3))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.0, 1.0, 5.0, 300.0, 1e4]))
    per_position = draw(st.booleans())
    node = rng.uniform(-scale, scale, (offsets[-1], space.n_rows))
    edge = rng.uniform(-scale, scale, (offsets[-1] if per_position else 1, space.n_edges))
    if draw(st.booleans()):
        node[rng.random(node.shape) < 0.1] = -np.inf
        edge[rng.random(edge.shape) < 0.1] = -np.inf
    return space, make_potentials(space, node, edge, offsets)
