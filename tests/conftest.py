"""Compiled kernels are kept on disk by the file of the outermost function alone: helpers that it inlines do not count.

So that tests never run old code, the cache is cleared whenever a kernel module has changed.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path


def pytest_configure(config):
    spec = find_spec("chainfield")
    folder = Path(spec.origin).parent / "kernels"
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))).hexdigest()
    mark = folder / "__pycache__" / "sources.sha256"
    if mark.exists() and mark.read_text() == digest:
        return
    for path in folder.rglob("*.nb[ic]"):
        path.unlink(missing_ok=True)
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(digest)
