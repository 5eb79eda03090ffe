"""Documents: text, and what is known of stretches of it, by character."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chainfield.errors import DataError


class TextSpan(NamedTuple):
    """A stretch of text with a label: ``text[start:end]``. Offsets count characters (code points), from 0."""

    start: int
    end: int
    label: str


class Token(NamedTuple):
    """Where a token stands: ``text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """One text, with its spans, and its tokens where they are known.

    ``columns`` holds what is known of each token besides its place, by name (``pos``, ``label`` …), one value per
    token. ``meta`` holds whatever else a format keeps: it is written back where the format has a place for it.
    """

    text: str
    spans: tuple[TextSpan, ...] = ()
    tokens: tuple[Token, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        from chainfield.pages.fragments import framed, marked

        return framed(marked(self.text, ((*span, None) for span in self.spans)))

    def words(self) -> list[str]:
        """The texts of the tokens."""
        return [self.text[a:b] for a, b in self.tokens or ()]


def make_document(
    text: Any,
    spans: Iterable[Any] = (),
    tokens: Iterable[Any] | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    meta: Mapping[str, Any] | None = None,
    *,
    where: str = "Document",
) -> Document:
    """A document from outside: everything in it is checked, and errors begin with ``where``.

    Spans are (start, end, label); their order is kept. Tokens are (start, end), in order and apart from each other.
    """
    if not isinstance(text, str):
        raise DataError(f"{where}: the text is {_shown(text)}; a string is expected.")
    found = tuple(check_span(span, text, where) for span in _listed(spans, "spans", where))
    places = None if tokens is None else check_tokens(tokens, len(text), where)
    own = {name: tuple(values) for name, values in (columns or {}).items()}
    for name, values in own.items():
        if places is None or len(values) != len(places):
            n = "no" if places is None else len(places)
            raise DataError(f"{where}: column {name!r} has {len(values)} values, but there are {n} tokens.")
    return Document(text, found, places, own, dict(meta or {}))


def check_span(span: Any, text: str, where: str) -> TextSpan:
    """One (start, end, label), inside of the text and not empty."""
    try:
        start, end, label = span
        start, end = start.__index__(), end.__index__()
    except (TypeError, ValueError, AttributeError):
        raise DataError(f"{where}: {_shown(span)} is not a span; (start, end, label) is expected.") from None
    if not isinstance(label, str) or not label:
        raise DataError(f"{where}: the label of the span {start}–{end} is {label!r}; a name is expected.")
    what = f"{where}: the span {start}–{end} ({label})"
    if start > end:
        raise DataError(f"{what} ends before it begins; exchange the two numbers.")
    if start < 0 or end > len(text):
        raise DataError(
            f"{what} is not inside of the text, which has {len(text)} characters; "
            "offsets count characters from 0, not bytes, and the end is the first character behind the span."
        )
    if start == end:
        raise DataError(f"{what} is empty; the end is the first character behind the span.")
    return TextSpan(int(start), int(end), str(label))


def check_tokens(tokens: Iterable[Any], length: int, where: str) -> tuple[Token, ...]:
    """Places of tokens: inside of the text, none of them empty, in order, apart from each other."""
    found, last = list[Token](), 0
    for i, token in enumerate(_listed(tokens, "tokens", where)):
        try:
            start, end = token
            start, end = start.__index__(), end.__index__()
        except (TypeError, ValueError, AttributeError):
            raise DataError(f"{where}: token {i} is {_shown(token)}; (start, end) is expected.") from None
        if not last <= start < end <= length:
            raise DataError(
                f"{where}: token {i} is at {start}–{end}; tokens have to follow each other, "
                f"none of them empty, within the {length} characters of the text."
            )
        found.append(Token(int(start), int(end)))
        last = end
    return tuple(found)


def _listed(values: Any, what: str, where: str) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise DataError(f"{where}: the {what} are {_shown(values)}; a list is expected.")
    return list(values)


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
