"""Sentences in batches: large ones when the input is fast, what there is when it waits."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TypeVar

from .main import READER

T = TypeVar("T")


def batches(items: Iterable[T], most: int) -> Iterator[list[T]]:
    """Group items without ever waiting for more than one: a batch is what has arrived, at most ``most``.

    A thread reads ahead (at most two batches), so that memory is bounded and a slow pipe is answered at once.
    """
    waiting: queue.Queue[list[T] | BaseException | None] = queue.Queue(maxsize=2 * most)

    def read() -> None:
        try:
            for item in items:
                waiting.put([item])
            waiting.put(None)
        except BaseException as error:  # handed to the consumer, which raises it
            waiting.put(error)

    threading.Thread(target=read, daemon=True, name=READER).start()
    batch: list[T] = []
    while True:
        entry = waiting.get()
        while entry is not None and not isinstance(entry, BaseException):
            batch += entry
            if len(batch) >= most or waiting.empty():
                break
            entry = waiting.get()
        if batch:
            yield batch
            batch = []
        if entry is None:
            return
        if isinstance(entry, BaseException):
            raise entry
