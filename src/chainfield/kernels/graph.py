"""How a kernel sees a state space: a tuple of arrays.

Edges are grouped into **bundles**: a set of source states that share a contiguous run of target states. A dense
space is one bundle (all states, run of all states); a second-order one has a bundle for each label j (the pairs
(i, j) for all i, run (j, .)); BIO rules, class blocks and left-to-right chains give a few. A bundle is a dense
little matrix, stored twice: ``slot`` (a padded row of targets for each source; used going forward) and ``tslot``
(a padded row of sources for each target; used going backward). So one kernel serves every structure at the
speed of the dense one, and costs what the existing edges cost.
"""

from __future__ import annotations

from typing import NamedTuple

from .declare import Bool, Int32


class Graph(NamedTuple):
    """K states, R emission rows, E edges, B bundles; all arrays are C-contiguous."""

    row_of: Int32  # (K,) emission row of a state
    start: Bool  # (K,) may a path start here
    end: Bool  # (K,) may a path end here
    src: Int32  # (E,) edges, sorted by (source, target)
    dst: Int32  # (E,)
    in_first: Int32  # (K+1,) edges into state k: in_edge[in_first[k]:in_first[k+1]], ascending source
    in_edge: Int32  # (E,)
    segment_state: Int32  # (G,) runs of states whose rows are consecutive too: first state
    segment_row: Int32  # (G,) first row
    segment_len: Int32  # (G,)
    bundle_first: Int32  # (B+1,) sources of bundle b: bundle_src[bundle_first[b]:bundle_first[b+1]]
    bundle_src: Int32  # (total sources,)
    bundle_dst: Int32  # (B,) first target
    bundle_len: Int32  # (B,) number of targets
    bundle_slot: Int32  # (B,) where its forward matrix starts
    bundle_tslot: Int32  # (B,) where its backward matrix starts
    slot: Int32  # (E,) place of an edge in the forward layout
    tslot: Int32  # (E,) place of an edge in the backward layout
    n_slots: int
    n_tslots: int
    width: int  # padded number of states
    complete: bool  # every state follows every state, and may start and end
