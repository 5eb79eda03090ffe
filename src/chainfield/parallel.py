"""Threads that run kernels side by side; results come back in order, whatever the number of threads."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from .errors import ConfigError

_lock = threading.Lock()
T = TypeVar("T")
R = TypeVar("R")


def count_jobs(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means: None or -1 for all processors, -2 for all but one, and so on."""
    if n_jobs is None:
        n_jobs = -1
    if n_jobs == 0:
        raise ConfigError("n_jobs is 0; give a number of threads, or -1 for all processors.")
    if n_jobs > 0:
        return n_jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, cores + 1 + n_jobs)


_pools: dict[int, ThreadPoolExecutor] = {}
_worker = threading.local()


def _pool(n_jobs: int) -> ThreadPoolExecutor:
    """Threads that stay: starting them anew for every gradient would cost as much as small gradients do."""
    pool = _pools.get(n_jobs)
    if pool is None:
        with _lock:
            pool = _pools.setdefault(
                n_jobs, ThreadPoolExecutor(n_jobs, "chainfield", initializer=lambda: setattr(_worker, "busy", True))
            )
    return pool


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=_pools.clear)


def ordered_map(function: Callable[[T], R], items: Iterable[T], n_jobs: int) -> Iterator[R]:
    """map() over threads: at most ``n_jobs`` + 1 results exist at a time, and they come in the order of the items.

    Kernels release the GIL, so threads suffice; a sum over the results does not depend on their number. Within one of
    these threads, the work is done where it is: waiting for each other, they could wait for ever.
    """
    if n_jobs == 1 or getattr(_worker, "busy", False):
        yield from map(function, items)
        return
    pool = _pool(n_jobs)
    waiting: deque[Future[R]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        for future in waiting:
            if not future.cancelled():
                future.exception()  # what has begun is waited for


_SCIPY = "scipy.linalg.cython_blas"
_inside = 0
_limits: dict[bool, Any] = {}  # those that hold, by whether SciPy was loaded: a later limit holds for more libraries
_controllers: dict[bool, Any] = {}  # the libraries, by the same


def _limit() -> None:
    """Limit all BLAS libraries of the process: NumPy's, and SciPy's where it is loaded. Each case is looked up once."""
    loaded = "scipy.linalg" in sys.modules
    if loaded not in _controllers:
        from threadpoolctl import ThreadpoolController

        _controllers[loaded] = ThreadpoolController().select(user_api="blas")
    if loaded not in _limits:
        _limits[loaded] = _controllers[loaded].limit(limits=1)


def load_products() -> None:
    """Load SciPy's BLAS, with which kernels multiply matrices. A limit that holds already holds for it, too.

    It takes longer to load than all of chainfield, and most models do without: so it is loaded by those who need it.
    """
    with _lock:
        import_module(_SCIPY)
        if _inside:
            _limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread: the kernels use all of them already, and its sums would depend on their number.

    The limit is the process's, so it is counted: the last one to leave lifts it.
    """
    global _inside

    with _lock:
        _inside += 1
        if _inside == 1:
            _limit()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            while _limits and _inside == 0:
                _limits.popitem()[1].restore_original_limits()  # the last one first
