"""How fast the gradient of a sequence changes: what the step of a variance-reduced trainer follows from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chainfield.arrays import Float
from chainfield.potentials import Potentials
from chainfield.problem import Pullback, Trainable

from .trainer import orders

SAMPLE = 24  # sequences on which it is measured
STRIDE = 0.05  # along their gradients


def smoothness(problem: Trainable, theta: Float, seed: int) -> float:
    """The largest change of a sequence's gradient over a step along it, relative to the step; on a sample.

    Scores are linear in θ, so a gradient's length follows from the scores that it would give: nothing here needs a
    pass over all parameters.
    """
    largest, probe, moved = 0.0, np.zeros_like(theta), theta.copy()
    for s in orders(seed, 2**31 - 1, problem.n_sequences)[:SAMPLE].tolist():
        _, d, pullback = problem.differentiate(theta, slice(s, s + 1))

        def length(d: Potentials, pullback: Pullback = pullback, s: int = s) -> float:
            pullback(d, probe, 1.0)
            scores = problem.scores(probe, slice(s, s + 1))
            pullback(d, probe, -1.0)
            return float(np.sqrt(max(np.vdot(d.node, scores.node) + np.vdot(d.edge, scores.edge), 0.0)))

        step = STRIDE * length(d)
        if step > 0.0:
            pullback(d, moved, -STRIDE)
            _, there, _ = problem.differentiate(moved, slice(s, s + 1))
            pullback(d, moved, STRIDE)
            largest = max(largest, length(replace(d, node=there.node - d.node, edge=there.edge - d.edge)) / step)
    return largest
