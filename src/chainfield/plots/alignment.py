"""A sequence beside the states that explain it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from chainfield.errors import DataError

from .figure import COLOURS, INK, colour_bar, diverging, finish, new_figure, styled

MOST_COLUMNS = 24  # that an axis can name so that one can read them
WIDE = 0.55  # inches that "state 1" needs


def plot_alignment(
    sequence: Any,
    alignment: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    columns: Sequence[str] | None = None,
) -> Any:
    """Observations as an image, one row for each column, and above them the states that they were aligned with.

    Colours are standard deviations from a column's mean over the sequence. Where several components of mixtures are
    used, a second strip shows that of each position. ``columns`` names the columns. Returns matplotlib's figure; with
    ``path`` it is saved as well.
    """
    x = np.asarray(sequence, np.float64)
    states = np.asarray(alignment.states)
    if x.ndim != 2 or len(x) != len(states):
        raise DataError(f"The sequence has shape {x.shape}, but the alignment has {len(states)} positions.")
    n, n_columns = x.shape
    if columns is not None and len(columns) != n_columns:
        raise DataError(f"columns has {len(columns)} names, but the sequence has {n_columns} columns.")
    spread = x.std(axis=0)
    z = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    strips = [("state", states)]
    if alignment.components is not None and len(np.unique(alignment.components)) > 1:
        strips.append(("component", np.asarray(alignment.components)))
    width, height = min(max(5.0, 0.22 * n + 1.6), 14.0), min(max(1.2, 0.3 * n_columns), 5.0)
    figure = new_figure(width, height + 0.32 * len(strips) + 1.1)
    ratios = [0.28] * len(strips) + [height]
    parts = figure.subplots(len(ratios), 1, sharex=True, gridspec_kw={"height_ratios": ratios})
    for axes, (name, values) in zip(parts, strips, strict=False):
        _strip(axes, name, values, (width - 1.6) / n)
    parts[0].set_title(str(alignment.label), color=INK, fontsize=11, loc="left", fontweight="bold", pad=6)
    axes = styled(parts[-1], x="position", y="column", frame=True)
    image = axes.imshow(
        z.T, aspect="auto", origin="lower", cmap=diverging(), vmin=-2.5, vmax=2.5, interpolation="nearest"
    )
    for border in np.flatnonzero(np.diff(states)) + 0.5:
        axes.axvline(border, color=INK, linewidth=1.0)
    _whole_ticks(axes.xaxis)
    if n_columns <= MOST_COLUMNS:
        axes.set_yticks(range(n_columns), columns if columns is not None else [str(d) for d in range(n_columns)])
    else:
        _whole_ticks(axes.yaxis)
    colour_bar(figure, image, parts.tolist(), "deviations from the mean")
    return finish(figure, path)


def _strip(axes: Any, name: str, values: Any, inches: float) -> None:
    """A band of colours, one for each value, with its number where there is room."""
    cuts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    known = {value: i for i, value in enumerate(np.unique(values).tolist())}
    for a, b in pairwise(cuts):
        value = values[a].item()
        axes.axvspan(a - 0.5, b - 0.5, color=COLOURS[known[value] % len(COLOURS)], alpha=0.28, linewidth=0)
        room = (b - a) * inches
        text = f"{name} {value}" if room >= WIDE + 0.06 * len(name) else str(value)
        axes.text((a + b - 1) / 2, 0.5, text, ha="center", va="center", fontsize=9, color=INK, clip_on=True)
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.set_ylabel(name, rotation=0, ha="right", va="center", fontsize=9, color="#59616A")
    axes.tick_params(bottom=False, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _whole_ticks(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True))
