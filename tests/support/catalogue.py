"""The catalogue of compositions: every state space with every emission, transition, objective and kind of labels.

A composition is a :class:`Problem` over a handful of short random sequences. ``slow_loss`` computes its loss without
any of the library's scoring or inference: plain loops over features, and enumeration of all paths.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from chainfield.features.batch import Batch, Sparse
from chainfield.models.hmm.gaussians import Gaussians
from chainfield.models.hmm.mixture import GaussianMixture
from chainfield.objectives import LocalLikelihood, Piecewise, PseudoLikelihood, Targets, objective_named
from chainfield.potentials import Clamp, Potentials, clamp_labels, clamp_sets
from chainfield.problem import Problem
from chainfield.scorers import (
    Boundary,
    Chain,
    DenseLinear,
    EdgeFeatures,
    HiddenUnits,
    LowRankTransition,
    Scorer,
    SparseLinear,
    Transition,
    all_pairs,
    compact_ties,
    low_rank,
    seen_pairs,
)
from chainfield.scorers.groups import label_groups, n_groups
from chainfield.states import (
    StateSpace,
    class_blocks,
    left_to_right,
    one_per_label,
    partitioned,
    restrict,
    second_order,
)
from chainfield.tasks import label_cost
from support import enumeration
from support.strategies import bio_rules

N_FEATURES, N_COLUMNS, N_EDGE_FEATURES, N_UNITS = 5, 2, 3, 3
MARGIN = 0.7
CENTRE, SPREAD = np.array([0.3, -0.2]), np.array([1.5, 0.7])

SPACES: dict[str, Callable[[], StateSpace]] = {
    "one per label": lambda: one_per_label(3),
    "latent": lambda: partitioned([2, 1]),
    "bio": lambda: restrict(one_per_label(3), bio_rules()),
    "restricted latent": lambda: restrict(partitioned([1, 2, 1]), bio_rules()),
    "second order": lambda: second_order(one_per_label(2)),
    "second order bio": lambda: second_order(restrict(one_per_label(3), bio_rules())),
    "second order latent": lambda: second_order(partitioned([1, 2])),
    "class blocks": lambda: class_blocks([left_to_right(2), one_per_label(1), partitioned([2])]),
}


def draw_sparse(rng: np.random.Generator, n: int, n_features: int, *, valued: bool) -> Sparse:
    """None to three features a position; -1 stands for one that training never saw."""
    lengths = rng.integers(0, 4, n)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = rng.integers(-1, n_features, indptr[-1]).astype(np.int32)
    return Sparse(indptr, indices, rng.normal(size=len(indices)) if valued else None, n_features)


def draw_batch(rng: np.random.Generator, lengths: list[int]) -> Batch:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(offsets[-1])
    return Batch(
        offsets,
        sparse=draw_sparse(rng, n, N_FEATURES, valued=True),
        dense=rng.normal(size=(n, N_COLUMNS)),
        edges=draw_sparse(rng, n, N_EDGE_FEATURES, valued=False),
    )


# ---- what is known of the labels ---------------------------------------------------------------------------------


def draw_labels(rng: np.random.Generator, space: StateSpace, lengths: list[int]) -> list[int]:
    """Labels of a random allowed path for each sequence, end to end."""
    labels: list[int] = []
    edges: dict[int, list[int]] = {k: space.dst[space.src == k].tolist() for k in range(space.n_states)}
    for length in lengths:
        while length:  # a walk may end where no sequence may end: then walk again
            states = [int(rng.choice(np.flatnonzero(space.start)))]
            while len(states) < length and edges[states[-1]]:
                states.append(int(rng.choice(edges[states[-1]])))
            if len(states) == length and space.end[states[-1]]:
                labels += space.label_of[states].tolist()
                break
    return labels


def full(rng: np.random.Generator, space: StateSpace, labels: list[int]) -> Clamp:
    return clamp_labels(space, np.array(labels, np.int32))


def unknown(rng: np.random.Generator, space: StateSpace, labels: list[int]) -> Clamp:
    return clamp_labels(space, np.where(rng.random(len(labels)) < 0.5, -1, labels))


def sets(rng: np.random.Generator, space: StateSpace, labels: list[int]) -> Clamp:
    others = rng.integers(0, space.n_labels, len(labels)).tolist()
    allowed = [{label, other} for label, other in zip(labels, others, strict=True)]
    return clamp_sets(space, [None if rng.random() < 0.2 else a for a in allowed])


LABELLINGS = {"full": full, "unknown": unknown, "sets": sets}


# ---- scorers -----------------------------------------------------------------------------------------------------


def emissions(name: str, space: StateSpace, batch: Batch, clamp: Clamp) -> tuple[Scorer, ...]:
    rows, groups = space.n_rows, label_groups(space)
    parts: dict[str, Callable[[], Scorer]] = {
        "all pairs": lambda: SparseLinear(all_pairs(N_FEATURES, rows), rows),
        "seen pairs": lambda: SparseLinear(seen_pairs(batch.sparse, clamp.table, clamp.index), rows),
        "dense": lambda: DenseLinear(N_COLUMNS, rows),
        "shared pairs": lambda: SparseLinear(all_pairs(N_FEATURES, rows + n_groups(groups)), rows, groups),
        "shared dense": lambda: DenseLinear(N_COLUMNS, rows, groups),
        "boundary": lambda: Boundary(rows),
        "mixture": lambda: GaussianMixture(N_COLUMNS, rows, 2, CENTRE, SPREAD),
        "flat mixture": lambda: GaussianMixture(N_COLUMNS, rows, 3, CENTRE, SPREAD, sharpness=0.4),
        "moments": lambda: GaussianMixture(N_COLUMNS, rows, 1, CENTRE, SPREAD),
        "gaussians": lambda: Gaussians(N_COLUMNS, rows, 2, CENTRE, SPREAD),
        "units": lambda: HiddenUnits(N_COLUMNS, N_UNITS, rows),
        "sparse units": lambda: HiddenUnits(N_FEATURES, N_UNITS, rows, "sparse"),
    }
    return tuple(parts[part]() for part in name.split(" + "))


EMISSIONS = (
    "all pairs",
    "seen pairs",
    "dense",
    "all pairs + boundary",
    "seen pairs + boundary",
    "dense + boundary",
    "seen pairs + dense",
    "all pairs + dense + boundary",
    "units + boundary",
    "sparse units",
    "shared pairs + boundary",
    "shared pairs + shared dense",
)
# In fewer combinations: they are tested with every space, transition and objective, not with all of these at once.
MIXTURES = ("mixture", "flat mixture + boundary", "moments + all pairs", "gaussians + boundary")


def label_pair_ties(space: StateSpace) -> np.ndarray:
    """One weight for all edges between two labels."""
    pair = space.label_of[space.src] * space.n_labels + space.label_of[space.dst]
    return np.unique(pair, return_inverse=True)[1].astype(np.int32)


def transitions(name: str, space: StateSpace, rng: np.random.Generator) -> tuple[Scorer, ...]:
    own = np.arange(space.n_edges, dtype=np.int32)
    keep = np.arange(space.n_edge_rows) % 3 != 1
    parts: dict[str, Callable[[], Scorer]] = {
        "free": lambda: Transition(own),
        "tied": lambda: Transition(label_pair_ties(space)),
        "some": lambda: Transition(compact_ties(keep, space.edge_row)),
        "low rank": lambda: low_rank(space, 2),
        "triples": lambda: Transition(own, name="transition2"),
        "triple features": lambda: EdgeFeatures(all_pairs(N_EDGE_FEATURES, space.n_edges), own, name="triple_features"),
        "edge features": lambda: EdgeFeatures(all_pairs(N_EDGE_FEATURES, space.n_edge_rows), space.edge_row),
        "seen edge features": lambda: EdgeFeatures(
            seen_pairs(
                draw_sparse(rng, 9, N_EDGE_FEATURES, valued=False),
                np.eye(space.n_edge_rows, dtype=bool),
                rng.integers(-1, space.n_edge_rows, 9).astype(np.int32),
            ),
            space.edge_row,
        ),
    }
    return tuple(parts[part]() for part in name.split(" + ") if part != "none")


TRANSITIONS = (
    "none",
    "free",
    "tied",
    "some",
    "tied + triples",
    "low rank",
    "low rank + triples",
    "edge features",
    "free + seen edge features",
    "some + edge features",
    "tied + triples + low rank",
    "low rank + edge features + triple features",
)


# ---- compositions ------------------------------------------------------------------------------------------------


def compose(
    space_name: str,
    emission: str,
    transition: str,
    objective: str,
    labelling: str = "full",
    *,
    lengths: tuple[int, ...] = (3, 1, 0, 2),
    l2: float = 0.3,
    offset: bool = True,
    seed: int = 0,
) -> Problem:
    """One composition over random sequences, with random sequence weights."""
    rng = np.random.default_rng([seed, *map(ord, f"{space_name}{emission}{transition}{objective}{labelling}")])
    space = SPACES[space_name]()
    return compose_over(space, rng, emission, transition, objective, labelling, lengths=lengths, l2=l2, offset=offset)


def compose_over(
    space: StateSpace,
    rng: np.random.Generator,
    emission: str,
    transition: str,
    objective: str,
    labelling: str,
    *,
    lengths: tuple[int, ...],
    l2: float,
    offset: bool,
    n_jobs: int = 1,
) -> Problem:
    """The same over any space."""
    batch = draw_batch(rng, list(lengths))
    clamp = LABELLINGS[labelling](rng, space, draw_labels(rng, space, list(lengths)))
    chain = Chain(space, emissions(emission, space, batch, clamp), transitions(transition, space, rng))
    chosen = LocalLikelihood() if objective == "local" else objective_named(objective)
    chosen = chosen.knowing(lambda: rng.integers(0, 9, space.n_states).astype(float))
    cost = label_cost(space, clamp.table, MARGIN) if chosen.uses_cost else None
    targets = Targets(clamp, rng.uniform(0.5, 2.0, len(lengths)), cost)
    shift = rng.normal(size=space.n_rows) if offset else None
    return Problem(chain, chosen, batch, targets, l2=l2, offset=shift, n_jobs=n_jobs)


def draw_theta(problem: Problem, seed: int = 1, scale: float = 0.5) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=scale, size=problem.n_parameters)


# ---- the same numbers by plain loops -----------------------------------------------------------------------------


def slow_potentials(chain: Chain, theta: np.ndarray, batch: Batch, how: str = "sum") -> Potentials:
    """Scores by their definitions, a weight at a time; every position gets its own edge scores."""
    space, views = chain.space, chain.views(theta)
    node, edge = np.zeros((batch.n_positions, space.n_rows)), np.zeros((batch.n_positions, space.n_edges))
    for scorer in chain.scorers:
        if isinstance(scorer, SparseLinear):
            weight = views[f"{scorer.name}.weight"]
            node += _slow_groups(_slow_pairs(batch.sparse, scorer.pairs, weight, scorer.n_columns), scorer)
        elif isinstance(scorer, DenseLinear):
            weight = views[f"{scorer.name}.weight"]
            wide = np.zeros((batch.n_positions, weight.shape[1]))
            for t, c in itertools.product(range(batch.n_positions), range(N_COLUMNS)):
                wide[t] += batch.dense[t, c] * weight[c]
            node += _slow_groups(wide, scorer)
        elif isinstance(scorer, HiddenUnits):
            node += _slow_units(scorer, {k: views[f"{scorer.name}.{k}"] for k in scorer.shapes()}, batch, how)
        elif isinstance(scorer, Boundary):
            for lo, hi in itertools.pairwise(batch.offsets):
                if hi > lo:
                    node[lo] += views[f"{scorer.name}.start"]
                    node[hi - 1] += views[f"{scorer.name}.end"]
        elif isinstance(scorer, GaussianMixture | Gaussians):
            node += _slow_mixture(scorer, views, batch, how)
        elif isinstance(scorer, LowRankTransition):
            left, right = views[f"{scorer.name}.U"], views[f"{scorer.name}.V"]
            for e, (i, j) in enumerate(zip(space.src, space.row_of[space.dst], strict=True)):
                edge[:, e] += sum(a * b for a, b in zip(left[i], right[j], strict=True))
        elif isinstance(scorer, Transition):
            for e, tie in enumerate(scorer.tie):
                edge[:, e] += views[f"{scorer.name}.weight"][tie] if tie >= 0 else 0.0
        else:
            weight = views[f"{scorer.name}.weight"]
            rows = _slow_pairs(batch.edges, scorer.pairs, weight, int(scorer.edge_row.max(initial=-1)) + 1)
            for e, row in enumerate(scorer.edge_row):
                edge[:, e] += rows[:, row]
    return Potentials(node, edge, batch.offsets)


def _slow_mixture(scorer, views, batch: Batch, how: str) -> np.ndarray:
    """Every component by its formula: a quadratic, or a Gaussian density in the units of the data."""
    node = np.zeros((batch.n_positions, scorer.n_rows))
    m, d = scorer.n_components, scorer.n_columns
    for t, r in itertools.product(range(batch.n_positions), range(scorer.n_rows)):
        found = []
        for column in range(r * m, (r + 1) * m):
            z = (batch.dense[t] - scorer.centre) / scorer.spread
            if isinstance(scorer, Gaussians):
                mean = scorer.centre + scorer.spread * views[f"{scorer.name}.mean"][:, column]
                variance = scorer.spread**2 * np.exp(views[f"{scorer.name}.log_variance"][:, column])
                value = views[f"{scorer.name}.log_weight"][column]
                value -= 0.5 * np.sum(np.log(2 * np.pi * variance) + (batch.dense[t] - mean) ** 2 / variance)
            else:
                weight = views[f"{scorer.name}.weight"][:, column]
                value = weight[0] + weight[1 : 1 + d] @ z + weight[1 + d :] @ (0.3 * (z**2 - 1))
            found.append(float(value))
        k = scorer.sharpness
        node[t, r] = max(found) if how == "max" else enumeration.log_sum([k * x for x in found]) / k
    return node


def _slow_units(units: HiddenUnits, params: dict[str, np.ndarray], batch: Batch, how: str) -> np.ndarray:
    """All 2^H configurations of the units of every position and row, gathered one by one."""
    scores = np.zeros((batch.n_positions, units.n_rows))
    for t, r in itertools.product(range(batch.n_positions), range(units.n_rows)):
        if units.source == "dense":
            x = dict(enumerate(batch.dense[t]))
        else:
            entries = range(batch.sparse.indptr[t], batch.sparse.indptr[t + 1])
            pairs = [(int(batch.sparse.indices[i]), batch.sparse.values[i]) for i in entries]
            x = {f: sum(v for g, v in pairs if g == f) for f, _ in pairs if f >= 0}
        energies = []
        for z in itertools.product((0, 1), repeat=units.n_units):
            energy = params["row"][r]
            for h in np.flatnonzero(z):
                energy += params["unit"][h] + params["output"][r, h]
                energy += sum(value * params["input"][f, h] for f, value in x.items())
            energies.append(energy)
        scores[t, r] = enumeration.log_sum(energies) if how == "sum" else max(energies)
    return scores


def _slow_groups(wide: np.ndarray, scorer) -> np.ndarray:
    rows = wide[:, : scorer.n_rows].copy()
    for r, g in enumerate(scorer.group_of.tolist()):
        if g >= 0:
            rows[:, r] += wide[:, scorer.n_rows + g]
    return rows


def _slow_pairs(sparse, pairs, weight, n_rows) -> np.ndarray:
    table = {(f, r): w for f, r, w in zip(pairs.feature().tolist(), pairs.row.tolist(), weight, strict=True)}
    scores = np.zeros((len(sparse.indptr) - 1, n_rows))
    for t, (lo, hi) in enumerate(itertools.pairwise(sparse.indptr)):
        for i, r in itertools.product(range(lo, hi), range(n_rows)):
            value = 1.0 if sparse.values is None else sparse.values[i]
            scores[t, r] += value * table.get((int(sparse.indices[i]), r), 0.0)
    return scores


def slow_loss(problem: Problem, theta: np.ndarray) -> float:
    """Loss and l2 by enumeration: gather(scores + cost) over all paths - gather(scores) over those that agree."""
    space, targets = problem.chain.space, problem.targets
    scored = slow_potentials(problem.chain, theta, problem.batch, problem.objective.how)
    node = scored.node if problem.offset is None else scored.node + problem.offset
    free = node if targets.cost is None else node + targets.cost[targets.clamp.index]
    special = {Piecewise: slow_pieces, PseudoLikelihood: slow_openings, LocalLikelihood: slow_steps}
    if type(problem.objective) in special:
        known = getattr(problem.objective, "log_share", None)
        edge = scored.edge if known is None else scored.edge + known[space.src]
        shifted, loss = Potentials(node, edge, scored.offsets), special[type(problem.objective)]
        terms = [w * loss(space, shifted, targets.clamp, s) for s, w in enumerate(targets.weight)]
        return sum(terms) + problem.l2 * float(theta @ theta)
    gather = enumeration.log_sum if problem.objective.how == "sum" else max
    allowed = targets.clamp.table[targets.clamp.index]
    total = 0.0
    for s, weight in enumerate(targets.weight):
        lo = int(scored.offsets[s])
        above = enumeration.paths(space, Potentials(free, scored.edge, scored.offsets), s)
        below = [
            path
            for path in enumeration.paths(space, Potentials(node, scored.edge, scored.offsets), s)
            if all(allowed[lo + t, space.row_of[k]] for t, k in enumerate(path.states))
        ]
        total += weight * (gather([p.score for p in above]) - gather([p.score for p in below]))
    return total + problem.l2 * float(theta @ theta)


def slow_pieces(space: StateSpace, scores: Potentials, clamp: Clamp, s: int) -> float:
    """Every step with the position it leads to: all edges against those that a path with these labels can take."""
    lo, hi = int(scores.offsets[s]), int(scores.offsets[s + 1])
    allowed = clamp.table[clamp.index]
    paths = [
        path
        for path in enumeration.paths(space, scores, s)
        if all(allowed[lo + t, space.row_of[k]] for t, k in enumerate(path.states))
    ]
    total = 0.0
    for t in range(lo, hi):
        every, agreeing = [], []
        for e in range(space.n_states if t == lo else space.n_edges):
            j = e if t == lo else int(space.dst[e])
            if (t == lo and not space.start[j]) or (t == hi - 1 and not space.end[j]):
                continue
            value = float(scores.node[t, space.row_of[j]]) + (0.0 if t == lo else float(scores.edge[t, e]))
            every.append(value)
            if any(e == (path.states[0] if t == lo else path.edges[t - lo - 1]) for path in paths):
                agreeing.append(value)
        total += enumeration.log_sum(every) - enumeration.log_sum(agreeing)
    return total


def slow_openings(space: StateSpace, scores: Potentials, clamp: Clamp, s: int) -> float:
    """All paths that agree with every label but one, against those that agree with all."""
    lo, hi = int(scores.offsets[s]), int(scores.offsets[s + 1])
    allowed = clamp.table[clamp.index][lo:hi]
    paths = enumeration.paths(space, scores, s)

    def gathered(skip: int | None) -> float:
        rows = [[space.row_of[k] for k in path.states] for path in paths]
        fits = [all(allowed[t, r] for t, r in enumerate(own) if t != skip) for own in rows]
        return enumeration.log_sum([p.score for p, fit in zip(paths, fits, strict=True) if fit])

    return sum(gathered(t) - gathered(None) for t in range(hi - lo) if not allowed[t].all())


def slow_steps(space: StateSpace, scores: Potentials, clamp: Clamp, s: int) -> float:
    """The product of locally normalised steps, summed over the paths that agree with the labels."""
    lo, hi = int(scores.offsets[s]), int(scores.offsets[s + 1])
    if lo == hi:
        return 0.0
    allowed = clamp.table[clamp.index]
    begin = enumeration.log_sum([float(scores.node[lo, space.row_of[k]]) for k in np.flatnonzero(space.start)])
    found = []
    for path in enumeration.paths(space, scores, s):
        if all(allowed[lo + t, space.row_of[k]] for t, k in enumerate(path.states)):
            value = float(scores.node[lo, space.row_of[path.states[0]]]) - begin
            for t, e in enumerate(path.edges, lo + 1):
                ways = {
                    int(w): float(scores.edge[t, w] + scores.node[t, space.row_of[space.dst[w]]])
                    for w in np.flatnonzero(space.src == space.src[e])
                }
                value += ways[e] - enumeration.log_sum(list(ways.values()))
            found.append(value)
    return -enumeration.log_sum(found)
