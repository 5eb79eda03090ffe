"""Clusters on which nothing goes on any more. Dask waits without an end for workers that are gone, or whose memory is
full.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

LOOK = 5.0  # seconds between two looks
FULL, ALONE = 30.0, 300.0  # seconds for which all workers are full, or gone: workers may be on their way


class Stalled:
    """What was noticed: ``reason`` is empty as long as there is hope."""

    reason = ""


@contextmanager
def watched(client: Any, futures: Sequence[Any]) -> Iterator[Stalled]:
    """While the body waits for futures: they are cancelled if no worker goes on.

    A worker that uses four fifths of its memory takes no more tasks until there is room again. If all have stopped,
    none has a task left, and it stays so, there will be none.
    """
    found, ended = Stalled(), threading.Event()

    def look() -> None:
        full = alone = 0.0
        while not ended.wait(LOOK):
            try:
                workers = list(client.scheduler_info(n_workers=-1)["workers"].values())
            except Exception:  # the scheduler is gone: whoever waits is told
                return
            full = full + LOOK if workers and all(map(_stands, workers)) else 0.0
            alone = alone + LOOK if not workers else 0.0
            if full >= FULL:
                limit = min(int(worker["memory_limit"]) for worker in workers)
                found.reason = (
                    f"The memory of all {len(workers)} workers is full, and they take no more work (the smallest may "
                    f"use {limit / 1e9:,.2f} GB); use smaller pieces, or larger workers."
                )
            elif alone >= ALONE:
                found.reason = (
                    f"The cluster has had no worker for {ALONE / 60:.0f} minutes; start some, and continue from a "
                    "checkpoint with resume=True."
                )
            if found.reason:
                client.cancel(list(futures))
                return

    threading.Thread(target=look, name="chainfield-watch", daemon=True).start()
    try:
        yield found
    finally:
        ended.set()


def _stands(worker: dict[str, Any]) -> bool:
    """Whether a worker has stopped for want of memory, and nothing runs on it."""
    return worker.get("status") == "paused" and not worker["metrics"].get("task_counts", {}).get("executing", 0)
