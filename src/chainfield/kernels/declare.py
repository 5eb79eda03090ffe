"""What a kernel takes, declared by its annotations and checked in front of every call.

Arrays are in C order. Their names say the kind of their numbers and, beyond one, the number of their dimensions:
``Float`` (n,) of float64, ``Int32_2D`` (n, m) of int32. ``Real`` arrays hold float64 or float32, all of one call the
same. An array that is not :data:`Out` is only read, which the compiler checks, and may be read-only. Named tuples
declare their fields in the same way; ``int``, ``float`` and ``bool`` are numbers.

The same declarations serve both ways to run a kernel: compiled ahead of time they become the formats by which the
extension checks and unpacks arguments (:attr:`Version.format`); compiled at first use they give the compiler its types.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

REAL = "real"
WRITTEN = "written"


@dataclass(frozen=True)
class Form:
    """Of an array: the code of its numbers, as NumPy writes it, and its number of dimensions."""

    code: str
    rank: int


T = TypeVar("T")
Out = Annotated[T, WRITTEN]  # an array, or the arrays of a named tuple, that a kernel writes

Float = Annotated[NDArray[np.float64], Form("f8", 1)]
Float2D = Annotated[NDArray[np.float64], Form("f8", 2)]
Float3D = Annotated[NDArray[np.float64], Form("f8", 3)]
Single = Annotated[NDArray[np.float32], Form("f4", 1)]
Single2D = Annotated[NDArray[np.float32], Form("f4", 2)]
Real = Annotated[NDArray[Any], Form(REAL, 1)]
Real2D = Annotated[NDArray[Any], Form(REAL, 2)]
Real3D = Annotated[NDArray[Any], Form(REAL, 3)]
Int = Annotated[NDArray[np.int64], Form("i8", 1)]
Int2D = Annotated[NDArray[np.int64], Form("i8", 2)]
Int32 = Annotated[NDArray[np.int32], Form("i4", 1)]
Int32_2D = Annotated[NDArray[np.int32], Form("i4", 2)]
UInt16 = Annotated[NDArray[np.uint16], Form("u2", 1)]
UInt64 = Annotated[NDArray[np.uint64], Form("u8", 1)]
UInt64_2D = Annotated[NDArray[np.uint64], Form("u8", 2)]
Bytes = Annotated[NDArray[np.uint8], Form("u1", 1)]
Bool = Annotated[NDArray[np.bool_], Form("b1", 1)]
Bool2D = Annotated[NDArray[np.bool_], Form("b1", 2)]


@dataclass(frozen=True)
class Numbers:
    """An array argument."""

    code: str
    rank: int
    written: bool

    @property
    def format(self) -> str:
        """Four characters."""
        return f"{self.code}{self.rank}{'w' if self.written else 'r'}"

    def bind(self, value: Any) -> Any:
        """The array as the compiler knows it, read-only unless it is written; a TypeError if it is another one."""
        if not isinstance(value, np.ndarray) or value.dtype != self.code or value.ndim != self.rank:
            raise TypeError
        flags = value.flags
        if not (flags.c_contiguous and flags.aligned and (flags.writeable or not self.written)):
            raise TypeError
        if flags.writeable and not self.written:
            value = value.view()
            value.flags.writeable = False
        return value


@dataclass(frozen=True)
class Scalar:
    """A number."""

    kind: type

    @property
    def format(self) -> str:
        """One character."""
        return {int: "l", float: "d", bool: "?"}[self.kind]

    def bind(self, value: Any) -> Any:
        """The number as Python's own."""
        if self.kind is bool:
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError
            return bool(value)
        if self.kind is int:
            return int(value.__index__()) if hasattr(value, "__index__") else _refuse()
        return float(value) if isinstance(value, (int, float, np.integer, np.floating)) else _refuse()


@dataclass(frozen=True)
class Group:
    """A named tuple."""

    cls: type
    members: tuple[Numbers | Scalar | Group, ...]

    @property
    def format(self) -> str:
        """The members' formats in parentheses."""
        return f"({''.join(member.format for member in self.members)})"

    def bind(self, value: Any) -> Any:
        """The tuple, each member as the compiler knows it."""
        if not isinstance(value, tuple) or len(value) != len(self.members):
            raise TypeError
        return self.cls(*(member.bind(x) for member, x in zip(self.members, value, strict=True)))


@dataclass(frozen=True)
class Version:
    """A kernel for one kind of real numbers: its arguments."""

    arguments: tuple[Numbers | Scalar | Group, ...]

    @property
    def format(self) -> str:
        """How the extension reads the arguments."""
        return "".join(argument.format for argument in self.arguments)

    def bind(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments as the compiler knows them; a TypeError if they are of another version."""
        if len(values) != len(self.arguments):
            raise TypeError
        return tuple(argument.bind(x) for argument, x in zip(self.arguments, values, strict=True))


def versions(function: Callable[..., Any]) -> list[Version]:
    """The versions of a kernel: one, or one for each kind of real numbers if it has a ``Real`` argument."""
    hints = get_type_hints(function, include_extras=True)
    names = list(inspect.signature(function).parameters)
    found: list[Version] = []
    for real in ("f8", "f4"):
        version = Version(tuple(_read(hints.get(name), f"{name} of {function.__name__}", real) for name in names))
        if version not in found:
            found.append(version)
    return found


def _read(hint: Any, where: str, real: str, written: bool = False) -> Numbers | Scalar | Group:
    """One annotation."""
    extras: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        extras = tuple(rest)
    written = written or WRITTEN in extras
    for form in extras:
        if isinstance(form, Form):
            return Numbers(real if form.code == REAL else form.code, form.rank, written)
    if hint in (int, float, bool):
        return Scalar(hint)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True)
        members = (_read(fields[name], f"{name} of {hint.__name__}", real, written) for name in hint._fields)
        return Group(hint, tuple(members))
    raise TypeError(f"{where}: a kernel's arguments are declared with the names of chainfield.kernels.declare")


def _refuse() -> Any:
    raise TypeError
