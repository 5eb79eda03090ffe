"""Compositions that nobody listed: any state space, scorers, objective, labels and trainer, drawn at random.

Loss against enumeration, gradient against finite differences, and training that gives the same bytes with any number of
threads. A few here; ``CHAINFIELD_NIGHTLY=1`` draws as many as the night allows (``CHAINFIELD_COMPOSITIONS=20000``).
"""

from __future__ import annotations

import os

import numpy as np
import pytest

from chainfield.errors import ChainfieldError
from chainfield.objectives import OBJECTIVES
from chainfield.states import StateSpace, class_blocks, left_to_right, one_per_label, partitioned, second_order
from chainfield.trainers import LBFGS, OWLQN, SDCA, SGD, Adam, RProp, begin, run
from support.catalogue import LABELLINGS, compose_over, draw_theta, slow_loss

NIGHTLY = bool(os.environ.get("CHAINFIELD_NIGHTLY"))
MANY = int(os.environ.get("CHAINFIELD_COMPOSITIONS", "3000" if NIGHTLY else "30"))
EMISSIONS = (
    "all pairs", "seen pairs", "dense", "shared pairs", "shared dense", "boundary", "mixture", "flat mixture",
    "moments", "gaussians", "units", "sparse units",
)  # fmt: skip
SAME_NAME = [{"all pairs", "seen pairs", "shared pairs"}, {"dense", "shared dense"}, {"units", "sparse units"},
             {"mixture", "flat mixture", "moments", "gaussians"}]  # fmt: skip
TRANSITIONS = ("free", "tied", "some", "low rank", "triples", "triple features", "edge features", "seen edge features")
SAME_EDGES = [{"free", "tied", "some"}, {"edge features", "seen edge features"}]
TRAINERS = (
    LBFGS(max_iter=3), OWLQN(max_iter=3), SGD(max_iter=2), SGD(max_iter=2, average_from=0), Adam(max_iter=2),
    RProp(max_iter=3), SDCA(max_iter=2),
)  # fmt: skip
SMOOTH = ("likelihood", "softmax_margin", "piecewise", "plain_piecewise", "pseudolikelihood", "local")


def any_space(rng):
    """Any states, ties and edges; a sequence of any length has a path, because one state may follow itself."""
    kind = rng.integers(6)
    if kind == 0:
        return one_per_label(int(rng.integers(1, 4)))
    if kind == 1:
        return partitioned(rng.integers(1, 3, int(rng.integers(1, 3))).tolist())
    if kind == 2:
        return class_blocks([left_to_right(1), partitioned([int(rng.integers(1, 3))])])
    k = int(rng.integers(1, 5))
    label_of = np.sort(rng.integers(0, int(rng.integers(1, 4)), k))
    label_of = np.unique(label_of, return_inverse=True)[1]
    tied = rng.random(k) < 0.3  # with the state before it, where that has the same label
    same = np.concatenate([[False], tied[1:] & (label_of[1:] == label_of[:-1])])
    allowed, start, end = rng.random((k, k)) < 0.7, rng.random(k) < 0.7, rng.random(k) < 0.7
    allowed[0, 0] = start[0] = end[0] = True
    src, dst = np.nonzero(allowed)
    space = StateSpace(int(label_of.max()) + 1, label_of, np.cumsum(~same) - 1, src, dst, start, end)
    return second_order(space) if kind == 5 and k < 3 and space.n_rows == k else space


def some_of(rng, parts, exclusive, most):
    """Some parts, no two of which have the same name."""
    found = []
    for part in rng.permutation(parts)[: int(rng.integers(0, most + 1))].tolist():
        if not any(part in group and group & {*found} for group in exclusive):
            found.append(part)
    return " + ".join(found)


def draw(seed, n_jobs=1):
    rng = np.random.default_rng([17, seed])
    emission = some_of(rng, EMISSIONS, SAME_NAME, 3) or "all pairs"
    transition = some_of(rng, TRANSITIONS, SAME_EDGES, 3) or "none"
    objective = str(rng.choice([*OBJECTIVES, "local"]))
    labelling = str(rng.choice([*LABELLINGS]))
    space, lengths = any_space(rng), (int(rng.integers(1, 4)), *rng.integers(0, 4, int(rng.integers(0, 4))).tolist())
    problem = compose_over(
        space, rng, emission, transition, objective, labelling, lengths=lengths, l2=float(rng.choice([0.0, 0.3])),
        offset=bool(rng.random() < 0.5), n_jobs=n_jobs,
    )  # fmt: skip
    return problem, objective, TRAINERS[int(rng.integers(len(TRAINERS)))]


@pytest.mark.parametrize("seed", range(MANY))
def test_any_composition(seed):
    problem, objective, trainer = draw(seed)
    theta = draw_theta(problem, seed)
    value, gradient = problem.evaluate(theta)
    np.testing.assert_allclose(value, slow_loss(problem, theta), rtol=1e-9, atol=1e-9)
    if objective in SMOOTH:
        v = np.random.default_rng(seed).normal(size=len(theta)) / max(1.0, np.sqrt(len(theta)))
        step = 1e-4
        near = [problem.evaluate(theta + f * step * v)[0] for f in (-2, -1, 1, 2)]
        found = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * step)
        np.testing.assert_allclose(found, gradient @ v, rtol=1e-5, atol=1e-7)
    trained = []
    for n_jobs in (1, 3):
        problem, _, _ = draw(seed, n_jobs)
        try:
            session = run(trainer, problem, begin(trainer, problem, theta))
        except ChainfieldError as error:
            trained.append(str(error))  # refused before any work, or diverged: in the same words
        else:
            assert np.isfinite(session.best).all()
            trained.append(session.best.tobytes())
    assert trained[0] == trained[1]
