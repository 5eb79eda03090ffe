"""Flattening of hypotheses and of states, by stochastic gradient ascent and RProp (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

import chainfield
from experiments._hcrf import HMM, PAPER, Part, curve, error, fitted, of_speakers, pairs, segments, without
from harness.corpora import TIMIT
from harness.experiment import Context, Experiment, Row

SHOWN = (1, 2, 3, 5, 10)
KAPPA, L2 = 0.1, 100.0
FLATTENINGS = {"states": "state flattening", "classes": "hypothesis flattening"}
TRAINERS: dict[str, dict[str, Any]] = {
    "SGA": {"trainer": "sgd", "batch_size": 10, "learning_rate": 0.002, "average_from": 0},
    "batch RProp": {"trainer": "rprop", "learning_rate": 0.005},
}


def splits(found: Sequence[Any]) -> list[tuple[Part, Part]]:
    """Training and development speakers of the first two folds: their test speakers are not looked at."""
    return [(without(found, (i, i + 1)), of_speakers(found, pairs(found)[i + 1])) for i in (0, 1)]


def flattened(of: str, settings: dict[str, Any], **more: Any) -> Any:
    """A hidden CRF. Weights of the unscaled start of hypothesis flattening are 1/kappa times as large: so are steps of
    RProp; steps along the gradient, which is kappa times as large, are 1/kappa² times, and the penalty kappa² times.
    """
    scale = 1.0 if of == "states" else KAPPA
    step = settings["learning_rate"] / (scale if settings["trainer"] == "rprop" else scale**2)
    own = {**HMM, **settings, "learning_rate": step, "l2": L2 * scale**2, "tol": 1e-12}
    return chainfield.HiddenCRF(flatten=of, kappa=KAPPA, **own, **more)


def mean_curve(make: Any, parts: Sequence[tuple[Part, Part]]) -> list[float] | None:
    """Mean error over the folds after each pass; None if training ran away."""
    models = [fitted(make(), train, dev) for train, dev in parts]
    if any(model is None for model in models):
        return None
    curves = [curve(model) for model in models]
    longest = max(map(len, curves))
    held = [errors + errors[-1:] * (longest - len(errors)) for errors in curves]  # who has stopped stays where it is
    return [mean(errors) for errors in zip(*held, strict=True)]


def run(context: Context) -> Iterator[Row]:
    """Error on development speakers after some passes."""
    parts = splits(segments(context.data["timit"]))
    passes = 2 if context.quick else max(SHOWN)
    hmms = [chainfield.HMMClassifier(**HMM).fit(train.frames, train.phones) for train, _ in parts]
    base = mean(100.0 * (1.0 - hmm.score(dev.frames, dev.phones)) for hmm, (_, dev) in zip(hmms, parts, strict=True))
    scored = mean(error(hmm, dev) for hmm, (_, dev) in zip(hmms, parts, strict=True))
    yield Row("HMM by ML", "error", None, base, None, f"{scored:.1f} when scored as 39 phones")
    for name, settings in TRAINERS.items():
        for of, what in FLATTENINGS.items():
            errors = mean_curve(
                lambda of=of, own=settings: flattened(of, own, max_iter=passes, random_state=context.seed), parts
            )
            if errors is None:
                yield Row(f"{name}, {what}", "error", None, None, None, "ran away")
                continue
            context.log(f"{name}, {what}: {', '.join(f'{e:.1f}' for e in errors)}")
            for at in SHOWN:
                if at <= len(errors):
                    yield Row(f"{name}, {what}", f"error after {at} pass{'es' if at > 1 else ''}", None, errors[at - 1])


EXPERIMENT = Experiment(
    name="hcrf-flattening",
    title="Flattening of hypotheses and of states on the TIMIT sample (figure 1)",
    paper=PAPER,
    protocol="Hidden CRFs with one Gaussian per state, trained on 12 speakers of the TIMIT sample; error in per cent "
    "on two others, by all 48 phones, after some passes; mean of the first two folds of hcrf-timit, with their "
    "development speakers. Kappa is 0.1; SGA with steps of 0.002 and batches of 10, averaged; batch RProp with first "
    "steps of 0.005; a penalty of 100 on the distance from the start. With hypothesis flattening, whose start is ten "
    "times as large, steps and penalty are scaled so that they mean the same.",
    differences=(
        "The paper's figure shows curves without numbers: state flattening starts worse and ends better, SGA much "
        "sooner than batch RProp.",
        "12 speakers of the sample, about 1/39 of TIMIT's training part; one Gaussian per state in place of 20.",
        "The paper stops early and has no penalty.",
    ),
    corpora=(TIMIT,),
    subset="two passes",
    run=run,
    quick_time="a minute",
    full_time="2 minutes",
)
