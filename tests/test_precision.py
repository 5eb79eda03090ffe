"""Scores beyond what doubles can tell apart: probabilities are right or refused."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from chainfield.errors import DataError
from chainfield.inference import best_label_paths, class_log_probabilities, label_marginals
from chainfield.potentials import make_potentials
from chainfield.states import class_blocks, one_per_label


def exact_marginals(node, edge):
    """Posteriors by enumeration, with scores added as fractions: nothing is lost before the exponential."""
    n, k = node.shape
    paths = list(itertools.product(range(k), repeat=n))
    scores = [
        sum(Fraction(float(node[t, s])) for t, s in enumerate(path))
        + sum(Fraction(float(edge[i, j])) for i, j in itertools.pairwise(path))
        for path in paths
    ]
    top = max(scores)
    weights = np.array([np.exp(float(score - top)) if score - top > -700 else 0.0 for score in scores])
    found = np.zeros((n, k))
    for path, weight in zip(paths, weights / weights.sum(), strict=True):
        found[np.arange(n), path] += weight
    return found


@pytest.mark.parametrize("size", [1.0, 1e6, 1e9, 1e12, 1e15, 1e18, 1e100, 1e300])
def test_posteriors_are_right_or_refused(size):
    rng, space, refused = np.random.default_rng(0), one_per_label(3), 0
    for _ in range(60):
        large = rng.choice([-size, 0.0, size], (4, 3))
        node = large + rng.normal(size=(4, 3))
        edge = rng.choice([0.0, size, -size], (3, 3)) * rng.choice([0, 1]) + rng.normal(size=(3, 3))
        potentials = make_potentials(space, node, edge)
        try:
            found = label_marginals(space, potentials)
        except DataError:
            refused += 1
            continue
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
        assert ((found >= 0) & (found <= 1 + 1e-6)).all()
        if size < 1e9:
            np.testing.assert_allclose(found, exact_marginals(node, edge), atol=1e-6)
    assert refused == 0 if size <= 1e6 else refused < 60


def test_a_clear_winner_stays():
    space = one_per_label(2)
    found = label_marginals(space, make_potentials(space, [[1e15, 0.0], [0.0, -1e15]], np.zeros(4)))
    np.testing.assert_allclose(found, [[1.0, 0.0], [1.0, 0.0]], atol=1e-12)


def test_nothing_is_more_probable_than_certain():
    rng, space = np.random.default_rng(1), one_per_label(2)
    for _ in range(50):
        node = rng.choice([1e12, 1e13], (5, 2)) + rng.normal(size=(5, 2))
        try:
            (found,) = best_label_paths(space, make_potentials(space, node, rng.normal(size=4)), 2)
        except DataError:
            continue
        assert (found.log_probability <= 0).all()


def test_classes():
    space = class_blocks([one_per_label(1), one_per_label(1)])
    close = make_potentials(space, np.array([[1e13, 1e13 + 1.0]]), np.zeros(space.n_edges))
    with pytest.raises(DataError, match="too large"):
        class_log_probabilities(space, close)
    clear = make_potentials(space, np.array([[1e13, 2e13]]), np.zeros(space.n_edges))
    np.testing.assert_allclose(np.exp(class_log_probabilities(space, clear)), [[0.0, 1.0]], atol=1e-12)
