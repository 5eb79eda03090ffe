"""Wapiti, the program: libwapiti's shared library has its ``main``, which ``python -m suite.peers.wapiti`` calls.

The bindings themselves cannot give development data, and ``pywapiti`` does not run on Python 3. A process of its own
also keeps Wapiti's way of ending the process when something is wrong away from the benchmark.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from suite.children import environment
from suite.trajectory import CAP, TOLERANCE, Trajectory

THREADS = 2
PROGRAM = [sys.executable, "-m", "suite.peers.wapiti"]
_PROGRESS = re.compile(rb"\s*\[\s*\d+\] obj=(\S+) .*time=\S+s/(\S+)s")


def library() -> Path:
    """Where the shared library is: beside the package."""
    spec = find_spec("wapiti")
    assert spec is not None
    assert spec.origin is not None
    return next(path for path in Path(spec.origin).parents[1].iterdir() if re.match(r"libwapiti.*\.so$", path.name))


def call_main(arguments: list[str]) -> int:
    """Run Wapiti in this process."""
    words = [b"wapiti", *map(os.fsencode, arguments)]
    argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    return int(ctypes.CDLL(str(library())).main(len(words), argv))


def settings(
    l1: float = 0.0, l2: float = 0.0, iterations: int = CAP, threads: int = THREADS, compact: bool = False
) -> list[str]:
    """Options of ``wapiti train`` for L-BFGS and our penalties: its penalty is rho1 ‖θ‖₁ + rho2/2 ‖θ‖².

    Its own rules for stopping are switched off: it is watched, and stopped from outside.
    """
    penalties = ["--rho1", str(l1), "--rho2", str(2.0 * l2)]
    rest = ["-c"] if compact else []
    return ["-a", "l-bfgs", "-t", str(threads), *penalties, "-i", str(iterations), "-w", "0", "-e", "0", *rest]


def train(
    data: Path, template: Path, optimum: float | None = None, model: Path | None = None, **options: Any
) -> Trajectory:
    """Train on a column file; Wapiti's own clock starts when the data are encoded, and counts wall time.

    After each iteration Wapiti tags its development data: it is given one token, so that this costs nothing.
    """
    trajectory = Trajectory()
    stop_at = None if optimum is None else (1.0 + TOLERANCE) * optimum
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "one.txt"
        small.write_text(_first_row(data), encoding="utf-8")
        target = model or Path(folder) / "model"
        command = [*PROGRAM, "train", *settings(**options), "-d", str(small), "-p", str(template)]
        with subprocess.Popen([*command, str(data), str(target)], stderr=subprocess.PIPE, env=environment()) as child:
            assert child.stderr is not None
            said = []
            for line in child.stderr:
                said.append(line)
                if found := _PROGRESS.match(line):
                    trajectory.add(float(found[2]), float(found[1]))
                    if stop_at is not None and trajectory.objective[-1] <= stop_at:
                        child.terminate()
                        return trajectory
        if child.returncode or not trajectory.seconds:
            raise RuntimeError(f"Wapiti ended with {child.returncode}: {b''.join(said[-3:]).decode()}")
    return trajectory


def _first_row(data: Path) -> str:
    with data.open(encoding="utf-8") as lines:
        return next(line for line in lines if line.strip()) + "\n"


if __name__ == "__main__":
    sys.exit(call_main(sys.argv[1:]))
