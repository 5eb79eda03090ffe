"""Reads the log of a training, line by line, as CRFsuite writes it: iterations as data, and events."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
_SECONDS = re.compile(r"Seconds required: (\d+\.\d+)")
#: Key of an iteration → pattern and type.
_NUMBERS: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    key: (re.compile(pattern), kind)
    for key, pattern, kind in (
        ("loss", r"Loss: (-?\d+\.\d+)", float),
        ("feature_norm", r"Feature norm: (\d+\.\d+)", float),
        ("error_norm", r"Error norm: (\d+\.\d+)", float),
        ("active_features", r"Active features: (\d+)", int),
        ("linesearch_trials", r"Line search trials: (\d+)", int),
        ("linesearch_step", r"Line search step: (\d+\.\d+)", float),
        ("time", r"Seconds required for this iteration: (\d+\.\d+)", float),
    )
}
_AVERAGE = re.compile(r"Macro-average precision, recall, F1: \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)")
_ACCURACY = re.compile(r"(Item|Instance) accuracy: (\d+) / (\d+)")
_LABEL = re.compile(r"\s{4}(.+): \((\d+), (\d+), (\d+)\) \((\S+), (\S+), (\S+)\)")


class LabelScore(NamedTuple):
    """Counts and scores of a label; scores are None where the label did not occur at all."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainLogParser:
    """A log so far. ``iterations`` and ``last_iteration`` are dicts; ``last_log`` is the text of the last event."""

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    def feed(self, line: str) -> str | None:
        """One line more; returns the event that it completes, if it completes one."""
        self.log.append(line)
        if self.state is None:
            self.state = "STARTING"
            self._starting(line)
            self.events.append(("start", 0, len(self.log)))
            return "start"
        steps = {
            "STARTING": self._starting,
            "FEATGEN": self._generating,
            "AFTER_FEATGEN": self._prepared,
            "ITERATION": self._iterating,
            "AFTER_ITERATION": self._between,
            "STORING": self._storing,
        }
        event = steps[self.state](line)
        if event is not None:
            # A line that begins something new belongs to what comes after the event.
            end = len(self.log) - (event in ("prepared", "optimization_end"))
            self.events.append((event, self.events[-1][2], end))
        return event

    @property
    def last_log(self) -> str:
        """The text of the last event."""
        _, start, end = self.events[-1]
        return "".join(self.log[start:end])

    def _starting(self, line: str) -> str | None:
        if line.startswith("Feature generation"):
            self.state = "FEATGEN"
        return None

    def _generating(self, line: str) -> str | None:
        if line in "0123456789.10":
            self.featgen_percent += 2
            return "featgen_progress"
        if line.startswith("Number of features: "):
            self.featgen_num_features = int(line.split(":")[1])
        seconds = _SECONDS.match(line)
        if seconds is None:
            return None
        self.featgen_seconds = float(seconds.group(1))
        self.state = "AFTER_FEATGEN"
        return "featgen_end"

    def _prepared(self, line: str) -> str | None:
        if _HEAD.match(line):
            self._begin(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        return None

    def _begin(self, line: str) -> bool:
        head = _HEAD.match(line)
        if head is not None:
            self.last_iteration = {"num": int(head.group(1)), "scores": {}}
            self.iterations.append(self.last_iteration)
            self.state = "ITERATION"
        return head is not None

    def _iterating(self, line: str) -> str | None:
        if self._begin(line):
            return None
        if line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        assert self.last_iteration is not None
        found = self.last_iteration
        for key, (pattern, kind) in _NUMBERS.items():
            number = pattern.match(line)
            if number is not None:
                found[key] = kind(number.group(1))
        average = _AVERAGE.match(line)
        if average is not None:
            names = ("avg_precision", "avg_recall", "avg_f1")
            found.update(zip(names, map(float, average.groups()), strict=True))
        accuracy = _ACCURACY.match(line)
        if accuracy is not None:
            name = f"{accuracy.group(1).lower()}_accuracy"
            found[name] = Fraction(int(accuracy.group(2)), max(int(accuracy.group(3)), 1))
            found[f"{name}_float"] = float(found[name])
        label = _LABEL.match(line)
        if label is not None:
            name, *rest = label.groups()
            scores = [None if "*" in text else float(text) for text in rest[3:]]
            found["scores"][name] = LabelScore(*map(int, rest[:3]), *scores)
        return None

    def _between(self, line: str) -> str | None:
        if self._begin(line):
            return None
        if line.startswith("Total seconds required for training: "):
            self.training_seconds = float(line.split(":")[1])
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def _storing(self, line: str) -> str | None:
        if line == "\n":
            return "end"
        seconds = _SECONDS.match(line)
        if seconds is not None:
            self.storing_seconds = float(seconds.group(1))
        return None
