"""Figures of matplotlib (extra ``plot``) in one style: that of reports, readable in print and by the colour-blind."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from chainfield.errors import ConfigError

INK, MUTED, EDGE, PAPER = "#1B1E22", "#59616A", "#C9CCC8", "#FFFFFF"
FOR, AGAINST = "#1B5FA6", "#B35C00"  # blue and orange, never green and red
IMPOSSIBLE = "#DDDEDA"
#: Hues that most colour-blind people can tell apart (Okabe and Ito, darkened).
COLOURS = ("#0072B2", "#B35C00", "#00805E", "#A8487F", "#1B7F9E", "#BF4519", "#857000", "#6A4FB3")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DPI = 150


def new_figure(width: float, height: float, otherwise: str = "") -> Any:
    """An empty figure, without matplotlib's global state; ``otherwise``: what to do where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            f"A picture needs matplotlib; install it with: pip install 'chainfield[plot]'{otherwise}."
        ) from None
    return Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)


def styled(axes: Any, *, x: str = "", y: str = "", title: str = "", frame: bool = False) -> Any:
    """Axes with their names, in the style of all pictures; ``frame``: with all four sides, for images."""
    for side, spine in axes.spines.items():
        spine.set_visible(frame or side in ("left", "bottom"))
        spine.set_color(EDGE)
    axes.tick_params(color=EDGE, labelcolor=INK, labelsize=9)
    axes.set_xlabel(x, color=MUTED, fontsize=10)
    axes.set_ylabel(y, color=MUTED, fontsize=10)
    if title:
        axes.set_title(title, color=INK, fontsize=11, loc="left", fontweight="bold")
    return axes


def colour_bar(figure: Any, image: Any, axes: Any, label: str) -> Any:
    """What colours mean, beside an image."""
    bar = figure.colorbar(image, ax=axes, shrink=0.85, pad=0.02)
    bar.outline.set_edgecolor(EDGE)
    bar.ax.tick_params(color=EDGE, labelcolor=INK, labelsize=9)
    bar.set_label(label, color=MUTED, fontsize=10)
    return bar


@cache
def diverging() -> Any:
    """Colours of signed numbers: orange below zero, paper at zero, blue above; grey where there is no number."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("chainfield", ["#7A3B00", "#D08A3C", "#F7F6F2", "#4C97D6", "#0B3C73"])
    return colours.with_extremes(bad=IMPOSSIBLE)


def finish(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """The figure, saved where a path is given."""
    if path is not None:
        figure.savefig(os.fspath(path), dpi=DPI)
    return figure
