"""How long this process has been compiling kernels: never a part of what training is said to take."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_total = 0.0
_since = 0.0
_depth = 0  # compilations under way, in all threads


@contextmanager
def compiling() -> Iterator[None]:
    """While kernels are compiled, or loaded from Numba's cache."""
    global _total, _since, _depth
    with _lock:
        if _depth == 0:
            _since = time.perf_counter()
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                _total += time.perf_counter() - _since


def working_time() -> float:
    """Seconds of a clock that stands still while kernels are compiled."""
    with _lock:
        now = _since if _depth else time.perf_counter()
        return now - _total
