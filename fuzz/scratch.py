"""A folder in memory for the files of a target; it goes with the process."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

_kept: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def folder() -> str:
    """The folder of this process."""
    _kept.append(tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    return _kept[-1].name
