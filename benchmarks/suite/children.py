"""Fresh processes: for memory, for start-up, for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[1]


def environment(**more: str) -> dict[str, str]:
    """This process's environment, in which children find the suite and the same chainfield."""
    import chainfield

    source = str(Path(chainfield.__file__).resolve().parents[1])
    path = os.pathsep.join([str(BENCHMARKS), source, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # as after an installation
    return {**kept, "PYTHONPATH": path, **more}


def run_python(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python and wait; a failure is told with the last thing it said."""
    options = {"capture_output": True, "text": True, "encoding": "utf-8", "env": environment(), **options}
    done = subprocess.run([sys.executable, *arguments], **options)
    if done.returncode:
        last = (done.stderr or "").strip().splitlines()[-1:]
        raise RuntimeError(f"A child process ({' '.join(arguments)[:80]}) failed: {' '.join(last)}")
    return done


def ask(module: str, *arguments: str, **options: Any) -> dict[str, Any]:
    """What a module of the suite, run as a program, prints as JSON in its last line."""
    done = run_python("-m", module, *arguments, **options)
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def peak_bytes() -> int:
    """The largest resident memory of this process so far.

    The kernel hands ru_maxrss on from the process that started this one; VmHWM begins anew.
    """
    try:
        with open("/proc/self/status", encoding="ascii") as lines:
            return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else 1024 * peak
