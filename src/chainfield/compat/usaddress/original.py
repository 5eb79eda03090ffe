"""usaddress itself, also where this library stands under its name."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType


@cache
def original() -> ModuleType:
    """The installed module."""
    loaded = sys.modules.get("usaddress")
    if loaded is not None and not loaded.__name__.startswith("chainfield."):
        return loaded
    spec = PathFinder.find_spec("usaddress")
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(
            "chainfield.compat.usaddress needs usaddress, its model and its lists of words; pip install usaddress.",
            name="usaddress",
        )
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
