"""Names by number, as CRFsuite's models have them: byte strings, all different, in one buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, final

import numpy as np

from chainfield.arrays import Bytes, Int, offsets_of
from chainfield.data.string_table import Pieces, StringTable, padded_buffer
from chainfield.errors import ConfigError


@final
class Names(Sequence[bytes]):
    """Byte strings that compiled code finds; to be read like a list of bytes."""

    def __init__(self, table: StringTable) -> None:
        self.table = table

    @classmethod
    def of(cls, names: Sequence[bytes]) -> Names:
        """The names of a list; one that occurs twice is a ConfigError."""
        if isinstance(names, Names):
            return names
        bounds = offsets_of([len(name) for name in names])
        table = StringTable.of(Pieces(padded_buffer(b"".join(names)), bounds[:-1], bounds[1:]))
        if len(table) < len(names):
            raise ConfigError("Two names are the same, which CRFsuite's format does not allow.")
        return cls(table)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, at: Any) -> Any:
        pieces = self.table.pieces()
        if isinstance(at, slice):
            return list(self)[at]
        return pieces.buffer[pieces.starts[at] : pieces.ends[at]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        whole, _ = self.laid_out()
        content = whole.tobytes()
        return (content[a:b] for a, b in pairwise([*self.table.pieces().starts.tolist(), len(content)]))

    def laid_out(self) -> tuple[Bytes, Int]:
        """All names end to end, and their lengths."""
        pieces = self.table.pieces()
        size = int(pieces.ends[-1]) if len(pieces) else 0
        return pieces.buffer[:size], pieces.ends - pieces.starts

    def has_nul(self) -> bool:
        """Whether a name contains a NUL, at which CRFsuite cuts strings."""
        return not self.laid_out()[0].all()

    def is_text(self) -> bool:
        """Whether every name is UTF-8 by itself, without halves of characters."""
        whole, lengths = self.laid_out()
        if whole.max(initial=0) < 0x80:
            return True
        try:
            whole.tobytes().decode("utf-8")
        except UnicodeDecodeError:
            return False
        begin = whole[offsets_of(lengths)[:-1][lengths > 0]]
        return not ((begin & 0xC0) == 0x80).any()

    def take(self, numbers: Int) -> Names:
        """Some of the names."""
        if len(numbers) == len(self) and (numbers == np.arange(len(self))).all():
            return self
        pieces = self.table.pieces()
        return Names(StringTable.of(Pieces(pieces.buffer, pieces.starts[numbers], pieces.ends[numbers])))
