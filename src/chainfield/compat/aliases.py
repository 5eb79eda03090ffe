"""Programs that import ``pycrfsuite``, ``sklearn_crfsuite``, ``torchcrf`` or ``usaddress``, on this library's engine.

>>> from chainfield.compat import install
>>> install("pycrfsuite")
>>> import pycrfsuite
>>> pycrfsuite.Tagger.__module__
'chainfield.compat.pycrfsuite.tagger'
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from chainfield.errors import ConfigError

NAMES = ("pycrfsuite", "sklearn_crfsuite", "torchcrf", "usaddress")


def install(*names: str) -> None:
    """Let imports of these modules (by default ``pycrfsuite`` and ``sklearn_crfsuite``) find ours, from now on.

    Modules that have imported the others already keep them: install first, then import the program.
    """
    chosen = names or NAMES[:2]
    for name in chosen:
        if name not in NAMES:
            raise ConfigError(f"There is no stand-in for {name!r}, only for {', '.join(NAMES)}.")
        for loaded in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
            del sys.modules[loaded]
    finder = next((found for found in sys.meta_path if isinstance(found, _Finder)), None)
    if finder is None:
        finder = _Finder()
        sys.meta_path.insert(0, finder)
    finder.names.update(chosen)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads ``pycrfsuite.x`` as ``chainfield.compat.pycrfsuite.x``: one module under two names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if (
            fullname.split(".")[0] not in self.names
            or importlib.util.find_spec(f"chainfield.compat.{fullname}") is None
        ):
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(f"chainfield.compat.{spec.name}")

    def exec_module(self, module: ModuleType) -> None:
        """It has been executed under its own name."""
