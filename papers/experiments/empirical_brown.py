"""Parts of speech in the Brown corpus (Tables 2 to 6): empirical training, by size of training data."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Any

import chainfield
from chainfield.features import lafferty_template, spelling_template
from experiments._brown import SUBSET, TABLES, load, split
from experiments._empirical import (
    PAPER,
    PENALTIES,
    STRICT,
    TO_THE_LETTER,
    Accuracy,
    accuracy,
    choose,
    rows,
    trained,
    words_of,
)
from harness.corpora import BROWN
from harness.experiment import Context, Experiment, Row

QUICK_TABLES = (1000,)
DRAWS = 5


def run(context: Context) -> Iterator[Row]:
    """EP1 and EP2 on several random choices of sentences."""
    held_out, draws = load(context.data[BROWN.name], context.seed, 1 if context.quick else DRAWS)
    rest = draws[0]
    context.log(f"{len(rest)} sentences, {len({tag for _, tags in rest for tag in tags})} tags")
    ladder = {"counted": ("tokens", "types"), "word_strength": (0.1, 0.3, 1.0, 3.0)}
    penalty = {"counted": ("tokens", "types"), "l2": PENALTIES}
    for name, options, template, grid in (
        ("EP1", {"oov": "empirical"}, lafferty_template(), ladder),
        ("EP2", {"oov": "exponential"}, lafferty_template(), penalty),
        ("EP2, to the letter", {**TO_THE_LETTER, **STRICT}, lafferty_template(), {"l2": PENALTIES}),
        ("EP2, to the letter but for pairs", {"oov": "exponential", **STRICT}, lafferty_template(), {"l2": PENALTIES}),
        ("EP2, halves", {"oov": "exponential", "pairs": "halves"}, lafferty_template(), penalty),
        ("EP2, richer spelling", {"oov": "exponential"}, spelling_template(), penalty),
        ("EP2, halves, richer spelling", {"oov": "exponential", "pairs": "halves"}, spelling_template(), penalty),
    ):
        fixed: dict[str, Any] = {**options, "template": template, "n_jobs": context.jobs}
        compare = name in ("EP1", "EP2", "EP2, to the letter")

        def make(fixed: dict[str, Any] = fixed, **settings: Any) -> Any:
            return chainfield.EmpiricalCRF(**fixed, **settings)

        if context.quick:
            grid = {key: values[-1:] for key, values in grid.items()}
        settings, note = choose(make, grid, rest[:4000], held_out, context, name)
        for n_train, (n_test, published) in TABLES.items():
            if context.quick and n_train not in QUICK_TABLES:
                continue
            found, seconds = [], []
            for every in draws:
                train, test = split(every, n_train, n_test)
                model, taken = trained(make(**settings), train)
                found.append(accuracy(train, test, model.predict(words_of(test))))
                seconds.append(taken)
                context.log(f"{name}, {n_train} sentences: {found[-1]}, {taken:.1f} s")
            setting = f"{name}, {n_train:,} training sentences"
            figures = published[name.partition(",")[0]] if compare else ()
            yield from rows(setting, *averaged(found, seconds), figures, noted(note, found))


def averaged(found: list[Accuracy], seconds: list[float]) -> tuple[Accuracy, float]:
    """Means over draws."""
    parts = [mean(getattr(one, part) for one in found) for part in ("overall", "known", "unknown")]
    return Accuracy(*parts), mean(seconds)


def noted(note: str, found: list[Accuracy]) -> str:
    """How far the draws lie apart."""
    values = [one.overall for one in found]
    return note if len(values) == 1 else f"mean of {len(values)} draws, {min(values):.2f} to {max(values):.2f}; {note}"


EXPERIMENT = Experiment(
    name="empirical-brown",
    title="Parts of speech in the Brown corpus (Tables 2 to 6): EP1 and EP2",
    paper=PAPER,
    protocol="1,000 sentences held out and 33,623 others, drawn at random from the corpus, tags as they are "
    "(means of five draws, the held-out ones in none). How features are counted, the "
    "strength of the back-off and the penalty of EP2 are chosen on the held-out sentences, with 4,000 training "
    "sentences. Features: the word and the spelling features of Lafferty et al. (2001). Token accuracy in per cent; a "
    "word is unknown if the training data do not have it. Seconds: processor time of one training.",
    differences=(
        SUBSET,
        '"EP1" and "EP2": rates of pairs of words that were never seen come from a ladder of back-offs '
        "(docs/empirical.md); the paper's μ_oov scales all labels alike and cannot change the predicted labels, so "
        "there is nothing to tune.",
        '"To the letter": EP2 with its pair function v and without smoothing, as published; the features of v are not '
        "listed there: here a(x, y) + b(x', y') + T(y, y'), the word itself among the features.",
        '"Richer spelling" (prefixes, suffixes, shapes) goes beyond the paper.',
    ),
    subset="Table 2 only, nothing chosen",
    corpora=(BROWN,),
    run=run,
    quick_time="a minute",
    full_time="15 minutes",
)
