"""Named entities in Dutch (Table 7): empirical training beside a CRF, by kind of word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainfield
from chainfield.features import lafferty_template, spelling_template
from chainfield.metrics import span_f1
from experiments._empirical import (
    PAPER,
    PENALTIES,
    STRICT,
    TO_THE_LETTER,
    Accuracy,
    Sentences,
    accuracy,
    choose,
    labels_of,
    rows,
    trained,
    words_of,
)
from harness.corpora import CONLL2002
from harness.experiment import Context, Experiment, Row

PUBLISHED_FIGURES = {
    "EP1": (96.11, 98.8, 72.6),
    "EP2": (96.14, 98.8, 72.7),
    "EP2, to the letter": (96.14, 98.8, 72.7),
    "CRF": (96.13, 98.2, 77.4),
    "piecewise": (94.4, 97.2, 69.6),
}
LADDER = {"counted": ("tokens", "types"), "word_strength": (0.03, 0.1, 0.3, 1.0)}
PENALTY = {"counted": ("tokens", "types"), "l2": PENALTIES}
CRF_PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
QUICK = 1500


def load(context: Context) -> tuple[Sentences, Sentences, Sentences]:
    """Sentences of more than one token, -DOCSTART- among them: the paper's numbers of sentences."""
    parts = []
    for file in CONLL2002.files:
        corpus = chainfield.load_corpus(context.data[CONLL2002.name] / file, separator=" ", docstart="keep")
        pairs = zip(corpus.rows, corpus.labels, strict=True)
        parts.append([([row[0] for row in x], [str(label) for label in y]) for x, y in pairs if len(x) > 1])
    train, dev, test = parts
    return (train[:QUICK], dev[:500], test[:500]) if context.quick else (train, dev, test)


def run(context: Context) -> Iterator[Row]:
    """EP1 and EP2 with the paper's features and with richer ones; a CRF and piecewise training."""
    train, dev, test = load(context)
    context.log(f"{len(train)}, {len(dev)} and {len(test)} sentences")
    empirical = (
        ("EP1", {"oov": "empirical"}, lafferty_template(), LADDER),
        ("EP2", {"oov": "exponential"}, lafferty_template(), PENALTY),
        ("EP2, to the letter", {**TO_THE_LETTER, **STRICT}, lafferty_template(), {"l2": PENALTIES}),
        ("EP2, to the letter but for pairs", {"oov": "exponential", **STRICT}, lafferty_template(), {"l2": PENALTIES}),
        ("EP2, halves", {"oov": "exponential", "pairs": "halves"}, lafferty_template(), PENALTY),
        ("EP1, richer spelling", {"oov": "empirical"}, spelling_template(), LADDER),
        ("EP2, richer spelling", {"oov": "exponential"}, spelling_template(), PENALTY),
        ("EP2, halves, richer spelling", {"oov": "exponential", "pairs": "halves"}, spelling_template(), PENALTY),
    )
    for name, options, template, grid in empirical:
        fixed: dict[str, Any] = {**options, "template": template, "n_jobs": context.jobs}
        grid = {key: values[:1] for key, values in grid.items()} if context.quick else grid

        def make(fixed: dict[str, Any] = fixed, **settings: Any) -> Any:
            return chainfield.EmpiricalCRF(**fixed, **settings)

        settings, note = choose(make, grid, train, dev, context, name)
        model, seconds = trained(make(**settings), train)
        yield from judged(name, model, train, test, seconds, note, PUBLISHED_FIGURES.get(name, ()))
    for name, objective, template in (
        ("CRF", "likelihood", lafferty_template()),
        ("piecewise", "piecewise", lafferty_template()),
        ("CRF, richer spelling", "likelihood", spelling_template()),
    ):
        fixed = {"objective": objective, "template": template}

        def make_crf(fixed: dict[str, Any] = fixed, **settings: Any) -> Any:
            return chainfield.LinearCRF(**fixed, n_jobs=context.jobs, **settings)

        grid = {"l2": CRF_PENALTIES[2:3] if context.quick else CRF_PENALTIES}
        settings, note = choose(make_crf, grid, train, dev, context, name)
        model, seconds = trained(make_crf(**settings), train)
        yield from judged(name, model, train, test, seconds, note, PUBLISHED_FIGURES.get(name, ()))
        context.log(f"{name}: {seconds:.1f} s")


def judged(
    name: str, model: Any, train: Sentences, test: Sentences, seconds: float, note: str, published: Any
) -> Iterator[Row]:
    """Accuracies on the test data, and F1 of entities."""
    predicted = model.predict(words_of(test))
    found: Accuracy = accuracy(train, test, predicted)
    yield from rows(name, found, seconds, published, note)
    yield Row(name, "F1 of entities", None, 100 * span_f1(labels_of(test), predicted))


EXPERIMENT = Experiment(
    name="empirical-dutch-ner",
    title="Named entities in Dutch (Table 7)",
    paper=PAPER,
    protocol="Training on ned.train, choices on ned.testa, test on ned.testb: 13,221 / 2,305 / 4,211 sentences, those "
    "with more than one token, -DOCSTART- kept as a token. Features: the word and the spelling features of Lafferty et "
    "al. (2001). Token accuracy in per cent; a word is unknown if the training data do not have it. How features are "
    "counted, the strength of the back-off and the penalties are chosen on ned.testa. Seconds: processor time of one "
    "training.",
    differences=(
        '"EP1" and "EP2": rates of pairs of words that were never seen come from a ladder of back-offs '
        '(docs/empirical.md); for EP1 the paper says "similarly" and no more.',
        '"To the letter": EP2 with its pair function v and without smoothing, as published; the features of v are not '
        "listed there: here a(x, y) + b(x', y') + T(y, y'), the word itself among the features.",
        "CRF++ and MALLET's piecewise training are replaced by LinearCRF, trained by its default until it converges; "
        "the spelling features enter as features of labels only.",
        '"Richer spelling" (prefixes, suffixes, shapes) goes beyond the paper.',
    ),
    subset="1,500 / 500 / 500 sentences, nothing chosen",
    corpora=(CONLL2002,),
    run=run,
    quick_time="a minute",
    full_time="8 minutes",
)
