"""Names that are imported when they are first used.

What a package offers stands once, in its stub ``__init__.pyi``: type checkers read it there, and so does the package.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def offer(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub.

    ``import *`` leaves modules out: some of them need packages that not everybody has installed.
    """
    where = dict(_read(package, Path(file).with_suffix(".pyi")))
    module = sys.modules[package]
    shown = sorted({*where, *(name for name in ("__version__",) if hasattr(module, name))})

    def __getattr__(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        source, original = where[name]
        value = importlib.import_module(source)
        value = value if original is None else getattr(value, original)
        setattr(module, name, value)
        return value

    return __getattr__, lambda: shown, [name for name in shown if where.get(name, ("", name))[1] is not None]


def _read(package: str, stub: Path) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """name → (module, name there), or (module, None) for modules themselves: ``from . import data as data``."""
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            source = ("." + (node.module or "") if node.level else node.module) or ""
            full = package + source.rstrip(".") if node.level else source
            for alias in node.names:
                if node.level and not node.module:
                    yield alias.name, (f"{package}.{alias.name}", None)
                else:
                    yield alias.name, (full, alias.name)


class Registry(MutableMapping[str, type[T]], Generic[T]):
    """Classes by the names that files and commands give them. Those of a family are imported when they are named.

    ``others``: a module that announces more of them; it is imported when a name is met that nobody has announced yet.
    """

    def __init__(self, others: str | None = None) -> None:
        self._known: dict[str, type[T]] = {}
        self._announced: dict[str, tuple[str, str]] = {}
        self._others = others

    def announce(self, name: str, module: str, kind: str) -> None:
        """A class of a module that need not be imported yet, by the name that stands for it."""
        self._announced[name] = (module, kind)

    def present(self, name: str) -> type[T] | None:
        """The class of a name, if it has been imported."""
        return self._known.get(name)

    def class_name(self, name: str) -> str:
        """The name of a class, without importing it."""
        return self._known[name].__name__ if name in self._known else self._announced[name][1]

    def __getitem__(self, name: str) -> type[T]:
        if name not in self._known and name in self:
            module, kind = self._announced[name]
            self._known[name] = getattr(importlib.import_module(module), kind)
        return self._known[name]

    def __setitem__(self, name: str, kind: type[T]) -> None:
        self._known[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._announced, **self._known})

    def __len__(self) -> int:
        return len({**self._announced, **self._known})

    def __contains__(self, name: object) -> bool:  # a Mapping would import the class to see whether it is there
        others = self._others
        if others is not None and name not in self._known and name not in self._announced:
            importlib.import_module(others)  # other threads wait for it here
            self._others = None
        return name in self._known or name in self._announced
