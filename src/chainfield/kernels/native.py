"""The extension, where kernels were compiled ahead of time: whether it is there, and for which processors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from chainfield.errors import KernelError

from .source import is_checkout, stamp

MODULE = "chainfield._native"
_AROUND = "set CHAINFIELD_JIT=1 and install Numba to compile the kernels for this machine"


@dataclass(frozen=True)
class Native:
    """The extension's kernels for a level that this processor has."""

    level: str
    kernels: dict[str, Callable[..., Any]]  # by module and name
    flatten: Callable[..., Any]  # reads dicts and lists: see features/flat.py


def asked(name: str) -> bool:
    """Whether the environment sets a switch."""
    return os.environ.get(name, "0") not in ("", "0")


def load() -> Native | None:
    """The compiled kernels, or None: then Numba compiles them when they are first used."""
    for name in ("CHAINFIELD_JIT", "CHAINFIELD_CHECKED"):
        if asked(name):
            if not _has_numba():
                raise KernelError(f"{name}=1 asks Numba to compile the kernels, but it is not installed; unset it.")
            _check_numba()
            return None
    try:
        return _of(import_module(MODULE))
    except ModuleNotFoundError as error:
        if error.name != MODULE:
            raise
        if not _has_numba():
            raise KernelError(
                "This installation has no compiled kernels, and Numba, which would compile them, is missing; "
                "install a wheel of chainfield, or Numba."
            ) from None
        _check_numba()
        return None
    except (ImportError, OSError) as error:
        problem = error if isinstance(error, KernelError) else f"The compiled kernels cannot be loaded ({error})"
        if not (is_checkout() and _has_numba()):
            if isinstance(error, KernelError):
                raise
            raise KernelError(f"{problem}; install chainfield again, or {_AROUND}.") from None
        print(f"chainfield: {problem} Numba compiles them instead; build: pip install -e .", file=sys.stderr)
        _check_numba()
        return None


def _check_numba() -> None:
    """Without the extension Numba has to compile, which it does not where it is told to interpret Python."""
    if asked("NUMBA_DISABLE_JIT"):
        raise KernelError(
            "NUMBA_DISABLE_JIT is set, but the kernels are to be compiled by Numba, and only run compiled; unset it."
        )


def _of(module: Any) -> Native:
    """The best level of an extension that fits these sources and this processor."""
    if stamp() != module.STAMP:
        raise KernelError("The compiled kernels belong to other sources than these; install chainfield again.")
    supported = module.supported()
    asked = os.environ.get("CHAINFIELD_LEVEL") or (supported[-1] if supported else "")
    if not supported:
        raise KernelError(
            f"The compiled kernels need a processor of level {module.levels()[0]}, and this one is below; {_AROUND}."
        )
    if asked not in supported:
        raise KernelError(f"CHAINFIELD_LEVEL={asked}: here are {', '.join(supported)}.")
    return Native(asked, module.kernels(asked), module.flatten)


def _has_numba() -> bool:
    return find_spec("numba") is not None
