"""Named entities in Dutch (Table 7): empirical training beside a CRF, by kind of word."""

from __future__ import annotations

from collections.abc import Iterator

import chainfield
from experiments._empirical import PAPER, Sentences, System, choose, measured, rows, systems
from experiments._piecewise import WEIGHED
from harness.corpora import CONLL2002
from harness.experiment import Context, Experiment, Row

PUBLISHED_FIGURES = {
    "EP1": (96.11, 98.8, 72.6),
    "EP2": (96.14, 98.8, 72.7),
    "EP2, to the letter": (96.14, 98.8, 72.7),
    "CRF": (96.13, 98.2, 77.4),
    "piecewise": (94.4, 97.2, 69.6),
}
PENALTIES = {"l2": (0.003, 0.01, 0.03, 0.1)}
CRFS = (
    System("CRF", "LinearCRF", grid=PENALTIES),
    System("piecewise", "LinearCRF", {"objective": "plain_piecewise"}, grid=PENALTIES),
    System("piecewise, weighed", "LinearCRF", {"objective": "piecewise"}, grid=PENALTIES),
    System("CRF, richer spelling", "LinearCRF", template="spelling", grid=PENALTIES),
)
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
    for system in (*systems(), *CRFS):
        settings, note = choose(system, train, dev, context, "ned.testa")
        found = measured(system, settings, train, test, context, "ned.testb")
        yield from rows(system.name, [found], PUBLISHED_FIGURES.get(system.name, ()), note)
        yield Row(system.name, "F1 of entities", None, found.f1)


EXPERIMENT = Experiment(
    name="empirical-dutch-ner",
    title="Named entities in Dutch (Table 7)",
    paper=PAPER,
    protocol="Training on ned.train, choices on ned.testa, test on ned.testb: 13,221 / 2,305 / 4,211 sentences, those "
    "with more than one token, -DOCSTART- kept as a token. Features: the word and the spelling features of Lafferty et "
    "al. (2001). Token accuracy in per cent; a word is unknown if the training data do not have it. How features are "
    "counted, the strength of the back-off and the penalties are chosen on ned.testa; if the best value is at the "
    "edge of a grid, the grid is extended. Seconds: processor time of one training.",
    differences=(
        '"EP1" and "EP2" are smoothed as the library does it: rates of pairs of words come from a ladder of back-offs '
        "(docs/empirical.md), words that were seen less than three times are judged by their spelling too, and "
        "features may be counted by types. None of that is in the paper.",
        '"To the letter": EP2 with its pair function v and without smoothing, as published; the features of v are not '
        "listed there: here a(x, y) + b(x', y') + T(y, y'), the word itself among the features.",
        '"Trained together": unseen words beside their known neighbours, which the paper proposes and does not try.',
        "CRF++ and MALLET's piecewise training are replaced by LinearCRF, trained by its default until it converges; "
        "the spelling features enter as features of labels only.",
        WEIGHED,
        "Plain piecewise training is the better on held-out data the smaller its penalty is: its grid was extended "
        "four times and still ends at an edge.",
        '"Richer spelling" (prefixes, suffixes, shapes) goes beyond the paper.',
    ),
    subset="1,500 / 500 / 500 sentences, nothing chosen",
    corpora=(CONLL2002,),
    run=run,
    quick_time="a minute",
    full_time="15 minutes",
)
