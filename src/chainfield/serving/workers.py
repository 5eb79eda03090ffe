"""Threads that work for requests: kernels release Python's lock, so that all cores are used.

A small request is answered where it was read, without a thread of its own. All others wait in a queue that has an end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from .bounds import Bounds
from .refusal import Refusal

R = TypeVar("R")


class Workers:
    """``n`` threads and their queue."""

    def __init__(self, n: int, bounds: Bounds) -> None:
        self.n = n
        self.busy = 0  # requests that run or wait
        self._bounds = bounds
        self._pool = ThreadPoolExecutor(n, "chainfield-serve")

    async def run(self, function: Callable[[], R], *, small: bool = False) -> R:
        """The result of a function; refused if too many wait, or if it takes too long."""
        if small:
            return function()
        if self.busy >= self.n + self._bounds.queue:
            raise Refusal(429, "Too many requests are waiting; come again in a second.", retry=1)
        self.busy += 1
        future = asyncio.get_running_loop().run_in_executor(self._pool, function)
        future.add_done_callback(self._done)
        seconds = self._bounds.seconds
        try:
            return await asyncio.wait_for(asyncio.shield(future), seconds)
        except (TimeoutError, asyncio.TimeoutError):
            sentence = f"The answer took longer than {seconds:g} s; ask for less, or come again later."
            raise Refusal(503, sentence, retry=max(1, round(seconds))) from None

    def _done(self, future: Any) -> None:
        self.busy -= 1
        if not future.cancelled():
            future.exception()  # whoever asked may have gone

    def close(self) -> None:
        """Let what has begun come to its end."""
        self._pool.shutdown(wait=True, cancel_futures=True)
