"""Start-up: importing, ``--help``, and the first use of a fresh process, python-crfsuite beside it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import chainfield
from chainfield.kernels.jit import NATIVE, way

from .children import BENCHMARKS, ask, environment, run_python
from .measure import Measurements, Options, timed
from .peers import installed, missing_notes

REPEATS = 7
COLD = 2  # rounds with an empty cache: compiling takes long
WORKER = "suite.startup_worker"
OTHERS = ("LatentCRF", "HiddenUnitCRF", "MEMM", "EmpiricalCRF", "HMMClassifier", "HiddenCRF", "NeuralCRF")
SENTENCE = "the DT\ndog NN\n"


def run(options: Options) -> Measurements:
    """Every figure is of fresh processes."""
    repeats = options.repeats or REPEATS
    result = Measurements("startup", notes=[way(), *missing_notes("crfsuite")])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if NATIVE is None:
            _compiling(folder, min(repeats, COLD), result)
        _rounds(folder, repeats, result)
        _unwritable(folder, result)
    others = [name for name in OTHERS if name != "NeuralCRF" or find_spec("torch") is not None]
    for name in others:
        result.add(f"fit_{name}", float(ask(WORKER, "fit", name)["seconds"]))
        result.figures[f"first_fit_{name}_seconds"] = result.middle(f"fit_{name}") or 0.0
    result.notes.append(
        "first_train: import, fit on 700 short sentences, predict; first_tag: import, load, predict one; first_fit: "
        "import and fit of another estimator with its defaults, once, without the import of torch. All without the "
        "start of Python itself. command_tag: `chainfield tag` of one sentence as a program."
    )
    return result


def _rounds(folder: Path, repeats: int, result: Measurements) -> None:
    model, peer = str(folder / "model.cf"), str(folder / "model.crfsuite")
    command = ("-m", "chainfield", "tag", model)
    heavy: dict[str, set[str]] = {use: set() for use in ("imported", "train", "tag")}
    for _ in range(repeats):
        result.add("python", timed(lambda: run_python("-c", "pass"))[0])
        result.add("help", timed(lambda: run_python("-m", "chainfield", "--help"))[0])
        for use in heavy:
            found = ask(WORKER, use, *([] if use == "imported" else [model]))
            result.add(use, _right(found))
            heavy[use] |= set(found["heavy"])
        result.add("command_tag", timed(lambda: run_python(*command, input=SENTENCE))[0])
        if installed("crfsuite"):
            for use in ("crfsuite_train", "crfsuite_tag"):
                result.add(use, _right(ask(WORKER, use, peer)))
    names = {"imported": "import", "train": "first_train", "tag": "first_tag", "python": "bare_python"}
    for sample in list(result.samples):
        if sample in names or sample in ("help", "command_tag", "crfsuite_train", "crfsuite_tag"):
            result.figures[f"{names.get(sample, sample)}_seconds"] = result.middle(sample) or 0.0
    for use, modules in heavy.items():
        shown = ", ".join(sorted(modules)) or "none"
        result.notes.append(f"Of the heavy libraries, {names[use].replace('_', ' ')} loads: {shown}.")


def _compiling(folder: Path, rounds: int, result: Measurements) -> None:
    """Where Numba compiles: the first use with an empty cache, and the size of the cache."""
    for i in range(rounds):
        for use in ("train", "tag"):
            cache = folder / f"cache-{use}-{i}"
            child = environment(NUMBA_CACHE_DIR=str(cache))
            result.add(f"{use}_cold", _right(ask(WORKER, use, str(folder / "model.cf"), env=child)))
            result.figures[f"cache_bytes_{use}"] = float(sum(f.stat().st_size for f in cache.rglob("*") if f.is_file()))
    for use in ("train", "tag"):
        result.figures[f"first_{use}_cold_seconds"] = result.middle(f"{use}_cold") or 0.0


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
            result.notes.append("A read-only installation could not be tried: the child could write all the same.")
            return
        found = ask(WORKER, "tag", str(model), **options)
        result.figures["unwritable_works"] = float(bool(found["right"]))
        result.add("tag_unwritable", found["seconds"])
        result.figures["first_tag_unwritable_seconds"] = found["seconds"]
    except (RuntimeError, subprocess.SubprocessError, PermissionError) as error:
        result.figures["unwritable_works"] = 0.0
        result.notes.append(f"A read-only installation failed: {error}")
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
    if not found.get("right", True):
        raise RuntimeError("A first use gave wrong labels.")
    return float(found["seconds"])
