"""Parts of a long experiment that are kept in files as they are finished, so that a run that was cut goes on.

A part is known by its name, its settings, and the code of its experiment with all that it imports, the library's too:
change one of them, and it is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .experiment import Context
from .provenance import provenance_of

#: The environment variable that names the folder; without it nothing is kept.
CELLS = "CHAINFIELD_CELLS"


def kept(
    name: str, settings: Mapping[str, Any], context: Context, compute: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """What was kept of this part, or what ``compute`` gives now: plain values, as JSON holds them."""
    path = place(name, settings, context, compute.__module__)
    if path is None:
        return compute()
    if path.exists():
        value = _read(path)
        if value is not None:
            context.log(f"{name}: kept in {path.name}")
            taken = _content(path).get("processor")
            context.earlier.append(taken if isinstance(taken, float) else 0.0)
            return value
        context.log(f"{name}: {path.name} is damaged and is computed again")
    started = time.process_time()
    value = compute()
    found = {"name": name, "settings": told(settings), "processor": time.process_time() - started, "value": value}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}.part")
    beside.write_text(json.dumps(found), encoding="utf-8")
    beside.replace(path)
    return value


def place(name: str, settings: Mapping[str, Any], context: Context, module: str) -> Path | None:
    """The file of a part; None where nothing is kept. ``module`` computes it, where no experiment is under way."""
    folder = os.environ.get(CELLS)
    if not folder:
        return None
    code = provenance_of(context.module or module)
    said = json.dumps([name, told(settings), context.mode, context.seed, code.experiment, code.library], sort_keys=True)
    return Path(folder) / f"{_slug(name)}-{hashlib.sha256(said.encode()).hexdigest()[:16]}.json"


def earlier(name: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is kept of a part whatever code computed it, the latest first; None if nothing is."""
    folder = os.environ.get(CELLS)
    paths = Path(folder).glob(f"{_slug(name)}-*.json") if folder else ()
    for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
        found = _content(path)
        if found.get("name") == name and found.get("settings") == told(settings):
            value = _read(path)
            if value is not None:
                return value
    return None


def told(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON holds them; what it cannot hold is told by its text."""
    found: dict[str, Any] = json.loads(json.dumps(dict(settings), default=str, sort_keys=True))
    return found


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80]


def _read(path: Path) -> dict[str, Any] | None:
    value = _content(path).get("value")
    return value if isinstance(value, dict) else None


def _content(path: Path) -> dict[str, Any]:
    """What a file holds; nothing if it is damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
