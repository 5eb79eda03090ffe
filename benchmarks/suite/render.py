"""Figures as text: for the terminal, and as RESULTS.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .measure import Measurements
from .registry import BENCHMARKS

HEAD = """# Benchmarks

Written by `python benchmarks/run.py render`. Ratios are of one run, medians of alternating rounds. `…_speedup_…` says
how many times longer the peer takes, `…_ratio_…` is ours divided by the peer's. [README.md](README.md) says how to run
the benchmarks and how to read them.
"""


def shown(measured: Measurements) -> str:
    """For the terminal: figures, tables, notes."""
    width = max(map(len, measured.figures), default=0)
    lines = [
        f"{name:>{width}}  {number(value)}" for name, value in measured.figures.items() if name not in measured.tabled
    ]
    for table in measured.tables:
        lines += ["", *markdown(table.title, table.head, table.rows)]
    return "\n".join([*lines, "", *measured.notes])


def render_all(paths: Iterable[Path]) -> str:
    """RESULTS.md from the results that were kept, in the order of the list of benchmarks."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    order = list(BENCHMARKS)
    results.sort(key=lambda result: order.index(result["name"]) if result["name"] in order else len(order))
    return "\n".join([HEAD, *(section(result) for result in results)])


def section(result: dict[str, Any]) -> str:
    """One benchmark as a section of Markdown."""
    box = result["machine"]
    known = BENCHMARKS.get(result["name"])
    lines = [f"## {result['name']}", ""]
    if known is not None:
        lines += [f"{known.about[0].upper()}{known.about[1:]}.", ""]
    lines += [f"{box['processor']}, {box['cores']} cores, Python {box['python']}, chainfield {box['chainfield']}.", ""]
    tabled = set(result.get("tabled", ()))
    figures = [f"| {name} | {number(value)} |" for name, value in result["figures"].items() if name not in tabled]
    if figures:
        lines += ["| figure | value |", "| --- | --: |", *figures, ""]
    for table in result.get("tables", []):
        lines += [*markdown(table["title"], table["head"], table["rows"]), ""]
    lines += [*(f"- {note}" for note in result["notes"]), *[""] * bool(result["notes"])]
    return "\n".join(lines)


def markdown(title: str, head: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> list[str]:
    """A table of Markdown."""
    rows = list(rows)
    words = [all(isinstance(row[i], str) for row in rows) for i in range(len(head))]
    return [
        f"**{title}**",
        "",
        f"| {' | '.join(head)} |",
        f"| {' | '.join('---' if text else '--:' for text in words)} |",
        *(f"| {' | '.join(number(cell) for cell in row)} |" for row in rows),
    ]


def number(value: str | float | None) -> str:
    """A figure as it is printed: four digits, large ones whole."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
