"""Transform: a named, pure function of one cell's text, such as `lower` or `suffix:3`.

A transform gives a string, or None when the value has no such feature (a suffix longer than the word, a
test that fails). Being a pure function of the value, it needs to be evaluated only once a distinct value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from chainfield.errors import ConfigError

from .wapiti_regex import compile_regex, first_matches, matched

_One = Callable[[str], "str | None"]
_Function = Callable[[Sequence[str]], "list[str | None]"]


@dataclass(frozen=True)
class Transform:
    """One transform by name, with its argument where it takes one: `Transform("suffix", "3")`."""

    name: str
    argument: str = ""

    def __post_init__(self) -> None:
        _function_of(self.name, self.argument)

    @cached_property
    def _function(self) -> _Function:
        return _function_of(self.name, self.argument)

    def __call__(self, value: str) -> str | None:
        """Apply the transform to one value; None means that the feature is absent."""
        return self._function([value])[0]

    def apply(self, values: Sequence[str]) -> list[str | None]:
        """Apply the transform to many values."""
        return self._function(values)

    def __getstate__(self) -> dict[str, str]:  # functions cannot be pickled
        return {"name": self.name, "argument": self.argument}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__dict__.update(state)

    @property
    def text(self) -> str:
        """The transform as it is written in a template."""
        return f"{self.name}:{self.argument}" if self.argument else self.name


def parse_transform(text: str) -> Transform:
    """Read a transform as it is written in a template: a name, or `name:argument`."""
    name, _, argument = text.strip(" ").partition(":")
    return Transform(name, argument)


class _Shapes(dict[int, str]):
    """The sign for a character, looked up once: X for an upper-case letter, x for a lower-case one, 0 for a digit."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        sign = "X" if character.isupper() else "x" if character.islower() else character
        self[code] = found = "0" if character.isdecimal() else sign
        return found


class _Digits(dict[int, str]):
    """0 for a digit, and every other character for itself."""

    def __missing__(self, code: int) -> str:
        self[code] = found = "0" if chr(code).isdecimal() else chr(code)
        return found


_SHAPES, _DIGITS = _Shapes(), _Digits()
_RUN = re.compile(r"(.)\1+", re.DOTALL)


def shape(value: str) -> str:
    """Write X for an upper-case letter, x for a lower-case one, 0 for a digit, and keep the rest."""
    return value.translate(_SHAPES)


def short_shape(value: str) -> str:
    """Return the shape with every run of one character written once: `McDonald-2x` gives `XxXx-0x`."""
    return _shortened(value.translate(_SHAPES))


@lru_cache(maxsize=4096)
def _shortened(shape: str) -> str:
    return _RUN.sub(r"\1", shape)


def _is_punctuation(value: str) -> bool:
    # Symbols count: "$" and "%" are punctuation to every tagger, though Unicode calls them symbols.
    if value.isalnum():
        return False
    return value != "" and all(unicodedata.category(character)[0] in "PS" for character in value)


def _each(function: _One) -> _Function:
    return lambda values: list(map(function, values))


def _signs(table: Mapping[int, str], values: Sequence[str]) -> list[str]:
    """Every character of some values by a table, which leaves NUL as it is: all in one go, with NUL between them."""
    found = "\0".join(values).translate(table).split("\0")
    return found if len(found) == len(values) else [value.translate(table) for value in values]


def _flag(test: Callable[[str], bool]) -> _Function:
    return lambda values: ["1" if found else None for found in map(test, values)]


def _sign_flag(sign: str, table: Mapping[int, str]) -> _Function:
    """Whether there is a character of some kind: one that the table gives this sign."""
    return lambda values: ["1" if sign in found else None for found in _signs(table, values)]


_PLAIN: dict[str, _Function] = {
    "identity": list,
    "lower": _each(str.lower),
    "shape": lambda values: [*_signs(_SHAPES, values)],
    "short-shape": lambda values: list(map(_shortened, _signs(_SHAPES, values))),
    "digits": lambda values: [*_signs(_DIGITS, values)],
    "has-digit": _sign_flag("0", _DIGITS),
    "has-hyphen": lambda values: ["1" if "-" in value else None for value in values],
    "has-upper": _sign_flag("X", _SHAPES),
    "is-upper": _flag(str.isupper),
    "is-title": _flag(str.istitle),
    "is-digits": _flag(str.isdecimal),
    "is-punctuation": _flag(_is_punctuation),
}


def _prefix(argument: str) -> _Function:
    n = _length("prefix", argument)
    return lambda values: [value[:n] if len(value) >= n else None for value in values]


def _suffix(argument: str) -> _Function:
    n = _length("suffix", argument)
    return lambda values: [value[-n:] if len(value) >= n else None for value in values]


def _test(argument: str) -> _Function:
    compile_regex(argument)
    return lambda values: ["true" if found else "false" for found in matched(argument, values)]


def _match(argument: str) -> _Function:
    compile_regex(argument)
    return lambda values: [*first_matches(argument, values)]


def _has(argument: str) -> _Function:
    compile_regex(argument)
    if re.fullmatch("[A-Za-z]+[$]", argument):  # an ending, for which there is a quicker way
        end = argument[:-1]
        return _each(lambda value: "1" if value.endswith(end) else None)
    return lambda values: ["1" if found else None for found in matched(argument, values)]


_WITH_ARGUMENT: dict[str, Callable[[str], _Function]] = {
    "prefix": _prefix,
    "suffix": _suffix,
    "test": _test,
    "match": _match,
    "has": _has,
}

TRANSFORM_NAMES = (*_PLAIN, *_WITH_ARGUMENT)


@lru_cache(maxsize=1024)
def _function_of(name: str, argument: str) -> _Function:
    if name in _WITH_ARGUMENT:
        return _WITH_ARGUMENT[name](argument)
    if name not in _PLAIN:
        raise ConfigError(f"There is no transform {name!r}; known are {', '.join(TRANSFORM_NAMES)}.")
    if argument:
        raise ConfigError(f"The transform {name!r} takes no argument, but was given {argument!r}; drop it.")
    return _PLAIN[name]


def _length(name: str, argument: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", argument) or int(argument) == 0:
        given = argument if len(argument) <= 20 else argument[:17] + "..."
        raise ConfigError(f"The transform {name!r} needs a length of 1 or more, such as {name}:3, but has {given!r}.")
    return int(argument)
