"""Attributes of one position, given as dicts or lists of strings: the item rules of python-crfsuite.

{"bias": 1.5}             bias = 1.5        a number or a truth value is the attribute's value (0 is kept)
{"word": "John"}          word:John = 1     a string becomes part of the name
{"pos": {"is": "NN"}}     pos:is:NN = 1     dicts, lists and sets nest, with ":" in between
{"prefix": ["J", "Jo"]}   prefix:J = 1, prefix:Jo = 1
["word=John", "title"]    word=John = 1, title = 1

Sets come in the order of their texts: the order in which Python gives them changes from one process to the next, and
models would change with it. These rules have a compiled twin for the built-in types, native/encoder.c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import SupportsFloat, SupportsIndex, TypeGuard

from chainfield.errors import DataError

Attribute = tuple[str, float]
DEEPEST = 100  # dicts in dicts
_PLAIN = frozenset((float, int, bool))


def attributes(item: object) -> list[Attribute]:
    """Return the names and values of one item: a dict, or an iterable of strings.

    An attribute that the item gives twice is returned twice; strings may be bytes in UTF-8.
    """
    names: list[str] = []
    values: list[float] = []
    _read(item, names, values)
    return list(zip(names, values, strict=True))


def sequence_attributes(items: Iterable[object], source: str = "sequence") -> list[list[Attribute]]:
    """Return the attributes at every position of one sequence; errors name the source and the position."""
    names: list[str] = []
    values: list[float] = []
    ends = append_attributes(items, source, names, values)
    whole = list(zip(names, values, strict=True))
    return [whole[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def append_attributes(items: Iterable[object], source: str, names: list[str], values: list[float]) -> list[int]:
    """Append the attributes of one sequence; returns how many there are after each position."""
    if isinstance(items, (str, bytes, Mapping)) or not _is_iterable(items):
        raise DataError(f"{source}: a sequence must be a list of items, but is {_shown(items)}.")
    ends = []
    for position, item in enumerate(items):
        try:
            _read(item, names, values)
        except DataError as error:
            raise DataError(f"{source}, position {position}: {error}") from None
        ends.append(len(names))
    return ends


def _read(item: object, names: list[str], values: list[float]) -> None:
    if isinstance(item, (str, bytes, bytearray)) or not _is_iterable(item):
        raise DataError(
            f"An item must be a dict or a list of strings, but is {_shown(item)}; put one string in a list."
        )
    _walk(item, "", 1, names, values)


def _is_iterable(thing: object) -> TypeGuard[Iterable[object]]:
    try:
        iter(thing)  # type: ignore[call-overload]
    except TypeError:  # an array without dimensions has an __iter__, too
        return False
    return isinstance(thing, Iterable)


def _walk(item: Iterable[object], prefix: str, depth: int, names: list[str], values: list[float]) -> None:
    if not isinstance(item, Mapping):
        found = [prefix + _text(name, prefix) for name in item]
        if isinstance(item, (set, frozenset)):
            found.sort()
        names += found
        values += [1.0] * len(found)
        return
    if depth > DEEPEST:
        raise DataError(f"The dicts in {prefix[:20] + '...'!r} are nested more than {DEEPEST} deep; flatten them.")
    for key, value in item.items():
        name = prefix + _text(key, prefix)
        if isinstance(value, (str, bytes)):
            names.append(f"{name}:{_text(value, name)}")
            values.append(1.0)
        elif type(value) not in _PLAIN and isinstance(value, (Mapping, list, set)):
            _walk(value, f"{name}:", depth + 1, names, values)
        else:
            names.append(name)
            values.append(_number(value, name))


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
    if isinstance(value, (float, int, SupportsFloat, SupportsIndex)):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        except (TypeError, ValueError):
            # Arrays of several numbers have a __float__ as well, but refuse to be called.
            raise _wrong_type(value, name) from None
        if not math.isfinite(number):
            raise DataError(
                f"The value of attribute {name!r} is {_printed(str, value):.40}; only finite numbers can be used."
            )
        return number
    raise _wrong_type(value, name)


def _wrong_type(value: object, name: str) -> DataError:
    return DataError(
        f"The value of attribute {name!r} is {_shown(value)}; accepted are a string, a number, "
        f"a truth value, or a dict, list or set of these."
    )


def _shown(value: object) -> str:
    text = _printed(repr, value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"


def _printed(how: Callable[[object], str], value: object) -> str:
    try:
        return how(value)
    except Exception:  # nested too deeply, an integer of too many digits, a fault of the user's class
        return "..."
