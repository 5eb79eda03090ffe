"""Faults on demand: the n-th call of the system that a module makes fails (SQLite's way of testing)."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: What a module may ask of the system, each of which can fail.
CALLS = ("open", "fdopen", "fsync", "replace", "fstat", "dup", "fchmod", "fchown", "scandir", "access", "close")


class Stream:
    """A file that counts what is written to it; a write that fails has written half."""

    def __init__(self, file: Any, count: Callable[[str], None]) -> None:
        self.file, self.count = file, count

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *reason: object) -> None:
        self.file.close()

    def write(self, data: Any) -> int:
        try:
            self.count("write")
        except BaseException:
            self.file.write(data[: len(data) // 2])
            raise
        return int(self.file.write(data))

    def flush(self) -> None:
        self.count("flush")
        self.file.flush()


class FaultyOS(ModuleType):
    """The module ``os``, in which the call numbered ``fails`` raises ``fault``; ``calls`` names those made so far."""

    def __init__(self, fails: int, fault: BaseException) -> None:
        super().__init__("os")
        self.fails, self.fault, self.calls = fails, fault, list[str]()

    def count(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.fails:
            raise self.fault

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*args: Any, **options: Any) -> Any:
            if name == "close":  # it fails after it has closed
                real(*args, **options)
            self.count(name)
            if name == "close":
                return None
            found = real(*args, **options)
            return Stream(found, self.count) if name == "fdopen" else found

        return call
