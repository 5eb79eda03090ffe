"""The oracle: every path of a small chain, one by one, in plain Python."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from chainfield.potentials import Potentials
from chainfield.states import StateSpace


@dataclass(frozen=True)
class Path:
    states: tuple[int, ...]
    edges: tuple[int, ...]
    score: float


def paths(space: StateSpace, potentials: Potentials, s: int) -> list[Path]:
    """All paths of sequence s with a score above -inf."""
    edge_id = {(int(i), int(j)): e for e, (i, j) in enumerate(zip(space.src, space.dst, strict=True))}
    lo, hi = potentials.offsets[s], potentials.offsets[s + 1]
    found = []
    for states in itertools.product(range(space.n_states), repeat=hi - lo):
        if states and not (space.start[states[0]] and space.end[states[-1]]):
            continue
        edges = [edge_id.get(pair) for pair in itertools.pairwise(states)]
        if None in edges:
            continue
        terms = [float(potentials.node[lo + t, space.row_of[k]]) for t, k in enumerate(states)]
        terms += [float(potentials.edge[0 if potentials.shared else lo + t, e]) for t, e in enumerate(edges, 1)]
        score = math.fsum(terms) if -math.inf not in terms else -math.inf
        if score > -math.inf:
            found.append(Path(states, tuple(edges), score))
    return found


def log_sum(scores: list[float]) -> float:
    top = max(scores)
    return top + math.log(math.fsum(math.exp(x - top) for x in scores))


def posteriors(space: StateSpace, potentials: Potentials) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Node rows (N, R), edges (N, E) and log Z (S,) by enumeration."""
    node = np.zeros_like(potentials.node)
    edge = np.zeros((len(node), space.n_edges))
    log_z = np.zeros(potentials.n_sequences)
    for s in range(potentials.n_sequences):
        lo = potentials.offsets[s]
        all_paths = paths(space, potentials, s)
        log_z[s] = log_sum([p.score for p in all_paths])
        for path in all_paths:
            p = math.exp(path.score - log_z[s])
            for t, k in enumerate(path.states):
                node[lo + t, space.row_of[k]] += p
            for t, e in enumerate(path.edges, 1):
                edge[lo + t, e] += p
    return node, edge, log_z
