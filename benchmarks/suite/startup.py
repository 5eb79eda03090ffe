"""Start-up: importing, first use with a warm, a cold and an unwritable cache of kernels, ``chainfield --help``."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import chainfield

from .children import BENCHMARKS, ask, environment, run_python
from .measure import Measurements, Options, timed

REPEATS = 7
COLD = 2  # rounds with an empty cache: compiling takes long


def run(options: Options) -> Measurements:
    """Every figure is of fresh processes."""
    result = Measurements("startup")
    heavy: set[str] = set()
    for _ in range(options.repeats or REPEATS):
        result.add("python", timed(lambda: run_python("-c", "pass"))[0])
        found = ask("suite.startup_worker", "imported")
        heavy |= set(found["heavy"])
        result.add("import", found["seconds"])
        result.add("help", timed(lambda: run_python("-m", "chainfield", "--help"))[0])
    result.figures |= {
        "import_seconds": result.middle("import") or 0.0,
        "import_heavy_modules": float(len(heavy)),
        "help_seconds": result.middle("help") or 0.0,
        "bare_python_seconds": result.middle("python") or 0.0,
    }
    result.notes.append(f"import chainfield loads, of the heavy libraries: {', '.join(sorted(heavy)) or 'none'}.")
    with tempfile.TemporaryDirectory() as name:
        _first_uses(Path(name), options, result)
        _unwritable(Path(name), result)
    result.notes += [
        "first_train: import, fit on 700 short sentences, predict; first_tag: import, load, predict one. Both in a "
        "fresh process, without the start of Python itself; cold: no kernel is compiled yet.",
    ]
    return result


def _first_uses(folder: Path, options: Options, result: Measurements) -> None:
    model = str(folder / "model.cf")
    for i in range(min(options.repeats or COLD, COLD)):
        for use in ("train", "tag"):
            cache = folder / f"cache-{use}-{i}"
            child = environment(NUMBA_CACHE_DIR=str(cache))
            result.add(f"first_{use}_cold", _right(ask("suite.startup_worker", use, model, env=child)))
            for _ in range(3):
                result.add(f"first_{use}_warm", _right(ask("suite.startup_worker", use, model, env=child)))
            result.figures[f"cache_bytes_{use}"] = float(sum(f.stat().st_size for f in cache.rglob("*") if f.is_file()))
    for use in ("train", "tag"):
        for state in ("warm", "cold"):
            result.figures[f"first_{use}_{state}_seconds"] = result.middle(f"first_{use}_{state}") or 0.0


def _unwritable(folder: Path, result: Measurements) -> None:
    """A package and a home in folders that may only be read: there is no place to keep kernels."""
    place = folder / "read-only"
    source = Path(chainfield.__file__).parent
    shutil.copytree(source, place / "chainfield", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(BENCHMARKS / "suite", place / "suite", ignore=shutil.ignore_patterns("__pycache__"))
    child = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    child |= {"PYTHONPATH": str(place), "HOME": str(place), "XDG_CACHE_HOME": str(place)}
    model = folder / "model.cf"
    options: dict[str, Any] = {"env": child, "cwd": place, "preexec_fn": _give_up_override}
    for path in [place, *place.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        probe = run_python("-c", _PROBE, **options).stdout.strip()
        if probe != "unwritable":
            result.notes.append("An unwritable cache could not be tried: the child could write all the same.")
            return
        found = ask("suite.startup_worker", "tag", str(model), **options)
        result.figures["unwritable_cache_works"] = float(bool(found["right"]))
        result.add("first_tag_unwritable", found["seconds"])
        result.figures["first_tag_unwritable_seconds"] = found["seconds"]
    except (RuntimeError, subprocess.SubprocessError, PermissionError) as error:
        result.figures["unwritable_cache_works"] = 0.0
        result.notes.append(f"With an unwritable cache it failed: {error}")
    finally:
        for path in [place, *place.rglob("*")]:
            path.chmod(0o755)


def _give_up_override() -> None:
    """Permissions do not bind the administrator, who has a right to override them: the child does without it."""
    if sys.platform == "linux" and os.geteuid() == 0:
        drop_from_bounding_set, override = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
        ctypes.CDLL(None).prctl(drop_from_bounding_set, override, 0, 0, 0)


_PROBE = """
import chainfield, pathlib, tempfile
for place in (pathlib.Path(chainfield.__file__).parent / "kernels", pathlib.Path.home()):
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        continue
    print("writable")
    break
else:
    print("unwritable")
"""


def _right(found: dict[str, Any]) -> float:
    if not found["right"]:
        raise RuntimeError("A first use gave wrong labels.")
    return float(found["seconds"])
