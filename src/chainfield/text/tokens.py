"""Tokens of a batch of texts: where each begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chainfield.arrays import Bool, Int, Ragged
from chainfield.data.coded_rows import CodedRows
from chainfield.data.string_table import Pieces, StringTable


@dataclass(frozen=True, eq=False)
class Tokens:
    """N tokens of D texts, end to end. Offsets count the characters of the text that a token belongs to."""

    starts: Int  # (N,)
    ends: Int  # (N,)
    documents: Ragged  # the tokens of each text
    sequences: Ragged  # the tokens of each sequence: a text, or a sentence of one
    pieces: Pieces  # (N,) the tokens themselves

    def __len__(self) -> int:
        return len(self.starts)

    def rows(self) -> CodedRows:
        """The words as rows of one column, for a model."""
        return self._rows

    @cached_property
    def _rows(self) -> CodedRows:
        table = StringTable()
        codes = table.add(self.pieces)
        return CodedRows(self.sequences.offsets, codes[None, :], [table.strings()])

    def places(self) -> list[list[tuple[int, int]]]:
        """(start, end) of each token, text by text."""
        return self.documents.cut(list(zip(self.starts.tolist(), self.ends.tolist(), strict=True)))

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text."""
        return [[text[a:b] for a, b in own] for text, own in zip(texts, self.places(), strict=True)]


def sentences_of(documents: Ragged, breaks: Bool) -> Ragged:
    """Sequences that end with their documents, and where a sentence begins (``breaks``)."""
    import numpy as np

    begins = breaks.copy()
    begins[documents.firsts] = True
    # An empty document keeps its place: it is an empty sequence.
    firsts = np.concatenate([np.flatnonzero(begins), documents.offsets[:-1][documents.lengths == 0]])
    return Ragged(np.append(np.sort(firsts, kind="stable"), documents.n_positions).astype(np.int64))
