"""A picture of an association: blue where two events attract each other, orange where they repel each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.errors import ConfigError

from .figure import MUTED, colour_bar, diverging, finish, new_figure, styled

if TYPE_CHECKING:
    from chainfield.statistics.association import Association

HALF = 0.5
MOST = 60  # names an axis can show so that one can read them


def heat_map(
    association: Association,
    path: str | os.PathLike[str] | None = None,
    *,
    n: int = 25,
    limit: float = 4.0,
    title: str = "",
    names: tuple[str, str] = ("first", "second"),
) -> Any:
    """Draw the pointwise mutual information (in bits) of the ``n`` most frequent events of each kind.

    Colours end at ± ``limit`` bits: blue where two events attract each other, orange where they repel each other. A
    cross marks pairs that never occurred; their colour tells what that means, as if they had occurred half a time: the
    more often chance would bring them together, the darker the orange. Returns matplotlib's figure; with ``path`` it is
    saved as well (png, svg, pdf …). Needs matplotlib: pip install 'chainfield[plot]'.
    """
    if not 1 <= n <= MOST:
        raise ConfigError(f"n is {n}; from 1 to {MOST} events can be shown.")
    if not (np.isfinite(limit) and limit > 0):
        raise ConfigError(f"limit is {limit}; a number of bits above 0 is expected.")
    rows, columns = (
        np.sort(np.argsort(-counts, kind="stable")[:n])
        for counts in (association.first_counts, association.second_counts)
    )
    bits, counts = _tables(association, rows, columns)
    figure = new_figure(2.8 + 0.32 * len(columns), 2.0 + 0.32 * len(rows))
    axes = styled(figure.add_subplot(), x=names[1], y=names[0], title=title, frame=True)
    image = axes.imshow(np.clip(bits, -limit, limit), cmap=diverging(), vmin=-limit, vmax=limit)
    never = np.argwhere(counts == 0)
    axes.plot(never[:, 1], never[:, 0], "x", color="0.35", markersize=5, linestyle="none")
    axes.set_xticks(range(len(columns)), [str(association.seconds[i]) for i in columns], rotation=90)
    axes.set_yticks(range(len(rows)), [str(association.firsts[i]) for i in rows])
    colour_bar(figure, image, axes, "repel ← bits → attract")
    figure.text(0.01, -0.01, _caption(association, rows, columns, len(never)), color=MUTED, fontsize=9, va="top")
    return finish(figure, path)


def _caption(association: Association, rows: Any, columns: Any, n_never: int) -> str:
    """What a reader of the picture alone must know."""
    cut = [
        f"the {len(shown)} most frequent of {len(all_)} {which}"
        for which, shown, all_ in (("rows", rows, association.firsts), ("columns", columns, association.seconds))
        if len(shown) < len(all_)
    ]
    return "; ".join([*cut, *(["× never occurred"] if n_never else [])])


def _tables(association: Association, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Bits and counts of some rows and columns."""
    counts = np.zeros((len(rows), len(columns)))
    place_a = np.full(len(association.firsts), -1)
    place_b = np.full(len(association.seconds), -1)
    place_a[rows], place_b[columns] = np.arange(len(rows)), np.arange(len(columns))
    a, b = place_a[association.first], place_b[association.second]
    shown = (a >= 0) & (b >= 0)
    counts[a[shown], b[shown]] = association.count[shown]
    expected = np.outer(association.first_counts[rows], association.second_counts[columns]) / association.total
    k = np.where(counts == 0, max(association.strength, HALF), association.strength)
    return np.log2((counts + k) / (expected + k)), counts
