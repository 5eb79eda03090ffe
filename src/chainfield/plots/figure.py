"""A new figure of matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import Any

from chainfield.errors import ConfigError


def new_figure(width: float, height: float, otherwise: str = "") -> Any:
    """An empty figure, without matplotlib's global state; ``otherwise``: what to do where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            f"A picture needs matplotlib; install it with: pip install 'chainfield[plot]'{otherwise}."
        ) from None
    return Figure(figsize=(width, height), layout="constrained")
