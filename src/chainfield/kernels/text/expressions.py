"""Small regular expressions, run as automata: the time is that of the text times that of the expression, never more.

An expression is a row of items, each a set of bytes that occurs once, or any number of times (as few as will do), or at
most once (once if that will do). A *thread* stands in front of an item, or behind the last one: then the expression has
matched. All threads take a byte together. Their order is the order in which a search that goes back would try them, so
the first one that matches is the match that such a search finds (Thompson 1968; Cox 2009).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.declare import Bool2D, Bytes, Int, Int32, Out
from chainfield.kernels.jit import inner, kernel

ONCE = 0
STAR = 1  # as few as will do
OPTIONAL = 2  # once if that will do


@inner
def add_thread(
    item: int, began: int, at_end: bool, kind: Any, to_end: bool, seen: Any, mark: int, threads: Any, starts: Any,
    n: int, stack: Any,
) -> int:  # fmt: skip
    """Add a thread in front of ``item``, and of those that may follow without a byte; returns how many there are.

    What a star may leave out comes before its own turn: these turns wait on a stack. An item that has a thread already
    needs no other one: what follows it is there, too.
    """
    m = len(kind)
    waiting = 0
    while item <= m and seen[item] != mark:
        seen[item] = mark
        if item == m:
            if at_end or not to_end:
                threads[n] = item
                starts[n] = began
                n += 1
            break
        if kind[item] == STAR:
            stack[waiting] = item
            waiting += 1
        else:
            threads[n] = item
            starts[n] = began
            n += 1
            if kind[item] == ONCE:
                break
        item += 1
    while waiting > 0:
        waiting -= 1
        threads[n] = stack[waiting]
        starts[n] = began
        n += 1
    return n


@kernel
def find_matches(
    buffer: Bytes, starts: Int, ends: Int, accepts: Bool2D, kind: Int32, from_start: bool, to_end: bool,
    found_start: Out[Int], found_end: Out[Int],
) -> None:  # fmt: skip
    """The first match in each of P texts, buffer[starts[p]:ends[p]]: found_start, found_end (P,); -1 if there is none.

    accepts (m, 256), kind (m,): the items. from_start, to_end: whether a match must begin or end with the text.
    """
    m = len(kind)
    seen = np.zeros(m + 1, np.int64)
    here, there = np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
    here_start, there_start = np.empty(m + 1, np.int64), np.empty(m + 1, np.int64)
    stack = np.empty(m + 1, np.int64)
    mark = 0
    for p in range(len(starts)):
        found_start[p] = -1
        found_end[p] = -1
        n_here = 0
        mark += 1  # items with this mark have a thread at the position at hand
        at = starts[p]
        while True:
            if found_start[p] < 0 and (at == starts[p] or not from_start):
                n_here = add_thread(
                    0, at, at == ends[p], kind, to_end, seen, mark, here, here_start, n_here, stack
                )  # fmt: skip
            mark += 1
            n_there = 0
            for i in range(n_here):
                item = here[i]
                if item == m:
                    found_start[p] = here_start[i]
                    found_end[p] = at
                    break  # those behind it would be tried later
                if at < ends[p] and accepts[item, buffer[at]]:
                    follower = item if kind[item] == STAR else item + 1
                    n_there = add_thread(
                        follower, here_start[i], at + 1 == ends[p], kind, to_end, seen, mark, there, there_start,
                        n_there, stack,
                    )  # fmt: skip
            here, there = there, here
            here_start, there_start = there_start, here_start
            n_here = n_there
            at += 1
            if at > ends[p] or (n_here == 0 and (found_start[p] >= 0 or from_start)):
                break
