"""What a model holds, as data; and a reader of the text that ``crfsuite dump`` writes."""

from __future__ import annotations

import re
from typing import Any


class ParsedDump:
    """Names and weights of a model: what :meth:`Tagger.info` returns.

    header: fields of the file's header, as text. labels, attributes: {name: number as text}.
    transitions: {(label before, label): weight}. state_features: {(attribute, label): weight}.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}


class CRFsuiteDumpParser:
    """Reads the text of a dump line by line. Names may contain spaces and arrows: known names decide where they end."""

    _SECTION = re.compile(r"(FILEHEADER|LABELS|ATTRIBUTES|TRANSITIONS|STATE_FEATURES) = \{")
    _FIELD = re.compile(r"(\w+): (.*)", re.DOTALL)
    _WEIGHT = re.compile(r"\(\d+\) (.*): ([+-]?[\d.]+(?:e[+-]?\d+)?)", re.DOTALL)

    def __init__(self) -> None:
        self.state: str | None = None
        self.result = ParsedDump()

    def feed(self, line: str) -> None:
        """One line more."""
        text = line.lstrip(" \t").rstrip("\r\n")
        section = self._SECTION.fullmatch(text)
        if section:
            self.state = section.group(1)
        elif text == "}":
            self.state = None
        elif text and self.state is not None:
            self._entry(self.state, text)

    def _entry(self, state: str, text: str) -> None:
        found: Any = self.result
        if state in ("TRANSITIONS", "STATE_FEATURES"):
            sources = found.labels if state == "TRANSITIONS" else found.attributes
            into = found.transitions if state == "TRANSITIONS" else found.state_features
            entry = self._WEIGHT.fullmatch(text)
            if entry is not None:
                names, weight = entry.groups()
                parts = names.split(" --> ")
                ways = [(" --> ".join(parts[:i]), " --> ".join(parts[i:])) for i in range(1, len(parts))]
                into.update({way: float(weight) for way in ways if way[0] in sources and way[1] in found.labels})
            return
        entry = self._FIELD.fullmatch(text)
        if entry is not None:
            name, value = entry.groups()
            if state == "FILEHEADER":
                found.header[name] = value
            else:
                {"LABELS": found.labels, "ATTRIBUTES": found.attributes}[state][value] = name
