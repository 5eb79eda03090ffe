"""The one decorator behind every kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# -inf is this library's zero, so the flags that let the compiler assume that there are no infinities (ninf)
# and no NaN (nnan) are out of the question. What remains is harmless: fused multiply-add, no signed zeros.
FAST = {"contract", "nsz"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is called from Python: cached on disk, GIL released."""
    options: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written: compile for this process alone
        return njit(**options)(function)


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call once a sequence or less: it stays a function, and is compiled once."""
    return njit(nogil=True, fastmath=FAST, error_model="numpy")(function)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call at every position.

    It becomes part of its caller: a call would copy every field of every array of a graph, a kilobyte, to the stack.
    """
    return njit(nogil=True, fastmath=FAST, error_model="numpy", forceinline=True)(function)
