"""The built-in tokeniser: rules by Unicode properties, for all scripts, in compiled code.

Spaces, control characters and signs of direction separate tokens and belong to none. Between them:

1. An address of the web (``name://…``, ``www.…``) is one token, without the punctuation behind it; so is an address of
   e-mail.
2. Letters, digits and marks form words: ``naïve``, ``B2B``, ``snake_case``. A dot or comma between digits belongs to
   the number: ``1,000.50``. Single letters with dots are one token: ``U.S.``, ``e.g.``.
3. An apostrophe between letters goes with what follows it if that has at most two letters (``Peter|'s``, ``we|'ll``),
   else with what precedes it if that has (``l'|homme``), else it joins them (``aujourd'hui``).
4. Every other sign is a token of its own, a row of the same punctuation mark (``...``, ``--``) is one token.
5. Scripts without spaces (Han, Hiragana, Thai, Lao, Khmer, Myanmar) give one token per character.
6. Marks, joiners and variation selectors stay with what they follow: an emoji is one token, and so is a flag.

A run without spaces is cut after 4,096 characters. Sentences end at ``. ! ? …`` and their like, with what closes behind
them, if a space follows and then no lower-case letter, and not behind a single capital letter (``J. Smith``); and at
blank lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Ragged, offsets_of
from chainfield.data.string_table import Pieces, padded_buffer
from chainfield.kernels.text.tokens import DOCUMENT, LONGEST, N_STATE, cut_tokens

from .properties import table, unicode_version
from .tokeniser import Tokeniser
from .tokens import Tokens, sentences_of

ROOM = 1 << 16  # tokens that are found at a time
VERSION = 1  # of the rules: a change that cuts anything differently has another


@final
@dataclass(frozen=True)
class Rules(Tokeniser):
    """The rules above."""

    kind: ClassVar[str] = "rules"

    def cut(self, texts: Sequence[str], *, sentences: bool = False) -> Tokens:
        """All tokens, by one pass over the text."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        first = offsets_of([len(text) for text in encoded])
        buffer = padded_buffer(b"".join(encoded))
        state, counts = np.zeros(N_STATE, np.int64), np.zeros(len(texts), np.int64)
        codes, kinds = np.empty(LONGEST + 1, np.int32), np.empty(LONGEST + 1, np.uint8)
        places = np.empty(LONGEST + 1, np.int64)
        stage, blocks = table()
        room = LONGEST + min(ROOM, int(first[-1]))
        parts = []
        while state[DOCUMENT] < len(texts):
            own = tuple(np.empty(room, np.int64) for _ in range(4))
            breaks = np.empty(room, np.uint8)
            n = cut_tokens(buffer, first, stage, blocks, state, codes, kinds, places, *own, breaks, counts)
            parts.append((*(array[:n] for array in own), breaks[:n]))
        nothing = np.empty(0, np.int64)
        starts, ends, char_starts, char_ends, begins = map(np.concatenate, zip((nothing,) * 5, *parts, strict=True))
        documents = Ragged.of(counts)
        sequences = sentences_of(documents, begins.astype(np.bool_)) if sentences else documents
        return Tokens(char_starts, char_ends, documents, sequences, Pieces(buffer, starts, ends))

    def describe(self) -> dict[str, Any]:
        """The version of the rules and of Unicode."""
        return {"kind": self.kind, "version": VERSION, "unicode": unicode_version()}

    @classmethod
    def restore(cls, config: dict[str, Any]) -> Rules:
        """Rules of a newer version are refused: they would cut differently."""
        if not isinstance(config["version"], int) or config["version"] > VERSION:
            raise ValueError("its tokeniser is of a newer version; upgrade with: pip install -U chainfield")
        return cls()
