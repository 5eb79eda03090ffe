"""One setting of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .kinds import Kind, refuse


@dataclass(eq=False)
class Setting:
    """A setting, as it stands in the body of a class: name and group are those of the place where it is declared.

    Read from an instance that has not set it, it is its default: models that do without a setting behave as with it.
    """

    default: Any
    kind: Kind
    help: str
    optional: bool = False  # whether None is possible
    option: str | None = None  # how the command line calls it, where not by its name; "": not at all
    search: tuple[Any, ...] = ()  # what a search for better settings tries: both ends of a range (floats), or values
    only_with: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # other settings that give it a meaning
    name: str = ""
    group: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.check(self.default)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self.default

    @property
    def flag(self) -> str:
        """The option of the command line."""
        return "--" + (self.option or self.name.replace("_", "-"))

    @property
    def noun(self) -> str:
        """Its type, for docstrings."""
        return f"{self.kind.noun}, or None" if self.optional else self.kind.noun

    def check(self, value: Any) -> None:
        """Refuse a value that is not possible."""
        if value is None and self.optional:
            return
        self.kind.check(value)
        if not self.kind.fits(value):
            expected = self.kind.expected
            raise refuse(self.name, value, f"{expected}, or None" if self.optional else expected)
