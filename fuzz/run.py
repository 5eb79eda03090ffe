"""Fuzz every reader: ``python fuzz/run.py --inputs 1000000``, or some: ``python fuzz/run.py columns templates``.

Each target runs in a process of its own, which mutates its seeds and what was kept of earlier inputs. An input that
ends the process, takes more than 5 seconds or a gigabyte, or raises anything but an error of the library is a finding:
it is kept in ``fuzz/findings/TARGET/``, and ``--repeat FILE`` runs it again. ``--coverage`` adds which lines of the
library the inputs reach. With ``CHAINFIELD_CHECKED=1`` kernels check all bounds.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import mmap
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

Target = Callable[[bytes], None]
SECONDS, BYTES = 5.0, 1 << 30
SILENCE = 300.0  # seconds without an answer, after which a process hangs in compiled code
WAIT = 0.05  # seconds between two looks at a process
LONGEST = 8192  # bytes of an input
TOKENS = (b"\n", b"\n\n", b" ", b"\t", b"#", b"%x[0,0]", b"U0:", b"%", b"[", b",", b"\\", b"\0", b"\xff", b"\xc3",
          b"\r\n", b"9" * 12, b"-DOCSTART-", b"*", b"?", b"$", b"^", b"\"", b"@", b"-1", b"9" * 4400, b"{", b"}", b"]",
          b":", b"null", b"true", b"-", b"1e999", b"NaN", b"[" * 400, b"\\ud800", b"\xf0\x9f\x98\x80")  # fmt: skip


def modules() -> list[Any]:
    """Everything in this folder that has targets."""
    names = sorted(
        path.stem
        for path in HERE.glob("*.py")
        if path.stem not in ("run", "choices", "scratch", "guided", "campaign", "kills", "soak")
    )
    return [module for module in map(importlib.import_module, names) if hasattr(module, "TARGETS")]


def targets() -> dict[str, Target]:
    """All of them by name."""
    return {name: target for module in modules() for name, target in module.TARGETS.items()}


def home(name: str) -> Any:
    """The module of a target."""
    return next(module for module in modules() if name in module.TARGETS)


def seeds(name: str, module: Any = None) -> list[bytes]:
    """Inputs to begin with: those of the module, and earlier findings."""
    found = [b"", bytes(8), bytes(range(256))]
    found += getattr(module or home(name), "SEEDS", {}).get(name, list)()
    folder = HERE / "corpus" / name
    return found + [path.read_bytes() for path in sorted(folder.glob("*"))]


def mutated(pool: list[bytes], rng: random.Random) -> bytes:
    """One of a pool, changed in a few places."""
    data = bytearray(rng.choice(pool))
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at, what = rng.randrange(len(data) + 1), rng.randrange(8)
        if what == 0:
            data[at:at] = rng.randbytes(rng.choice((1, 2, 8)))
        elif what == 1:
            data[at:at] = rng.choice(TOKENS)
        elif what == 2:
            del data[at : at + rng.choice((1, 2, 8, 64))]
        elif what == 3:
            other = rng.choice(pool)
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start : start + rng.choice((4, 16, 64))]
        elif what == 4:
            data[at:at] = data[at : at + rng.choice((4, 16, 64))] * rng.choice((1, 3))
        elif at < len(data):
            data[at] = rng.choice((rng.randrange(256), data[at] ^ (1 << rng.randrange(8)), 0, 255, 127))
    return bytes(data[:LONGEST])


# ---- in a process of its own -------------------------------------------------------------------------------------


def work(module: str, name: str, n_inputs: int, seed: int, shared: Path, coverage: bool) -> None:
    """Try inputs; the file ``shared`` holds the one at hand, for whoever finds this process dead."""
    own = importlib.import_module(module)
    target, pool, rng = own.TARGETS[name], seeds(name, own), random.Random(f"{name} {seed}")
    with shared.open("r+b") as file:
        board = mmap.mmap(file.fileno(), 0)
    with contextlib.suppress(Exception):
        target(pool[0])
    _limit_memory()
    signal.signal(signal.SIGPROF, _late)  # by the processor's time: a busy machine finds no more
    lines = Lines() if coverage else None
    for number in range(n_inputs):
        data = pool[number] if number < len(pool) else mutated(pool, rng)
        board[:24] = number.to_bytes(8, "little") + seed.to_bytes(8, "little") + len(data).to_bytes(8, "little")
        board[24 : 24 + len(data)] = data
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            if lines is None:
                target(data)
            elif lines.new_by(lambda data=data: target(data)) and number >= len(pool):  # type: ignore[misc]
                pool.append(data)
        except BaseException as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            if isinstance(error, KeyboardInterrupt):
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
            print("finding", keep(name, data), place, str(error)[:150].replace("\n", " "), sep="\t", flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)
        if lines is None and rng.random() < 0.001 and len(pool) < 2000:
            pool.append(data)
    reached = "-" if lines is None else lines.summary()
    print("done", n_inputs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, reached, sep="\t", flush=True)


def _late(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS:g} seconds")


def _limit_memory() -> None:
    with contextlib.suppress(OSError, ValueError):
        there = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (there + BYTES, resource.RLIM_INFINITY))


def keep(name: str, data: bytes) -> str:
    """Write a finding; returns its name."""
    path = HERE / "findings" / name / hashlib.sha256(data).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path.relative_to(HERE).as_posix()


class Lines:
    """Lines of the library that inputs reach."""

    def __init__(self) -> None:
        import chainfield

        self.root = str(Path(chainfield.__file__).parent)
        self.seen: set[tuple[Any, int]] = set()
        self.codes: set[Any] = set()

    def new_by(self, run: Callable[[], None]) -> bool:
        """Run, and tell whether a line was reached for the first time."""
        before = len(self.seen)
        sys.settrace(self._enter)
        try:
            run()
        finally:
            sys.settrace(None)
        return len(self.seen) > before

    def _enter(self, frame: Any, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self.root):
            return None
        self.codes.add(frame.f_code)

        def trace(frame: Any, event: str, _: Any) -> Any:
            if event == "line":
                self.seen.add((frame.f_code, frame.f_lineno))
            return trace

        return trace

    def summary(self) -> str:
        """Lines reached, of the functions that were entered at all."""
        total = sum(len({line for *_, line in code.co_lines() if line}) - 1 for code in self.codes)
        return f"{len(self.seen)}/{total}"


# ---- around these processes --------------------------------------------------------------------------------------


def run(name: str, n_inputs: int, seed: int, coverage: bool) -> tuple[Any, ...]:
    """All inputs of a target, in as many processes as it takes; returns a row of the table."""
    began, left, findings, hangs, memory, reached = time.monotonic(), n_inputs, 0, 0, 0, "-"
    module = home(name).__name__
    with tempfile.NamedTemporaryFile(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as board:
        board.truncate(24 + 2 * LONGEST + (1 << 16))
        while left > 0 and findings < 50:
            options = [module, name, "--worker", board.name, "--inputs", str(left), "--seed", str(seed)]
            command = [sys.executable, str(HERE / "run.py"), *options, *(["--coverage"] if coverage else [])]
            done = 0
            for line in _lines(subprocess.Popen(command, stdout=subprocess.PIPE), Path(board.name)):
                kind, *cells = line.split("\t")
                if kind == "finding":
                    findings += 1
                    hangs += "TimeoutError" in cells[1]
                    print(f"{name}: {' '.join(cells)}", flush=True)
                elif kind == "done":
                    done, memory, reached = int(cells[0]), max(memory, int(cells[1])), cells[2]
            if not done:  # the process died, or had to be ended
                number, _, size = (
                    int.from_bytes(Path(board.name).read_bytes()[a : a + 8], "little") for a in (0, 8, 16)
                )
                findings, done = findings + 1, number + 1
                data = Path(board.name).read_bytes()[24 : 24 + size]
                print(f"{name}: {keep(name, data)} ended the process", flush=True)
                seed += 1_000_000
            left -= done
    took = time.monotonic() - began
    return name, n_inputs - max(left, 0), f"{took:.0f}", findings - hangs, hangs, memory, reached


def _lines(process: subprocess.Popen[bytes], board: Path) -> Iterator[str]:
    """What a process prints; one that neither prints nor goes on is ended."""
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    last, silent, rest = b"", 0.0, b""  # counted by waiting, so that a machine that stood still is no silence
    while True:
        ended, some = process.poll() is not None, b""
        with contextlib.suppress(BlockingIOError):
            some = os.read(process.stdout.fileno(), 1 << 16)
        if some:
            *whole, rest = (rest + some).split(b"\n")
            yield from (line.decode() for line in whole)
        elif ended:
            return
        now = board.read_bytes()[:16]
        if some or now != last:
            last, silent = now, 0.0
        elif silent > SILENCE:
            process.kill()
        time.sleep(WAIT)
        silent += WAIT


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help="which (all)")
    parser.add_argument("--inputs", type=int, default=10_000, help="for each target (10000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--coverage", action="store_true", help="trace lines: slower, and keeps inputs that reach new ones"
    )
    parser.add_argument("--repeat", type=Path, help="run one kept input, with its traceback")
    parser.add_argument("--list", action="store_true", help="name the targets")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.list:
        print(*targets(), sep="\n")
    elif given.worker:
        work(*given.targets, given.inputs, given.seed, given.worker, given.coverage)
    elif given.repeat:
        targets()[given.repeat.resolve().parent.name](given.repeat.read_bytes())
        print("nothing found")
    else:
        rows = [run(name, given.inputs, given.seed, given.coverage) for name in given.targets or targets()]
        print("| target | inputs | seconds | crashes, errors | hangs | peak MB | lines reached |\n" + "|---" * 7 + "|")
        print("\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows))
        sys.exit(any(row[3] or row[4] for row in rows))


if __name__ == "__main__":
    main()
