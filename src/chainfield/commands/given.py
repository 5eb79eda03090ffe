"""A column of what is known of labels: ``chainfield tag --given``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chainfield.errors import DataError

if TYPE_CHECKING:
    from chainfield.data.column_blocks import Block
    from chainfield.fitted.tagger import Tagger

NOTHING = ("?", "_")


def split_given(block: Block, column: int, tagger: Tagger) -> tuple[Block, list[list[Any]]]:
    """A block without the column of what is known, and what the column says, sentence by sentence."""
    rows = block.rows
    n = rows.n_columns
    if not -n <= column < n or n < 2:
        raise DataError(f"{block.source}, line {block.line_of(0)}: there is no column {column} of {n} for --given.")
    at = column % n
    labels = {str(label): label for label in tagger.task.labels}
    meaning = {}
    codes = rows.codes[at].tolist()
    for row, code in enumerate(codes):
        if code not in meaning:
            meaning[code] = known_of(rows.values[at][code], labels, f"{block.source}, line {block.line_of(row)}")
    return replace(block, rows=rows.without(at)), rows.ragged.cut([meaning[code] for code in codes])


def known_of(cell: str, labels: dict[str, Any], where: str) -> Any:
    """What a cell says: a label, a set of labels, what is added to scores, or nothing (None)."""
    if cell in labels:
        return labels[cell]
    if cell in NOTHING:
        return None
    parts = cell.split("|")
    if all(part in labels for part in parts):
        return {labels[part] for part in parts}
    added: dict[Any, float] = {}
    for part in parts:
        name, _, number = part.rpartition("=")
        try:
            added[labels[name]] = float(number)
        except (KeyError, ValueError):
            raise DataError(
                f"{where}: {cell!r:.60} is neither a label of the model, nor A|B, nor A=-2.5, nor ? for nothing."
            ) from None
    return added
