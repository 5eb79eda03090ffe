"""What Numba offers to those who write instructions of their own; where kernels are ready, stand-ins of no use."""

from __future__ import annotations

from typing import Any

from .jit import NATIVE


class _Base:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes what the class that it stands for would."""


class _Absent:
    """Any name of an absent compiler: its attributes, its results, what it decorates are absent as well."""

    def __getattr__(self, name: str) -> _Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> _Absent:
        return self

    def __mro_entries__(self, bases: Any) -> tuple[type, ...]:
        return (_Base,)


if NATIVE is None:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic, models, register_model
else:
    cgutils = intrinsic = ir = models = register_model = types = _Absent()

__all__ = ["cgutils", "intrinsic", "ir", "models", "register_model", "types"]
