"""A tokeniser by a regular expression of the user's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from chainfield.errors import ConfigError

from .tokeniser import Tokeniser, from_places
from .tokens import Tokens


@final
@dataclass(frozen=True)
class Pattern(Tokeniser):
    r"""Every match of a regular expression (Python's ``re``) is a token; empty matches are none.

    ``Pattern(r"\S+")`` cuts at spaces, ``Pattern(r"\w+|[^\w\s]")`` at punctuation too.
    """

    regex: str
    kind: ClassVar[str] = "pattern"

    def __post_init__(self) -> None:
        try:
            re.compile(self.regex)
        except (re.error, TypeError, RecursionError) as error:
            raise ConfigError(f"The tokeniser {self.regex!r:.60} is not a regular expression: {error}.") from None

    def cut(self, texts: Sequence[str], *, sentences: bool = False) -> Tokens:
        """Match after match."""
        finditer = re.compile(self.regex).finditer
        return from_places(
            texts, [[m.span() for m in finditer(text) if m.end() > m.start()] for text in texts], sentences=sentences
        )

    def describe(self) -> dict[str, Any]:
        """The expression."""
        return {"kind": self.kind, "regex": self.regex}

    @classmethod
    def restore(cls, config: dict[str, Any]) -> Pattern:
        """The same expression."""
        return cls(config["regex"])
