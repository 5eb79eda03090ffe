"""usaddress's own functions, with regular expressions that are compiled once and not looked for at every call."""

from __future__ import annotations

import re
from functools import cache
from types import FunctionType, ModuleType
from typing import Any


class Expressions:
    """Stands for the module ``re``: what usaddress calls, from a table; all else is that module's."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(re, name)
        if isinstance(found, re.RegexFlag):  # numbers are quicker to combine
            found = int(found)
        setattr(self, name, found)
        return found

    compile = staticmethod(cache(re.compile))

    def sub(self, pattern: Any, repl: Any, string: Any, count: int = 0, flags: int = 0) -> Any:
        """As ``re.sub``."""
        return self.compile(pattern, flags).sub(repl, string, count)

    def match(self, pattern: Any, string: Any, flags: int = 0) -> Any:
        """As ``re.match``."""
        return self.compile(pattern, flags).match(string)

    def findall(self, pattern: Any, string: Any, flags: int = 0) -> Any:
        """As ``re.findall``."""
        return self.compile(pattern, flags).findall(string)


def own_functions(module: ModuleType, **others: Any) -> dict[str, Any]:
    """The functions of a module, made anew in a namespace of their own, in which some names mean something else."""
    names = vars(module) | others
    if names.get("re") is re:
        names["re"] = Expressions()
    for name, value in vars(module).items():
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name not in others:
            made = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
            made.__kwdefaults__ = value.__kwdefaults__
            names[name] = made
    return names
