"""From a list of edges to bundles: dense little matrices of sources that share a run of targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Int32
from chainfield.kernels.graph import Graph
from chainfield.kernels.layout import padded

if TYPE_CHECKING:
    from .space import StateSpace


def build_graph(space: StateSpace) -> Graph:
    """Group the edges of a space into bundles (see :mod:`chainfield.kernels.graph`)."""
    src, dst, n_states, n_edges = space.src, space.dst, space.n_states, space.n_edges
    # A run: consecutive edges of one source whose targets are consecutive.
    breaks = np.flatnonzero((np.diff(src) != 0) | (np.diff(dst) != 1)) + 1
    first = np.concatenate([[0], breaks]).astype(np.int64) if n_edges else np.empty(0, np.int64)
    length = np.diff(np.append(first, n_edges))
    # Runs with the same targets make a bundle, in order of first appearance.
    bundles: dict[tuple[int, int], list[int]] = {}
    for run, key in enumerate(zip(dst[first].tolist(), length.tolist(), strict=True)):
        bundles.setdefault(key, []).append(run)

    bundle_first, bundle_src, bundle_dst, bundle_len, bundle_slot, bundle_tslot = [0], [], [], [], [], []
    slot = np.zeros(n_edges, np.int32)
    tslot = np.zeros(n_edges, np.int32)
    n_slots = n_tslots = 0
    width = padded(n_states)
    for (target, n), runs in bundles.items():
        wide, twide = padded(n), padded(len(runs))
        bundle_dst.append(target)
        bundle_len.append(n)
        bundle_slot.append(n_slots)
        bundle_tslot.append(n_tslots)
        for i, run in enumerate(runs):
            edges = np.arange(first[run], first[run] + n)
            slot[edges] = n_slots + i * wide + np.arange(n)
            tslot[edges] = n_tslots + np.arange(n) * twide + i
            bundle_src.append(int(src[first[run]]))
        bundle_first.append(len(bundle_src))
        n_slots += len(runs) * wide
        n_tslots += n * twide
        # A kernel writes whole vectors from the first target on, and from the first of sources side by side.
        width = max(width, padded(target + wide), padded(int(src[first[runs[0]]]) + twide))

    turns = np.concatenate([[0], np.flatnonzero(np.diff(space.row_of) != 1) + 1])
    order = np.lexsort((src, dst))
    in_first = np.concatenate([[0], np.cumsum(np.bincount(dst, minlength=n_states))])
    complete = n_edges == n_states**2 and bool(space.start.all()) and bool(space.end.all())

    def ints(values: object) -> Int32:
        return np.ascontiguousarray(values, dtype=np.int32)

    return Graph(
        row_of=ints(space.row_of).copy(),
        start=space.start.copy(),
        end=space.end.copy(),
        src=ints(src).copy(),
        dst=ints(dst).copy(),
        in_first=ints(in_first),
        in_edge=ints(order),
        segment_state=ints(turns),
        segment_row=ints(space.row_of[turns]),
        segment_len=ints(np.diff(np.append(turns, n_states))),
        bundle_first=ints(bundle_first),
        bundle_src=ints(bundle_src),
        bundle_dst=ints(bundle_dst),
        bundle_len=ints(bundle_len),
        bundle_slot=ints(bundle_slot),
        bundle_tslot=ints(bundle_tslot),
        slot=slot,
        tslot=tslot,
        n_slots=n_slots,
        n_tslots=n_tslots,
        width=width,
        complete=complete,
    )
