"""How settings are declared: ``max_iter: int | None = whole(None, "Most iterations.")``."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from .kinds import Choice, Flag, Kind, Number, Whole
from .setting import Setting


def whole(default: Any, help: str, *, least: int = 1, words: tuple[str, ...] = (), **more: Any) -> Any:
    """A whole number; ``words`` stand for choices of the model's own."""
    return given(default, help, Whole(least, words), **more)


def number(
    default: Any,
    help: str,
    *,
    least: float = 0.0,
    above: bool = False,
    most: float = math.inf,
    below: bool = False,
    words: tuple[str, ...] = (),
    **more: Any,
) -> Any:
    """A number; ``words`` stand for choices of the model's own."""
    return given(default, help, Number(least, above, most, below, words), **more)


def choice(default: Any, values: tuple[Any, ...], help: str, *, any_case: bool = False, **more: Any) -> Any:
    """One of a few values."""
    return given(default, help, Choice(values, any_case), **more)


def flag(default: bool, help: str, **more: Any) -> Any:
    """True or False."""
    return given(default, help, Flag(), **more)


def but(setting: Any, **changes: Any) -> Any:
    """A setting of another class, told differently: another default, other choices, another help."""
    return replace(setting, **changes)


def given(default: Any, help: str, kind: Kind, **more: Any) -> Any:
    """A value of a kind of its own."""
    return Setting(default, kind, help, **{"optional": default is None, **more})
