"""How many threads torch uses for one operation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_threads(n: int) -> Iterator[None]:
    """Torch with so many threads, and as before afterwards; the number belongs to the thread that asks.

    The steps of an LSTM are so small that several threads only wait for each other: on two processors they took six
    times as much time as one.
    """
    before = torch.get_num_threads()
    if before == n:
        yield
        return
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
