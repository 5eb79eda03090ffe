"""Whole sequences by defaults: HMMs and hidden CRFs, and strong other means on the same data.

Defaults were chosen inside of the vowels' training data and on the first four pairs of TIMIT's speakers; the vowels'
test data were looked at once before the last change. Here are the vowels' test data, and the other four pairs of
speakers, each judged by models of all speakers but them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import click
import numpy as np

import chainfield
from experiments._hcrf import of_speakers, pairs, scored, segments, vowels, without
from suite.measure import Measurements, Options, Table

from .corpora import CHOSEN_BY, SOURCES, Split

N_SEGMENTS = 5
MOST_ROCKETS = 1000  # sequences: the regression over its 10,000 columns would take longer than all else
Classifier = Callable[[Split], Sequence[Any]]


def run(options: Options) -> Measurements:
    """Every classifier on both corpora."""
    result = Measurements("sequences")
    tests = {"vowels": vowel_test(), "phones": phone_tests()}
    rows = [_row(name, splits, result, options) for name, splits in tests.items()]
    hmm, crf = (100.0 - result.figures[f"phones_{name}"] for name in ("hmm", "hidden_crf"))
    result.figures["phones_hidden_crf_relative_gain"] = 100.0 * (1.0 - crf / hmm)
    result.tables = [Table("Accuracy on test data, per cent", ["corpus", *CLASSIFIERS], rows)]
    seconds = [[name, *(result.middle(f"{corpus}_{name}") for corpus in ("vowels", "phones"))] for name in CLASSIFIERS]
    result.tables.append(Table("CPU seconds of training and answers", ["", "vowels", "phones"], seconds))
    result.tabled = [name for name in result.figures if not name.endswith("gain")]
    result.notes = [
        "All defaults. vowels: 270 training and 370 test sequences. phones: TIMIT's sample, the last four pairs of "
        "speakers, each judged by models of the other 14 speakers; 48 classes, scored as 39. segments: means and "
        f"deviations of {N_SEGMENTS} equal parts of a sequence, standardised, and logistic regression (C = 1). "
        f"minirocket: aeon's MiniRocketClassifier over sequences stretched to one length, up to {MOST_ROCKETS:,} "
        "sequences.",
        *([] if find_spec("aeon") else ["aeon is not installed, so MiniRocket did not take part."]),
    ]
    return result


def _row(name: str, splits: list[Split], result: Measurements, options: Options) -> list[Any]:
    row: list[Any] = [name]
    for kind, classify in CLASSIFIERS.items():
        if kind == "minirocket" and (not find_spec("aeon") or len(splits[0].X) > MOST_ROCKETS):
            row.append(None)
            continue
        started, right, total = time.process_time(), 0, 0
        for split in (split.first(options.sample) for split in splits):
            fold = scored if name == "phones" else list
            right += sum(a == b for a, b in zip(fold(classify(split)), fold(split.y_dev), strict=True))
            total += len(split.y_dev)
        result.add(f"{name}_{kind}", time.process_time() - started)
        result.figures[f"{name}_{kind}"] = 100.0 * right / total
        row.append(result.figures[f"{name}_{kind}"])
        click.echo(f"{name}, {kind}: {row[-1]:.2f}", err=True)
    return row


def _folder(name: str) -> Any:
    folder = SOURCES[name].folder()
    if folder is None:
        raise click.ClickException(f"The corpus {SOURCES[name].corpus.name} is missing: set CHAINFIELD_DATA.")
    return folder


def vowel_test() -> list[Split]:
    """The data set's own split."""
    return [Split(*vowels(_folder("vowels"), "TRAIN"), *vowels(_folder("vowels"), "TEST"))]


def phone_tests() -> list[Split]:
    """The pairs of speakers by which nothing was chosen."""
    found = segments(_folder("phones"))
    splits = []
    for k in range(CHOSEN_BY, len(pairs(found))):
        train, test = without(found, [k]), of_speakers(found, pairs(found)[k])
        splits.append(Split(train.frames, train.phones, test.frames, test.phones))
    return splits


def _hmm(split: Split) -> Sequence[Any]:
    return chainfield.HMMClassifier(n_jobs=1).fit(split.X, split.y).predict(split.X_dev)


def _hidden_crf(split: Split) -> Sequence[Any]:
    return chainfield.HiddenCRF(n_jobs=1).fit(split.X, split.y).predict(split.X_dev)


def statistics(x: Any) -> Any:
    """Means and deviations of equal parts; of short sequences, parts overlap."""
    n = len(x)
    bounds = np.linspace(0, n, N_SEGMENTS + 1)
    parts = [x[min(int(a), n - 1) : max(int(np.ceil(b)), int(a) + 1)] for a, b in itertools.pairwise(bounds)]
    return np.concatenate([np.concatenate([p.mean(0), p.std(0)]) for p in parts] + [[np.log(n)]])


def _segments(split: Split) -> Sequence[Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    X, X_dev = (np.array([statistics(np.asarray(x)) for x in part]) for part in (split.X, split.X_dev))
    return list(model.fit(X, split.y).predict(X_dev))


def _minirocket(split: Split) -> Sequence[Any]:
    from aeon.classification.convolution_based import MiniRocketClassifier

    longest = max(9, *(len(x) for x in split.X))
    X, X_dev = (np.array([stretched(np.asarray(x), longest).T for x in part]) for part in (split.X, split.X_dev))
    model = MiniRocketClassifier(random_state=0, n_jobs=1).fit(X, np.array(split.y))
    return list(model.predict(X_dev))


def stretched(x: Any, length: int) -> Any:
    """The sequence at as many places, by interpolation."""
    at = np.linspace(0, len(x) - 1, length)
    return np.stack([np.interp(at, np.arange(len(x)), column) for column in x.T], axis=1)


CLASSIFIERS: dict[str, Classifier] = {
    "hmm": _hmm,
    "hidden_crf": _hidden_crf,
    "segments": _segments,
    "minirocket": _minirocket,
}
