"""Label bias (Table 1): locally normalised models on data in which the first symbol decides nothing by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import numpy as np

import chainfield
from experiments._empirical import PAPER, PUBLISHED, Sentences, accuracy, trained, words_of
from harness.experiment import Context, Experiment, Row

SEEDS, QUICK_SEEDS = 20, 3
N_TRAIN, N_TEST = 2000, 500
TAGS = (["R1", "I", "B"], ["R2", "O", "B"])
TEMPLATE = "U:x=%x[0,0]\nB\n"


def draw(rng: np.random.Generator, n: int) -> Sentences:
    """Each tag writes its own letter with probability 29/32, each of the three others with 1/32."""
    found = []
    for _ in range(n):
        tags = TAGS[int(rng.integers(2))]
        own = [tag[0].lower() for tag in tags]
        other = [str(rng.choice([c for c in "riob" if c != letter])) for letter in own]
        words = [o if rng.random() < 3 / 32 else letter for letter, o in zip(own, other, strict=True)]
        found.append((words, list(tags)))
    return found


def models(jobs: int) -> dict[str, tuple[Any, float]]:
    """The contestants with the published figures."""
    linear: dict[str, Any] = {"template": TEMPLATE, "trainer": "lbfgs", "l2": 1e-3, "max_iter": 200, "n_jobs": jobs}
    return {
        "EP1": (chainfield.EmpiricalCRF(template=TEMPLATE, n_jobs=jobs), 95.8),
        "EP2": (chainfield.EmpiricalCRF(oov="exponential", template=TEMPLATE, n_jobs=jobs), 95.9),
        "CRF": (chainfield.LinearCRF(**linear), 95.9),
        "piecewise": (chainfield.LinearCRF(objective="piecewise", **linear), 96.0),
        "MEMM": (chainfield.MEMM(**linear), 66.6),
    }


def run(context: Context) -> Iterator[Row]:
    """All contestants on the same data, seed by seed."""
    found: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for seed in range(QUICK_SEEDS if context.quick else SEEDS):
        rng = np.random.default_rng([context.seed, seed])
        train, test = draw(rng, N_TRAIN), draw(rng, N_TEST)
        for name, (model, _) in models(context.jobs).items():
            model, taken = trained(model, train)
            found.setdefault(name, []).append(accuracy(train, test, model.predict(words_of(test))).overall)
            seconds.setdefault(name, []).append(taken)
        context.log(f"seed {seed}: " + ", ".join(f"{name} {values[-1]:.1f}" for name, values in found.items()))
    for name, (_, published) in models(context.jobs).items():
        values = found[name]
        half = 1.96 * stdev(values) / math.sqrt(len(values))
        note = f"mean of {len(values)} seeds, from {min(values):.1f} to {max(values):.1f}"
        interval = (mean(values) - half, mean(values) + half)
        yield Row(name, "accuracy", published, mean(values), mean(seconds[name]), note, PUBLISHED, interval)


EXPERIMENT = Experiment(
    name="empirical-label-bias",
    title="Label bias on simulated data (Table 1)",
    paper=PAPER,
    protocol="2,000 training and 500 test sequences from two tag sequences, [R1 I B] and [R2 O B]; a tag writes its "
    "own "
    "symbol with probability 29/32. Token accuracy in per cent, mean over 20 seeds with its 95 % interval. "
    "Features: the "
    "symbol with its label, and label pairs. CRF, piecewise and MEMM by L-BFGS with l2 = 0.001; EP1 and EP2 with all "
    "defaults. Seconds: processor time of a training, mean.",
    differences=(
        "The paper does not say how many runs its figures come from; its data were not published.",
        "CRF++, MALLET's piecewise training and the paper's MEMM are replaced by those of this library.",
    ),
    subset="3 seeds",
    run=run,
    quick_time="half a minute",
    full_time="2 minutes",
)
