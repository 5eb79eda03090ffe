"""Decoders, label paths and classes against enumeration of all paths."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import assume, given, settings

from chainfield.errors import ConfigError, DataError, NoPathError
from chainfield.inference import (
    DECODERS,
    best_label_paths,
    class_log_probabilities,
    class_scores,
    decoder_named,
    log_partition,
)
from chainfield.potentials import make_potentials
from chainfield.states import class_blocks, left_to_right, one_per_label, partitioned, second_order
from support import enumeration
from support.strategies import SPACES, problems

EXACT = {"rtol": 1e-9, "atol": 1e-9}
BLOCKS = {
    "left to right": lambda: class_blocks([left_to_right(2), left_to_right(3, skip=2), left_to_right(1)]),
    "ergodic": lambda: class_blocks([partitioned([2]), partitioned([3])]),
    "second order": lambda: class_blocks([second_order(partitioned([2])), left_to_right(2)]),
}


def label_masses(space, potentials, s):
    """Label sequence → log of the sum over its paths, by enumeration."""
    scores = defaultdict(list)
    for path in enumeration.paths(space, potentials, s):
        scores[tuple(space.label_of[list(path.states)].tolist())].append(path.score)
    return {labels: enumeration.log_sum(own) for labels, own in scores.items()}


def by_enumeration(space, potentials, name):
    """The best labels of every sequence, end to end, and their values."""
    for s in range(potentials.n_sequences):
        if name == "viterbi":
            paths = enumeration.paths(space, potentials, s)
            scores = defaultdict(lambda: -math.inf)
            for path in paths:
                labels = tuple(space.label_of[list(path.states)].tolist())
                scores[labels] = max(scores[labels], path.score)
            yield scores
        elif name == "latent-dynamic":
            yield label_masses(space, potentials, s)
        else:
            masses = label_masses(space, potentials, s)
            total = enumeration.log_sum(list(masses.values()))
            length = len(next(iter(masses)))
            marginal = np.zeros((length, space.n_labels))
            for labels, mass in masses.items():
                marginal[np.arange(length), labels] += math.exp(mass - total)
            yield marginal


@pytest.mark.parametrize("name", DECODERS)
@settings(max_examples=60, deadline=None)
@given(problems(max_length=3))
def test_decoders_equal_enumeration(name, problem):
    space, potentials = problem
    assume(all(enumeration.paths(space, potentials, s) for s in range(potentials.n_sequences)))
    assume(np.abs(potentials.node[np.isfinite(potentials.node)]).max(initial=0) < 1e3)
    found = np.split(decoder_named(name)(space, potentials), potentials.offsets[1:-1])
    for labels, expected in zip(found, by_enumeration(space, potentials, name), strict=True):
        if name == "posterior":
            picked = expected[np.arange(len(labels)), labels]
            np.testing.assert_allclose(picked, expected.max(axis=1), **EXACT)
        else:
            np.testing.assert_allclose(expected[tuple(labels.tolist())], max(expected.values()), **EXACT)


@pytest.mark.parametrize("name", ["latent", "second order latent", "restricted latent", "second order"])
def test_label_paths_have_the_probabilities_of_enumeration(name):
    space = SPACES[name]()
    rng = np.random.default_rng(5)
    lengths = [3, 1, 2, 0]
    node, edge = rng.normal(size=(sum(lengths), space.n_rows)), rng.normal(size=(1, space.n_edges))
    potentials = make_potentials(space, node, edge, np.cumsum([0, *lengths]))
    log_z = log_partition(space, potentials)
    for n in (1, 3, 100):
        for s, found in enumerate(best_label_paths(space, potentials, n)):
            masses = label_masses(space, potentials, s)
            best = sorted(masses.values(), reverse=True)[:n]
            assert found.exact
            assert len({tuple(labels) for labels in found.labels.tolist()}) == len(found.labels) == len(best)
            np.testing.assert_allclose(found.log_probability, np.array(best) - log_z[s], **EXACT)
            for labels, mass in zip(found.labels.tolist(), best, strict=True):
                np.testing.assert_allclose(masses[tuple(labels)], mass, **EXACT)


def test_the_best_path_need_not_show_the_best_labels():
    space = partitioned([3, 1])
    potentials = make_potentials(space, [[0.0, 0.0, 0.0, 0.5]] * 2, np.zeros((1, 16)))
    assert DECODERS["viterbi"](space, potentials).tolist() == [1, 1]
    assert DECODERS["latent-dynamic"](space, potentials).tolist() == [0, 0]


def test_a_search_that_is_cut_short_says_so():
    space = partitioned([3, 3])
    rng = np.random.default_rng(0)
    potentials = make_potentials(space, 0.01 * rng.normal(size=(8, 6)), np.zeros((1, 36)))
    assert not best_label_paths(space, potentials, most_paths=8)[0].exact
    sharp = make_potentials(space, 9.0 * rng.normal(size=(8, 6)), np.zeros((1, 36)))
    assert best_label_paths(space, sharp)[0].exact


def test_posterior_decoding_may_break_the_rules():
    space = SPACES["bio"]()
    # O O 0.3, O B 0.25, B O 0.05, B I 0.4: O wins first and I second, but I cannot follow O.
    edge = np.log([[0.3, 0.25, 1.0], [0.05, 1e-9, 0.4], [1.0, 1.0, 1.0]])
    potentials = make_potentials(space, np.zeros((2, 3)), edge)
    assert DECODERS["posterior"](space, potentials).tolist() == [0, 2]
    assert DECODERS["viterbi"](space, potentials).tolist() == [1, 2]


def test_unknown_decoders_are_refused():
    with pytest.raises(ConfigError, match="viterbi, posterior, latent-dynamic"):
        decoder_named("beam")


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("per_position", [False, True])
def test_class_scores_equal_enumeration(name, per_position):
    space = BLOCKS[name]()
    rng = np.random.default_rng(1)
    lengths = [3, 2, 3]
    offsets = np.cumsum([0, *lengths])
    node = rng.normal(size=(offsets[-1], space.n_rows))
    edge = rng.normal(size=(offsets[-1] if per_position else 1, space.n_edges))
    potentials = make_potentials(space, node, edge, offsets)
    summed, best = class_scores(space, potentials), class_scores(space, potentials, "max")
    log_z = log_partition(space, potentials)
    for s in range(len(lengths)):
        scores = defaultdict(list)
        for path in enumeration.paths(space, potentials, s):
            scores[int(space.label_of[path.states[0]])].append(path.score)
        for label in range(space.n_labels):
            own = scores[label]
            np.testing.assert_allclose(summed[s, label], enumeration.log_sum(own) if own else -np.inf, **EXACT)
            np.testing.assert_allclose(best[s, label], max(own) if own else -np.inf, **EXACT)
    np.testing.assert_allclose(class_log_probabilities(space, potentials), summed - log_z[:, None], **EXACT)


def test_classes_without_a_path():
    space = class_blocks([left_to_right(3), left_to_right(2)])
    potentials = make_potentials(space, np.zeros((5, 5)), np.zeros((1, space.n_edges)), [0, 3, 5])
    scores = class_scores(space, potentials)
    assert np.isfinite(scores[0]).all()
    assert scores[1].tolist() == [-np.inf, 0.0]
    short = make_potentials(space, np.zeros((4, 5)), np.zeros((1, space.n_edges)), [0, 3, 4])
    with pytest.raises(NoPathError, match="Sequence 1"):
        class_scores(space, short)
    bad = make_potentials(space, np.zeros((3, 5)), np.zeros((1, space.n_edges)))
    bad.node[1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        class_scores(space, bad)


def test_only_class_blocks_have_classes():
    space = one_per_label(2)
    with pytest.raises(ConfigError, match="class_blocks"):
        class_scores(space, make_potentials(space, np.zeros((2, 2)), np.zeros((1, 4))))


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_what_the_space_was_built_from(name):
    space = BLOCKS[name]()
    again = class_blocks([block.space for block in space.blocks])
    for field in ("label_of", "row_of", "src", "dst", "start", "end", "edge_row"):
        np.testing.assert_array_equal(getattr(again, field), getattr(space, field))
    assert [block.label for block in space.blocks] == list(range(space.n_labels))


def test_log_partition_without_a_path():
    space = left_to_right(3)
    potentials = make_potentials(space, np.zeros((5, 3)), np.zeros((1, space.n_edges)), [0, 2, 5])
    with pytest.raises(NoPathError):
        log_partition(space, potentials)
    assert log_partition(space, potentials, strict=False).tolist() == [-np.inf, 0.0]
