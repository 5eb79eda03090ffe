"""Synthetic data (section 4, figure 3): hidden states that labels do not show, more and more dependent."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import numpy as np

import chainfield
from experiments._latent import PAPER, PUBLISHED, Sequences, trained
from harness.experiment import Context, Experiment, Row

LENGTH, N_TRAIN, N_TEST = 7, 3000, 1000
PROBABILITIES, QUICK_PROBABILITIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95), (0.9,)
SEEDS, QUICK_SEEDS = 5, 1
EMISSION = np.array([0.55, 0.55, 0.45, 0.45])  # P(x1 | state)
FIGURES = {"DPLVM": 84.9, "latent perceptron": 84.9, "CRF": 63.4, "perceptron": 57.3}  # at P = 0.9, from the text
SIDE_CLAIMS = 0.9  # the P of what the text says of more states, and of separable sequences
SEPARABLE = {"perceptron": "fewer than 10 %", "latent perceptron": "more than 40 %"}


def transition(p: float) -> np.ndarray:
    """(4, 4): ahead in the cycle with probability p, the rest spread evenly."""
    ahead = np.roll(np.eye(4), 1, axis=1)
    return p * ahead + (1 - p) / 3 * (1 - ahead)


def draw(rng: np.random.Generator, p: float, n: int) -> tuple[Sequences, Sequences]:
    """Sequences of tokens and labels; every one starts in the first state."""
    steps, X, y = transition(p), [], []
    for _ in range(n):
        states = [0]
        while len(states) < LENGTH:
            states.append(int(rng.choice(4, p=steps[states[-1]])))
        X.append([["x1" if rng.random() < EMISSION[k] else "x2"] for k in states])
        y.append(["y1" if k < 2 else "y2" for k in states])
    return X, y


def optimum(p: float) -> float:
    """The accuracy of whoever knows the generator: the more probable label of each position, over all inputs."""
    steps, total = transition(p), 0.0
    for tokens in itertools.product((0, 1), repeat=LENGTH):
        given = np.array([EMISSION if x == 0 else 1 - EMISSION for x in tokens])  # (7, 4)
        forward, backward = np.zeros((LENGTH, 4)), np.ones((LENGTH, 4))
        forward[0, 0] = given[0, 0]
        for t in range(1, LENGTH):
            forward[t] = given[t] * (forward[t - 1] @ steps)
        for t in range(LENGTH - 2, -1, -1):
            backward[t] = steps @ (given[t + 1] * backward[t + 1])
        joint = forward * backward
        total += np.maximum(joint[:, :2].sum(1), joint[:, 2:].sum(1)).sum()
    return total / LENGTH


def models(seed: int, jobs: int, p: float) -> dict[str, Any]:
    """All with their defaults; nobody chooses seeds."""
    common = {"random_state": seed, "n_jobs": jobs}
    more = {
        "latent perceptron, 4 states per label": chainfield.LatentCRF(objective="perceptron", n_states=4, **common),
        "DPLVM, 4 states per label": chainfield.LatentCRF(n_states=4, **common),
    }
    return {
        **(more if p == SIDE_CLAIMS else {}),
        "latent perceptron": chainfield.LatentCRF(objective="perceptron", **common),
        "DPLVM": chainfield.LatentCRF(**common),
        "perceptron": chainfield.LinearCRF(objective="perceptron", **common),
        "CRF": chainfield.LinearCRF(**common),
    }


def run(context: Context) -> Iterator[Row]:
    """All models on the same data, seed by seed."""
    for p in QUICK_PROBABILITIES if context.quick else PROBABILITIES:
        best = 100 * optimum(p)
        found: dict[str, list[float]] = {}
        separable: dict[str, list[float]] = {name: [] for name in SEPARABLE}
        seconds: dict[str, list[float]] = {}
        for seed in range(QUICK_SEEDS if context.quick else SEEDS):
            rng = np.random.default_rng([context.seed, seed, round(100 * p)])
            (X, y), (X_test, y_test) = draw(rng, p, N_TRAIN), draw(rng, p, N_TEST)
            for name, model in models(context.seed, context.jobs, p).items():
                model, taken = trained(model, X, y)
                if name in SEPARABLE and p == SIDE_CLAIMS:
                    right = [list(a) == b for a, b in zip(model.predict(X), y, strict=True)]
                    separable[name].append(100 * mean(right))
                found.setdefault(name, []).append(100 * model.score(X_test, y_test))
                seconds.setdefault(name, []).append(taken)
            latest = ", ".join(f"{name} {values[-1]:.1f}" for name, values in found.items())
            context.log(f"P = {p}, data {seed}: {latest}; optimum {best:.1f}")
        yield Row(f"P = {p}", "accuracy of the optimum", None, best, note="computed from the generator, exactly")
        for name, values in found.items():
            half = 1.96 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
            centre = mean(values)
            yield Row(
                f"P = {p}, {name}",
                "accuracy",
                FIGURES.get(name) if p == SIDE_CLAIMS else None,
                centre,
                mean(seconds[name]),
                f"mean of {len(values)} data sets, lowest {min(values):.1f}; {centre - best:+.1f} from the optimum",
                PUBLISHED if p == SIDE_CLAIMS and name in FIGURES else "",
                (centre - half, centre + half) if len(values) > 1 else None,
            )
        for name, values in separable.items():
            if values:
                note = f"mean of {len(values)} data sets, from {min(values):.1f}; the paper says {SEPARABLE[name]}"
                yield Row(f"P = {p}, {name}", "separable training sequences, %", None, mean(values), note=note)


EXPERIMENT = Experiment(
    name="latent-synthetic",
    title="Labels that hide four states: synthetic data with latent dependencies",
    paper=PAPER,
    protocol=f"Four states in a cycle h1 → h2 → h3 → h4 → h1, taken with probability P, the rest spread evenly; h1 and "
    f"h2 are labelled y1, h3 and h4 y2; P(x1 | h) = 0.55, 0.55, 0.45, 0.45; {N_TRAIN:,} training and {N_TEST:,} test "
    f"sequences of length {LENGTH}, all of which start in h1. Label accuracy, mean of {SEEDS} data sets. All "
    "models have the library's default settings; latent ones have 2 states per label, and restarts are the library's "
    "own. The interval is that of the mean over data sets. A training sequence is separable if the best of all "
    "paths has its labels.",
    differences=(
        "Figure 3, with the curves, is not available as numbers: published accuracies are those in the text, for P "
        "= 0.9. The cycle, the start state, the length and the token probabilities are not in the text (figure 2 is "
        "lost): these reproduce its figures.",
        "Latent models here share weights at the level of labels, besides those of states: the library's default.",
    ),
    subset="P = 0.9 and one data set only",
    run=run,
    quick_time="1 min",
    full_time="6 min",
)
