"""Finished parts of a long experiment, kept in a file so that it can be interrupted and go on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: The environment variable that names the file; without it nothing is kept.
VARIABLE = "CHAINFIELD_PARTS"


@dataclass
class Parts:
    """Results by key; both are what JSON can hold. A line a result; a line that was cut off is left out."""

    path: Path | None = None
    known: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def open(cls) -> Parts:
        """Those of the file that the environment names."""
        named = os.environ.get(VARIABLE)
        parts = cls(Path(named) if named else None)
        if parts.path is not None and parts.path.exists():
            for line in parts.path.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                parts.known[entry["key"]] = entry["result"]
        return parts

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """The result of a key; made, and kept, if there is none yet."""
        if key not in self.known:
            self.known[key] = make()
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "result": self.known[key]}) + "\n")
        return self.known[key]
