"""Pictures of hidden states: pages (HTML, by itself) and images (PNG, SVG, PDF, by matplotlib)."""

from __future__ import annotations

import os
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.errors import ConfigError

from .figure import COLOURS, EDGE, IMPOSSIBLE, colour_bar, diverging, finish, new_figure, styled

if TYPE_CHECKING:
    from chainfield.inspection.states import HiddenStates, StatePath

IMAGES = (".png", ".svg", ".pdf")
MOST_NAMES = 80  # states that an axis can name so that one can read them
_STYLE = """<style>
body { font: 15px/1.5 sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse } td, th { padding: .15em .8em; text-align: left; vertical-align: top }
td.n { text-align: right; color: #666 } h2 { margin-top: 1.5em }
.map { max-width: 100%; height: auto }
.path span { display: inline-block; margin: .2em; padding: .2em .5em; border-radius: .3em; text-align: center }
.path small { display: block; color: #444 }
</style>"""


def save_states(
    states: HiddenStates, path: str | os.PathLike[str], *, by_label: bool = True, min_count: int = 1
) -> None:
    """The transitions as an image, or a page with the tokens of all states and the transitions."""
    order = states.order(by_label=by_label, min_count=min_count)
    if not len(order):
        raise ConfigError(f"No state fires {min_count} times or more; give a smaller min_count, or more data.")
    if _suffix(path) == ".html":
        _write(path, "Hidden states", _page(states, order))
        return
    matrix = states.scores[np.ix_(order, order)]
    figure, axes = _figure(7.2, 6.2)
    styled(axes, x="to", y="from", title="Transitions between states", frame=True)
    limit = _limit(matrix)
    masked: Any = np.ma  # some versions of NumPy have no types there
    shown = masked.masked_invalid(matrix)
    image = axes.imshow(shown, cmap=diverging(), vmin=-limit, vmax=limit, interpolation="nearest")
    names = [str(states.states[i].name) for i in order.tolist()]
    if len(names) <= MOST_NAMES:
        size = max(3.0, min(9.0, 320 / len(names)))
        axes.set_xticks(range(len(names)), names, rotation=90, fontsize=size)
        axes.set_yticks(range(len(names)), names, fontsize=size)
    else:
        _mark_labels(axes, [str(states.states[i].label) for i in order.tolist()])
    colour_bar(figure, image, axes, "unlikely ← score → likely (grey: impossible)")
    finish(figure, path)


def save_path(path: StatePath, target: str | os.PathLike[str]) -> None:
    """The states along one sequence."""
    if _suffix(target) == ".html":
        _write(target, "States along a sequence", _boxes(path))
        return
    n = len(path.positions)
    figure, axes = _figure(max(4.0, 0.75 * n + 0.8), 2.6)
    styled(axes, y="probability of the state")
    axes.grid(axis="y", color=EDGE, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    colours = _colours([at.label for at in path.positions])
    for t, at in enumerate(path.positions):
        axes.bar(t, at.probability, color=colours[at.label], width=0.85)
        axes.text(t, 0.04, str(at.state), rotation=90, ha="center", va="bottom", fontsize=9)
    axes.set_xticks(range(n), [at.token for at in path.positions], rotation=45, ha="right", fontsize=10)
    axes.set_ylim(0, 1)
    finish(figure, target)


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (*IMAGES, ".html"):
        raise ConfigError(f"{path}: the name must end in {', '.join(IMAGES)} or .html.")
    return suffix


def _figure(width: float, height: float) -> tuple[Any, Any]:
    figure = new_figure(width, height, ", or write a page (.html)")
    return figure, figure.add_subplot()


def _limit(matrix: Float) -> float:
    finite = np.abs(matrix[np.isfinite(matrix)])
    return float(np.quantile(finite, 0.99)) or 1.0 if len(finite) else 1.0


def _mark_labels(axes: Any, labels: list[str]) -> None:
    """Too many states to name: the labels they belong to, with lines between them."""
    ends = [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]]
    bounds = [0, *ends, len(labels)]
    middles = [(a + b - 1) / 2 for a, b in pairwise(bounds)]
    names = [labels[a] for a in bounds[:-1]]
    axes.set_xticks(middles, names, rotation=90, fontsize=8)
    axes.set_yticks(middles, names, fontsize=8)
    for end in ends:
        axes.axhline(end - 0.5, color="0.3", linewidth=0.5)
        axes.axvline(end - 0.5, color="0.3", linewidth=0.5)


def _colours(labels: list[Any]) -> dict[Any, str]:
    """Light tints, so that dark text can stand on them; the ninth label has the hue of the first again."""
    return {label: _mixed(COLOURS[i % len(COLOURS)], 0.35) for i, label in enumerate(dict.fromkeys(labels))}


def _mixed(colour: str, share: float) -> str:
    """A colour on paper."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + share * (part - 255)):02x}" for part in parts)


def _write(path: str | os.PathLike[str], title: str, body: str) -> None:
    head = f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title>{_STYLE}</head>"
    Path(path).write_text(f"{head}<body>\n{body}\n</body></html>\n", encoding="utf-8")


def _boxes(path: StatePath) -> str:
    colours = _colours([at.label for at in path.positions])
    boxes = [
        f"<span style='background:{colours[at.label]}'>{escape(at.token)}<small>{escape(str(at.state))}<br>"
        f"{at.probability:.2f}</small></span>"
        for at in path.positions
    ]
    return f"<div class='path'>{''.join(boxes)}</div>"


def _page(states: HiddenStates, order: Int) -> str:
    parts = [f"<h1>Hidden states</h1><p>{len(states.used())} of {len(states.states)} states fire.</p>"]
    parts.append(
        "<h2>Transitions</h2><p>From (rows) to (columns); blue: likely, orange: unlikely, grey: impossible.</p>"
    )
    parts.append(_map(states, order))
    for label in dict.fromkeys(state.label for state in states.states):
        rows = [
            f"<tr><td>{escape(str(state.name))}</td><td class='n'>{state.count:,}</td><td>"
            + ", ".join(f"<span title='{n}'>{escape(token)}</span>" for token, n in state.tokens)
            + "</td></tr>"
            for state in states.of(label)
            if state.count
        ]
        if rows:
            parts.append(f"<h2>{escape(str(label))}</h2><table>{''.join(rows)}</table>")
    return "\n".join(parts)


def _map(states: HiddenStates, order: Int) -> str:
    """The matrix as an inline SVG: one rectangle for each pair of states, with names where there is room."""
    matrix = states.scores[np.ix_(order, order)]
    n, limit = len(order), _limit(matrix)
    size = max(1, min(18, 800 // n))
    cells = []
    for i in range(n):
        for j in range(n):
            names = f"{states.states[order[i]].name} → {states.states[order[j]].name}"
            title = f"<title>{escape(names)}: {matrix[i, j]:.2f}</title>" if n <= MOST_NAMES else ""
            cells.append(
                f"<rect x='{j * size}' y='{i * size}' width='{size}' height='{size}' "
                f"fill='{_shade(matrix[i, j] / limit)}'>{title}</rect>"
            )
    side, edge = n * size, 0
    if n <= MOST_NAMES:
        size_of_text = min(size, 12)
        named = [escape(str(states.states[k].name)) for k in order.tolist()]
        edge = round(0.62 * size_of_text * max(map(len, named))) + 10
        for i, name in enumerate(named):
            at = (i + 0.5) * size + 0.35 * size_of_text
            cells.append(f"<text x='-6' y='{at:.1f}' text-anchor='end' font-size='{size_of_text}'>{name}</text>")
            turned = f"transform='translate({at:.1f} -6) rotate(-90)'"
            cells.append(f"<text {turned} font-size='{size_of_text}'>{name}</text>")
    whole = side + edge
    return (
        f"<svg class='map' width='{whole}' height='{whole}' viewBox='{-edge} {-edge} {whole} {whole}' "
        f"shape-rendering='crispEdges' role='img' aria-label='Transitions between states'>{''.join(cells)}</svg>"
    )


def _shade(value: float) -> str:
    if not np.isfinite(value):
        return IMPOSSIBLE
    return _mixed("#0b3c73" if value > 0 else "#7a3b00", min(abs(value), 1.0))
