"""What a tokeniser is: texts in, places of tokens out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from chainfield.arrays import Bool, Ragged
from chainfield.data.string_table import pieces_of
from chainfield.errors import ConfigError, DataError
from chainfield.frames.door import is_frame, is_framed, plain_values

from .document import check_tokens
from .tokens import Tokens, sentences_of

Offsets = Callable[[str], Iterable[Any]]
"""A text → (start, end) of its tokens."""


class Tokeniser(ABC):
    """Cuts texts into tokens. Nothing is changed: every token is ``text[start:end]``.

    ``describe`` and ``restore`` put a tokeniser into the model file and take it out again, so that training and
    tagging cut alike.
    """

    kind: ClassVar[str]

    @abstractmethod
    def cut(self, texts: Sequence[str], *, sentences: bool = False) -> Tokens:
        """The tokens of some texts; with ``sentences``, a sequence is a sentence, otherwise a text."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What a model file keeps: values for JSON."""

    @classmethod
    @abstractmethod
    def restore(cls, config: dict[str, Any]) -> Tokeniser:
        """The inverse; raises ValueError or KeyError for what it cannot be."""

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """(start, end) of the tokens of one text."""
        return self.cut([text]).places()[0]

    def words(self, text: str) -> list[str]:
        """The tokens of one text."""
        return [text[a:b] for a, b in self(text)]


def from_places(texts: Sequence[str], places: Sequence[Iterable[Any]], *, sentences: bool) -> Tokens:
    """Tokens whose places were found one text at a time; they are checked."""
    found = [check_tokens(own, len(text), f"Text {d}") for d, (text, own) in enumerate(zip(texts, places, strict=True))]
    documents = Ragged.of([len(own) for own in found])
    flat = np.array([place for own in found for place in own], np.int64).reshape(-1, 2)
    words = [text[a:b] for text, own in zip(texts, found, strict=True) for a, b in own]
    starts, ends = flat[:, 0].copy(), flat[:, 1].copy()
    sequences = sentences_of(documents, sentence_starts(texts, documents, starts)) if sentences else documents
    return Tokens(starts, ends, documents, sequences, pieces_of(words))


def sentence_starts(texts: Sequence[str], documents: Ragged, starts: Any) -> Bool:
    """(N,) whether a sentence begins with a token or right before it, by the rules of the built-in tokeniser."""
    from .rules import Rules

    ruled = Rules().cut(texts, sentences=True)
    first = ruled.sequences.firsts  # the tokens that begin sentences
    lengths = np.array([len(text) + 1 for text in texts], np.int64)
    base = np.append(0, np.cumsum(lengths))[:-1]
    begins = base[ruled.documents.sequence_of()[first]] + ruled.starts[first]
    at = base[documents.sequence_of()] + starts
    # A sentence begins at a token if it begins behind the token before it, and not behind this one.
    before = np.searchsorted(begins, at, side="right")
    found = np.ones(len(at), np.bool_)
    found[1:] = before[1:] > before[:-1]
    return found


def listed(texts: Any) -> list[Any]:
    """Texts or documents as a list, whatever holds them; a missing value of a column is None."""
    if isinstance(texts, str | bytes):
        raise DataError("The texts are one string; give a list of texts, even if there is only one.")
    if is_frame(texts):
        raise DataError("The texts are a frame; give the column that holds them, such as frame['text'].")
    if is_framed(texts):
        texts = plain_values(texts, "The texts", unknown=True)
    if not hasattr(texts, "__iter__"):
        raise DataError(f"The texts are {type(texts).__name__!r}; a list of strings is expected.")
    return list(texts)


def check_texts(texts: Any) -> list[str]:
    """Texts, one string each."""
    found = listed(texts)
    for d, text in enumerate(found):
        if not isinstance(text, str):
            missing = text is None or (isinstance(text, float) and text != text)  # NaN: what tables miss
            what = "is missing" if missing else f"is {text!r:.40} ({type(text).__name__})"
            raise DataError(f"Text {d} {what}; a string is expected. Leave it out, or give an empty string.")
    return found


def as_tokeniser(value: Any) -> Tokeniser:
    """A tokeniser from what users give: None, a tokeniser, a regular expression, or a function."""
    from .function import Function
    from .pattern import Pattern
    from .rules import Rules

    if value is None:
        return Rules()
    if isinstance(value, Tokeniser):
        return value
    if isinstance(value, str):
        return Pattern(value)
    if callable(value):
        return Function(value)
    raise ConfigError(
        f"tokeniser is {value!r:.40}; give a regular expression that matches one token, a function from a text to "
        "(start, end) pairs, a tokeniser of chainfield.text, or None for the built-in rules."
    )


def restore_tokeniser(config: Any) -> Tokeniser:
    """The tokeniser that a model file describes."""
    from .function import Function
    from .pattern import Pattern
    from .rules import Rules

    kinds: dict[str, type[Tokeniser]] = {kind.kind: kind for kind in (Rules, Pattern, Function)}
    if not isinstance(config, dict) or config.get("kind") not in kinds:
        raise ValueError("the tokeniser is not known here")
    return kinds[config["kind"]].restore(config)
