"""Values drawn from bytes: the bytes decide everything, so that an input can be repeated, cut down and mutated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")
NUMBERS = (0, 1, -1, 2, 3, 7, 8, 9, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 5e-324, 1e12, 1e16, -1e12, 1e300, -1e300, float("inf"), float("nan"))


class Choices:
    """Reads bytes from the front; behind their end everything is 0."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        """The next one."""
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def below(self, n: int) -> int:
        """A number below n, which is 65,536 at most."""
        return (self.byte() + (256 * self.byte() if n > 256 else 0)) % n

    def chance(self, one_in: int) -> bool:
        """True about once in so many times; never behind the end."""
        return self.at < len(self.data) and self.below(one_in) == one_in - 1

    def among(self, values: Sequence[T]) -> T:
        """One of some values."""
        return values[self.below(len(values))]

    def number(self) -> int:
        """A whole number: small, or at the edge of a type."""
        return self.byte() - 64 if not self.chance(4) else self.among(NUMBERS)

    def real(self) -> float:
        """A real number: small, or strange."""
        return (self.byte() - 128) / 16 if not self.chance(6) else self.among(REALS)

    def rest(self) -> bytes:
        """All that is left."""
        found, self.at = self.data[self.at :], len(self.data)
        return found

    def many(self, make: Any, most: int) -> list[Any]:
        """Up to ``most`` values."""
        return [make() for _ in range(self.below(most + 1))]
