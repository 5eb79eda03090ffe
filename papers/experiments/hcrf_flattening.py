"""Flattening of hypotheses and of states, by stochastic gradient ascent and RProp (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainfield
from experiments._hcrf import HMM, PAPER, Part, curve, error, fitted, folds, of_speakers, segments
from harness.corpora import TIMIT
from harness.experiment import Context, Experiment, Row

SHOWN = (1, 2, 3, 5, 8)
KAPPA = {"states": 0.05, "classes": 0.1}
TRAINERS: dict[str, dict[str, Any]] = {
    "SGA": {"trainer": "sgd", "batch_size": 10, "learning_rate": 0.001, "average_from": 0},
    "batch RProp": {"trainer": "rprop", "learning_rate": 0.003},
}


def parts(found: Any) -> tuple[Part, Part]:
    """Training and development speakers of the first fold: no test speaker is looked at."""
    train, dev, _ = folds(found)[0]
    return of_speakers(found, train), of_speakers(found, dev)


def run(context: Context) -> Iterator[Row]:
    """Error on development speakers after some passes."""
    train, dev = parts(segments(context.data["timit"]))
    passes = 2 if context.quick else max(SHOWN)
    hmm = chainfield.HMMClassifier(**HMM).fit(train.frames, train.phones)
    base = 100.0 * (1.0 - hmm.score(dev.frames, dev.phones))
    yield Row("HMM by ML", "development error, 48 phones", None, base, None, f"{error(hmm, dev):.1f} of 39 phones")
    for name, settings in TRAINERS.items():
        for of, kappa in KAPPA.items():
            model = chainfield.HiddenCRF(
                flatten=of,
                kappa=kappa,
                l2=1.0,
                max_iter=passes,
                tol=1e-12,
                random_state=context.seed,
                **HMM,
                **settings,
            )
            model = fitted(model, train, dev)
            errors = curve(model) if model is not None else []
            context.log(f"{name}, {of}: {', '.join(f'{e:.1f}' for e in errors)}")
            what = "state" if of == "states" else "hypothesis"
            for at in SHOWN:
                if at <= len(errors):
                    note = f"kappa {kappa:g}, after {at} passes"
                    yield Row(f"{name}, {what} flattening", f"error after {at}", None, errors[at - 1], None, note)


EXPERIMENT = Experiment(
    name="hcrf-flattening",
    title="Flattening of hypotheses and of states on the TIMIT sample (figure 1)",
    paper=PAPER,
    protocol="Hidden CRFs with one Gaussian a state, trained on 12 speakers of the TIMIT sample; error in per cent on "
    "two other speakers, by all 48 phones, after 1, 2, 3, 5 and 8 passes. State flattening with kappa 0.05, hypothesis "
    "flattening with 0.1; SGA with steps of 0.001 and batches of 10, averaged; batch RProp with first steps of 0.003.",
    differences=(
        "The paper's figure shows curves without numbers: state flattening starts worse and ends better.",
        "1/23 of TIMIT, one Gaussian a state in place of 20; the HMM starts from those 12 speakers.",
    ),
    corpora=(TIMIT,),
    subset="two passes",
    run=run,
    quick_time="2 minutes",
    full_time="5 minutes",
)
