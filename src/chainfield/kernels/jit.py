"""The decorators behind every kernel.

Kernels are compiled when the library is built, into ``chainfield._native``. Where that module is missing, or with
``CHAINFIELD_JIT=1``, Numba compiles them when they are first used. Only then is Numba imported.

Kernels check no bounds: whoever calls them does. ``CHAINFIELD_CHECKED=1`` compiles kernels that check the bounds of
every element and every vector that they read or write, for tests and fuzzers: a missing check in front of a kernel
becomes an IndexError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import native

# -inf is this library's zero, so the flags that let the compiler assume that there are no infinities (ninf)
# and no NaN (nnan) are out of the question. What remains is harmless: fused multiply-add, no signed zeros.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "nsz"}, "error_model": "numpy"}

NATIVE = native.load()
CHECKED = NATIVE is None and native.asked("CHAINFIELD_CHECKED")
if CHECKED:
    _OPTIONS["boundscheck"] = True


def way() -> str:
    """How kernels run in this process, in one sentence."""
    if NATIVE is not None:
        return f"Kernels were compiled when chainfield was built, for {NATIVE.level} processors."
    from numba import __version__

    checks = ", and check all bounds" if CHECKED else ""
    return f"Kernels are compiled for this processor when they are first used, by Numba {__version__}{checks}."


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is called from Python: its annotations declare what it takes; the GIL is released."""
    if NATIVE is not None:
        return NATIVE.kernels[f"{function.__module__}.{function.__name__}"]
    from .dispatcher import Kernel

    return Kernel(function, targetoptions={"nopython": True, **_OPTIONS})


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call once a sequence or less: it stays a function, and is compiled once."""
    return _helper(function, _nrt=False)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that kernels call at every position.

    It becomes part of its caller: a call would copy every field of every array of a graph, a kilobyte, to the stack.
    """
    return _helper(function, _nrt=False, forceinline=True)


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that makes arrays or calls BLAS: the only kind beside kernels that counts references.

    Counting costs an atomic instruction and a call, which spills all vectors, whenever an array changes hands: inside
    of loops that would be more than the work itself. So parts and inner functions go through arrays element by element,
    and neither make nor return them (the compiler refuses it).
    """
    return _helper(function, _nrt=True)


def _helper(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if NATIVE is not None:
        return function  # it is a part of the kernels that call it
    from .dispatcher import Helper

    return Helper(function, targetoptions={"nopython": True, **_OPTIONS, **options})
