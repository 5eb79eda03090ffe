"""Tokenisers of other libraries, through a function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from chainfield.errors import ConfigError, DataError

from .tokeniser import Offsets, Tokeniser, from_places
from .tokens import Tokens


@final
@dataclass(frozen=True)
class Function(Tokeniser):
    """Any function from a text to the (start, end) pairs of its tokens.

    A model file keeps the function's name, not its code: it has to be given again when the model is loaded.
    """

    function: Offsets | None
    name: str = ""
    kind: ClassVar[str] = "function"

    def cut(self, texts: Sequence[str], *, sentences: bool = False) -> Tokens:
        """Text by text."""
        function = self.function
        if function is None:
            raise ConfigError(
                f"The model was trained with the tokeniser {self.name!r}, a function, which its file cannot hold; "
                "give it again: chainfield.load(path, tokeniser=function)."
            )
        return from_places(texts, [function(text) for text in texts], sentences=sentences)

    def describe(self) -> dict[str, Any]:
        """The name, for messages."""
        own = self.name or getattr(self.function, "__qualname__", type(self.function).__name__)
        return {"kind": self.kind, "name": own}

    @classmethod
    def restore(cls, config: dict[str, Any]) -> Function:
        """Only the name is left."""
        return cls(None, str(config["name"]))


def find_words(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """The places of words in a text, one after the other: for tokenisers that give words without offsets."""
    places, at = list[tuple[int, int]](), 0
    for i, word in enumerate(words):
        start = text.find(word, at)
        if start < 0 or not word:
            raise DataError(
                f"Word {i}, {word!r}, is not in the text behind character {at}: a tokeniser must not change the text."
            )
        at = start + len(word)
        places.append((start, at))
    return places
