"""Curves as pictures (SVG), drawn without a plotting library: the same numbers give the same file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, BOTTOM = 70, 20, 55
COLOURS = ("#1b6ca8", "#c8553d", "#4a7c59", "#8a5a9e")
DASHES = ("none", "8 4", "2 3", "10 3 2 3")
ROW, BESIDE, SWATCH = 20, 2, 34  # of the names of lines: the height of a row, how many stand in one, what goes before
Points = Sequence[tuple[float, float]]


def curves(lines: Mapping[str, Points], x_label: str, y_label: str) -> str:
    """Lines over a logarithmic axis with a mark at every number; the other axis begins at 0. Names stand above."""
    xs = sorted({x for points in lines.values() for x, _ in points})
    top = max(y for points in lines.values() for _, y in points)
    power = 10.0 ** math.floor(math.log10(top / 10.0)) if top > 0 else 0.1
    step = next(s for s in (power, 2.0 * power, 5.0 * power, 10.0 * power) if top / s <= 10 or s == 10.0 * power)
    top = step * math.ceil(top / step)
    span = math.log(xs[-1] / xs[0]) or 1.0
    above = 14 + ROW * math.ceil(len(lines) / BESIDE)

    def right(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / xs[0]) / span

    def down(y: float) -> float:
        return above + (HEIGHT - above - BOTTOM) * (1.0 - y / top)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for i in range(round(top / step) + 1):
        y = down(i * step)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{i * step:g}</text>')
    for x in xs:
        parts.append(f'<text x="{right(x):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{x:g}</text>')
    middle = (above + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">{escape(y_label)}</text>'
    )
    for i, (name, points) in enumerate(lines.items()):
        colour = COLOURS[i % len(COLOURS)]
        drawn = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{DASHES[i % len(DASHES)]}"'
        places = [(right(x), down(y)) for x, y in sorted(points)]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{joined}" fill="none" {drawn}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]
        x, y = LEFT + (i % BESIDE) * (WIDTH - LEFT - RIGHT) / BESIDE, ROW * (i // BESIDE) + 14
        parts.append(f'<line x1="{x:.1f}" x2="{x + SWATCH - 6:.1f}" y1="{y}" y2="{y}" {drawn}/>')
        parts.append(f'<text x="{x + SWATCH:.1f}" y="{y + 4}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
