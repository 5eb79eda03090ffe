"""Kernels compiled by Numba when they are first used, and kept on disk: the way without an extension."""

from __future__ import annotations

import os
import pkgutil
import sys
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numba import types
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.np.numpy_support import from_dtype

from .clock import compiling
from .declare import Group, Numbers, Scalar, Version, versions
from .jit import CHECKED
from .source import PACKAGE, stamp

_SCALARS = {int: types.int64, float: types.float64, bool: types.boolean}


def numba_type(argument: Numbers | Scalar | Group) -> Any:
    """A declared argument as Numba names it."""
    if isinstance(argument, Numbers):
        return types.Array(from_dtype(np.dtype(argument.code)), argument.rank, "C", readonly=not argument.written)
    if isinstance(argument, Scalar):
        return _SCALARS[argument.kind]
    return types.BaseTuple.from_types([numba_type(member) for member in argument.members], argument.cls)


def _stamped(locator: Any) -> Any:
    """A place for compiled code on disk that is given up when any source of the kernels changes.

    Numba itself looks at the file of the outermost function only: a change of what it calls would go unnoticed.
    """
    kept = "checked" if CHECKED else ""  # the checked build has a folder of its own

    def place(self: Any) -> str:
        return os.path.join(locator.get_cache_path(self), kept)

    return type(locator.__name__, (locator,), {"get_source_stamp": lambda self: stamp(), "get_cache_path": place})


class _CacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [_stamped(locator) for locator in CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl


class _Notice(event.Listener):  # type: ignore[misc]
    """Tells why the first use takes a while: one line, wherever standard error goes."""

    said = False

    def on_start(self, event: Any) -> None:
        if not self.said and isinstance(event.data["dispatcher"], Kernel):
            self.said = True
            print("chainfield: compiling, once (about a minute; the result is kept on disk) …", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing more to say."""


event.register("numba:compile", _Notice())


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel that takes what it declares, and nothing else: as the one that is compiled ahead of time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with suppress(RuntimeError):  # no folder can be written: compile for this process alone
            self._cache = _Cache(self.py_func)

    @cached_property
    def versions(self) -> list[Version]:
        """One, or one for each kind of real numbers."""
        return versions(self.py_func)

    @property
    def folder(self) -> str | None:
        """Where compiled code is kept; None: nowhere."""
        return self._cache.cache_path

    def __call__(self, *args: Any) -> Any:
        """Call the version that fits."""
        for version in self.versions:
            try:
                bound = version.bind(args)
            except TypeError:
                continue
            return super().__call__(*bound)
        raise TypeError(
            f"The kernel {self.py_func.__name__} was not declared for these arguments; this is a mistake in chainfield."
        )

    def compile(self, signature: Any) -> Any:
        """As Numba does, while the clock stands still."""
        with compiling():
            return super().compile(signature)

    def compile_all(self) -> None:
        """Every version, from the disk if it is there."""
        for version in self.versions:
            self.compile(tuple(numba_type(argument) for argument in version.arguments))


def all_kernels() -> dict[str, Kernel]:
    """Every kernel of the library, by module and name."""
    found = {}
    for info in pkgutil.walk_packages([str(PACKAGE / "kernels")], f"{__package__}."):
        for name, value in vars(import_module(info.name)).items():
            if isinstance(value, Kernel) and value.py_func.__module__ == info.name:
                found[f"{info.name}.{name}"] = value
    return dict(sorted(found.items()))


class _Unoptimised(JITCodeLibrary):  # type: ignore[misc]
    def _optimize_final_module(self) -> None:
        """Left to the kernel."""


class Helper(CPUDispatcher):  # type: ignore[misc]
    """A function that only kernels call: it has no entries for Python and C, and is optimised as a part of them.

    Numba would optimise it, then again each function that calls it, up to the kernel.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def compile(self, signature: Any) -> Any:
        """As Numba does, but for the last step."""
        with global_compiler_lock:
            codegen = self.targetctx.codegen()
            usual = codegen._library_class
            if usual is JITCodeLibrary:
                codegen._library_class = _Unoptimised
            try:
                return super().compile(signature)
            finally:
                codegen._library_class = usual
