"""Error (or the objective) against passes over the data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from chainfield.errors import DataError

from .figure import new_figure


def plot_history(
    histories: Mapping[str, Sequence[Mapping[str, Any]]], path: str | os.PathLike[str] | None = None
) -> Any:
    """Curves of trainings, by name: ``{"SGA": model.history_, …}``.

    The error on development data (1 - ``dev_score``) where all have it, else the objective. Returns matplotlib's
    figure; with ``path`` it is saved as well.
    """
    if not histories or not all(histories.values()):
        raise DataError("There is nothing to plot: give at least one training, each with its history_.")
    errors = all("dev_score" in record for history in histories.values() for record in history)
    figure = new_figure(6.0, 4.0)
    axes = figure.add_subplot()
    for name, history in histories.items():
        values = [100 * (1 - r["dev_score"]) if errors else r["objective"] for r in history]
        axes.plot([r["iteration"] for r in history], values, marker="o", markersize=3, label=name)
    axes.set_xlabel("passes over the data")
    axes.set_ylabel("error on development data (%)" if errors else "objective")
    axes.legend()
    if path is not None:
        figure.savefig(path)
    return figure
