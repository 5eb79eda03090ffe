"""Lattices: every position lists the rows that it may use. All numbers by enumeration, and by the unpruned engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield.errors import ConfigError
from chainfield.inference import alive, lattice_paths, log_partition, make_net
from chainfield.objectives import Targets, objective_named
from chainfield.potentials import Lattice, clamp_labels, lattice_of
from chainfield.problem import Problem, Steps
from chainfield.scorers import Boundary, Chain, SparseLinear, Transition, Triples, all_pairs, seen_pairs
from chainfield.scorers.triples import known_codes
from chainfield.scorers.unfolding import unfold_chain
from chainfield.states import StateSpace, one_per_label, restrict, second_order
from chainfield.tasks import label_cost
from support import enumeration
from support.catalogue import LABELLINGS, N_FEATURES, draw_batch, draw_labels
from support.strategies import bio_rules

LENGTHS = [3, 1, 0, 4, 2]
SPACES = {"free": lambda: one_per_label(4), "bio": lambda: restrict(one_per_label(3), bio_rules())}


def draw_lattice(rng: np.random.Generator, n: int, n_rows: int, right: np.ndarray) -> Lattice:
    """Random rows for every position, the right ones always among them."""
    return lattice_of((rng.random((n, n_rows)) < 0.5) | right)


def compose(
    seed: int, space: StateSpace, order: int, objective: str, labelling: str, *, lengths: Sequence[int] = LENGTHS
) -> Problem:
    """A problem over random sequences with a lattice."""
    rng = np.random.default_rng(seed)
    batch = replace(draw_batch(rng, list(lengths)), dense=None, edges=None)
    labels = draw_labels(rng, space, list(lengths))
    clamp = LABELLINGS[labelling](rng, space, labels)
    pairs = seen_pairs(batch.sparse, np.eye(space.n_rows, dtype=bool), np.array(labels, np.int32))
    pairs = pairs if seed % 2 else all_pairs(N_FEATURES, space.n_rows)
    moves: tuple[Transition | Triples, ...] = (Transition(np.arange(space.n_edges, dtype=np.int32)),)
    if order == 2:
        code = known_codes(np.array(labels, np.int32), batch.offsets, space)
        moves += (Triples(code, space.n_edges, space.n_rows),)
    chain = Chain(space, (SparseLinear(pairs, space.n_rows), Boundary(space.n_rows)), moves)
    chosen = objective_named(objective)
    cost = label_cost(space, clamp.table, 0.7) if chosen.uses_cost else None
    targets = Targets(clamp, rng.uniform(0.5, 2.0, len(lengths)), cost)
    truth = np.eye(space.n_rows, dtype=bool)[labels]
    known = clamp.table[clamp.index] & ~clamp.table[clamp.index].all(1, keepdims=True)
    lattice = draw_lattice(rng, batch.n_positions, space.n_rows, truth | known)
    shift = rng.normal(size=space.n_rows)
    return Problem(chain, chosen, batch, targets, l2=0.3, offset=shift, lattice=lattice)


def slowly(problem: Problem, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """Loss and gradient by the engine without lattices: scores of -inf, and an explicit space for each sequence."""
    value, gradient = problem.penalty(theta), 2 * problem.l2 * theta
    assert problem.lattice is not None
    for s in range(problem.n_sequences):
        at = problem.batch.ragged.slice_of(s, s + 1)
        if at.stop == at.start:
            continue
        lattice = problem.lattice[at]
        chain = unfold_chain(problem.chain, lattice) if problem.chain.reach > 1 else problem.chain
        t = problem.targets
        raw, pullback = chain.potentials(chain.views(theta), problem.batch.window(s, s + 1), problem.objective.how)
        masked = lattice.apply(replace(raw, node=raw.node + problem.offset))
        loss, d = problem.objective(chain.space, masked, Targets(t.clamp[at], t.weight[s : s + 1], t.cost))
        value += loss
        pullback(d, chain.views(gradient), 1.0)
    return value, gradient


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(SPACES)),
    st.sampled_from([1, 2]),
    st.sampled_from(["likelihood", "softmax_margin", "perceptron", "large_margin"]),
    st.sampled_from(sorted(LABELLINGS)),
)
def test_loss_and_gradient_are_those_of_the_engine(seed, space, order, objective, labelling) -> None:
    problem = compose(seed, SPACES[space](), order, objective, labelling)
    theta = np.random.default_rng(seed + 1).normal(size=problem.n_parameters)
    value, gradient = problem.evaluate(theta)
    expected, slow = slowly(problem, theta)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slow, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("order", [1, 2])
def test_gradient_by_finite_differences(order: int) -> None:
    problem = compose(3, SPACES["bio"](), order, "likelihood", "unknown")
    theta = np.random.default_rng(0).normal(size=problem.n_parameters)
    _, gradient = problem.evaluate(theta)
    for i in range(problem.n_parameters):
        e = np.zeros_like(theta)
        e[i] = 1e-5
        difference = (problem.evaluate(theta + e)[0] - problem.evaluate(theta - e)[0]) / 2e-5
        assert gradient[i] == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("objective", ["likelihood", "large_margin"])
def test_steps_follow_the_gradients_of_single_sequences(order: int, objective: str) -> None:
    """With shrinking and averaging: what the kernel does at once, step by step."""
    problem = compose(5, SPACES["free"](), order, objective, "full")
    rng = np.random.default_rng(1)
    theta = rng.normal(size=problem.n_parameters)
    n = problem.n_sequences
    chosen, rates, shrink = rng.permutation(n), rng.uniform(0.05, 0.2, n), rng.uniform(0.5, 1.0, n)
    moved, lag = theta.copy(), np.zeros_like(theta)
    walked = problem.walk(Steps(moved, chosen, rates, shrink=shrink, lag=lag))
    expected, iterates, loss = theta.copy(), np.zeros_like(theta), 0.0
    for s, rate, factor in zip(chosen.tolist(), rates, shrink, strict=True):
        value, d, pullback = problem.differentiate(expected, np.array([s]))
        loss += value
        pullback(d, expected, -rate)
        expected *= factor
        iterates += expected
    np.testing.assert_allclose(moved, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(walked.mass * moved - lag, iterates, rtol=1e-9, atol=1e-10)
    assert walked.loss == pytest.approx(loss, rel=1e-10)


def test_curvature_is_that_of_the_engine() -> None:
    problem = compose(7, SPACES["free"](), 1, "likelihood", "full")
    problem = replace(problem, targets=replace(problem.targets, weight=np.ones(problem.n_sequences)))
    theta = np.random.default_rng(2).normal(size=problem.n_parameters)
    general = replace(problem)
    general.__dict__["fast"] = None
    np.testing.assert_allclose(problem.curvature(theta), general.curvature(theta), rtol=1e-9)
    assert general.evaluate(theta)[0] == pytest.approx(problem.evaluate(theta)[0], rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(SPACES)), st.sampled_from([1, 2]))
def test_best_paths_and_sums_by_enumeration(seed: int, name: str, order: int) -> None:
    problem = compose(seed, SPACES[name](), order, "likelihood", "full")
    theta = np.random.default_rng(seed).normal(size=problem.n_parameters)
    chain, lattice, batch = problem.chain, problem.lattice, problem.batch
    assert lattice is not None
    triples = next((s for s in chain.transitions if isinstance(s, Triples)), None)
    net = make_net(chain.space) if triples is None else make_net(chain.space, triples.after, triples.third)
    cells = np.zeros(len(lattice.rows))
    for scorer in chain.emissions:
        scorer.cells(
            chain.own(chain.views(theta), scorer), batch, "sum", lattice, chain.space.n_rows, cells, alone=True
        )
    edge = chain.views(theta)["transition.weight"]
    weights = None if triples is None else chain.views(theta)["transition2.weight"]
    rows, score = lattice_paths(net, lattice, batch.offsets, cells, edge, weights)
    for s in range(batch.n_sequences):
        at = batch.ragged.slice_of(s, s + 1)
        if at.stop == at.start:
            continue
        own = unfold_chain(chain, lattice[at]) if order == 2 else chain
        potentials = lattice[at].apply(own.potentials(own.views(theta), batch.window(s, s + 1), "sum")[0])
        paths = enumeration.paths(own.space, potentials, 0)
        best = max(paths, key=lambda path: path.score)
        assert score[s] == pytest.approx(best.score, rel=1e-12)
        found = rows[at].tolist()  # where positions are alike, several paths are the best
        own_score = max(path.score for path in paths if own.space.row_of[list(path.states)].tolist() == found)
        assert own_score == pytest.approx(best.score, rel=1e-12)
        total = enumeration.log_sum([path.score for path in paths])
        assert log_partition(own.space, potentials)[0] == pytest.approx(total, rel=1e-12)


def test_all_rows_are_exact_second_order() -> None:
    """A lattice of all rows and all triples: the numbers of the explicit second-order space."""
    space = one_per_label(3)
    rng = np.random.default_rng(4)
    pairs = space.n_edges + space.n_rows
    chain = Chain(
        space,
        (SparseLinear(all_pairs(N_FEATURES, 3), 3),),
        (Transition(np.arange(9, dtype=np.int32)), Triples(np.arange(pairs * 3), 9, 3)),
    )
    wide = second_order(space)
    before = np.concatenate([space.n_edges + np.arange(3), np.arange(9)])[wide.src]
    scorer = chain.transitions[1]
    assert isinstance(scorer, Triples)
    explicit = replace(
        chain,
        space=wide,
        transitions=(
            Transition(wide.edge_row),
            Transition(scorer.find(before, wide.row_of[wide.dst].astype(np.int64)), name="transition2"),
        ),
    )
    batch = replace(draw_batch(rng, LENGTHS), dense=None, edges=None)
    clamp = clamp_labels(space, rng.integers(0, 3, batch.n_positions))
    targets = Targets(clamp, np.ones(len(LENGTHS)))
    everything = lattice_of(np.ones((batch.n_positions, 3), bool))
    theta = rng.normal(size=chain.n_parameters)
    a = Problem(chain, objective_named("likelihood"), batch, targets, lattice=everything).evaluate(theta)
    b = Problem(explicit, objective_named("likelihood"), batch, targets).evaluate(theta)
    assert a[0] == pytest.approx(b[0], rel=1e-12)
    np.testing.assert_allclose(a[1], b[1], rtol=1e-10, atol=1e-12)


def test_dead_ends_are_found() -> None:
    space = restrict(one_per_label(3), bio_rules())
    kept = np.zeros((4, 3), bool)
    inside = int(np.flatnonzero(~space.start)[0])
    kept[:, inside] = True  # nothing may begin with it
    kept[2:] = True
    found = alive(make_net(space), lattice_of(kept), np.array([0, 2, 4]))
    assert found.tolist() == [False, True]


def test_second_order_refuses_what_has_no_recursion_for_it() -> None:
    problem = compose(1, SPACES["free"](), 2, "likelihood", "full")
    with pytest.raises(ConfigError, match=r"^Second order with pruning has its own recursion"):
        problem.scores(np.zeros(problem.n_parameters), slice(0, 1))
    with pytest.raises(ConfigError, match="gradients of sequences to keep where rows are pruned; use another trainer"):
        problem.kept_shapes()
