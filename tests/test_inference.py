"""The engine against enumeration of all paths."""

from __future__ import annotations

import math
import time
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chainfield.errors import ConfigError, DataError, NoPathError
from chainfield.inference import (
    add_posteriors,
    label_marginals,
    log_partition,
    marginals,
    n_best,
    posterior_decode,
    sample,
    score_paths,
    stretch_probabilities,
    viterbi,
)
from chainfield.potentials import Potentials, clamp_labels, clamp_sets, make_potentials
from chainfield.states import one_per_label, partitioned, second_order
from support import enumeration
from support.strategies import SPACES, problems

EXACT = {"rtol": 1e-10, "atol": 1e-10}


def possible(space, potentials):
    return all(enumeration.paths(space, potentials, s) for s in range(potentials.n_sequences))


@settings(max_examples=150, deadline=None)
@given(problems())
def test_posteriors_equal_enumeration(problem):
    space, potentials = problem
    if not possible(space, potentials):
        with pytest.raises(NoPathError):
            log_partition(space, potentials)
        return
    node, edge, log_z = enumeration.posteriors(space, potentials)
    np.testing.assert_allclose(log_partition(space, potentials), log_z, **EXACT)
    posterior = marginals(space, potentials, edges_per_position=True)
    np.testing.assert_allclose(posterior.log_z, log_z, **EXACT)
    np.testing.assert_allclose(posterior.expected.node, node, **EXACT)
    np.testing.assert_allclose(posterior.expected.edge, edge, **EXACT)
    summed = marginals(space, potentials).expected.edge
    np.testing.assert_allclose(summed.sum(0), edge.sum(0), **EXACT)


@settings(max_examples=100, deadline=None)
@given(problems(), st.data())
def test_stretches_equal_enumeration(problem, data):
    space, potentials = problem
    assume(possible(space, potentials))
    sequences = [s for s in range(potentials.n_sequences) if potentials.ragged.lengths[s]]
    assume(sequences)
    starts, ends, allowed, expected = [], [], [], []
    for s in data.draw(st.lists(st.sampled_from(sequences), min_size=1, max_size=4)):
        lo, hi = potentials.offsets[s], potentials.offsets[s + 1]
        a = data.draw(st.integers(lo, hi - 1))
        b = data.draw(st.integers(a + 1, hi))
        sets = data.draw(
            st.lists(st.none() | st.sets(st.integers(0, space.n_labels - 1)), min_size=b - a, max_size=b - a)
        )
        found = enumeration.paths(space, potentials, s)
        log_z = enumeration.log_sum([p.score for p in found])
        right = [
            math.exp(p.score - log_z)
            for p in found
            if all(
                own is None or space.label_of[k] in own for k, own in zip(p.states[a - lo : b - lo], sets, strict=True)
            )
        ]
        starts, ends, allowed = [*starts, a], [*ends, b], [*allowed, *sets]
        expected.append(math.fsum(right))
    for few in (0, 100):  # both ways
        with patch("chainfield.inference.stretches.FEW", few):
            found = stretch_probabilities(
                space, potentials, np.array(starts), np.array(ends), clamp_sets(space, allowed)
            )
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(problems())
def test_best_paths_equal_enumeration(problem):
    space, potentials = problem
    assume(possible(space, potentials))
    best = viterbi(space, potentials)
    np.testing.assert_allclose(score_paths(space, potentials, best), best.score, **EXACT)
    several = n_best(space, potentials, 5)
    for s in range(potentials.n_sequences):
        scores = sorted((p.score for p in enumeration.paths(space, potentials, s)), reverse=True)[:5]
        np.testing.assert_allclose(best.score[s], scores[0], **EXACT)
        np.testing.assert_allclose(several[s].score, scores, **EXACT)
        known = {p.states: p.score for p in enumeration.paths(space, potentials, s)}
        listed = [tuple(row) for row in several[s].states.tolist()]
        assert len(set(listed)) == len(listed)
        np.testing.assert_allclose([known[row] for row in listed], scores, **EXACT)


def test_ties_go_to_the_lowest_state():
    space = one_per_label(4)
    potentials = make_potentials(space, np.zeros((5, 4)), np.zeros((1, 16)))
    assert viterbi(space, potentials).states.tolist() == [0] * 5


@pytest.mark.parametrize("name", SPACES)
def test_samples_follow_the_posterior(name):
    space = SPACES[name]()
    rng = np.random.default_rng(3)
    node, edge = rng.normal(size=(3, space.n_rows)), rng.normal(size=(1, space.n_edges))
    potentials = make_potentials(space, node, edge)
    draws = sample(space, potentials, 20_000, np.random.default_rng(0))[0]
    paths = enumeration.paths(space, potentials, 0)
    log_z = enumeration.log_sum([p.score for p in paths])
    probability = {p.states: math.exp(p.score - log_z) for p in paths}
    seen, counts = np.unique(draws, axis=0, return_counts=True)
    frequency = {tuple(row): count / len(draws) for row, count in zip(seen.tolist(), counts, strict=True)}
    assert set(frequency) <= set(probability)
    for states, p in probability.items():
        assert abs(frequency.get(states, 0.0) - p) < 5 * math.sqrt(p * (1 - p) / len(draws)) + 1e-3


def test_label_marginals_and_posterior_decoding():
    space = partitioned([2, 1])
    potentials = make_potentials(space, [[0.0, 0.0, 0.1]], np.zeros((1, 9)))
    np.testing.assert_allclose(label_marginals(space, potentials).sum(1), 1.0, rtol=1e-12)
    # The best single state belongs to label 1; the two states of label 0 together are more probable.
    assert viterbi(space, potentials).states.tolist() == [2]
    assert posterior_decode(space, potentials).tolist() == [0]


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_a_million_tokens(scale):
    rng = np.random.default_rng(0)
    space = one_per_label(3)
    n = 1_000_000
    node = rng.uniform(-scale, scale, (n, 3))
    edge = rng.uniform(-scale, scale, (1, 9))
    potentials = make_potentials(space, node, edge)
    posterior = marginals(space, potentials)
    np.testing.assert_allclose(posterior.expected.node.sum(1), 1.0, rtol=0, atol=1e-9)
    best = viterbi(space, potentials)
    assert best.score[0] <= posterior.log_z[0] * (1 + 1e-12) + 1e-6
    np.testing.assert_allclose(score_paths(space, potentials, best), best.score, rtol=1e-12)


def test_a_thousand_labels():
    rng = np.random.default_rng(0)
    space = one_per_label(1000)
    node, edge = rng.normal(size=(3, 1000)), rng.normal(size=(1000, 1000))
    potentials = make_potentials(space, node, edge)
    alpha = np.exp(node[0])
    for t in (1, 2):
        alpha = (alpha @ np.exp(edge)) * np.exp(node[t])
    np.testing.assert_allclose(log_partition(space, potentials), np.log(alpha.sum()), rtol=1e-12)
    delta = node[0]
    for t in (1, 2):
        delta = (delta[:, None] + edge).max(0) + node[t]
    np.testing.assert_allclose(viterbi(space, potentials).score, delta.max(), rtol=1e-12)


def test_losses_below_the_smallest_number_are_found_again():
    # State 1 starts 2000 below state 0, which then loses 200 a step: after 20 steps only state 1 counts.
    space = one_per_label(2)
    node = np.zeros((21, 2))
    node[0, 1] = -2000.0
    edge = np.array([[-200.0, -np.inf], [-np.inf, 0.0]])
    posterior = marginals(space, make_potentials(space, node, edge))
    np.testing.assert_allclose(posterior.log_z, -2000.0, rtol=1e-12)
    np.testing.assert_allclose(posterior.expected.node[:, 1], 1.0, rtol=1e-12)


def test_a_sum_that_is_tiny_itself_is_no_licence_to_lose_more():
    # All paths but one lose 400 at the first step; the one that loses 900 there is the best in the end.
    space = one_per_label(2)
    node = np.zeros((3, 2))
    edge = np.full((3, 4), -np.inf)
    edge[1] = [-400.0, -np.inf, -np.inf, -900.0]
    edge[2] = [0.0, -np.inf, -np.inf, 1000.0]
    edge[1, 1] = 0.0  # 0 → 1, the largest edge score, leads to a dead end
    node[2] = [0.0, 0.0]
    node[1] = [0.0, -0.0]
    potentials = make_potentials(space, node, edge)
    expected = enumeration.posteriors(space, potentials)
    posterior = marginals(space, potentials)
    np.testing.assert_allclose(posterior.log_z, expected[2], **EXACT)
    np.testing.assert_allclose(posterior.expected.node, expected[0], **EXACT)


def test_clamps():
    rng = np.random.default_rng(0)
    space = second_order(partitioned([1, 2, 1]))
    potentials = make_potentials(space, rng.normal(size=(4, 4)), rng.normal(size=(1, space.n_edges)))
    clamp = clamp_labels(space, np.array([1, -1, 0, 2]))
    sets = clamp_sets(space, [{1}, None, {0}, {2}])
    assert np.array_equal(clamp.table[clamp.index], sets.table[sets.index])
    allowed = [{1}, {0, 1, 2}, {0}, {2}]
    wanted = [
        p.score
        for p in enumeration.paths(space, potentials, 0)
        if all(space.label_of[k] in a for k, a in zip(p.states, allowed, strict=True))
    ]
    np.testing.assert_allclose(log_partition(space, clamp.apply(potentials)), enumeration.log_sum(wanted), **EXACT)


def test_no_path_names_the_sequence():
    space = one_per_label(2)
    node = np.zeros((4, 2))
    node[3] = -np.inf
    potentials = make_potentials(space, node, np.zeros((1, 4)), [0, 2, 4])
    for function in (log_partition, marginals, viterbi, posterior_decode):
        with pytest.raises(NoPathError, match="Sequence 1"):
            function(space, potentials)
    with pytest.raises(NoPathError, match="Sequence 1"):
        n_best(space, potentials, 2)
    with pytest.raises(NoPathError, match="Sequence 1"):
        sample(space, potentials, 2, np.random.default_rng(0))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_are_refused(bad):
    space = one_per_label(2)
    with pytest.raises(DataError, match=r"node score \(1, 0\)"):
        make_potentials(space, [[0, 0], [bad, 0]], np.zeros(4))
    with pytest.raises(DataError, match="shape"):
        make_potentials(space, np.zeros((2, 3)), np.zeros(4))


@pytest.mark.parametrize("name", ["three labels", "bio", "second order"])
@pytest.mark.parametrize("what", ["node", "edge"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_are_noticed_wherever_they_come_from(name, what, bad):
    space = SPACES[name]()
    node, edge = np.zeros((4, space.n_rows)), np.zeros((1, space.n_edges))
    {"node": node, "edge": edge}[what][-1, 1] = bad
    potentials = Potentials(node, edge, np.array([0, 1, 4]))
    for function in (log_partition, marginals, viterbi, posterior_decode):
        with pytest.raises(DataError, match="Sequence 1" if what == "node" else "Every sequence"):
            function(space, potentials)


def test_other_layouts_are_brought_in_order():
    rng = np.random.default_rng(0)
    space = one_per_label(3)
    node, edge = rng.normal(size=(4, 3)), rng.normal(size=(1, 9))
    plain = marginals(space, make_potentials(space, node, edge))
    for other in (np.asfortranarray(node), node.astype(np.float32).astype(np.float64), np.repeat(node, 2, axis=0)[::2]):
        same = marginals(space, Potentials(other, edge, np.array([0, 4], np.int32)))
        np.testing.assert_allclose(same.expected.node, plain.expected.node, rtol=0, atol=1e-6)


def test_a_gradient_must_have_room_for_every_position():
    space = one_per_label(2)
    potentials = make_potentials(space, np.zeros((3, 2)), np.zeros((3, 4)))
    shared = make_potentials(space, np.zeros((3, 2)), np.zeros(4)).zeros()
    with pytest.raises(ConfigError, match="every position"):
        add_posteriors(space, potentials, np.ones(1), shared)


def test_labels_out_of_range_are_refused():
    with pytest.raises(DataError, match="from 0 to 1"):
        clamp_labels(one_per_label(2), np.array([0, 2]))


def test_empty_sequences_are_allowed():
    space = one_per_label(2)
    potentials = make_potentials(space, np.zeros((2, 2)), np.zeros((1, 4)), [0, 0, 2, 2])
    np.testing.assert_allclose(log_partition(space, potentials), [0.0, np.log(4), 0.0], **EXACT)
    assert viterbi(space, potentials).states.tolist() == [0, 0]
    assert [len(b.score) for b in n_best(space, potentials, 3)] == [1, 3, 1]


def test_many_best_paths_of_many_states():
    """Lists are merged by a heap: a thousand paths over fifty states took seconds by insertion."""
    rng = np.random.default_rng(0)
    space = partitioned([2] * 25)
    potentials = make_potentials(space, rng.normal(size=(30, space.n_rows)), rng.normal(size=space.n_edges))
    began = time.process_time()
    found = n_best(space, potentials, 1024)[0]
    assert time.process_time() - began < 3.0
    assert len(found.score) == len({states.tobytes() for states in found.states}) == 1024
    assert (np.diff(found.score) <= 0).all()
    assert found.score[0] == pytest.approx(viterbi(space, potentials).score[0], rel=1e-12)
