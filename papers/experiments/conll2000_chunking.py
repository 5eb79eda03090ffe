"""Chunking on CoNLL-2000 with the linear-chain CRF: one objective to the last digit, then six ways to train.

(a) fixes everything that another program can fix too, so its optimum can be compared; (c) to (f) change one thing of
(a) each; (b) is what a user gets who sets nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import chainfield
from chainfield.metrics import span_f1
from harness.corpora import CONLL2000
from harness.experiment import Context, Experiment, Row
from harness.tagging import Figure, comparison_rows, hold_out, score_rows

TEMPLATE = Path(__file__).with_name("conll2000_chunking.template")
L2 = 1.0
BASE: dict[str, Any] = {"template": str(TEMPLATE), "boundary": False, "all_transitions": True}
QUICK_TRAIN, QUICK_TEST, WARM_UP = 400, 300, 20
CHOICE_ITERATIONS, MAX_PASSES = 100, 20

CRFSUITE = "reference run of CRFsuite, the templates of (a)"
CRFSUITE_F1 = Figure(93.59, CRFSUITE)
CRFSUITE_OBJECTIVE = Figure(12768.94, CRFSUITE)
CRFSUITE_PAIRS = Figure(456_323, CRFSUITE)

# As the corpus's own README lists them, for all chunk types; figures of NP chunking are of another task.
PUBLISHED = (
    ("Kudo and Matsumoto 2000: SVMs, best of the shared task", Figure(93.48, "published")),
    ("Kudo and Matsumoto 2001: SVMs, weighted voting", Figure(93.91, "published")),
)


@dataclass(frozen=True)
class Setting:
    """A way to train. ``grid``: values of one option, the best on held-out data is used.

    ``passes``: the number of passes over the data is chosen there too (online trainers).
    """

    title: str
    options: Mapping[str, Any]
    option: str = ""
    grid: tuple[float, ...] = ()
    passes: bool = False
    figure: Figure | None = None


A = Setting("(a) 19 templates, l2 = 1", BASE | {"l2": L2, "tol": 1e-6}, figure=CRFSUITE_F1)
B = Setting("(b) built-in features, all defaults", {}, figure=CRFSUITE_F1)
C = Setting("(c) as (a), order 2", BASE | {"l2": L2, "order": 2})
D = Setting("(d) as (a), averaged perceptron", BASE | {"objective": "perceptron"}, passes=True)
E = Setting("(e) as (a), large margin", BASE | {"objective": "large_margin"}, "margin", (1.0, 4.0, 16.0), passes=True)
F = Setting("(f) as (a), L1 in place of L2", BASE | {"l2": 0.0}, "l1", (0.1, 0.3, 1.0, 3.0))


@dataclass(frozen=True)
class Data:
    """Training and test sequences."""

    X: list[list[tuple[str, ...]]]
    y: list[list[Any]]
    X_test: list[list[tuple[str, ...]]]
    y_test: list[list[Any]]


@dataclass(frozen=True)
class Trained:
    """A model, its labels of the test data, the time of its training, and how it came about."""

    model: Any
    predicted: list[list[Any]]
    seconds: float
    note: str


def load(context: Context) -> Data:
    """The corpus, or the beginnings of its two files in a quick run."""
    folder = context.data[CONLL2000.name]
    train, test = (chainfield.load_corpus(folder / file) for file in CONLL2000.files)
    n, m = (QUICK_TRAIN, QUICK_TEST) if context.quick else (len(train.rows), len(test.rows))
    return Data(train.rows[:n], train.labels[:n], test.rows[:m], test.labels[:m])


def choose(setting: Setting, data: Data, context: Context) -> tuple[dict[str, Any], str]:
    """The options of a setting, with those left open chosen by F1 on the last 10 % of the training data."""
    if not (setting.grid or setting.passes):
        return dict(setting.options), ""
    X, X_dev = hold_out(data.X)
    y, y_dev = hold_out(data.y)
    best: dict[str, Any] = {}
    best_score = -1.0
    for candidate in [{setting.option: value} for value in setting.grid] or [{}]:
        limit = MAX_PASSES if setting.passes else CHOICE_ITERATIONS
        model = _estimator(setting.options | candidate | {"max_iter": limit}, context)
        if setting.passes:
            model.fit(X, y, X_dev=X_dev, y_dev=y_dev)
            candidate = candidate | {"max_iter": model.best_iteration_}
        else:
            model.fit(X, y)
        score = span_f1(y_dev, model.predict(X_dev))
        context.log(f"{setting.title}: {_listed(candidate)}, held-out F1 {100 * score:.2f}")
        if score > best_score:
            best, best_score = candidate, score
    tried = [f"{setting.option} of {', '.join(f'{value:g}' for value in setting.grid)}"] if setting.grid else []
    tried += [f"passes of 1 to {MAX_PASSES}"] if setting.passes else []
    note = f"{_listed(best)}: chosen on held-out data ({'; '.join(tried)}), F1 {100 * best_score:.2f} there"
    return dict(setting.options) | best, note


def train(setting: Setting, data: Data, context: Context) -> Trained:
    """Choose, fit on all training data, label the test data."""
    options, chosen = choose(setting, data, context)
    # Compilation is no part of the time: every kernel runs once before.
    warm = _estimator(options | {"max_iter": 1}, context)
    warm.fit(data.X[:WARM_UP], data.y[:WARM_UP])
    model = _estimator(options, context)
    started = time.perf_counter()
    model.fit(data.X, data.y)
    seconds = time.perf_counter() - started
    note = chosen if setting.passes else "; ".join(filter(None, [chosen, f"{model.n_iter_} iterations"]))
    context.log(f"{setting.title}: trained in {seconds:.1f} s, {model.stop_reason_}")
    return Trained(model, model.predict(data.X_test), seconds, note)


def run(context: Context) -> Iterator[Row]:
    """All settings, the tests between (b) and (a), and the published figures for orientation."""
    data = load(context)
    predictions = {}
    for setting in (A, B, C, D, E, F):
        done = train(setting, data, context)
        predictions[setting.title] = done.predicted
        if setting is A:
            yield from optimum_rows(done, data, context)
        yield from score_rows(
            setting.title, data.y_test, done.predicted, done.seconds, context.seed, done.note, setting.figure
        )
        if setting in (A, B, F):
            active = int(np.count_nonzero(done.model.tagger_.theta))
            note = f"of {done.model.tagger_.n_weights:,}, transitions included"
            yield Row(setting.title, "non-zero weights", None, active, note=note)
    first, second = predictions[B.title], predictions[A.title]
    yield from comparison_rows("(b) against (a)", data.y_test, first, second, context.seed)
    for title, figure in PUBLISHED:
        yield Row(title, "F1", figure.value, None, source=figure.source)


def optimum_rows(done: Trained, data: Data, context: Context) -> Iterator[Row]:
    """What another program's optimum can be compared with: -log-likelihood + l2 ‖w‖², computed anew from the model."""
    theta = done.model.tagger_.theta
    objective = float(L2 * theta @ theta - done.model.log_likelihood(data.X, data.y).sum())
    pairs = len(done.model.feature_weights_)
    rows = (
        ("objective on the training data", objective, CRFSUITE_OBJECTIVE),
        ("(feature, label) pairs", pairs, CRFSUITE_PAIRS),
    )
    for metric, ours, figure in rows:
        # The objective of a part of the data compares with nothing.
        known = None if context.quick else figure
        yield Row(A.title, metric, known and known.value, ours, done.seconds, source=known.source if known else "")


def _estimator(options: Mapping[str, Any], context: Context) -> Any:
    return chainfield.LinearCRF(**options, random_state=context.seed, n_jobs=context.jobs)


def _listed(options: Mapping[str, Any]) -> str:
    names = {"max_iter": "passes"}
    return ", ".join(f"{names.get(name, name)} = {value:g}" for name, value in options.items())


EXPERIMENT = Experiment(
    name="conll2000-chunking",
    title="Chunking of CoNLL-2000 with the linear-chain CRF, all chunk types",
    paper="Tjong Kim Sang and Buchholz 2000, Introduction to the CoNLL-2000 shared task: chunking "
    "(model: Lafferty, McCallum and Pereira 2001)",
    protocol="Training on WSJ sections 15-18 (8,936 sentences), test on section 20 (2,012), words and the POS tags of "
    "the files; F1 of all chunks as conlleval counts them, in per cent. (a): 19 templates over a window of five words "
    "and POS tags, label bigrams, weights for the (feature, label) pairs that occur and for all label pairs, penalty "
    "‖w‖²; (c) to (f) change one thing of (a) each ((d) and (e) have no penalty but average the weights of all steps). "
    "What (d) to (f) leave open is chosen by F1 on the last 10 % of the training data (L1: after at most "
    f"{CHOICE_ITERATIONS} iterations), then the model is trained on all of it. "
    "Intervals are from 1,000 bootstrap samples of test sentences. Seconds: the final training with extraction of "
    "features, without choice of hyper-parameters and without compilation.",
    differences=(
        "No participant of the shared task used a CRF. Objective, pairs and F1 of (a) are compared with a reference "
        "run of CRFsuite (L-BFGS, 250 iterations, the same features and penalty), which is not a published figure.",
        "(b) is compared with the same run although its features differ: is the default as good as hand-made "
        "templates?",
        "The published F1 scores below are of other methods on the same data and task, for orientation. Scores of NP "
        "chunking (such as Sha and Pereira 2003) are another task and are not listed.",
    ),
    subset=f"the first {QUICK_TRAIN} training and {QUICK_TEST} test sentences, so that no figure compares",
    run=run,
    corpora=(CONLL2000,),
    quick_time="1 min",
    full_time="20 min",
)
