"""A file that belongs to an object: a temporary one where no name is given, which goes where the object goes."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

_DATA = "__FILE_RESOURCE_DATA__"


class FileResource:
    """``name`` is the file's, once there is one. Pickles take the content of temporary files along."""

    def __init__(
        self, filename: str | None = None, keep_tempfiles: bool = False, suffix: str = "", prefix: str = ""
    ) -> None:
        self.name = filename
        self.auto = filename is None
        self.keep_tempfiles = keep_tempfiles
        self.suffix = suffix
        self.prefix = prefix

    def ensure_name(self) -> None:
        """Make a temporary file if there is no name yet."""
        if self.name is not None:
            return
        if not self.auto:
            raise ValueError("File name is not provided")
        handle, self.name = tempfile.mkstemp(self.suffix, self.prefix)
        os.close(handle)

    def cleanup(self) -> None:
        """Delete the file, if it is a temporary one."""
        if self.auto and not self.keep_tempfiles and self.name is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.name)
            self.name = None

    def refresh(self) -> None:
        """Start with a new file."""
        self.cleanup()
        self.ensure_name()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.cleanup()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("fd", None)
        if self.auto and self.name is not None:
            with contextlib.suppress(OSError):
                state[_DATA] = Path(self.name).read_bytes()
            state["name"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state.pop(_DATA, None)
        self.__dict__.update(state)
        if data is not None:
            self.ensure_name()
            assert self.name is not None
            Path(self.name).write_bytes(data)
