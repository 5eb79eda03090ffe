"""An alignment over the observations that it explains."""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np

from chainfield.errors import DataError

from .figure import new_figure


def plot_alignment(sequence: Any, alignment: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Observations as an image, columns from bottom to top, with the states above and the borders between them.

    Components are written below the states where there are any. Returns matplotlib's figure; with ``path`` it is saved
    as well.
    """
    x = np.asarray(sequence, np.float64)
    states = np.asarray(alignment.states)
    if x.ndim != 2 or len(x) != len(states):
        raise DataError(f"The sequence has shape {x.shape}, but the alignment has {len(states)} positions.")
    spread = x.std(axis=0)
    z = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    figure = new_figure(max(4.0, 0.3 * len(x)), 3.5)
    axes = figure.add_subplot()
    axes.imshow(z.T, aspect="auto", origin="lower", cmap="RdBu_r", vmin=-2.5, vmax=2.5, interpolation="nearest")
    cuts = [0, *(np.flatnonzero(np.diff(states)) + 1).tolist(), len(states)]
    top = x.shape[1] - 0.4
    for a, b in pairwise(cuts):
        axes.text((a + b - 1) / 2, top, f"state {states[a]}", ha="center", va="bottom")
        if b < len(states):
            axes.axvline(b - 0.5, color="black", linewidth=1.5)
    if alignment.components is not None:
        axes.set_xticks(range(len(states)), [f"{t}\n{c}" for t, c in enumerate(alignment.components)])
        axes.set_xlabel("position, and its component")
    else:
        axes.set_xlabel("position")
    axes.set_ylabel("column")
    axes.set_title(str(alignment.label), pad=18)
    if path is not None:
        figure.savefig(path)
    return figure
