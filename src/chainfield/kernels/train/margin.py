"""Steps that go as far as a margin demands: passive-aggressive training, MIRA and AROW.

With Δ the features of the right path minus those of the best one:

    τ = min(limit, (loss + cost) / (slack + Σ v_i Δ_i²))        θ_i += τ v_i Δ_i        1 / v_i += Δ_i² / slack

(Crammer et al. 2006; Crammer, Kulesza and Dredze 2009.) Both paths are followed twice: once to add Δ up where it
belongs, since a feature may occur at several positions, and once to change what was touched, and to clear it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from chainfield.kernels.declare import Float
from chainfield.kernels.elements import get, put
from chainfield.kernels.jit import inner, part
from chainfield.kernels.vector import LANES

from .linear_chain import Parameters

# A norm that is so much smaller than what it was summed from is nothing but rounding: the two paths are alike.
ROUNDING = 1e-12


class Margin(NamedTuple):
    """How far steps go; ``used`` is False where they are rates."""

    used: bool
    power: float  # w wrong positions cost w ** power; below 0: nothing
    limit: float
    slack: float
    spent: Float  # (S,) the sum of steps of each sequence, which ``limit`` bounds; or empty
    trial: Parameters  # Δ: zeros, before and after
    variance: Parameters  # v, or empty: 1


class Step(NamedTuple):
    """What the second way along the paths does."""

    settling: Any
    length: Any
    mass: Any
    slack: Any


@inner
def meet(step: Any, w: int, x: float, trial: Any, variance: Any, theta: Any, lag: Any) -> float:
    """One parameter: add x to its Δ, and tell by how much that changes v Δ²; or move it."""
    delta = get(trial, w)
    v = get(variance, w) if len(variance) > 0 else 1.0
    if not step.settling:
        put(trial, w, delta + x)
        return v * x * (2.0 * delta + x)
    if delta != 0.0:
        move = step.length * v * delta
        put(theta, w, get(theta, w) + move)
        if len(lag) > 0:
            put(lag, w, get(lag, w) + step.mass * move)
        if len(variance) > 0:
            put(variance, w, 1.0 / (1.0 / v + delta * delta / step.slack))
        put(trial, w, 0.0)
    return 0.0


@part
def meet_weights(
    entries: Any, t: int, masked: bool, columns: Any, m: int, d: Any, step: Any, trial: Any, variance: Any, theta: Any,
    lag: Any,
) -> float:  # fmt: skip
    """The weights of the features of a position, in the m columns whose d is not 0."""
    width = entries.width
    ones = entries.ones
    found = 0.0
    for i in range(get(entries.full_first, t), get(entries.full_first, t + 1)):
        f = get(entries.full, i)
        x = 1.0 if ones else get(entries.full_value, i)
        for j in range(m):
            c = get(columns, j)
            if masked and (get(entries.mask, f * (width // LANES) + c // LANES) >> (c % LANES)) & 1 == 0:
                continue
            found += meet(step, f * width + c, x * get(d, c), trial, variance, theta, lag)
    for i in range(get(entries.pair_first, t), get(entries.pair_first, t + 1)):
        change = get(d, get(entries.row, i))
        if change != 0.0:
            x = 1.0 if ones else get(entries.pair_value, i)
            found += meet(step, get(entries.pair, i), x * change, trial, variance, theta, lag)
    return found


@part
def meet_paths(
    graph: Any, places: Any, entries: Any, at: int, n: int, masked: bool, n_rows: int, states: Any, path_edges: Any,
    right: Any, right_edges: Any, d: Any, columns: Any, step: Any, margin: Any, theta: Any, lag: Any,
) -> float:  # fmt: skip
    """All parameters in which the path ``right`` and the other one differ; see ``perceptron.part_ways``."""
    trial, variance = margin.trial, margin.variance
    found = 0.0
    for t in range(n):
        r = graph.row_of[states[t]]
        q = graph.row_of[right[t]]
        if r != q:
            m = 2
            columns[0] = r
            columns[1] = q
            d[r] = -1.0
            d[q] = 1.0
            if len(places.group_of) > 0 and places.group_of[r] != places.group_of[q]:
                if places.group_of[r] >= 0:
                    columns[m] = n_rows + places.group_of[r]
                    d[columns[m]] = -1.0
                    m += 1
                if places.group_of[q] >= 0:
                    columns[m] = n_rows + places.group_of[q]
                    d[columns[m]] = 1.0
                    m += 1
            found += meet_weights(
                entries, at + t, masked, columns, m, d, step, trial.weights, variance.weights, theta.weights,
                lag.weights,
            )  # fmt: skip
            for j in range(m):
                d[columns[j]] = 0.0
            for place, there in ((places.start, t == 0), (places.end, t == n - 1)):
                if places.start >= 0 and there:
                    found += meet(step, place + r, -1.0, trial.rest, variance.rest, theta.rest, lag.rest)
                    found += meet(step, place + q, 1.0, trial.rest, variance.rest, theta.rest, lag.rest)
        if t > 0 and path_edges[t] != right_edges[t]:
            for i in range(len(places.transition)):
                v = places.tie[i, path_edges[t]]
                w = places.tie[i, right_edges[t]]
                if v != w:
                    first = places.transition[i]
                    if v >= 0:
                        found += meet(step, first + v, -1.0, trial.rest, variance.rest, theta.rest, lag.rest)
                    if w >= 0:
                        found += meet(step, first + w, 1.0, trial.rest, variance.rest, theta.rest, lag.rest)
    return found


@part
def margin_step(
    graph: Any, places: Any, entries: Any, at: int, n: int, masked: bool, n_rows: int, states: Any, path_edges: Any,
    right: Any, right_edges: Any, d: Any, columns: Any, loss: float, weight: float, s: int, margin: Any, mass: float,
    theta: Any, lag: Any,
) -> float:  # fmt: skip
    """Step as far as the margin of sequence s demands; returns what its mistakes cost beyond its loss."""
    wrong = 0.0
    for t in range(n):
        if graph.row_of[states[t]] != graph.row_of[right[t]]:
            wrong += 1.0
    cost = wrong**margin.power if margin.power >= 0.0 else 0.0
    measure = Step(False, 0.0, 0.0, 0.0)
    norm = meet_paths(
        graph, places, entries, at, n, masked, n_rows, states, path_edges, right, right_edges, d, columns, measure,
        margin, theta, lag,
    )  # fmt: skip
    length = 0.0
    if margin.slack + norm > ROUNDING:
        limit = margin.limit - margin.spent[s] if len(margin.spent) > 0 else margin.limit
        length = min((loss + cost) / (margin.slack + norm), limit)
        if len(margin.spent) > 0:
            margin.spent[s] += length
    settle = Step(True, weight * length, mass, margin.slack)
    meet_paths(
        graph, places, entries, at, n, masked, n_rows, states, path_edges, right, right_edges, d, columns, settle,
        margin, theta, lag,
    )  # fmt: skip
    return weight * cost
