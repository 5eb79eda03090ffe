"""The one decorator behind every kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# -inf is this library's zero, so the flags that let the compiler assume that there are no infinities (ninf)
# and no NaN (nnan) are out of the question. What remains is harmless: fused multiply-add, no signed zeros.
FAST = {"contract", "nsz"}
# Sums in any order: only for reductions whose terms are of one sign or whose rounding does not matter.
FASTER = {"contract", "nsz", "reassoc", "arcp"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is called from Python: cached on disk, GIL released."""
    options: dict[str, Any] = {"nogil": True, "fastmath": FAST, "error_model": "numpy"}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written: compile for this process alone
        return njit(**options)(function)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call; its caller's cache file contains it."""
    return njit(nogil=True, fastmath=FAST, error_model="numpy")(function)


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`inner`, for loops whose sums may be reordered."""
    return njit(nogil=True, fastmath=FASTER, error_model="numpy")(function)
