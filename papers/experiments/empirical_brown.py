"""Parts of speech in the Brown corpus (Tables 2 to 6): empirical training, by size of training data."""

from __future__ import annotations

from collections.abc import Iterator

from experiments._brown import SUBSET, TABLES, load, split
from experiments._empirical import PAPER, choose, measured, rows, systems
from harness.corpora import BROWN
from harness.experiment import Context, Experiment, Row

QUICK_TABLES = (1000,)
DRAWS = 5
CHOOSE_ON = 4000  # training sentences
COMPARED = ("EP1", "EP2", "EP2, to the letter")


def run(context: Context) -> Iterator[Row]:
    """EP1 and EP2 on several random choices of sentences."""
    held_out, draws = load(context.data[BROWN.name], context.seed, 1 if context.quick else DRAWS)
    rest = draws[0]
    context.log(f"{len(rest)} sentences, {len({tag for _, tags in rest for tag in tags})} tags")
    for system in systems():
        settings, note = choose(system, rest[:CHOOSE_ON], held_out, context, "brown held out")
        for n_train, (n_test, published) in TABLES.items():
            if context.quick and n_train not in QUICK_TABLES:
                continue
            found = []
            for i, every in enumerate(draws):
                train, test = split(every, n_train, n_test)
                found.append(measured(system, settings, train, test, context, f"brown {n_train} draw {i}"))
            figures = published[system.name.partition(",")[0]] if system.name in COMPARED else ()
            yield from rows(f"{system.name}, {n_train:,} training sentences", found, figures, note)


EXPERIMENT = Experiment(
    name="empirical-brown",
    title="Parts of speech in the Brown corpus (Tables 2 to 6): EP1 and EP2",
    paper=PAPER,
    protocol="1,000 sentences held out and 33,623 others, drawn at random from the corpus, tags as they are (means of "
    "five draws, the held-out ones in none). How features are counted, the strength of the back-off and the penalty "
    "of EP2 are chosen on the held-out sentences, with 4,000 training sentences; if the best value is at the edge of "
    "a grid, the grid is extended. Features: the word and the spelling features of Lafferty et al. (2001). Token "
    "accuracy in per cent; a word is unknown if the training data do not have it. Seconds: processor time of one "
    "training.",
    differences=(
        SUBSET,
        '"EP1" and "EP2" are smoothed as the library does it: rates of pairs of words come from a ladder of '
        "back-offs (docs/empirical.md), words that were seen less than three times are judged by their spelling too, "
        "and features may be counted by types. None of that is in the paper. The paper's μ_oov scales all labels "
        "alike and cannot change the predicted labels, so there is nothing to tune.",
        '"To the letter": EP2 with its pair function v and without smoothing, as published; the features of v are not '
        "listed there: here a(x, y) + b(x', y') + T(y, y'), the word itself among the features.",
        '"Trained together": unseen words beside their known neighbours, which the paper proposes and does not try.',
        '"Richer spelling" (prefixes, suffixes, shapes) goes beyond the paper.',
    ),
    subset="Table 2 only, nothing chosen",
    corpora=(BROWN,),
    run=run,
    quick_time="a minute",
    full_time="2 hours of processor time",
    default="quick",
)
