"""Timing contestants side by side: alternately and repeatedly, so that the machine's noise hits both."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import chainfield


@dataclass
class Measurements:
    """Named figures, and every timing behind them."""

    name: str
    figures: dict[str, float] = field(default_factory=dict)
    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"name": self.name, "figures": self.figures, "samples": self.samples, "notes": self.notes, **machine()}


def machine() -> dict[str, Any]:
    """What the figures were measured on: processor, cores, versions."""
    model = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    return {
        "machine": {
            "processor": model,
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "chainfield": chainfield.__version__,
        }
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


def middle(values: list[float]) -> float:
    """The median: one slow round does not count."""
    return median(values)
