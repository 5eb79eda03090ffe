"""Timing contestants side by side: alternately and repeatedly, so that the machine's noise hits all of them."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import chainfield

KEPT = 101  # timings of a contestant that a file keeps


@dataclass(frozen=True)
class Options:
    """How a benchmark is run. A sample is for trying things out: its figures mean nothing."""

    repeats: int | None = None  # rounds; None: the benchmark's own number
    sample: int | None = None  # the first sequences only
    fresh_optimum: bool = False  # look for optima again, instead of taking those that are written down


@dataclass(frozen=True)
class Table:
    """Figures that read better side by side."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]


@dataclass
class Measurements:
    """Named figures, every timing behind them, notes, and tables of figures."""

    name: str
    figures: dict[str, float] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    tabled: list[str] = field(default_factory=list)  # figures that stand in a table, and need not be listed again

    def add(self, sample: str, value: float) -> None:
        """One more timing of a contestant."""
        self.samples.setdefault(sample, []).append(value)

    def middle(self, sample: str) -> float | None:
        """The median of a contestant's timings: one slow round does not count. None if it did not take part."""
        values = self.samples.get(sample)
        return median(values) if values else None

    def speedup(self, figure: str, peer: str, own: str) -> None:
        """A figure: how many times longer the peer takes; nothing if it did not take part."""
        theirs, ours = self.middle(peer), self.middle(own)
        if theirs is not None and ours:
            self.figures[figure] = theirs / ours

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        tables = [{"title": t.title, "head": list(t.head), "rows": [list(row) for row in t.rows]} for t in self.tables]
        return {
            "name": self.name,
            "figures": self.figures,
            "samples": {name: thinned(values) for name, values in self.samples.items()},
            "notes": self.notes,
            "tables": tables,
            "tabled": self.tabled,
            "machine": machine(),
        }


def thinned(values: list[float]) -> list[float]:
    """Timings as a file keeps them: all of a few, or evenly spaced ones of many in order of size."""
    if len(values) <= KEPT:
        return values
    ordered = sorted(values)
    return [ordered[round(i * (len(values) - 1) / (KEPT - 1))] for i in range(KEPT)]


def machine() -> dict[str, Any]:
    """What the figures were measured on: processor, cores, versions."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "chainfield": chainfield.__version__,
    }


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of a call."""
    gc.collect()
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def alternate(contestants: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Seconds of every contestant, in rounds: first all once, then all again, and so on."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, function in contestants.items():
            seconds[name].append(timed(function)[0])
    return seconds
