"""Parts of speech in the Brown corpus (Tables 2 to 6): a CRF and piecewise training, beside empirical training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import chainfield
from chainfield.features import lafferty_template
from experiments._brown import SUBSET, TABLES, load, split
from experiments._empirical import PAPER, accuracy, choose, rows, trained, words_of
from harness.corpora import BROWN
from harness.experiment import Context, Experiment, Row

QUICK_SIZES = (1000,)
ITERATIONS, QUICK_ITERATIONS = 40, 5
GRID = {"l2": (0.05, 0.5)}
CHOOSE_ON = 1000  # training sentences


def run(context: Context) -> Iterator[Row]:
    """The first draw of sentences of empirical-brown."""
    held_out, (rest,) = load(context.data[BROWN.name], context.seed)
    iterations = QUICK_ITERATIONS if context.quick else ITERATIONS
    grid = {"l2": GRID["l2"][-1:]} if context.quick else GRID
    notes = {}
    for name, objective in (("CRF", "likelihood"), ("piecewise", "piecewise")):

        def make(objective: str = objective, **settings: Any) -> Any:
            return chainfield.LinearCRF(
                objective=objective, template=lafferty_template(), trainer="lbfgs", max_iter=iterations,
                n_jobs=context.jobs, **settings,
            )  # fmt: skip

        notes[name] = (make, *choose(make, grid, rest[:CHOOSE_ON], held_out, context, name))
    for n_train in QUICK_SIZES if context.quick else TABLES:
        n_test, published = TABLES[n_train]
        train, test = split(rest, n_train, n_test)
        for name, (make, settings, note) in notes.items():
            model, seconds = trained(make(**settings), train)
            found = accuracy(train, test, model.predict(words_of(test)))
            context.log(f"{name}, {n_train} sentences: {found}, {seconds:.1f} s")
            note = f"{iterations} iterations; {note}"
            yield from rows(f"{name}, {n_train:,} training sentences", found, seconds, published[name], note)


EXPERIMENT = Experiment(
    name="empirical-brown-crf",
    title="Parts of speech in the Brown corpus (Tables 2 to 6): standard and piecewise training",
    paper=PAPER,
    protocol="The first draw of sentences of empirical-brown, the same splits and features: the word and the spelling "
    "features of Lafferty et al. (2001) with their labels, and label pairs. The penalty is chosen on the 1,000 "
    "held-out sentences, with 1,000 training sentences. 40 iterations of L-BFGS. Token accuracy in per cent; a word is "
    "unknown if the training data do not have it. Seconds: processor time of one training.",
    differences=(
        SUBSET,
        "CRF++ and MALLET's piecewise training are replaced by LinearCRF, stopped after 40 iterations; the paper's own "
        "took hours to weeks. From 17,311 sentences on, 40 iterations are visibly too few: those "
        "figures are a lower bound.",
    ),
    subset="Table 2 only, 5 iterations, nothing chosen",
    corpora=(BROWN,),
    run=run,
    quick_time="a minute",
    full_time="half an hour",
)
