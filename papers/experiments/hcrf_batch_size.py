"""Batch sizes and step sizes of stochastic gradient ascent and stochastic RProp (figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments._hcrf import PAPER, segments
from experiments.hcrf_flattening import FLATTENINGS, flattened, mean_curve, splits
from harness.corpora import TIMIT
from harness.experiment import Context, Experiment, Row

PASSES = 6
STEPS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
BATCHES = {"SGA": (1, 10, 100), "stochastic RProp": (100, 1000, 3000)}
SETTINGS: dict[str, dict[str, Any]] = {
    "SGA": {"trainer": "sgd", "batch_size": 10, "learning_rate": 0.002, "average_from": 0},
    "stochastic RProp": {"trainer": "rprop", "batch_size": 1000, "learning_rate": 0.005},
}


def run(context: Context) -> Iterator[Row]:
    """The best error within some passes, by step size and by batch size."""
    parts = splits(segments(context.data["timit"]))

    def row(name: str, of: str, setting: str, **varied: Any) -> Row:
        own = {**SETTINGS[name], **varied}
        errors = mean_curve(lambda: flattened(of, own, max_iter=PASSES, random_state=context.seed), parts)
        told = f"{name}, {setting}"
        if errors is None:
            context.log(f"{told}: ran away")
            return Row(told, "error", None, None, None, "ran away")
        context.log(f"{told}: {', '.join(f'{e:.1f}' for e in errors)}")
        return Row(told, "error", None, min(errors), None, f"after {errors.index(min(errors)) + 1} of {PASSES} passes")

    for name in SETTINGS:
        found: list[float] = []
        for step in STEPS[3:4] if context.quick else STEPS:
            given = row(name, "states", f"first steps of {step:g}", learning_rate=step)
            found += [] if given.ours is None else [given.ours]
            yield given
        if len(found) > 1:
            note = f"{len(found)} of {len(STEPS)} steps did not run away"
            yield Row(
                f"{name}, first steps of {STEPS[0]:g} to {STEPS[-1]:g}", "highest error", None, max(found), None, note
            )
            yield Row(f"{name}, first steps of {STEPS[0]:g} to {STEPS[-1]:g}", "lowest error", None, min(found))
    for name in SETTINGS:
        for of, what in FLATTENINGS.items():
            for size in BATCHES[name][1:2] if context.quick else BATCHES[name]:
                yield row(name, of, f"{what}, batches of {size}", batch_size=size)


EXPERIMENT = Experiment(
    name="hcrf-batch-size",
    title="Batch sizes and step sizes on the TIMIT sample (figure 2)",
    paper=PAPER,
    protocol="As hcrf-flattening; the lowest error in per cent (48 phones) on development speakers within 6 passes. "
    "Step sizes are varied with state flattening and batches of 10 (SGA) and 1000 (RProp), batch sizes with steps of "
    "0.002 (SGA) and first steps of 0.005 (RProp). A pass has about 3,650 segments: a batch of 3000 is all of them.",
    differences=(
        "The paper's figure shows curves without numbers: SGA is best with small batches, stochastic RProp with larger "
        "ones, and state flattening is better at nearly all sizes.",
        "12 speakers of the sample, about 1/39 of TIMIT's training part; one Gaussian per state in place of 20.",
        "The paper has no penalty.",
    ),
    corpora=(TIMIT,),
    subset="one size of each",
    run=run,
    quick_time="2 minutes",
    full_time="6 minutes",
)
