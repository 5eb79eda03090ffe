"""Cells of the harness: a model, what is set beside its defaults, and a corpus."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Family:
    """A model with an objective of its own.

    ``grid``: settings and their values beside the defaults, the telling ones first.
    """

    name: str
    kind: str
    corpora: tuple[str, ...]
    grid: tuple[tuple[str, tuple[Any, ...]], ...]
    base: dict[str, Any] = field(default_factory=dict)

    def choices(self) -> list[dict[str, Any]]:
        """The defaults, and every other value of every setting by itself."""
        return [{}, *({name: value} for name, values in self.grid for value in values)]


@dataclass(frozen=True)
class Cell:
    """One training: a model, what is set beside its defaults, and a corpus."""

    family: Family
    chosen: tuple[tuple[str, Any], ...]
    corpus: str

    @property
    def name(self) -> str:
        """For logs and files."""
        return f"{self.family.name} on {self.corpus}"

    @property
    def shown(self) -> str:
        """What is set."""
        return ", ".join(f"{name}={value}" for name, value in self.chosen) or "defaults"
