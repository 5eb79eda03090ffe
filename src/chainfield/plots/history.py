"""Error (or the objective) against passes over the data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from chainfield.errors import DataError

from .figure import COLOURS, EDGE, MARKERS, finish, new_figure, styled


def plot_history(
    histories: Mapping[str, Sequence[Mapping[str, Any]]], path: str | os.PathLike[str] | None = None
) -> Any:
    """Curves of trainings, by name: ``{"SGA": model.history_, …}``.

    The error on development data (1 - ``dev_score``) where all have it, else the objective. Each name stands at the end
    of its curve. Returns matplotlib's figure; with ``path`` it is saved as well.
    """
    if not histories or not all(histories.values()):
        raise DataError("There is nothing to plot: give at least one training, each with its history_.")
    errors = all("dev_score" in record for history in histories.values() for record in history)
    figure = new_figure(6.4, 3.8)
    axes = styled(figure.add_subplot(), x="iteration", y="error on development data (%)" if errors else "objective")
    axes.grid(axis="y", color=EDGE, linewidth=0.6, alpha=0.6)
    for i, (name, history) in enumerate(histories.items()):
        colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
        steps = [r["iteration"] for r in history]
        values = [100 * (1 - r["dev_score"]) if errors else r["objective"] for r in history]
        every = max(1, len(steps) // 20)
        axes.plot(steps, values, color=colour, marker=marker, markersize=4, markevery=every, linewidth=1.6, label=name)
    if len(histories) > 1:
        axes.legend(frameon=False, fontsize=9)
    return finish(figure, path)
