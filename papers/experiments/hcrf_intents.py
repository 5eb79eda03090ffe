"""What a request asks for: hidden CRFs over words beside logistic regression over bags of words."""

from __future__ import annotations

import lzma
import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import chainfield
from chainfield.metrics import mcnemar
from experiments._hcrf import PAPER
from harness.experiment import Context, Experiment, Row

FOLDER = Path(chainfield.__file__).parent / "data" / "demo"
N_FOLDS = 3
MARK = "# intent = "
STRENGTHS = (1.0, 10.0, 100.0)  # C of logistic regression
GRID = [
    {"n_states": k, "topology": topology, "l2": l2}
    for (k, topology), l2 in product(
        [(1, "ergodic"), (2, "ergodic"), (2, "left-to-right"), (3, "ergodic")], (0.05, 0.2)
    )
]
Requests = Sequence[Sequence[str]]


def read(part: str) -> tuple[list[list[str]], list[str]]:
    """Requests as lists of words, and their intents."""
    X: list[list[str]] = []
    y: list[str] = []
    with lzma.open(FOLDER / f"snips.{part}.conll.xz", "rt", encoding="utf-8") as file:
        for line in file:
            if line.startswith(MARK):
                y.append(line.removeprefix(MARK).strip())
                X.append([])
            elif line.strip():
                X[-1].append(line.split("\t")[0].lower())
    return X, y


def attributes(X: Requests, pairs: bool) -> list[list[list[str]]]:
    """For every word: itself and, if wanted, itself with the one before."""
    return [
        [[w, f"{before}|{w}"] if pairs else [w] for before, w in zip(["", *words[:-1]], words, strict=True)]
        for words in X
    ]


def bags(X: Requests, pairs: bool) -> list[dict[str, int]]:
    """The same, counted over a request."""
    found = []
    for positions in attributes(X, pairs):
        counts: dict[str, int] = {}
        for name in (name for names in positions for name in names):
            counts[name] = counts.get(name, 0) + 1
        found.append(counts)
    return found


def logistic(C: float) -> Any:
    """Logistic regression over counts."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(DictVectorizer(), LogisticRegression(C=C, max_iter=1000))


def cross_validated(make: Any, X: Sequence[Any], y: Sequence[str], seed: int) -> float:
    """Accuracy over folds of the training part."""
    from sklearn.model_selection import StratifiedKFold

    right = 0
    for inside, outside in StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(y, y):
        model = make().fit([X[i] for i in inside], [y[i] for i in inside])
        right += sum(a == y[i] for a, i in zip(model.predict([X[i] for i in outside]), outside, strict=True))
    return right / len(y)


def run(context: Context) -> Iterator[Row]:
    """Both models, on words and on words with pairs of words; settings by cross-validation on the training part."""
    (X, y), (X_test, y_test) = read("train"), read("test")
    if context.quick:
        X, y = X[::5], y[::5]
    gold = [[label] for label in y_test]
    for pairs in (False, True):
        features = "words and pairs of words" if pairs else "words"
        answers = {}
        for name, view, grid, make in (
            ("logistic regression", bags, [{"C": c} for c in STRENGTHS], logistic),
            ("hidden CRF", attributes, GRID[2:4] if context.quick else GRID, hidden(context)),
        ):
            train, test = view(X, pairs), view(X_test, pairs)
            scores = [cross_validated(lambda s=s, make=make: make(**s), train, y, context.seed) for s in grid]
            best = grid[scores.index(max(scores))]
            context.log(f"{name}, {features}: {[f'{100 * s:.2f}' for s in scores]}")
            started = time.perf_counter()
            model = make(**best).fit(train, y)
            seconds = time.perf_counter() - started
            answers[name] = [[str(label)] for label in model.predict(test)]
            accuracy = 100.0 * sum(a == b for a, b in zip(answers[name], gold, strict=True)) / len(gold)
            note = f"{', '.join(f'{k} {v}' for k, v in best.items())}: {100 * max(scores):.2f} in cross-validation"
            yield Row(f"{name}, {features}", "accuracy", None, accuracy, seconds, note)
        tested = mcnemar(gold, answers["hidden CRF"], answers["logistic regression"], "sequence")
        note = f"{tested.n10} requests right in the first only, {tested.n01} in the second only"
        yield Row(
            f"hidden CRF against logistic regression, {features}", "McNemar's test: p", None, tested.p_value, None, note
        )


def hidden(context: Context) -> Any:
    """Makes hidden CRFs."""
    return lambda **settings: chainfield.HiddenCRF(
        trainer="lbfgs", max_iter=100, random_state=context.seed, n_jobs=context.jobs, **settings
    )


EXPERIMENT = Experiment(
    name="hcrf-intents",
    title="Intents of requests (SNIPS): hidden CRFs over sparse features and logistic regression",
    paper=PAPER,
    protocol="SNIPS 2017, seven intents: 2,100 training and 700 test requests, which are part of the "
    "package; lower case. Accuracy in per cent. Hidden CRFs by 100 iterations of L-BFGS; states, topology and "
    "penalty (and "
    "C of scikit-learn's logistic regression over bags of the same features) are chosen by 3-fold cross-validation on "
    "the training part. Seconds: of the last training.",
    differences=("The paper has no experiment on text: this one shows the same model over sparse features.",),
    subset="a fifth of the training part, two settings",
    run=run,
    quick_time="a minute",
    full_time="5 minutes",
)
