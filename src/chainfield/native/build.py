"""The extension module, from Python's and C's sources: every kernel is compiled for every level, on all cores.

The kernels of a module are compiled in a process that has compiled nothing before, always in the same order, so that
the machine code never depends on the number of cores.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.kernels.dispatcher import all_kernels
from chainfield.kernels.source import stamp

from . import ahead, levels, tables

HERE = Path(__file__).parent
# These share most of what they call: together it is compiled once.
PASSES = ("chain.sum", "train.linear_chain", "train.perceptron", "train.units_pass")


class BuildError(Exception):
    """The extension cannot be built here: the message says why."""


@dataclass(frozen=True)
class Job:
    """Kernels for a level that are compiled one after the other."""

    level: str
    kernels: tuple[str, ...]  # module and name
    prefix: str  # of the names of their entries


def build(target: Path, work: Path, wanted: list[str]) -> None:
    """Make the extension ``target`` for these levels; ``work`` is an empty folder for what arises on the way."""
    compiler = c_compiler()
    groups = sorted(group(list(all_kernels())), key=len, reverse=True)  # the largest is begun first
    jobs = [
        Job(level, names, f"chainfield_{i}_{j}") for i, level in enumerate(wanted) for j, names in enumerate(groups)
    ]
    listed: dict[str, dict[str, list[tables.Row]]] = {level: {} for level in wanted}
    objects = []
    for job, found in zip(jobs, _compile_all(jobs), strict=True):
        for name, row, code in found:
            path = work / f"{row.symbol}.o"
            path.write_bytes(code)
            objects.append(path)
            listed[job.level].setdefault(name, []).append(row)
    source = work / "tables.c"
    source.write_text(tables.write(stamp(), listed), encoding="utf-8")
    link(compiler, [source, *sorted(HERE.glob("*.c"))], objects, target)


def group(names: list[str]) -> list[tuple[str, ...]]:
    """Kernels that are compiled in one process: those of a module, and the passes over sequences."""
    groups: dict[str, list[str]] = {}
    for name in names:
        module = name.removeprefix("chainfield.kernels.").rpartition(".")[0]
        groups.setdefault("passes" if module in PASSES else module, []).append(name)
    return [tuple(group) for group in groups.values()]


def _compile_all(jobs: list[Job]) -> list[list[tuple[str, tables.Row, bytes]]]:
    """As many processes at a time as there are cores."""
    fork = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    context = multiprocessing.get_context("fork" if fork else "spawn")
    ahead.prepare()
    with context.Pool(cores, maxtasksperchild=1) as pool:
        return pool.map(_compile, jobs, chunksize=1)


def _compile(job: Job) -> list[tuple[str, tables.Row, bytes]]:
    """The versions of all kernels of a job."""
    gc.disable()  # the process ends soon
    ahead.aim(levels.cpu(job.level))
    kernels, found = all_kernels(), []
    for i, name in enumerate(job.kernels):
        for j, version in enumerate(kernels[name].versions):
            symbol = f"{job.prefix}_{i}_{j}"
            made = ahead.compile_kernel(kernels[name], version, symbol)
            found.append((name, tables.Row(version.format, made.result, made.n_slots, symbol), made.code))
    return found


def c_compiler() -> list[str]:
    """The command of a C compiler that understands the options of gcc: CC, or one of the usual names."""
    asked = os.environ.get("CC")
    for command in [shlex.split(asked)] if asked else [["cc"], ["gcc"], ["clang"]]:
        if shutil.which(command[0]):
            return command
    raise BuildError(f"there is no C compiler ({asked or 'cc, gcc, clang'})")


def link(compiler: list[str], sources: list[Path], objects: list[Path], target: Path) -> None:
    """Compile the C sources and link all into one module, which must load."""
    options = ["-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wno-unused-function", f"-I{HERE}"]
    options += [f"-I{np.get_include()}", f"-I{sysconfig.get_paths()['include']}"]
    shared = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared", "-s"]
    files = [str(path) for path in (*sources, *objects)]
    new = target.with_name(f"new{os.getpid()}{target.name}")  # what is in use now stays whole
    command = [*compiler, *options, *shared, *files, "-lm", "-o", str(new)]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        raise BuildError(f"the C compiler failed: {first_error(made.stderr) or f'{compiler[0]} gave no reason'}")
    try:
        load(new)
    except ImportError as error:
        new.unlink()
        raise BuildError(f"the extension does not load: {error}") from None
    new.replace(target)


def first_error(said: str) -> str:
    """The line that tells what was wrong, of all that a compiler said."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "")


def is_current(target: Path, wanted: list[str]) -> bool:
    """Whether the extension is there already, of these sources and for these levels."""
    try:
        module = load(target)
    except ImportError:
        return False
    return stamp() == module.STAMP and module.levels() == wanted


def load(path: Path) -> Any:
    """The extension in a file, whatever it belongs to."""
    spec = ModuleSpec("chainfield._native", ExtensionFileLoader("chainfield._native", str(path)), origin=str(path))
    return module_from_spec(spec)


if __name__ == "__main__":  # python -m chainfield.native.build FILE [LEVELS]
    try:
        target, wanted = Path(sys.argv[1]), levels.chosen(sys.argv[2] if len(sys.argv) > 2 else "")
        if not is_current(target, wanted):
            with tempfile.TemporaryDirectory() as work:
                build(target, Path(work), wanted)
    except (BuildError, ValueError) as error:
        sys.exit(f"chainfield: {error}")
