"""Noun phrases of CoNLL-2000 (Table 4): what a DPLVM by L-BFGS needs to reach a sound optimum."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Any

import chainfield
from chainfield.metrics import span_f1
from experiments._latent import PAPER, PUBLISHED, Sequences, trained
from experiments.latent_np_chunking import QUICK_TEST, QUICK_TRAIN, SEEDS, load, template
from harness.cells import kept
from harness.corpora import CONLL2000
from harness.experiment import Context, Experiment, Row
from harness.grids import beyond
from harness.tagging import hold_out

START: dict[str, Any] = {
    "order": 2, "n_states": 2, "share_labels": True, "l2": 0.5, "start_scale": 0.5, "n_init": 1, "max_iter": 300,
}  # fmt: skip
#: One setting after the other; the best stays for those behind it.
STEPS: dict[str, tuple[Any, ...]] = {
    "l2": (0.15, 0.5, 1.5),
    "start_scale": (0.05, 0.15, 0.5),
    "max_iter": (60, 150, 300),
    "share_labels": (True, False),
    "n_states": (2, 3, 5),
    "order": (2, 1),
    "n_init": (1, 3),
}
NAMES = {
    "l2": "penalty", "start_scale": "deviation of the start", "max_iter": "iterations",
    "share_labels": "shared weights", "n_states": "states per label", "order": "order", "n_init": "random starts",
}  # fmt: skip


def make(settings: dict[str, Any], seed: int, context: Context) -> Any:
    """The model, untrained."""
    own = settings | ({"max_iter": 5} if context.quick else {})
    return chainfield.LatentCRF(**own, trainer="lbfgs", template=template(), random_state=seed, n_jobs=context.jobs)


def held_out(settings: dict[str, Any], train: Any, context: Context) -> dict[str, Any]:
    """F1 on the last 10 % of the training data, the objective that training reached, and seconds."""
    (X, X_dev), (y, y_dev) = (hold_out(part) for part in train)
    model, seconds = trained(make(settings, 0, context), X, y)
    score = 100 * span_f1(y_dev, model.predict(X_dev))
    reached = float(model.history_[-1]["objective"])
    context.log(f"{settings}: held-out F1 {score:.2f}, objective {reached:.0f}, {seconds:.0f} s")
    return {"score": score, "objective": reached, "seconds": seconds, "iterations": model.n_iter_}


def final(settings: dict[str, Any], train: Any, X_test: Sequences, context: Context) -> dict[str, Any]:
    """All of the training data, with each seed."""
    runs = []
    for seed in SEEDS[:1] if context.quick else SEEDS:
        model, seconds = trained(make(settings, seed, context), *train)
        runs.append({"seconds": seconds, "labels": model.predict(X_test)})
    return {"runs": runs}


def run(context: Context) -> Iterator[Row]:
    """Held-out F1 by setting, one after the other; then the best of all on the test data."""
    folder = context.data[CONLL2000.name]
    (X, y), (X_test, y_test) = (load(folder / file) for file in CONLL2000.files)
    if context.quick:
        X, y, X_test, y_test = X[:QUICK_TRAIN], y[:QUICK_TRAIN], X_test[:QUICK_TEST], y_test[:QUICK_TEST]
    best = dict(START)

    def score(settings: dict[str, Any]) -> dict[str, Any]:
        return kept("np dplvm", settings, context, lambda: held_out(settings, (X, y), context))

    for name, values in STEPS.items():
        tried = {value: score(best | {name: value}) for value in (values[:2] if context.quick else values)}
        while len(tried) < len(values) + 3:  # beyond the edge of a grid of numbers
            top = max(tried, key=lambda value: tried[value]["score"])
            further = beyond(sorted(tried), top) if isinstance(top, float) and not context.quick else None
            if further is None:
                break
            tried[further] = score(best | {name: further})
        best[name] = max(tried, key=lambda value: tried[value]["score"])
        for value, found in sorted(tried.items()):
            note = f"{found['iterations']} iterations, objective {found['objective']:,.0f}"
            note += "; kept from here on" * (value == best[name])
            title = f"DPLVM by L-BFGS, {NAMES[name]} {value}"
            yield Row(title, "held-out F1", None, found["score"], found["seconds"], note, settings=best | {name: value})
    runs = kept("np dplvm final", best, context, lambda: final(best, (X, y), X_test, context))["runs"]
    scores = [100 * span_f1(y_test, one["labels"]) for one in runs]
    note = f"seeds: {', '.join(f'{score:.2f}' for score in scores)}; " + ", ".join(
        f"{NAMES[name]} {value}" for name, value in best.items()
    )
    seconds = mean(one["seconds"] for one in runs)
    yield Row("DPLVM by L-BFGS, the best of these", "mean F1", 94.29, mean(scores), seconds, note, PUBLISHED)


EXPERIMENT = Experiment(
    name="latent-np-dplvm",
    title="Noun phrases of CoNLL-2000: the DPLVM by L-BFGS, setting by setting",
    paper=PAPER,
    protocol="Training on 8,936 sentences, test on 2,012; labels B-NP, I-NP, O; F1 of noun phrases in per cent. The 17 "
    "templates of Table 3 and a bias, all features that occur, combined with states. One setting after the other is "
    "chosen by F1 on the last 10 % of the training data, from: order 2, 2 states per label with weights that they "
    "share, a penalty of 0.5 (a variance of 1, as in the paper), a start with a deviation of 0.5, 300 iterations. Then "
    "the best of all is trained on all of the training data with three seeds. Seconds: training with extraction of "
    "features.",
    differences=(
        "Features are combined with states, transitions with state pairs and triples; the paper combines every feature "
        "with all three. The paper has 5 states per label, and weights of states only.",
    ),
    subset=f"the first {QUICK_TRAIN} training and {QUICK_TEST} test sentences, 5 iterations, two values of a setting",
    run=run,
    corpora=(CONLL2000,),
    quick_time="2 min",
    full_time="90 minutes of processor time",
    default="quick",
)
