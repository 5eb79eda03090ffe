"""Empirical training on the Brown corpus, hundreds of labels: against reading the file, a CRF, CRFsuite; decoding."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path
from typing import Any

import click

from chainfield import EmpiricalCRF, LinearCRF, load_corpus, stream_corpus
from chainfield.features import lafferty_template
from chainfield.inference import viterbi

from .measure import Measurements, Options, alternate, timed
from .peers import installed, missing_notes
from .tasks import column_text, feature_strings

REPEATS = 5
N_DRAWN, N_TEST = 33_623, 1000
N_DENSE = 100  # sentences for the recursion over all label pairs, which needs megabytes a position
N_CRF = 1000  # sentences for CRFs, among them some with each label
ITERATIONS = 100  # of L-BFGS, CRFsuite's and ours: what chunking takes (train-conll2000)
PASSES = 10  # of stochastic gradient descent
Sentences = list[tuple[list[str], list[str]]]


def run(options: Options) -> Measurements:
    """EP1 with the spelling features of Lafferty et al., tags as they are."""
    sentences = brown(options.sample)
    test, train = sentences[:N_TEST], sentences[N_TEST:]
    n_labels = len({label for _, labels in train for label in labels})
    result = Measurements("empirical", notes=missing_notes("crfsuite"))
    n_tokens = sum(len(words) for words, _ in train)
    result.figures |= {"labels": n_labels, "sentences": len(train), "tokens": n_tokens}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "brown.txt"
        rows = [[(word,) for word in words] for words, _ in train]
        path.write_text(column_text(rows, [labels for _, labels in train]), encoding="utf-8")
        contestants = {
            "read_python": lambda: intern_file(path),
            "read_chainfield": lambda: load_corpus(path),
            "empirical": lambda: empirical().fit_stream(stream_corpus(path)),
        }
        for function in contestants.values():
            function()  # once before, for compilation and caches
        result.samples = alternate(contestants, options.repeats or REPEATS)
    seconds = result.middle("empirical")
    assert seconds is not None
    result.figures |= {
        "empirical_seconds": seconds,
        "empirical_tokens_per_second": n_tokens / seconds,
        "empirical_reading_ratio": seconds / (result.middle("read_python") or 1.0),
        "empirical_own_reading_ratio": seconds / (result.middle("read_chainfield") or 1.0),
    }
    some = with_all_labels(train, N_CRF)
    share = sum(len(words) for words, _ in some) / n_tokens
    _crf(some, share, seconds, result)
    if installed("crfsuite"):
        _crfsuite(some, share, seconds, result)
    _decoding(train, test, result)
    result.notes += [
        "empirical: from the file to the model, with reading, on one thread. reading_ratio: divided by the time in "
        "which a loop of Python reads the same file, splits its lines and numbers words and tags by dictionaries; "
        "own_reading_ratio: by the time of load_corpus, which does so in compiled code.",
        f"crf and crfsuite: the same features; {N_CRF:,} sentences that have all labels. Seconds per iteration of "
        "L-BFGS (ours: the difference between 2 and 6 iterations) or per pass of SGD are extrapolated to all "
        f"sentences, by tokens. crf_speedup: LinearCRF on all processors, the shorter of {ITERATIONS} iterations "
        f"and {PASSES} passes, divided by empirical_seconds. crfsuite_speedup: {ITERATIONS} iterations, as many as "
        "chunking takes.",
        f"decoding: `predict` from encoded data on one thread, against Viterbi over all label pairs ({N_DENSE} "
        "sentences, edge scores ready before the clock starts; filling them takes longer still). The labels are the "
        "same.",
    ]
    return result


def brown(sample: int | None) -> Sentences:
    """The sentences of the experiment empirical-brown: a random choice, tags as they are."""
    folder = Path(os.environ.get("CHAINFIELD_DATA", "")) / "brown"
    files = sorted(folder.glob("c[a-r][0-9][0-9]"))
    if not os.environ.get("CHAINFIELD_DATA") or not files:
        raise click.ClickException(
            "The corpus brown is missing: set CHAINFIELD_DATA to a folder that holds brown/ca01 and so on (NLTK's data "
            "package brown; not for commercial use)."
        )
    found = []
    for file in files:
        for line in file.read_text(encoding="latin-1").splitlines():
            pairs = [token.rsplit("/", 1) for token in line.split()]
            if pairs:
                found.append(([word for word, _ in pairs], [tag for _, tag in pairs]))
    random.Random(0).shuffle(found)
    return found[: N_DRAWN if sample is None else N_TEST + sample]


def intern_file(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """What reading costs in Python: words and tags become numbers."""
    words: dict[str, int] = {}
    tags: dict[str, int] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line != "\n":
                word, tag = line.split()
                words.setdefault(word, len(words))
                tags.setdefault(tag, len(tags))
    return words, tags


def empirical() -> Any:
    """EP1."""
    return EmpiricalCRF(oov="empirical", template=lafferty_template(), n_jobs=1)


def _xy(sentences: Sentences) -> tuple[list[list[str]], list[list[str]]]:
    return [words for words, _ in sentences], [labels for _, labels in sentences]


def with_all_labels(train: Sentences, n: int) -> Sentences:
    """n sentences or more that have all labels: what a CRF costs depends on their number."""
    seen: set[str] = set()
    chosen = []
    for words, labels in train:
        if not seen.issuperset(labels):
            seen.update(labels)
            chosen.append((words, labels))
    return chosen + train[: max(0, n - len(chosen))]


def _crf(some: Sentences, share: float, own: float, result: Measurements) -> None:
    found = {}
    for name, settings in {
        "lbfgs_2": {"trainer": "lbfgs", "max_iter": 2},
        "lbfgs_6": {"trainer": "lbfgs", "max_iter": 6},
        "sgd_1": {"trainer": "sgd", "max_iter": 1, "learning_rate": 0.1},
        "sgd_3": {"trainer": "sgd", "max_iter": 3, "learning_rate": 0.1},
    }.items():
        model: Any = LinearCRF(template=lafferty_template(), tol=1e-12, **settings)
        if name in ("lbfgs_2", "sgd_1"):
            _quiet_fit(model, _xy(some))  # compiles what so many labels need
        found[name] = _quiet_fit(model, _xy(some))
        result.add(f"crf_{name}", found[name])
        click.echo(f"crf, {name}: {found[name]:.1f} s", err=True)
    iteration = (found["lbfgs_6"] - found["lbfgs_2"]) / 4 / share
    one_pass = (found["sgd_3"] - found["sgd_1"]) / 2 / share
    result.figures |= {
        "crf_lbfgs_iteration_seconds": iteration,
        "crf_sgd_pass_seconds": one_pass,
        "crf_speedup": min(ITERATIONS * iteration, PASSES * one_pass) / own,
    }


def _quiet_fit(model: Any, data: tuple[Any, Any]) -> float:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few iterations are too few, and many labels are meant
        return timed(lambda: model.fit(*data))[0]


def _crfsuite(some: Sentences, share: float, own: float, result: Measurements) -> None:
    from .peers import crfsuite

    X, y = _xy(some)
    strings = feature_strings(lafferty_template(), [[(word,) for word in words] for words in X])
    trajectory = crfsuite.train(strings, y, c2=0.5, max_iterations=3)
    iteration = trajectory.per_evaluation() / share
    result.figures |= {
        "crfsuite_iteration_seconds": iteration,
        "crfsuite_speedup": ITERATIONS * iteration / own,
    }


def _decoding(train: Sentences, test: Sentences, result: Measurements) -> None:
    model = empirical().fit(*_xy(train))
    tagger, few = model.tagger_, _xy(test)[0][:N_DENSE]
    space = tagger.chain.space
    X = _xy(test)[0]
    model.predict(X)
    batch = tagger.features.encode(X)
    quick, _ = timed(lambda: tagger.decode(batch))
    dense = filling = 0.0
    found = []
    batch = tagger.features.encode(few)
    for s in range(len(few)):
        seconds, potentials = timed(lambda s=s: tagger.potentials(batch.window(s, s + 1)))
        filling += seconds
        seconds, path = timed(lambda potentials=potentials: viterbi(space, potentials))
        dense += seconds
        found.append([tagger.task.labels[k] for k in path.states])
    if found != model.predict(few):
        raise click.ClickException("The two ways of decoding gave different labels.")
    per_quick = quick / sum(map(len, X))
    per_dense = dense / sum(map(len, few))
    result.samples |= {"decode": [per_quick], "decode_dense": [per_dense]}
    result.figures |= {
        "decode_tokens_per_second": 1.0 / per_quick,
        "decode_dense_speedup": per_dense / per_quick,
        "decode_dense_filling_speedup": (dense + filling) / sum(map(len, few)) / per_quick,
    }
