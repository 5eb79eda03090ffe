"""Figures of kept results, and the curves that are drawn through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .curves import curves
from .experiment import Result, Row


@dataclass(frozen=True)
class Figure:
    """A figure of a kept result."""

    experiment: str
    setting: str
    metric: str

    def of(self, results: Mapping[str, Result]) -> Row:
        """The row that holds it."""
        result = results.get(self.experiment)
        rows = () if result is None else result.rows
        found = [row for row in rows if (row.setting, row.metric) == (self.setting, self.metric)]
        if not found or found[0].ours is None:
            raise LookupError(f"A claim rests on {self.experiment}, {self.setting!r}, {self.metric!r}; no such row.")
        return found[0]


def ours(row: Row) -> float:
    """Our figure."""
    assert row.ours is not None
    return row.ours


def published(row: Row) -> float:
    """The paper's."""
    if row.published is None:
        raise LookupError(f"{row.setting!r} has no published figure to draw.")
    return row.published


@dataclass(frozen=True)
class Curve:
    """Figures over some number; ``share``: they are shares of what is right, and what is missing to 100 is drawn."""

    points: Sequence[tuple[float, Figure]]
    value: Callable[[Row], float] = ours
    share: bool = False

    def places(self, results: Mapping[str, Result]) -> list[tuple[float, float]]:
        """Where the points are."""
        values = [(x, self.value(figure.of(results))) for x, figure in self.points]
        return [(x, 100.0 - y) for x, y in values] if self.share else values


@dataclass(frozen=True)
class Picture:
    """A picture, and what it shows in words. Without curves it is one that an experiment drew itself."""

    path: str
    words: str
    axes: tuple[str, str] = ("", "")
    curves: Mapping[str, Curve] = field(default_factory=dict)

    def draw(self, results: Mapping[str, Result]) -> str | None:
        """As SVG; None if figures are missing, or if an experiment draws it."""
        try:
            lines = {name: curve.places(results) for name, curve in self.curves.items()}
        except LookupError:
            return None
        return curves(lines, *self.axes) if lines else None
