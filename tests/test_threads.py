"""Every estimator on data of a real size with its defaults: answers do not depend on threads, whoever starts them.

Training is cut short here; ``CHAINFIELD_NIGHTLY=1`` leaves that to the defaults, too, and asks ten times as often.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import as_file, files
from importlib.util import find_spec

import numpy as np
import pytest

import chainfield
from chainfield import LinearCRF, TextTagger
from chainfield.data import load_corpus
from chainfield.text import Document
from support.texts import corpus as text_corpus

NIGHTLY = bool(os.environ.get("CHAINFIELD_NIGHTLY"))
THREADS, ROUNDS = 4, 30 if NIGHTLY else 3
TAGGERS = {
    "LinearCRF": {"max_iter": 5},
    "MEMM": {"max_iter": 5},
    "EmpiricalCRF": {},
    "LatentCRF": {"max_iter": 1},
    "HiddenUnitCRF": {"max_iter": 1},
    "ComposedTagger": {"max_iter": 3},
    "NeuralCRF": {"max_iter": 1},
    "NeuralCRF, context": {"max_iter": 1, "context": "lstm"},
}
if NIGHTLY:  # heavy on every change
    TAGGERS |= {"LinearCRF, pruned": {"prune": 1e-3}, "LinearCRF, order 2": {"order": 2, "max_iter": 5}}
else:
    TAGGERS |= {"LinearCRF, pruned": {"prune": 1e-3, "max_iter": 3}}
CLASSIFIERS = {"HMMClassifier": {"max_iter": 2}, "HiddenCRF": {"max_iter": 2}, "ComposedClassifier": {"max_iter": 3}}


@cache
def corpus(part):
    with as_file(files("chainfield.data") / "demo" / f"snips.{part}.conll.xz") as path:
        return load_corpus(path)


def made(name, short):
    """An estimator with its defaults, apart from what cuts its training short."""
    kind = name.partition(",")[0]
    if kind == "NeuralCRF" and find_spec("torch") is None:
        pytest.skip("needs torch")
    return getattr(chainfield, kind)(**{k: v for k, v in short.items() if k != "max_iter" or not NIGHTLY})


def ask_from_threads(ask, expected):
    with ThreadPoolExecutor(THREADS) as pool:
        for answer in pool.map(lambda _: ask(), range(ROUNDS * THREADS)):
            assert answer == expected


@pytest.mark.filterwarnings("ignore::chainfield.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", TAGGERS)
def test_taggers(name):
    training, test = corpus("train"), corpus("test")
    n = len(training.rows) if NIGHTLY or "Neural" not in name else 500
    model = made(name, TAGGERS[name]).fit(training.rows[:n], training.labels[:n])
    expected = model.set_params(n_jobs=1).predict(test.rows)
    model.set_params(n_jobs=None)
    ask_from_threads(lambda: model.predict(test.rows), expected)
    right = np.mean([a == b for p, q in zip(expected, test.labels, strict=True) for a, b in zip(p, q, strict=True)])
    assert right > 0.4


@pytest.mark.filterwarnings("ignore::chainfield.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    sequences = [rng.normal(size=(rng.integers(4, 30), 5)) + 2 * label for label in labels]
    model = made(name, CLASSIFIERS[name]).fit(sequences, labels)
    expected = model.set_params(n_jobs=1).predict(sequences).tolist()
    model.set_params(n_jobs=None)
    ask_from_threads(lambda: model.predict(sequences).tolist(), expected)
    assert np.mean(expected == labels) > 0.8


@pytest.mark.filterwarnings("ignore::chainfield.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", ["LinearCRF", "LinearCRF, pruned", "MEMM"])
def test_taggers_from_files(name, tmp_path):
    """Loaded once, asked by many; and loaded by each thread by itself."""
    training, test = corpus("train"), corpus("test")
    n = len(training.rows) if NIGHTLY else 300
    made(name, {**TAGGERS[name], "max_iter": 3}).fit(training.rows[:n], training.labels[:n]).save(tmp_path / "m.cf")
    model = chainfield.load(tmp_path / "m.cf")
    expected = model.predict(test.rows)
    ask_from_threads(lambda: model.predict(test.rows), expected)
    ask_from_threads(lambda: chainfield.load(tmp_path / "m.cf").predict(test.rows), expected)


def test_texts(tmp_path):
    documents = [
        Document(" ".join(word for (word,) in rows)) for rows in corpus("test").rows[: None if NIGHTLY else 200]
    ]
    texts, spans = text_corpus(200)
    model = TextTagger(model=LinearCRF(max_iter=5)).fit(texts, spans)
    expected = model.predict(documents)
    ask_from_threads(lambda: model.predict(documents), expected)
    model.save(tmp_path / "m.cf")
    loaded = chainfield.load(tmp_path / "m.cf")
    ask_from_threads(lambda: loaded.predict(documents), expected)
    ask_from_threads(lambda: list(loaded.pipe(iter(documents))), expected)
