"""Grids of hyper-parameters: where the best value is the first or the last, a better one may lie beyond it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

EXTENSIONS = 4  # steps beyond the edge of a grid


@dataclass(frozen=True)
class Choice:
    """The best settings, their loss, and those that lie at the edge of their grid after all steps beyond it."""

    settings: dict[str, Any]
    loss: float
    edges: tuple[str, ...] = ()

    def told(self) -> str:
        """In words."""
        return ", ".join(
            f"{name} = {f'{value:.3g}' if isinstance(value, float) else value}"
            f"{' (edge of its grid)' * (name in self.edges)}"
            for name, value in self.settings.items()
        )


def best_of(grid: Mapping[str, Sequence[Any]], loss: Callable[[dict[str, Any]], float]) -> Choice:
    """The settings with the lowest loss. Grids of three numbers or more go on where the best is at their edge."""
    values = {name: list(own) for name, own in grid.items()}
    found: dict[tuple[Any, ...], float] = {}
    waiting = list(product(*values.values()))
    for left in range(EXTENSIONS, -1, -1):
        for chosen in waiting:
            found[chosen] = loss(dict(zip(values, chosen, strict=True)))
        best = min(found, key=lambda chosen: found[chosen])
        further = {name: beyond(own, best[at]) for at, (name, own) in enumerate(values.items())}
        edges = tuple(name for name, value in further.items() if value is not None)
        if not edges or not left:
            return Choice(dict(zip(values, best, strict=True)), found[best], edges)
        waiting = []
        for at, name in enumerate(values):
            if name in edges:
                values[name] = sorted([*values[name], further[name]])
                waiting.append((*best[:at], further[name], *best[at + 1 :]))
    raise AssertionError("the last step returns")


def beyond(values: Sequence[Any], best: Any) -> float | None:
    """The next number beyond a grid whose best value is at its edge; None if it is not, or if these are no numbers.

    Values ascend by factors; there must be three of them to speak of an edge.
    """
    if len(values) < 3 or not isinstance(best, float):
        return None
    if best == values[0]:
        return float(f"{best * best / values[1]:.2g}")
    return float(f"{best * best / values[-2]:.2g}") if best == values[-1] else None
