"""Structured logs: one JSON object per line. Nothing of what users wrote is in them, unless it is asked for."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from typing import IO, Any


class Log:
    """Writes events; ``texts``: the inputs of requests too."""

    def __init__(self, stream: IO[str] | None = None, *, requests: bool = True, texts: bool = False) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self.requests = requests
        self.texts = texts

    def __call__(self, event: str, **facts: Any) -> None:
        """One line."""
        line = json.dumps({"time": round(time.time(), 3), "event": event} | facts) + "\n"
        with self._lock, contextlib.suppress(OSError, ValueError):  # that nobody reads is no reason to stop answering
            (self._stream or sys.stderr).write(line)
