"""Where the parts of a new chain were in an old one, so that weights can be carried over."""

from __future__ import annotations

from dataclasses import dataclass

from chainfield.arrays import Int, distinct


@dataclass(frozen=True, eq=False)
class Origin:
    """Old numbers by new ones; -1: there was none. Several new rows may come from one old row, never the reverse."""

    rows: Int  # (R,)
    edges: Int  # (E,)
    edge_rows: Int  # (edge rows,)
    features: Int  # (F,) sparse features; columns and features of transitions keep their numbers
    same: bool  # whether nothing has moved, come or gone

    @property
    def split(self) -> bool:
        """Whether an old row became several: equal weights would keep them equal for ever."""
        found = self.rows[self.rows >= 0]
        return len(distinct(found)) < len(found)
