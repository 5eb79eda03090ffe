"""Label bias (Table 1): locally normalised models on data in which the first symbol decides nothing by itself."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from statistics import mean, stdev
from typing import Any

import numpy as np

import chainfield
from experiments._empirical import PAPER, PUBLISHED, Sentences, accuracy, labels_of, words_of
from experiments._parametrisations import Local, Quotient
from experiments._piecewise import WEIGHED
from harness.experiment import Context, Experiment, Row

SEEDS, QUICK_SEEDS = 20, 3
N_TRAIN, N_TEST = 2000, 500
TAGS = (["R1", "I", "B"], ["R2", "O", "B"])
# The first two symbols decide nothing: (11) takes them together.
LONGER = (["R1", "M1", "I", "B"], ["R2", "M2", "O", "B"])
TEMPLATE = "U:x=%x[0,0]\nB\n"

Contestants = dict[str, tuple[Any, float | None]]  # models with their published figures


def draw(rng: np.random.Generator, n: int, sequences: tuple[list[str], ...] = TAGS) -> Sentences:
    """Each tag writes its own letter with probability 29/32, each of the three others with 1/32."""
    found = []
    for _ in range(n):
        tags = sequences[int(rng.integers(2))]
        own = [tag[0].lower() for tag in tags]
        other = [str(rng.choice([c for c in "riob" if c != letter])) for letter in own]
        words = [o if rng.random() < 3 / 32 else letter for letter, o in zip(own, other, strict=True)]
        found.append((words, list(tags)))
    return found


def models(jobs: int) -> Contestants:
    """The contestants with the published figures."""
    linear: dict[str, Any] = {"template": TEMPLATE, "trainer": "lbfgs", "l2": 1e-3, "max_iter": 200, "n_jobs": jobs}
    return {
        "EP1": (chainfield.EmpiricalCRF(oov="empirical", template=TEMPLATE, n_jobs=jobs), 95.8),
        "EP2": (chainfield.EmpiricalCRF(oov="exponential", template=TEMPLATE, n_jobs=jobs), 95.9),
        "CRF": (chainfield.LinearCRF(**linear), 95.9),
        "piecewise": (chainfield.LinearCRF(objective="plain_piecewise", **linear), 96.0),
        "piecewise, weighed": (chainfield.LinearCRF(objective="piecewise", **linear), None),
        "MEMM": (chainfield.MEMM(**linear), 66.6),
    }


def others(jobs: int) -> dict[str, Any]:
    """What section 3.2.1 warns of, and empirical training beside it."""
    return {
        "EP1": chainfield.EmpiricalCRF(oov="empirical", template=TEMPLATE, n_jobs=jobs),
        "parametrisation (10), 10 steps": Quotient(10),
        "parametrisation (10), 1,000 steps": Quotient(1000),
        "parametrisation (11)": Local(),
    }


def run(context: Context) -> Iterator[Row]:
    """All contestants on the same data, seed by seed."""
    contestants = models(context.jobs)
    yield from compared({name: model for name, (model, _) in contestants.items()}, TAGS, context, contestants)
    more = {f"{name}, four tags": model for name, model in others(context.jobs).items()}
    yield from compared(more, LONGER, context, {})


def compared(
    models: dict[str, Any],
    sequences: tuple[list[str], ...],
    context: Context,
    figures: dict[str, tuple[Any, float | None]],
) -> Iterator[Row]:
    """Mean accuracies over seeds, with their intervals."""
    found: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for seed in range(QUICK_SEEDS if context.quick else SEEDS):
        rng = np.random.default_rng([context.seed, seed])
        train, test = draw(rng, N_TRAIN, sequences), draw(rng, N_TEST, sequences)
        for name, model in models.items():
            started = time.process_time()
            model.fit(words_of(train), labels_of(train))
            seconds.setdefault(name, []).append(time.process_time() - started)
            found.setdefault(name, []).append(accuracy(train, test, model.predict(words_of(test)))[0])
        context.log(f"seed {seed}: " + ", ".join(f"{name} {values[-1]:.1f}" for name, values in found.items()))
    for name, values in found.items():
        published = figures[name][1] if name in figures else None
        half = 1.96 * stdev(values) / math.sqrt(len(values))
        note = f"mean of {len(values)} seeds, from {min(values):.1f} to {max(values):.1f}"
        interval = (mean(values) - half, mean(values) + half)
        source = "" if published is None else PUBLISHED
        yield Row(name, "accuracy", published, mean(values), mean(seconds[name]), note, source, interval)


EXPERIMENT = Experiment(
    name="empirical-label-bias",
    title="Label bias on simulated data (Table 1)",
    paper=PAPER,
    protocol="2,000 training and 500 test sequences from two tag sequences, [R1 I B] and [R2 O B]; a tag writes its "
    "own symbol with probability 29/32. Token accuracy in per cent, mean over 20 seeds with its 95 % interval. "
    "Features: the symbol with its label, and label pairs. CRF, piecewise and MEMM by L-BFGS with l2 = "
    "0.001; EP1 and EP2 with all defaults. Seconds: processor time of a training, mean.",
    differences=(
        "The paper does not say how many runs its figures come from; its data were not published.",
        "Parametrisations (10) and (11) of section 3.2.1: the paper says that the first does not converge or is very "
        "bad, and that the second has the label bias, without figures. ψ of (10) follows its gradient for some steps. "
        "They are tried on [R1 M1 I B] and [R2 M2 O B]: with three tags, the first pair of (11) decides everything.",
        "CRF++, MALLET's piecewise training and the paper's MEMM are replaced by those of this library.",
        WEIGHED,
    ),
    subset="3 seeds",
    run=run,
    quick_time="half a minute",
    full_time="2 minutes",
)
