"""Which sources the kernels were compiled from: a stamp of all of them, so that old machine code never runs."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent


@cache
def stamp() -> str:
    """A hash of the version and of every file that decides what a kernel does."""
    files = [PACKAGE / "__init__.py", *(PACKAGE / "kernels").rglob("*.py"), *(PACKAGE / "native").glob("*.[ch]")]
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(PACKAGE).as_posix(), path) for path in files):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_checkout() -> bool:
    """Whether the library runs from its sources, where kernels may change under a compiled extension."""
    return PACKAGE.parent.name == "src" and (PACKAGE.parent.parent / "pyproject.toml").is_file()
