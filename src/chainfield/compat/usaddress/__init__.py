"""usaddress with this library underneath: the same answers, sooner, and many addresses at once.

>>> from chainfield.compat import usaddress
>>> usaddress.tag("123 Main St. Suite 100 Chicago, IL")[1]
'Street Address'

``parse`` and ``tag`` are usaddress's own, but for the way from tokens to labels; ``parse_many`` and ``tag_many`` take
many addresses. Everything else is usaddress itself, which has to be installed.
"""

from __future__ import annotations

from typing import Any

from .original import original
from .parsing import parse, parse_many, tag, tag_many

__all__ = ["parse", "parse_many", "tag", "tag_many"]


def __getattr__(name: str) -> Any:
    """What usaddress has besides: its labels, its tokeniser, its errors."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(original(), name)
