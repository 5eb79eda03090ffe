"""What a part of a file may hold, declared once: the values of its description and its tensors.

A part stands beside the class that it describes. Reading checks it before anything is made of it, and the tables of
docs/file_format.md are written from it (docs/tables.py). Sizes have names: ``("E",)`` is the shape of a tensor with one
number per edge. A size that is known (of the state space, of the features) must be met; one that is not is taken from
the first tensor that has it. Nothing is allocated for a number that no tensor bears out.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from chainfield.arrays import Array, Arrays, distinct

Size = int | str
Sizes = dict[str, int]
Kind = Literal["whole", "number", "text", "truth", "list", "object", "any"]

#: Element types, as safetensors names them.
TYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
NARROW = ("U8", "U16", "U32", "I64")  # whole numbers from 0 on, in the smallest type that holds them
#: Whole numbers of descriptions: more would not fit into what counts with them.
MOST = (1 << 31) - 1
LARGEST = sys.float_info.max
_PYTHON: dict[str, tuple[type, ...]] = {
    "whole": (int,),
    "number": (int, float),
    "text": (str,),
    "truth": (bool,),
    "list": (list,),
    "object": (dict,),
}
_NOUNS = {"whole": "a whole number", "number": "a number", "text": "text", "truth": "true or false", "list": "a list",
          "object": "an object"}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A value of the description.

    ``size``: the value is the size of that name. ``least``, ``most``: the range of numbers; ``choices``: all values
    that are possible. ``optional``: it may be missing; ``null``: it may be null. ``infinite``: numbers need not be
    finite. ``of``: what a list holds.
    """

    name: str
    kind: Kind
    content: str
    size: str = ""
    least: float = 0
    most: float | str = MOST
    choices: tuple[str, ...] = ()
    optional: bool = False
    null: bool = False
    infinite: bool = False
    of: Kind = "any"

    def check(self, value: Any, sizes: Sizes) -> None:
        """Refuse a value that is not possible."""
        if value is None and self.null:
            return
        self._typed(value, self.kind)
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name} is {value!r:.40}; known are {', '.join(self.choices)}")
        if self.kind in ("whole", "number"):
            self._ranged(value, sizes)
        if self.kind == "list":
            for part in value:
                self._typed(part, self.of)
                if self.of in ("whole", "number"):
                    self._ranged(part, sizes)
        if self.size:
            meet(sizes, self.size, value, self.name)

    def _typed(self, value: Any, kind: Kind) -> None:
        if kind != "any" and type(value) not in _PYTHON[kind]:
            raise ValueError(f"{self.name} is {value!r:.40}; {_NOUNS[kind]} is expected")

    def _ranged(self, value: float, sizes: Sizes) -> None:
        most = sizes[self.most] if isinstance(self.most, str) else self.most
        if not self.least <= value <= most and not (self.infinite and math.isinf(value)):
            raise ValueError(f"{self.name} is {value!r:.40}; {self.range} is expected")

    @property
    def range(self) -> str:
        """The range in words."""
        what = _NOUNS.get(self.kind, "any value")
        if self.choices:
            what = ", ".join(f"`{choice}`" for choice in self.choices)
        if self.kind == "list" and self.of != "any":
            what += f", each {_NOUNS[self.of]}"
        if {self.kind, self.of} & {"whole", "number"}:
            most = self.most if isinstance(self.most, str) else f"{self.most:g}"
            what += f" from {self.least:g}" if self.most in (MOST, LARGEST) else f" from {self.least:g} to {most}"
            what += ", or infinite" if self.infinite else ""
        what = f"{self.size}: {what}" if self.size else what
        return what + (", or null" if self.null else "") + ("; may be missing" if self.optional else "")


@dataclass(frozen=True)
class Tensor:
    """A tensor.

    ``least``, ``below``: the range of its numbers, ``below`` may be the name of a size. ``adds_up``: the size that
    they add up to. ``ascending``: each is larger than the one before. ``distinct``: none occurs twice. ``empty``: it
    may have no rows, whatever its shape. ``each``: there is one such tensor, with ``{c}`` in its name, for each number
    below that size. Fractions are finite; ``infinite``: they may be, and only NaN is refused.
    """

    name: str
    types: tuple[str, ...]
    shape: tuple[Size, ...]
    content: str
    least: float | None = None
    below: float | str | None = None
    adds_up: str = ""
    ascending: bool = False
    distinct: bool = False
    optional: bool = False
    empty: bool = False
    infinite: bool = False
    each: str = ""

    def check(self, name: str, array: Array, sizes: Sizes) -> None:
        """Refuse a tensor that does not fit: its type, its shape, then its numbers."""
        if array.dtype.type not in [TYPES[kind] for kind in self.types]:
            raise ValueError(f"the tensor {name} has the type {array.dtype}; {self.dtypes} is expected")
        if array.ndim != len(self.shape):
            raise ValueError(f"the tensor {name} has {array.ndim} dimensions; {len(self.shape)} are expected")
        if not (self.empty and array.shape[:1] == (0,)):
            for n, size in zip(array.shape, self.shape, strict=True):
                meet(sizes, size.replace("{c}", name) if isinstance(size, str) else size, n, f"the tensor {name}")
        if array.size and array.dtype != np.bool_:
            self._numbers(name, array, sizes)

    def _numbers(self, name: str, array: Array, sizes: Sizes) -> None:
        if array.dtype.kind == "f":
            sound = ~np.isnan(array) if self.infinite else np.isfinite(array)
            if not sound.all():
                raise ValueError(f"the tensor {name} has a number that is not {'one' if self.infinite else 'finite'}")
        lowest, highest = array.min(), array.max()
        if self.least is not None and lowest < self.least:
            raise ValueError(f"the tensor {name} holds {lowest}; {self.least:g} is the least")
        if self.below is not None:
            limit = sizes[self.below] if isinstance(self.below, str) else self.below
            if highest >= limit:
                raise ValueError(f"the tensor {name} holds {highest}, but must stay below {limit}")
        if self.adds_up:
            total = int(array.sum(dtype=np.int64)) if highest <= MOST else -1
            meet(sizes, self.adds_up, total, f"the sum of the tensor {name}")
        if self.ascending and not (array[1:] > array[:-1]).all():
            raise ValueError(f"the tensor {name} is not in order")
        if self.distinct and len(distinct(array)) < len(array):
            raise ValueError(f"the tensor {name} holds a number twice")

    @property
    def dtypes(self) -> str:
        """The types in words."""
        return " or ".join(filter(None, [", ".join(self.types[:-1]), self.types[-1]]))

    @property
    def range(self) -> str:
        """What its numbers must be, in words."""
        parts = []
        if self.least is not None and self.below is not None:
            parts.append(f"from {self.least:g}, below {self.below}")
        elif self.least is not None:
            parts.append(f"from {self.least:g}")
        elif set(self.types) & {"F64", "F32", "F16"}:
            parts.append(("finite or -∞" if self.below == math.inf else "not NaN") if self.infinite else "finite")
        parts += [f"adding up to {self.adds_up}"] if self.adds_up else []
        parts += ["ascending"] if self.ascending else ["distinct"] if self.distinct else []
        parts += [f"for each c below {self.each}"] if self.each else []
        parts += ["may have no rows"] if self.empty else []
        parts += ["may be missing"] if self.optional else []
        return "; ".join(parts)

    @property
    def dimensions(self) -> str:
        """The shape in words."""
        return f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''})"


@dataclass(frozen=True)
class Part:
    """Values and tensors; ``parts`` are parts inside, whose tensors have the name and a dot before theirs.

    Parts inside know the sizes around them; what they find out by themselves stays inside.
    """

    values: tuple[Value, ...] = ()
    tensors: tuple[Tensor, ...] = ()
    parts: Mapping[str, Part] = field(default_factory=dict)

    def check(self, config: Mapping[str, Any], arrays: Arrays, known: Mapping[str, int], prefix: str = "") -> Sizes:
        """Refuse (by a ValueError) what does not fit; returns all sizes. ``prefix``: of tensors, in errors."""
        sizes = dict(known)
        if type(config) is not dict:
            raise ValueError(f"an object is expected in place of {config!r:.40}")
        for value in self.values:
            if value.name in config:
                value.check(config[value.name], sizes)
            elif not value.optional:
                raise ValueError(f"{value.name} is missing")
        for name, part in self.parts.items():
            own = {k.removeprefix(f"{name}."): v for k, v in arrays.items() if k.startswith(f"{name}.")}
            if name not in config:
                raise ValueError(f"{name} is missing")
            part.check(config[name], own, sizes, f"{prefix}{name}.")
        for tensor in self.tensors:
            for c in range(sizes[tensor.each]) if tensor.each else ("",):
                own_name = tensor.name.replace("{c}", str(c))
                if own_name in arrays:
                    tensor.check(prefix + own_name, arrays[own_name], sizes)
                elif not tensor.optional:
                    raise ValueError(f"the tensor {prefix}{own_name} is missing")
        return sizes


def meet(sizes: Sizes, size: Size, found: int, what: str) -> None:
    """Refuse a size that is not the one that is known; what is not known yet is so from now on."""
    wanted = sizes.setdefault(size, found) if isinstance(size, str) else size
    if found != wanted:
        raise ValueError(f"{what} has {found} where {size} is {wanted}" if isinstance(size, str) else
                         f"{what} has {found} where {wanted} is expected")  # fmt: skip


def demand(fits: bool, what: str) -> None:
    """Refuse parts that do not fit together."""
    if not fits:
        raise ValueError(f"{what} does not fit the rest of the model")


def whole(name: str, content: str, size: str = "", *, least: int = 0, most: int | str = MOST) -> Value:
    """A whole number that must be there."""
    return Value(name, "whole", content, size, least, most)


def number(name: str, content: str, *, least: float = 0.0, most: float = LARGEST) -> Value:
    """A finite number that must be there."""
    return Value(name, "number", content, least=least, most=most)


def texts_tensors(name: str, count: str, content: str) -> tuple[Tensor, Tensor]:
    """Texts laid end to end, in UTF-8, and their lengths."""
    n_bytes = f"bytes of {content}"
    return (
        Tensor(f"{name}lengths", ("U32",), (count,), f"the length of each of the {content}, in bytes", adds_up=n_bytes),
        Tensor(f"{name}bytes", ("U8",), (n_bytes,), f"the {content}, end to end, in UTF-8"),
    )


#: Every scorer has one.
NAME = Value("name", "text", "distinguishes the scorers of a chain")
