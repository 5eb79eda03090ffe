"""A matrix as a picture (SVG): dark where a number is high, lines between groups of rows and of columns."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

SIDE, MARGIN = 600, 70
LEVELS = 10


def matrix(levels: Sequence[str], groups: Sequence[str], across: str, down: str) -> str:
    """``levels``: a string of digits per row, 0 is white; ``groups``: what a row, and the column, belongs to."""
    n = len(levels)
    cell = SIDE / max(n, 1)
    width, height = SIDE + MARGIN + 10, SIDE + MARGIN + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for level in range(1, LEVELS):
        grey = round(235 - 235 * level / (LEVELS - 1))
        places = []
        for i, row in enumerate(levels):
            at = 0
            for digit, run in groupby(row):
                length = len(list(run))
                if int(digit) == level:
                    x, y = MARGIN + at * cell, MARGIN + i * cell
                    places.append(f"M{x:.1f} {y:.1f}h{length * cell:.1f}v{cell:.1f}h{-length * cell:.1f}z")
                at += length
        if places:
            parts.append(f'<path d="{"".join(places)}" fill="rgb({grey},{grey},{grey})"/>')
    at = 0
    for name, run in groupby(groups):
        length = len(list(run))
        begin, middle = MARGIN + at * cell, MARGIN + (at + length / 2) * cell
        for x1, y1, x2, y2 in ((MARGIN, begin, MARGIN + SIDE, begin), (begin, MARGIN, begin, MARGIN + SIDE)):
            parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#1b6ca8"/>')
        if length * cell >= 12:
            parts.append(f'<text x="{MARGIN - 6}" y="{middle + 4:.1f}" text-anchor="end">{escape(name)}</text>')
            turned = f"rotate(-60 {middle:.1f} {MARGIN - 6})"
            parts.append(f'<text x="{middle:.1f}" y="{MARGIN - 6}" transform="{turned}">{escape(name)}</text>')
        at += length
    parts.append(f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#1b6ca8"/>')
    parts.append(f'<text x="6" y="14">{escape(down)} ↓ {escape(across)} →</text>')
    return "\n".join([*parts, "</svg>", ""])
