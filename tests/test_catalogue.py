"""Every composition of parts: loss against enumeration, gradient against finite differences, any number of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from chainfield.objectives import OBJECTIVES
from chainfield.scorers import all_pairs, seen_pairs
from chainfield.tasks import label_cost
from support.catalogue import (
    EMISSIONS,
    LABELLINGS,
    MARGIN,
    MIXTURES,
    SPACES,
    TRANSITIONS,
    compose,
    draw_theta,
    label_pair_ties,
    slow_loss,
)

SMOOTH = ("likelihood", "softmax_margin", "piecewise", "plain_piecewise", "pseudolikelihood", "local")
ROUGH = ("perceptron", "large_margin")


def every_composition(objectives):
    """All spaces, emissions, transitions and objectives; kinds of labels and prior offsets take turns."""
    found, labellings = [], itertools.cycle(LABELLINGS)
    for i, parts in enumerate(itertools.product(SPACES, EMISSIONS, TRANSITIONS, objectives)):
        labelling = next(labellings)
        found.append(pytest.param(*parts, labelling, i % 5 < 3, id="; ".join([*parts, labelling])))
    for i, (space, emission) in enumerate(itertools.product(SPACES, MIXTURES)):
        for j, objective in enumerate(objectives):
            parts = (space, emission, TRANSITIONS[(i + 3 * j) % len(TRANSITIONS)], objective)
            found.append(pytest.param(*parts, next(labellings), j % 2 == 0, id="; ".join(parts)))
    return found


def directions(problem, rng):
    """Two random directions, and single weights, one of each parameter array."""
    yield from rng.normal(size=(2, problem.n_parameters)) / np.sqrt(problem.n_parameters)
    numbers = problem.chain.views(np.arange(float(problem.n_parameters)))
    for view in numbers.values():
        if view.size:
            unit = np.zeros(problem.n_parameters)
            unit[int(rng.choice(view.ravel()))] = 1.0
            yield unit


def slope(problem, theta, v, *, step, order):
    """d loss / d v by central differences of second or fourth order."""

    def at(factor):
        return problem.evaluate(theta + factor * step * v)[0]

    first = (at(1) - at(-1)) / (2 * step)
    if order == 2:
        return first
    return (4 * first - (at(2) - at(-2)) / (4 * step)) / 3


def check_gradient(problem, theta, *, step, order):
    value, gradient = problem.evaluate(theta)
    assert np.isfinite(value)
    for v in directions(problem, np.random.default_rng(2)):
        noise = 4.0 * float(np.spacing(abs(value))) / step  # of differences of values of this size
        found = slope(problem, theta, v, step=step, order=order)
        np.testing.assert_allclose(found, gradient @ v, rtol=1e-6, atol=max(2e-8, noise))


@pytest.mark.parametrize(
    ("space", "emission", "transition", "objective", "labelling", "offset"), every_composition(SMOOTH)
)
def test_smooth_objectives(space, emission, transition, objective, labelling, offset):
    problem = compose(space, emission, transition, objective, labelling, offset=offset)
    theta = draw_theta(problem)
    np.testing.assert_allclose(problem.evaluate(theta)[0], slow_loss(problem, theta), rtol=1e-11, atol=1e-11)
    check_gradient(problem, theta, step=1e-3, order=4)


@pytest.mark.parametrize(
    ("space", "emission", "transition", "objective", "labelling", "offset"), every_composition(ROUGH)
)
def test_objectives_with_a_maximum(space, emission, transition, objective, labelling, offset):
    problem = compose(space, emission, transition, objective, labelling, offset=offset, l2=0.0)
    theta = draw_theta(problem)
    value, _ = problem.evaluate(theta)
    assert value >= -1e-12
    np.testing.assert_allclose(value, slow_loss(problem, theta), rtol=1e-11, atol=1e-11)
    # At a random point the best paths are unique, and the loss is linear around it.
    check_gradient(problem, theta, step=1e-7, order=2)


@pytest.mark.parametrize("objective", ROUGH)
@pytest.mark.parametrize("space", ["one per label", "bio", "second order", "second order bio"])
def test_full_labels_give_a_convex_loss_and_a_subgradient(space, objective):
    problem = compose(space, "all pairs + dense + boundary", "some + edge features", objective, l2=0.0)
    points = [draw_theta(problem, seed) for seed in range(8)] + [np.zeros(problem.n_parameters)]
    for here in points:
        value, gradient = problem.evaluate(here)
        for there in points:
            assert problem.evaluate(there)[0] >= value + gradient @ (there - here) - 1e-10


@pytest.mark.parametrize("labelling", LABELLINGS)
@pytest.mark.parametrize("objective", [*OBJECTIVES, "local"])
@pytest.mark.parametrize("space", SPACES)
def test_all_kinds_of_labels(space, objective, labelling):
    for seed in range(2):
        problem = compose(space, "seen pairs + dense", "some + edge features", objective, labelling, seed=seed + 10)
        theta = draw_theta(problem, seed)
        value, gradient = problem.evaluate(theta)
        np.testing.assert_allclose(value, slow_loss(problem, theta), rtol=1e-11, atol=1e-11)
        v = np.random.default_rng(3).normal(size=len(theta))
        step, order = (1e-3, 4) if problem.objective.smooth else (1e-7, 2)
        np.testing.assert_allclose(slope(problem, theta, v, step=step, order=order), gradient @ v, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("objective", [*OBJECTIVES, "local"])
def test_labels_that_say_nothing_cost_nothing(objective):
    problem = compose("latent", "all pairs", "free", objective, l2=0.0)
    problem.targets.clamp.table[:] = True
    if problem.targets.cost is not None:
        problem.targets.cost[:] = 0.0
    value, gradient = problem.evaluate(draw_theta(problem))
    np.testing.assert_allclose(value, 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradient, 0.0, rtol=0, atol=1e-12)


def test_the_catalogue_has_what_it_promises():
    compositions = [compose(s, "seen pairs", t, "likelihood") for s in SPACES for t in TRANSITIONS]
    assert {p.chain.per_position for p in compositions} == {True, False}
    assert any(len(p.chain.emissions[0].pairs.row) < 5 * p.chain.space.n_rows for p in compositions)
    assert any((scorer.tie < 0).any() for p in compositions for scorer in p.chain.transitions if hasattr(scorer, "tie"))
    spaces = [make() for make in SPACES.values()]
    assert any(label_pair_ties(space).max() + 1 < space.n_edges for space in spaces)
    assert any(len(np.unique(space.edge_row)) < space.n_edges for space in spaces)


@pytest.mark.parametrize("labelling", LABELLINGS)
@pytest.mark.parametrize("space", SPACES)
def test_the_cost_is_that_of_wrong_labels(space, labelling):
    problem = compose(space, "dense", "none", "large_margin", labelling)
    clamp, labels = problem.targets.clamp, problem.chain.space.label_of_row
    for row, cost in zip(clamp.table, problem.targets.cost, strict=True):
        right = set(labels[row].tolist())
        assert cost.tolist() == [0.0 if label in right else MARGIN for label in labels.tolist()]


def test_a_state_of_a_right_label_costs_nothing():
    """Of the two states of label 0 only one is allowed; the other one has the right label all the same."""
    space = SPACES["latent"]()
    assert label_cost(space, np.array([[True, False, False]]), 2.0).tolist() == [[0.0, 0.0, 2.0]]


def test_seen_pairs_are_those_that_occur_together():
    problem = compose("one per label", "seen pairs", "none", "likelihood", "sets", seed=5)
    sparse, clamp = problem.batch.sparse, problem.targets.clamp
    wanted = {
        (int(sparse.indices[i]), r)
        for t in range(problem.batch.n_positions)
        for i in range(sparse.indptr[t], sparse.indptr[t + 1])
        for r in np.flatnonzero(clamp.table[clamp.index[t]]).tolist()
        if sparse.indices[i] >= 0
    }
    pairs = seen_pairs(sparse, clamp.table, clamp.index)
    listed = list(zip(pairs.feature().tolist(), pairs.row.tolist(), strict=True))
    assert listed == sorted(wanted)
    assert len(wanted) < all_pairs(sparse.n_features, 3).n_pairs


@pytest.mark.parametrize("objective", [*OBJECTIVES, "local"])
@pytest.mark.parametrize(
    ("space", "emission", "transition", "labelling"),
    [
        ("one per label", "seen pairs + dense", "free", "full"),
        ("latent", "all pairs + boundary", "tied", "sets"),
        ("second order bio", "seen pairs + boundary", "tied + triples", "unknown"),
        ("bio", "dense", "some + edge features", "unknown"),
    ],
)
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, space, emission, transition, labelling, objective):
    monkeypatch.setattr("chainfield.problem.problem.SHARD_POSITIONS", 60)
    monkeypatch.setattr("chainfield.problem.problem.POSITIONS_PER_PARAMETER", 0.0)
    monkeypatch.setattr("chainfield.scorers.chain.BLOCK_BYTES", 1000)
    lengths = tuple(np.random.default_rng(0).integers(0, 9, 150).tolist())
    problem = compose(space, emission, transition, objective, labelling, lengths=lengths)
    assert len(problem.shards) >= 5
    assert [a for a, _ in problem.shards[1:]] == [b for _, b in problem.shards[:-1]]
    theta = draw_theta(problem)
    results = []
    for n_jobs in (1, 2, 5):
        object.__setattr__(problem, "n_jobs", n_jobs)
        results += [problem.evaluate(theta) for _ in range(2)]
    for value, gradient in results[1:]:
        assert value == results[0][0]
        assert gradient.tobytes() == results[0][1].tobytes()


def test_a_part_of_the_sum_is_the_sum_of_its_parts():
    problem = compose(
        "bio", "seen pairs + dense", "some + edge features", "likelihood", lengths=(2, 3, 0, 1, 3), l2=0.0
    )
    theta = draw_theta(problem)
    value, gradient = problem.evaluate(theta)
    for parts in ([slice(0, 2), slice(2, 5)], [np.array([4, 1]), np.array([3]), np.array([2, 0])]):
        total, summed = 0.0, np.zeros_like(theta)
        for part in parts:
            loss, d, pullback = problem.differentiate(theta, part)
            total += loss
            pullback(d, summed, 1.0)
        np.testing.assert_allclose(total, value, rtol=1e-12)
        np.testing.assert_allclose(summed, gradient, rtol=1e-12, atol=1e-13)
