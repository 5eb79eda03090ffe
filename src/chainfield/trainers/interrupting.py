"""Ctrl-C between two iterations: the first one waits until the iteration is whole, the second one does not."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

NOTICE = b"\nStopping after this iteration; press Ctrl-C again to stop at once.\n"


class Interrupts:
    """Whether somebody wants to stop."""

    def __init__(self, before: Any) -> None:
        self.asked = False
        self._before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """A signal has come."""
        if self.asked:
            self._before(number, frame)  # raises a KeyboardInterrupt, unless the program has another idea
            return
        self.asked = True
        with contextlib.suppress(OSError):
            os.write(2, NOTICE)  # print is not safe inside of a signal

    def stop(self) -> None:
        """Interrupt here if it was asked for."""
        if self.asked:
            self._before(signal.SIGINT, None)


@contextlib.contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Within, Ctrl-C sets ``asked``; a second one interrupts at once. Only the main thread sees signals."""
    before = signal.getsignal(signal.SIGINT)
    found = Interrupts(before)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield found
        return
    signal.signal(signal.SIGINT, found)
    try:
        yield found
    finally:
        if signal.getsignal(signal.SIGINT) is found:
            signal.signal(signal.SIGINT, before)
