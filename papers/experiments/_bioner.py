"""What both tables on bio-entities share: the corpus, the features, the rows of Table 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import chainfield
from chainfield.metrics import span_f1
from experiments._latent import PUBLISHED, Sequences, trained
from harness.cells import kept
from harness.corpora import CONLL2000, JNLPBA
from harness.experiment import Context, Row
from harness.grids import best_of
from harness.tagging import Figure, comparison_rows, score_rows

STATES = (2, 4)
QUICK_TRAIN, QUICK_TEST = 300, 200
POS_PASSES = 6
PASSES, ITERATIONS = 30, 300
SEEDS = (0, 1, 2)
PLAIN, LATENT = "perceptron", "latent perceptron"


def _window(column: int, sizes: Mapping[int, tuple[int, int]], transform: str = "") -> list[str]:
    """Templates over runs of neighbours: for each size, those that begin at the given offsets."""
    end = f",{transform}]" if transform else "]"
    return [
        "/".join(f"%x[{at + i},{column}{end}" for i in range(size))
        for size, (first, last) in sizes.items()
        for at in range(first, last + 1)
    ]


# Table 1: words, POS and orthography modes. What the mode of a word is, and which affixes are meant, it does not say.
WORDS = _window(0, {1: (-2, 2), 2: (-1, 0)})
TAGS = _window(1, {1: (-2, 2), 2: (-2, 1), 3: (-2, 0)})
MODES = _window(0, {1: (-2, 2), 2: (-2, 1)}, "short-shape")
AFFIXES = [f"%x[0,0,{kind}:{n}]" for kind in ("prefix", "suffix") for n in (2, 3, 4)]
FORMS = [f"%x[{at},0,lower]" for at in (-1, 0, 1)] + ["%x[0,0,shape]", "%x[0,0,digits]"]
FORMS += [f"%x[{at},0,suffix:3]" for at in (-1, 1)]
TABLE_1 = (*WORDS, *TAGS, *MODES)
RICHER = (*TABLE_1, *AFFIXES, *FORMS)


def template(cells: tuple[str, ...]) -> str:
    """Each with states alone, a bias, and transitions."""
    return "\n".join([*(f"U:{i}={cell}" for i, cell in enumerate(cells)), "U:bias", "B", ""])


@dataclass(frozen=True)
class Setting:
    """A row of the table. Development data choose one of at most so many ``passes``, and one of ``grid``."""

    title: str
    model: str
    options: Mapping[str, Any]
    passes: int = PASSES
    figure: float | None = None
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)


def settings() -> Iterator[Setting]:
    """All rows of Table 2 that the paper could train, and the paper's own kind of hidden states."""
    plain, latent = "LinearCRF", "LatentCRF"
    one = {"n_init": 1}
    states = {"n_states": STATES, "share_labels": (True, False)}
    penalties = {"l2": (0.15, 0.5, 1.5)}
    figures = {15: (67.33, 65.83, 65.96), 5: (68.49, 65.61, 66.01), 2: (70.13, 68.93, 68.74)}
    for cc, (hidden, theirs, sgd) in figures.items():
        perceptron = {"min_count": cc, "objective": "perceptron"}
        end = f"cc = {cc}, order 1"
        yield Setting(f"{LATENT}, {end}", latent, perceptron | one, PASSES, hidden, states, SEEDS)
        yield Setting(f"{PLAIN}, {end}", plain, perceptron, PASSES, theirs, seeds=SEEDS)
        own = {"share_labels": False, "n_states": 4}
        yield Setting(f"{LATENT}, 4 states, states only, {end}", latent, perceptron | one | own, seeds=SEEDS)
        stochastic = {"min_count": cc, "trainer": "sgd", "l2": 0.5} | one
        yield Setting(f"DPLVM by SGD, {end}", latent, stochastic, PASSES, sgd, {"n_states": STATES})
    second = {"min_count": 2, "objective": "perceptron", "order": 2}
    yield Setting(f"{LATENT}, cc = 2, order 2", latent, second | one | {"n_states": 2}, PASSES, 70.51)
    yield Setting(f"{PLAIN}, cc = 2, order 2", plain, second, PASSES, 70.07)
    for cc, figure in ((15, 64.17), (5, 66.12)):
        batch = {"min_count": cc, "trainer": "lbfgs"}
        yield Setting(f"CRF by L-BFGS, cc = {cc}, order 1", plain, batch, ITERATIONS, figure, penalties)
    batch = {"min_count": 15, "trainer": "lbfgs", "n_states": 2} | one
    yield Setting("DPLVM by L-BFGS, cc = 15, order 1", latent, batch, ITERATIONS, 67.41, penalties)


@dataclass(frozen=True)
class Data:
    """Sentences of (word, POS) and their labels."""

    train: tuple[Sequences, Sequences]
    dev: tuple[Sequences, Sequences]
    test: tuple[Sequences, Sequences]


def load(context: Context) -> tuple[Data, float]:
    """The corpus with POS tags of our own tagger, and that tagger's accuracy on the news it was not trained on."""
    news = [chainfield.load_corpus(context.data[CONLL2000.name] / file) for file in CONLL2000.files]
    words = [[[(row[0],) for row in sentence] for sentence in corpus.rows] for corpus in news]
    tags = [[[row[1] for row in sentence] for sentence in corpus.rows] for corpus in news]
    n = QUICK_TRAIN if context.quick else len(words[0])
    tagger = chainfield.LinearCRF(objective="perceptron", max_iter=POS_PASSES, n_jobs=context.jobs)
    tagger.fit(words[0][:n], tags[0][:n])
    accuracy = tagger.score(words[1], tags[1])
    context.log(f"POS tagger: {100 * accuracy:.2f} % on the test sentences of CoNLL-2000")
    parts = []
    for file, few in zip(JNLPBA.files, (QUICK_TRAIN, QUICK_TEST, QUICK_TEST), strict=True):
        corpus = chainfield.load_corpus(context.data[JNLPBA.name] / file)
        rows, labels = (some[: few if context.quick else None] for some in (corpus.rows, corpus.labels))
        found = tagger.predict(rows)
        tagged = [[(row[0], tag) for row, tag in zip(*pair, strict=True)] for pair in zip(rows, found, strict=True)]
        parts.append((tagged, labels))
    return Data(*parts), accuracy


def cell(setting: Setting, cells: tuple[str, ...], data: Data, context: Context) -> dict[str, Any]:
    """Train all of the grid, take the best on the development data, and tag the test data with it, for every seed."""
    common = {"template": template(cells), "scheme": "bio", "n_jobs": context.jobs}
    passes = min(setting.passes, 3) if context.quick else setting.passes
    first = slice(1 if context.quick else None)
    grid, seeds = {name: own[first] for name, own in setting.grid.items()}, setting.seeds[first]
    tried: list[dict[str, Any]] = []

    def train(candidate: Mapping[str, Any], seed: int) -> dict[str, Any]:
        kind = getattr(chainfield, setting.model)
        model = kind(**setting.options, **candidate, **common, max_iter=passes, random_state=seed)
        model, seconds = trained(model, *data.train, X_dev=data.dev[0], y_dev=data.dev[1])
        dev = 100 * max(record["dev_score"] for record in model.history_)
        share = f"{model.n_iter_} iterations, the best on the development data is number {model.best_iteration_}"
        note = f"{share} (F1 {dev:.2f} there); {model.tagger_.n_weights:,} weights"
        context.log(f"{setting.title}, seed {seed}: {dict(candidate)}, {seconds:.0f} s, {note}")
        return {"seed": seed, "dev": dev, "seconds": seconds, "note": note, "labels": model.predict(data.test[0])}

    def loss(candidate: dict[str, Any]) -> float:
        tried.append(train(candidate, seeds[0]))
        return -float(tried[-1]["dev"])

    best = best_of(grid, loss)
    told = f"{best.told()}: chosen from {len(tried)} on the development data; " if len(tried) > 1 else ""
    run = next(one for one in tried if one["dev"] == -best.loss)
    return {"choice": told, "runs": [run, *(train(best.settings, seed) for seed in seeds[1:])]}


def table(cells: tuple[str, ...], name: str, context: Context) -> Iterator[Row]:
    """All rows, then tests between latent and plain perceptron of the same features."""
    data, accuracy = load(context)
    yield Row("POS tagger", "accuracy on CoNLL-2000, test", None, 100 * accuracy, note="for the POS features below")
    y_test = data.test[1]
    predicted: dict[str, Sequences] = {}
    for setting in settings():
        told = {"model": setting.model, **setting.options, "grid": setting.grid, "passes": setting.passes}
        told |= {"seeds": setting.seeds, "cells": cells}

        def compute(setting: Setting = setting) -> dict[str, Any]:
            return cell(setting, cells, data, context)

        found = kept(f"{name} {setting.title}", told, context, compute)
        runs, title = found["runs"], setting.title
        predicted[title] = runs[0]["labels"]
        figure = None if setting.figure is None else Figure(setting.figure, PUBLISHED)
        note = found["choice"] + runs[0]["note"]
        yield from score_rows(title, y_test, runs[0]["labels"], runs[0]["seconds"], context.seed, note, figure)
        if len(runs) > 1:
            scores = [100 * span_f1(y_test, one["labels"]) for one in runs]
            note = f"of {len(runs)} seeds, {min(scores):.2f} to {max(scores):.2f}"
            yield Row(title, "mean F1", setting.figure, mean(scores), note=note, source=PUBLISHED if figure else "")
    for order, cc in ((1, 15), (1, 5), (1, 2), (2, 2)):
        first, second = (predicted[f"{name}, cc = {cc}, order {order}"] for name in (LATENT, PLAIN))
        title = f"{LATENT} against {PLAIN}, cc = {cc}, order {order}"
        yield from comparison_rows(title, y_test, first, second, context.seed)


PROTOCOL = (
    "Training on 16,807 sentences (1,800 abstracts), settings chosen on the 1,739 of the development data (200 "
    "abstracts): of all passes, the one with the best F1 there is kept; of the latent perceptron 2 or 4 states per "
    "label, with and without weights that the states of a label share; of batch trainings the penalty. Test on 3,856 "
    "sentences (404 abstracts), F1 of spans in per cent; rows of perceptrons in order 1 have three seeds. The latent "
    "perceptron is averaged and restarted from the average every 4th pass. cc: features that occur at fewer positions "
    "are left out. BIO rules hold. Seconds: training with extraction of features and scoring of the development data "
    "after each iteration, without compilation. Significance: McNemar's test, seed 0."
)
DIFFERENCES = (
    "The corpus has no POS column. POS tags come from a tagger trained with this library on the words and POS tags "
    f"of CoNLL-2000 (Wall Street Journal): an averaged perceptron, {POS_PASSES} passes, built-in features.",
    "Features are combined with states, transitions with state pairs (and triples in order 2); the paper "
    "combines every feature with pairs and triples as well. The paper has 4 states per label, and weights of "
    "states only: see the rows that say so.",
    f"Passes are {PASSES} at most (the paper: up to 100), iterations of L-BFGS {ITERATIONS} as in the paper. The DPLVM "
    "by L-BFGS and the latent perceptron of order 2 have 2 states per label.",
)
