"""Parts of speech in the Brown corpus (Tables 2 to 6): a CRF and piecewise training, beside empirical training."""

from __future__ import annotations

from collections.abc import Iterator

from experiments._brown import SUBSET, TABLES, load, split
from experiments._empirical import PAPER, System, choose, measured, rows
from experiments._piecewise import WEIGHED
from harness.corpora import BROWN
from harness.experiment import Context, Experiment, Row

QUICK_SIZES = (1000,)
CHOOSE_ON = 4000  # training sentences
PENALTIES = {"l2": (0.01, 0.03, 0.1)}
# The default trainer makes six passes where labels are pruned; this one goes on until it converges.
BATCH = {"trainer": "lbfgs", "max_iter": 300}
SMALL, DRAWS = 4000, 3
SYSTEMS = (
    System("CRF", "LinearCRF", BATCH, grid=PENALTIES),
    System("piecewise", "LinearCRF", {"objective": "plain_piecewise", **BATCH}, grid=PENALTIES),
    System("piecewise, weighed", "LinearCRF", {"objective": "piecewise", **BATCH}, grid=PENALTIES),
)


def run(context: Context) -> Iterator[Row]:
    """The draws of sentences of empirical-brown; of the large tables, the first."""
    held_out, draws = load(context.data[BROWN.name], context.seed, 1 if context.quick else DRAWS)
    for system in SYSTEMS:
        settings, note = choose(system, draws[0][:CHOOSE_ON], held_out, context, "brown held out")
        for n_train in QUICK_SIZES if context.quick else TABLES:
            n_test, published = TABLES[n_train]
            found = []
            for i, every in enumerate(draws if n_train <= SMALL else draws[:1]):
                train, test = split(every, n_train, n_test)
                found.append(measured(system, settings, train, test, context, f"brown {n_train} draw {i}"))
            yield from rows(
                f"{system.name}, {n_train:,} training sentences", found, published.get(system.name, ()), note
            )


EXPERIMENT = Experiment(
    name="empirical-brown-crf",
    title="Parts of speech in the Brown corpus (Tables 2 to 6): standard and piecewise training",
    paper=PAPER,
    protocol="The draws of sentences of empirical-brown, the same splits and features: the word and the spelling "
    "features of Lafferty et al. (2001) with their labels, and label pairs. Means of three draws; of the tables with "
    "17,311 and 32,623 sentences, the first draw. The penalty is chosen on the 1,000 held-out sentences, with 4,000 "
    "training sentences; its grid goes on where the best value lies at its edge. LinearCRF by L-BFGS until it "
    "converges, 300 iterations at most (notes say why it stopped); labels that a model of single positions finds "
    "implausible are pruned in training and prediction (docs/many_labels.md), but not in piecewise training. Token "
    "accuracy in per cent; a word is unknown if the training data do not have it. Seconds: processor time of one "
    "training.",
    differences=(
        SUBSET,
        "CRF++ and MALLET's piecewise training are replaced by LinearCRF.",
        WEIGHED,
    ),
    subset="Table 2 only, nothing chosen",
    corpora=(BROWN,),
    run=run,
    quick_time="a minute",
    full_time="4 hours of processor time",
    default="quick",
)
