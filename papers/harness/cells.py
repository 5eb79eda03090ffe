"""Parts of a long experiment that are kept in files as they are finished, so that a run that was cut goes on."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .experiment import Context

#: The environment variable that names the folder; without it nothing is kept.
CELLS = "CHAINFIELD_CELLS"


def kept(name: str, context: Context, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What was kept under this name, or what ``compute`` gives now: plain values, as JSON holds them."""
    folder = os.environ.get(CELLS)
    if not folder:
        return compute()
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    path = Path(folder) / f"{slug}-{context.mode}-seed{context.seed}.json"
    if path.exists():
        context.log(f"{name}: kept in {path.name}")
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    value = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(path)
    return value
