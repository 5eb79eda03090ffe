"""Can probabilities be believed: promised beside kept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from chainfield.errors import DataError

from .figure import COLOURS, EDGE, MUTED, finish, new_figure, styled

if TYPE_CHECKING:
    from chainfield.metrics import Reliability


def plot_reliability(found: Reliability, path: str | os.PathLike[str] | None = None) -> Any:
    """The share of right answers against the probability that the model gave them, with intervals.

    ``found`` comes from :func:`chainfield.metrics.reliability`. Points on the dashed line are honest; below it the
    model is too sure. Bars below show where the answers lie. Returns matplotlib's figure; with ``path`` it is saved as
    well.
    """
    bins = [own for own in found.bins if own.count]
    if not bins:
        raise DataError("There are no answers, so that there is nothing to draw.")
    figure = new_figure(4.8, 4.8)
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": [4, 1]})
    styled(upper, y="share that is right")
    upper.plot([0, 1], [0, 1], color=MUTED, linestyle="--", linewidth=1)
    means, shares = [own.mean for own in bins], [own.share.estimate for own in bins]
    ends = [[own.share.estimate - own.share.low for own in bins], [own.share.high - own.share.estimate for own in bins]]
    spread = [[max(value, 0.0) for value in side] for side in ends]
    upper.errorbar(means, shares, yerr=spread, color=COLOURS[0], marker="o", capsize=3, linewidth=1.4)
    upper.set_xlim(0, 1)
    upper.set_ylim(0, 1.02)
    upper.text(0.03, 0.95, "too modest", color=MUTED, fontsize=9, va="top")
    upper.text(0.97, 0.05, "too sure", color=MUTED, fontsize=9, ha="right")
    styled(lower, x="probability that the model gave", y="answers")
    edges, counts, widths = zip(*((own.low, own.count, own.high - own.low) for own in bins), strict=True)
    lower.bar(edges, counts, widths, align="edge", color=COLOURS[0], alpha=0.5, edgecolor=EDGE)
    return finish(figure, path)
