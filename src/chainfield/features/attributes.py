"""Attributes of one position, given as dicts or lists of strings: the item rules of python-crfsuite.

{"bias": 1.5}             bias = 1.5        a number or a truth value is the attribute's value (0 is kept)
{"word": "John"}          word:John = 1     a string becomes part of the name
{"pos": {"is": "NN"}}     pos:is:NN = 1     dicts, lists and sets nest, with ":" in between
{"prefix": ["J", "Jo"]}   prefix:J = 1, prefix:Jo = 1
["word=John", "title"]    word=John = 1, title = 1
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import SupportsFloat, SupportsIndex

from chainfield.errors import DataError

Attribute = tuple[str, float]


def attributes(item: object) -> list[Attribute]:
    """Return the names and values of one item: a dict, or an iterable of strings.

    An attribute that the item gives twice is returned twice; strings may be bytes in UTF-8.
    """
    if isinstance(item, str | bytes | bytearray) or not isinstance(item, Iterable):
        raise DataError(
            f"An item must be a dict or a list of strings, but is {_shown(item)}; put one string in a list."
        )
    return list(_walk(item, ""))


def sequence_attributes(items: Iterable[object], source: str = "sequence") -> list[list[Attribute]]:
    """Return the attributes at every position of one sequence; errors name the source and the position."""
    if isinstance(items, str | bytes | Mapping):
        raise DataError(f"{source}: a sequence must be a list of items, but is {_shown(items)}.")
    result: list[list[Attribute]] = []
    for position, item in enumerate(items):
        try:
            result.append(attributes(item))
        except DataError as error:
            raise DataError(f"{source}, position {position}: {error}") from None
    return result


def _walk(item: Iterable[object], prefix: str) -> Iterator[Attribute]:
    if not isinstance(item, Mapping):
        for name in item:
            yield prefix + _text(name, prefix), 1.0
        return
    for key, value in item.items():
        name = prefix + _text(key, prefix)
        if isinstance(value, str | bytes):
            yield f"{name}:{_text(value, name)}", 1.0
        elif isinstance(value, Mapping | list | set):
            yield from _walk(value, f"{name}:")
        else:
            yield name, _number(value, name)


def _text(value: object, where: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise DataError(f"The bytes {value!r} are not valid UTF-8; decode them before.") from None
    inside = f" in {where!r}" if where else ""
    raise DataError(f"Attribute names must be strings, but{inside} there is {_shown(value)}.")


def _number(value: object, name: str) -> float:
    if isinstance(value, SupportsFloat | SupportsIndex):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        except (TypeError, ValueError):
            # Arrays of several numbers have a __float__ as well, but refuse to be called.
            raise _wrong_type(value, name) from None
        if not math.isfinite(number):
            raise DataError(f"The value of attribute {name!r} is {value!s:.40}; only finite numbers can be used.")
        return number
    raise _wrong_type(value, name)


def _wrong_type(value: object, name: str) -> DataError:
    return DataError(
        f"The value of attribute {name!r} is {_shown(value)}; accepted are a string, a number, "
        f"a truth value, or a dict, list or set of these."
    )


def _shown(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
