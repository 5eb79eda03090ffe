"""Named entities in Dutch (Table 7): empirical training beside a CRF, by kind of word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainfield
from chainfield.features import lafferty_template, spelling_template
from chainfield.metrics import span_f1
from experiments._empirical import PAPER, Accuracy, Sentences, accuracy, choose, labels_of, rows, trained, words_of
from harness.corpora import CONLL2002
from harness.experiment import Context, Experiment, Row

PUBLISHED_FIGURES = {
    "EP1": (96.11, 98.8, 72.6),
    "EP2": (96.14, 98.8, 72.7),
    "CRF": (96.13, 98.2, 77.4),
    "piecewise": (94.4, 97.2, 69.6),
}
LADDER = {"counted": ("tokens", "types"), "word_strength": (0.1, 0.3, 1.0)}
PENALTY = {"counted": ("tokens", "types"), "l2": (0.1, 0.3, 1.0)}
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
        ("EP1", "empirical", lafferty_template(), LADDER, True),
        ("EP2", "exponential", lafferty_template(), PENALTY, True),
        ("EP1, richer spelling", "empirical", spelling_template(), LADDER, False),
        ("EP2, richer spelling", "exponential", spelling_template(), PENALTY, False),
    )
    for name, oov, template, grid, compare in empirical:
        fixed: dict[str, Any] = {"oov": oov, "template": template, "n_jobs": context.jobs}
        grid = {key: values[:1] for key, values in grid.items()} if context.quick else grid

        def make(fixed: dict[str, Any] = fixed, **settings: Any) -> Any:
            return chainfield.EmpiricalCRF(**fixed, **settings)

        settings, note = choose(make, grid, train, dev, context, name)
        model, seconds = trained(make(**settings), train)
        yield from judged(name, model, train, test, seconds, note, PUBLISHED_FIGURES[name] if compare else ())
    for name, objective, template in (
        ("CRF", "likelihood", lafferty_template()),
        ("piecewise", "piecewise", lafferty_template()),
        ("CRF, richer spelling", "likelihood", spelling_template()),
    ):
        fixed = {"objective": objective, "template": template, "trainer": "lbfgs", "max_iter": 100}

        def make_crf(fixed: dict[str, Any] = fixed, **settings: Any) -> Any:
            return chainfield.LinearCRF(**fixed, n_jobs=context.jobs, **settings)

        grid = {"l2": (0.5,) if context.quick else (0.05, 0.5)}
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
    protocol="Training on ned.train, choices on ned.testa, test on ned.testb: 13,221 / 2,305 / 4,211 sentences, "
    "those with "
    "more than one token, -DOCSTART- kept as a token. Features: the word and the spelling features of Lafferty et al. "
    "(2001). Token accuracy in per cent; a word is unknown if the training data do not have it. How features are "
    "counted, "
    "the strength of the back-off and the penalties are chosen on ned.testa. Seconds: processor time of one training.",
    differences=(
        "Rates of pairs of words that were never seen come from a ladder of back-offs (docs/empirical.md); the paper "
        "says "
        '"similarly" and no more.',
        "CRF++ and MALLET's piecewise training are replaced by LinearCRF with 100 iterations of L-BFGS; the "
        "spelling features enter as features of labels only.",
        '"Richer spelling" (prefixes, suffixes, shapes) goes beyond the paper.',
    ),
    subset="1,500 / 500 / 500 sentences, nothing chosen",
    corpora=(CONLL2002,),
    run=run,
    quick_time="a minute",
    full_time="8 minutes",
)
