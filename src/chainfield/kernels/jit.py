"""The one decorator behind every kernel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

# -inf is this library's zero, so the flags that let the compiler assume that there are no infinities (ninf)
# and no NaN (nnan) are out of the question. What remains is harmless: fused multiply-add, no signed zeros.
FAST = {"contract", "nsz"}


class _Notice(event.Listener):  # type: ignore[misc]
    """Tells a person at a terminal why the first use takes a while."""

    said = False

    def on_start(self, event: Any) -> None:
        name = event.data["dispatcher"].py_func.__module__ or ""
        if not self.said and name.startswith("chainfield.") and sys.stderr.isatty():
            self.said = True
            print("chainfield: compiling, once (about half a minute; the result is kept on disk) …", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        """Nothing more to say."""


event.register("numba:compile", _Notice())


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is called from Python: cached on disk, GIL released."""
    options: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written: compile for this process alone
        return njit(**options)(function)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call once a sequence or less: it stays a function, and is compiled once."""
    return njit(nogil=True, fastmath=FAST, error_model="numpy", _nrt=False)(function)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call at every position.

    It becomes part of its caller: a call would copy every field of every array of a graph, a kilobyte, to the stack.
    """
    return njit(nogil=True, fastmath=FAST, error_model="numpy", _nrt=False, forceinline=True)(function)


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that makes arrays or calls BLAS: the only kind beside kernels that counts references.

    Counting costs an atomic instruction and a call, which spills all vectors, whenever an array changes hands: inside
    of loops that would be more than the work itself. So parts and inner functions go through arrays element by element,
    and neither make nor return them (the compiler refuses it).
    """
    return njit(nogil=True, fastmath=FAST, error_model="numpy", _nrt=True)(function)
