"""Parts of speech in the Brown corpus (Tables 2 to 6): empirical training beside a CRF, by size of training data."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import chainfield
from chainfield.features import lafferty_template, spelling_template
from experiments._empirical import PAPER, Accuracy, Sentences, accuracy, choose, rows, trained, words_of
from harness.corpora import BROWN
from harness.experiment import Context, Experiment, Row

N_SENTENCES, N_HELD_OUT, N_SMALL = 34_623, 1000, 5000
# Training sentences, test sentences, and the figures of the paper: overall, known and unknown words.
TABLES: dict[int, tuple[int, dict[str, tuple[float, float, float]]]] = {
    1000: (
        4000,
        {
            "EP1": (86.7, 94.9, 55.9),
            "EP2": (86.8, 94.9, 56.3),
            "CRF": (82.6, 89.7, 56.2),
            "piecewise": (69.4, 75.3, 47.5),
        },
    ),
    2500: (
        2500,
        {
            "EP1": (90.0, 95.5, 58.2),
            "EP2": (90.2, 95.6, 58.6),
            "CRF": (87.6, 92.6, 58.8),
            "piecewise": (75.5, 80.0, 49.5),
        },
    ),
    4000: (
        1000,
        {
            "EP1": (91.7, 96.1, 60.5),
            "EP2": (91.9, 96.2, 61.4),
            "CRF": (90.1, 94.0, 62.1),
            "piecewise": (79.25, 83.0, 52.5),
        },
    ),
    17_311: (
        16_312,
        {
            "EP1": (94.18, 96.4, 60.8),
            "EP2": (94.2, 96.4, 61.0),
            "CRF": (93.2, 95.3, 62.3),
            "piecewise": (78.9, 80.8, 50.4),
        },
    ),
    32_623: (
        1000,
        {
            "EP1": (95.6, 96.9, 70.1),
            "EP2": (95.6, 96.8, 70.4),
            "CRF": (95.4, 96.1, 71.7),
            "piecewise": (82.9, 84.0, 59.9),
        },
    ),
}
QUICK_TABLES = (1000,)
CRF_TABLES = (1000, 2500, 4000)  # a CRF over hundreds of labels takes minutes for every ten thousand sentences
DRAWS = 5
CRF_ITERATIONS = 30


def load(folder: Path, seed: int) -> Sentences:
    """A random choice of sentences; tags as they are."""
    found = []
    for file in sorted(folder.glob("c[a-r][0-9][0-9]")):
        for line in file.read_text(encoding="latin-1").splitlines():
            pairs = [token.rsplit("/", 1) for token in line.split()]
            if pairs:
                found.append(([word for word, _ in pairs], [tag for _, tag in pairs]))
    random.Random(seed).shuffle(found)
    return found[:N_SENTENCES]


def run(context: Context) -> Iterator[Row]:
    """EP1 and EP2 on several random choices of sentences; the rest on the first one."""
    draws = [load(context.data[BROWN.name], context.seed + i) for i in range(1 if context.quick else DRAWS)]
    held_out, rest = draws[0][:N_HELD_OUT], draws[0][N_HELD_OUT:]
    context.log(f"{len(draws[0])} sentences, {len({tag for _, tags in draws[0] for tag in tags})} tags")
    for name, oov, template, grid, compare in (
        ("EP1", "empirical", lafferty_template(), {"counted": ("tokens", "types"), "word_strength": (0.3, 1.0)}, True),
        ("EP2", "exponential", lafferty_template(), {"counted": ("tokens", "types"), "l2": (0.1, 1.0)}, True),
        ("EP2, richer spelling", "exponential", spelling_template(), {"counted": ("types",), "l2": (0.1, 0.3)}, False),
    ):
        fixed: dict[str, Any] = {"oov": oov, "template": template, "n_jobs": context.jobs}

        def make(fixed: dict[str, Any] = fixed, **settings: Any) -> Any:
            return chainfield.EmpiricalCRF(**fixed, **settings)

        if context.quick:
            grid = {key: values[-1:] for key, values in grid.items()}
        settings, note = choose(make, grid, rest[:4000], held_out, context, name)
        for n_train, (n_test, published) in TABLES.items():
            if context.quick and n_train not in QUICK_TABLES:
                continue
            found, seconds = [], []
            for every in draws if compare else draws[:1]:
                train, test = split(every[N_HELD_OUT:], n_train, n_test)
                model, taken = trained(make(**settings), train)
                found.append(accuracy(train, test, model.predict(words_of(test))))
                seconds.append(taken)
                context.log(f"{name}, {n_train} sentences: {found[-1]}, {taken:.1f} s")
            setting = f"{name}, {n_train:,} training sentences"
            yield from rows(setting, *averaged(found, seconds), published[name] if compare else (), noted(note, found))
    if not context.quick:
        yield from standard(rest, context)


def averaged(found: list[Accuracy], seconds: list[float]) -> tuple[Accuracy, float]:
    """Means over draws."""
    parts = [mean(getattr(one, part) for one in found) for part in ("overall", "known", "unknown")]
    return Accuracy(*parts), mean(seconds)


def noted(note: str, found: list[Accuracy]) -> str:
    """How far the draws lie apart."""
    values = [one.overall for one in found]
    return note if len(values) == 1 else f"mean of {len(values)} draws, {min(values):.2f} to {max(values):.2f}; {note}"


def split(rest: Sentences, n_train: int, n_test: int) -> tuple[Sentences, Sentences]:
    """Training sentences first, test sentences last; the three small tables use the same 5,000 sentences."""
    chosen = rest[:N_SMALL] if n_train + n_test == N_SMALL else rest
    return chosen[:n_train], chosen[len(chosen) - n_test :]


def standard(rest: Sentences, context: Context) -> Iterator[Row]:
    """A CRF and piecewise training with the same features."""
    for n_train in CRF_TABLES:
        n_test, published = TABLES[n_train]
        train, test = split(rest, n_train, n_test)
        for name, objective in (("CRF", "likelihood"), ("piecewise", "piecewise")):
            crf = chainfield.LinearCRF(
                objective=objective, template=lafferty_template(), trainer="lbfgs", max_iter=CRF_ITERATIONS,
                n_jobs=context.jobs,
            )  # fmt: skip
            model, seconds = trained(crf, train)
            found = accuracy(train, test, model.predict(words_of(test)))
            context.log(f"{name}, {n_train} sentences: {found}, {seconds:.1f} s")
            note = f"l2 = 0.5, {CRF_ITERATIONS} iterations"
            yield from rows(f"{name}, {n_train:,} training sentences", found, seconds, published[name], note)


EXPERIMENT = Experiment(
    name="empirical-brown",
    title="Parts of speech in the Brown corpus (Tables 2 to 6)",
    paper=PAPER,
    protocol="34,623 sentences drawn at random from the corpus, tags as they are (EP1 and EP2: mean of five draws, "
    "the rest: the first one); 1,000 of them held out, by which how "
    "features are counted, the strength of the back-off and the penalty of EP2 are chosen (with 4,000 training "
    "sentences). "
    "Features: the word and the spelling features of Lafferty et al. (2001). Token accuracy in per cent; a word is "
    "unknown "
    "if the training data do not have it. Seconds: one training.",
    differences=(
        "The paper's 34,623 sentences with 252 tags could not be identified: the whole corpus has 57,340 sentences "
        "and 472 "
        "tag strings. A random choice with all tag strings is used, which is harder by the number of tags.",
        "Rates of pairs of words that were never met climb a ladder of back-offs (docs/empirical.md); the paper's "
        "μ_oov "
        "scales all labels alike and cannot change the labels that are found, so that there is nothing to tune.",
        "CRF++ and MALLET's piecewise training are replaced by LinearCRF with 30 iterations of L-BFGS, for the "
        "smallest "
        "tables only: the paper's own took hours to weeks.",
        '"Richer spelling" (prefixes, suffixes, shapes) goes beyond the paper.',
    ),
    subset="Table 2 only, nothing chosen, no CRF",
    corpora=(BROWN,),
    run=run,
    quick_time="a minute",
    full_time="15 minutes",
)
