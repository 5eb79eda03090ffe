"""Batch sizes and step sizes of stochastic gradient ascent and stochastic RProp (figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainfield
from experiments._hcrf import HMM, PAPER, curve, fitted, segments
from experiments.hcrf_flattening import KAPPA, parts
from harness.corpora import TIMIT
from harness.experiment import Context, Experiment, Row

PASSES = 4
BATCHES = {"SGA": (1, 10, 100, 1000), "stochastic RProp": (30, 100, 300, 1000)}
STEPS = {"SGA": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2), "stochastic RProp": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)}
NAMES = {"SGA": "sgd", "stochastic RProp": "rprop"}
BASE = {"SGA": (10, 1e-3), "stochastic RProp": (300, 1e-3)}


def run(context: Context) -> Iterator[Row]:
    """The best error within some passes, by batch size and by step size."""
    train, dev = parts(segments(context.data["timit"]))

    def best(name: str, size: int, step: float, of: str) -> float | None:
        settings: dict[str, Any] = {"average_from": 0} if name == "SGA" else {}
        model = chainfield.HiddenCRF(
            flatten=of, kappa=KAPPA[of], l2=1.0, trainer=NAMES[name], batch_size=size, learning_rate=step,
            max_iter=PASSES, tol=1e-12, random_state=context.seed, **HMM, **settings,
        )  # fmt: skip
        model = fitted(model, train, dev)
        found = None if model is None else min(curve(model))
        context.log(f"{name}, {of}, batches of {size}, steps of {step:g}: {found}")
        return found

    for name in NAMES:
        for step in STEPS[name][2:3] if context.quick else STEPS[name]:
            value = best(name, BASE[name][0], step, "states")
            note = "ran away" if value is None else ""
            yield Row(f"{name}, first step {step:g}, batches of {BASE[name][0]}", "error", None, value, None, note)
    for name in NAMES:
        for of in ("states", "classes"):
            for size in BATCHES[name][1:2] if context.quick else BATCHES[name]:
                what = "state" if of == "states" else "hypothesis"
                value = best(name, size, BASE[name][1], of)
                note = "ran away" if value is None else ""
                yield Row(f"{name}, {what} flattening, batches of {size}", "error", None, value, None, note)


EXPERIMENT = Experiment(
    name="hcrf-batch-size",
    title="Batch sizes and step sizes on the TIMIT sample (figure 2)",
    paper=PAPER,
    protocol="As hcrf-flattening; the lowest error in per cent (48 phones) on two development speakers within 4 "
    "passes. Step sizes are varied with state flattening, batch sizes with steps of 0.001.",
    differences=(
        "The paper's figure shows curves without numbers: SGA is best with small batches, stochastic RProp with larger "
        "ones, and state flattening is better at nearly all sizes.",
        "1/23 of TIMIT, one Gaussian a state in place of 20.",
    ),
    corpora=(TIMIT,),
    subset="one size of each",
    run=run,
    quick_time="3 minutes",
    full_time="10 minutes",
)
