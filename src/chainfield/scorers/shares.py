"""What a scorer tells about itself: its weights by name, and the shares of a score."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: Where a weight acts: at every position, at the first, at the last, between two, or along three.
Place = Literal["position", "start", "end", "transition", "triple"]


class Weight(NamedTuple):
    """One weight. ``column``: the row, or the edge of a transition; ``feature`` is "" where there is none.

    A column of -1 - l stands for all rows of label l.
    """

    feature: str
    column: int
    weight: float


class Share(NamedTuple):
    """What one feature adds to the scores of some columns; ``feature`` is "" for the score of the scorer as such."""

    feature: str
    value: float
    scores: tuple[float, ...]
