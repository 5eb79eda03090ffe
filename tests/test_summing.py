"""Kernels for many states give what the plain kernel gives, which the oracle of enumeration holds."""

from __future__ import annotations

import numpy as np
import pytest

from chainfield.inference import summing
from chainfield.inference.summing import sum_all
from chainfield.kernels.chain.clamped import narrow_sum
from chainfield.kernels.chain.products import sum_by_products
from chainfield.potentials import Potentials, clamp_labels
from chainfield.states import one_per_label, partitioned, restrict
from chainfield.states.rules import forbid

SPACES = {
    "one": one_per_label(1),
    "five": one_per_label(5),
    "nine": one_per_label(9),
    "several": partitioned([3, 1, 5, 8]),
    "restricted": restrict(partitioned([3, 4, 2]), forbid("abc", [("a", "b"), (None, "c"), ("b", None)])),
}


def random_potentials(space, seed, *, scale=2.0, blocked=0.0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 8, size=9)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    node = rng.normal(scale=scale, size=(offsets[-1], space.n_rows))
    node[rng.random(node.shape) < blocked] = -np.inf
    return Potentials(node, rng.normal(scale=scale, size=(1, space.n_edges)), offsets), rng.random(9) + 0.5


def plain(space, potentials, weight):
    found, log_z = potentials.zeros(), np.empty(potentials.n_sequences)
    summing._plain(space, potentials, weight, found, log_z)
    return found, log_z


@pytest.mark.parametrize("kernel", [sum_by_products, narrow_sum])
@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("scale", "blocked"), [(1.0, 0.0), (1.0, 0.4), (40.0, 0.0), (400.0, 0.2)])
def test_kernels_agree_or_leave_it_to_others(kernel, name, scale, blocked):
    space, answered = SPACES[name], 0
    for seed in range(6):
        potentials, weight = random_potentials(space, seed, scale=scale, blocked=blocked)
        expected, truth = plain(space, potentials, weight)
        d, log_z = potentials.zeros(), np.empty(potentials.n_sequences)
        kernel(
            space.graph, potentials.node, potentials.edge[0], potentials.offsets, weight, True, d.node, d.edge[0], log_z
        )
        good = ~np.isnan(log_z)
        answered += int(good.sum())
        np.testing.assert_allclose(log_z[good], truth[good], rtol=1e-10, atol=1e-10)
        at = np.repeat(good, np.diff(potentials.offsets))
        np.testing.assert_allclose(d.node[at], expected.node[at], rtol=1e-8, atol=1e-11)
        assert not d.node[~at].any()
        if good.all():
            np.testing.assert_allclose(d.edge, expected.edge, rtol=1e-8, atol=1e-11)
    assert answered or scale > 100 or blocked


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("scale", "blocked"), [(1.0, 0.0), (1.0, 0.3), (60.0, 0.1), (400.0, 0.0)])
def test_all_ways_together(monkeypatch, name, scale, blocked):
    monkeypatch.setattr(summing, "PRODUCTS", 1)
    monkeypatch.setattr(summing, "NARROW_STATES", 1)
    monkeypatch.setattr(summing, "ABREAST", 0)
    space = SPACES[name]
    for seed in range(6):
        potentials, weight = random_potentials(space, 100 + seed, scale=scale, blocked=blocked)
        labels = np.random.default_rng(seed).integers(-1, space.n_labels, size=len(potentials.node))
        for case in (potentials, clamp_labels(space, labels).apply(potentials)):
            expected, truth = plain(space, case, weight)
            if np.isnan(truth).any():
                continue
            d = case.zeros()
            np.testing.assert_allclose(sum_all(space, case, weight, d), truth, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(sum_all(space, case), truth, rtol=1e-10, atol=1e-10)
            finite = np.repeat(np.isfinite(truth), np.diff(case.offsets))
            np.testing.assert_allclose(d.node[finite], expected.node[finite], rtol=1e-8, atol=1e-11)
            np.testing.assert_allclose(d.edge, expected.edge, rtol=1e-8, atol=1e-11)


def test_hundreds_of_states_choose_the_products():
    space = partitioned([40] * 4)
    potentials, weight = random_potentials(space, 0)
    assert summing._quick(space, potentials) is sum_by_products
    labels = np.zeros(len(potentials.node), np.int32)
    clamped = clamp_labels(space, labels).apply(potentials)
    assert summing._quick(space, clamped) is narrow_sum
    expected, truth = plain(space, clamped, weight)
    d = clamped.zeros()
    np.testing.assert_allclose(sum_all(space, clamped, weight, d), truth, rtol=1e-12)
    np.testing.assert_allclose(d.edge, expected.edge, rtol=1e-9, atol=1e-12)
