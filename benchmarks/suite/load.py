"""Loading models: seconds, peak memory of a process, and of ten processes with one model; python-crfsuite beside it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chainfield import load

from .children import ask, environment
from .measure import Measurements, Options, alternate
from .peers import installed, missing_notes
from .styles import Style, styles
from .tasks import conll2000

REPEATS = 11
PROCESSES = 10
WORKER = "suite.load_worker"


def run(options: Options) -> Measurements:
    """Models of names (dicts, lists) and of columns; the peer knows names only."""
    task, repeats = conll2000(options.sample), options.repeats or REPEATS
    result = Measurements("load", notes=missing_notes("crfsuite"))
    with tempfile.TemporaryDirectory() as name:
        found = {style.name: style for style in styles(task, Path(name))}
        loads: dict[str, Callable[[], Any]] = {
            f"load_{kind}": lambda path=found[kind].model: load(path, n_jobs=1) for kind in ("lists", "columns")
        }
        if installed("crfsuite"):
            from .peers import crfsuite

            loads["load_crfsuite"] = lambda: crfsuite.open_model(str(found["lists"].peer))
        for function in loads.values():
            function()
        result.samples |= alternate(loads, repeats)
        for kind in loads:
            result.figures[f"{kind}_seconds"] = result.middle(kind) or 0.0
        result.speedup("load_names_speedup_crfsuite", "load_crfsuite", "load_lists")
        for kind in ("lists", "columns"):
            _processes(kind, found[kind], repeats, result)
    result.notes.append(
        "load: in a warm process, the file in the cache of the system. peak: the largest resident memory of a fresh "
        "process that loads the model and tags one sentence. ten processes: the sum of their proportional shares (Pss) "
        "while all have the model and have tagged. The peer's model of columns is that of names."
    )
    return result


def _processes(kind: str, style: Style, repeats: int, result: Measurements) -> None:
    sentence = json.dumps(next(s for s in style.own if s))
    theirs = json.dumps(next(s for s in (style.theirs if style.make is None else style.make(style.own[:20])) if s))
    contestants = {"own": (str(style.model), sentence)}
    if installed("crfsuite"):
        contestants["crfsuite"] = (str(style.peer), theirs)
    for _ in range(min(3, repeats)):
        for whose, arguments in contestants.items():
            found = ask(WORKER, whose, *arguments)
            result.add(f"peak_{kind}_{whose}", float(found["peak"]))
            result.add(f"fresh_{kind}_{whose}", float(found["seconds"]))
    for whose, arguments in contestants.items():
        result.figures[f"peak_bytes_{kind}_{whose}"] = result.middle(f"peak_{kind}_{whose}") or 0.0
        result.figures[f"fresh_seconds_{kind}_{whose}"] = result.middle(f"fresh_{kind}_{whose}") or 0.0
        shares = _shares(whose, arguments)
        if shares is not None:
            result.figures[f"ten_processes_bytes_{kind}_{whose}"] = float(shares)
    for figure in ("peak_bytes", "ten_processes_bytes"):
        ours, peer = (result.figures.get(f"{figure}_{kind}_{whose}") for whose in ("own", "crfsuite"))
        if ours and peer:
            result.figures[f"{figure.removesuffix('_bytes')}_{kind}_ratio_crfsuite"] = ours / peer


def _shares(whose: str, arguments: tuple[str, str]) -> int | None:
    """The memory of ten processes that are alive together; None where the system does not tell it."""
    if not Path("/proc/self/smaps_rollup").is_file():
        return None
    command = [sys.executable, "-m", WORKER, whose, *arguments, "wait"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment()}
    children = [subprocess.Popen(command, **pipes) for _ in range(PROCESSES)]
    try:
        for child in children:
            assert child.stdout is not None
            if not child.stdout.readline():
                raise RuntimeError(f"A process that loads {arguments[0]} failed.")
        return sum(_pss(child.pid) for child in children)
    finally:
        for child in children:
            child.communicate()


def _pss(process: int) -> int:
    text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    return 1024 * next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
