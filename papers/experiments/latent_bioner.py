"""Bio-entity recognition on JNLPBA 2004 (Table 2): the latent perceptron against its rivals, F1 and training time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import chainfield
from experiments._latent import PAPER, PUBLISHED, Sequences, trained
from harness.cells import kept
from harness.corpora import CONLL2000, JNLPBA
from harness.experiment import Context, Experiment, Row
from harness.tagging import Figure, comparison_rows, score_rows

STATES = (2, 4)
QUICK_TRAIN, QUICK_TEST = 500, 300
POS_PASSES = 6
PASSES, ITERATIONS = 30, 300


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
LINES = [f"U:{i}={cells}" for i, cells in enumerate([*WORDS, *TAGS, *MODES, *AFFIXES, *FORMS])]
TEMPLATE = "\n".join([*LINES, "U:bias", "B", ""])


@dataclass(frozen=True)
class Setting:
    """A row of the table. Development data choose one of at most so many ``passes``, and one of ``grid``."""

    title: str
    kind: type[Any]
    options: Mapping[str, Any]
    passes: int = PASSES
    figure: Figure | None = None
    grid: tuple[Mapping[str, Any], ...] = ({},)


def settings() -> Iterator[Setting]:
    """Perceptrons for all three cut-offs, batch training where it can be had."""
    plain, latent = chainfield.LinearCRF, chainfield.LatentCRF
    hidden = {"n_states": STATES[0], "n_init": 1}
    states = tuple({"n_states": n} for n in STATES)
    figures = {15: (67.33, 65.83), 5: (68.49, 65.61), 2: (70.13, 68.93)}
    for cc, (ours, theirs) in figures.items():
        options = {"min_count": cc, "objective": "perceptron"}
        title = f"latent perceptron, cc = {cc}, order 1"
        yield Setting(title, latent, options | {"n_init": 1}, PASSES, Figure(ours, PUBLISHED), states)
        yield Setting(f"perceptron, cc = {cc}, order 1", plain, options, PASSES, Figure(theirs, PUBLISHED))
    second = {"min_count": 2, "objective": "perceptron", "order": 2}
    yield Setting("latent perceptron, cc = 2, order 2", latent, second | hidden, PASSES, Figure(70.51, PUBLISHED))
    yield Setting("perceptron, cc = 2, order 2", plain, second, PASSES, Figure(70.07, PUBLISHED))
    alone = {"min_count": 15, "objective": "perceptron", "share_labels": False, "n_states": 4, "n_init": 1}
    yield Setting("latent perceptron, 4 states, states only, cc = 15, order 1", latent, alone)
    batch = {"min_count": 15, "trainer": "lbfgs"}
    yield Setting("CRF by L-BFGS, cc = 15, order 1", plain, batch, ITERATIONS, Figure(64.17, PUBLISHED))
    sgd = {"min_count": 15, "trainer": "sgd"}
    yield Setting("DPLVM by SGD, cc = 15, order 1", latent, sgd | hidden, PASSES, Figure(65.96, PUBLISHED))
    title = "DPLVM by L-BFGS, cc = 15, order 1"
    yield Setting(title, latent, batch | hidden, ITERATIONS, Figure(67.41, PUBLISHED))


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


def cell(setting: Setting, data: Data, context: Context) -> dict[str, Any]:
    """Train all of the grid, take the best on the development data, and tag the test data with it."""
    common = {"template": TEMPLATE, "scheme": "bio", "random_state": context.seed, "n_jobs": context.jobs}
    passes = min(setting.passes, 5) if context.quick else setting.passes
    found: dict[str, Any] = {"dev": -1.0}
    for candidate in setting.grid[:1] if context.quick else setting.grid:
        model = setting.kind(**setting.options, **candidate, **common, max_iter=passes)
        model, seconds = trained(model, *data.train, X_dev=data.dev[0], y_dev=data.dev[1])
        dev = 100 * max(record["dev_score"] for record in model.history_)
        choice = f"{candidate['n_states']} states per label, chosen from {STATES}; " if candidate else ""
        share = f"{model.n_iter_} iterations, the best on the development data is number {model.best_iteration_}"
        note = f"{choice}{share} (F1 {dev:.2f} there); {model.tagger_.n_weights:,} weights"
        context.log(f"{setting.title}: {seconds:.0f} s, {note}")
        if dev > found["dev"]:
            found = {"dev": dev, "seconds": seconds, "note": note, "labels": model.predict(data.test[0])}
    return found


def run(context: Context) -> Iterator[Row]:
    """All rows, then McNemar's test between latent and plain perceptron of the same features."""
    data, accuracy = load(context)
    yield Row("POS tagger", "accuracy on CoNLL-2000, test", None, 100 * accuracy, note="for the POS features below")
    y_test = data.test[1]
    predicted: dict[str, Sequences] = {}
    for setting in settings():
        told = {"model": setting.kind.__name__, **setting.options, "grid": setting.grid, "passes": setting.passes}
        found = kept(f"bioner {setting.title}", told, context, lambda setting=setting: cell(setting, data, context))
        predicted[setting.title] = found["labels"]
        title, seconds, note = setting.title, found["seconds"], found["note"]
        yield from score_rows(title, y_test, found["labels"], seconds, context.seed, note, setting.figure)
    for order, cc in ((1, 15), (1, 5), (1, 2), (2, 2)):
        first, second = (predicted[f"{name}, cc = {cc}, order {order}"] for name in ("latent perceptron", "perceptron"))
        title = f"latent perceptron against perceptron, cc = {cc}, order {order}"
        yield from comparison_rows(title, y_test, first, second, context.seed)


EXPERIMENT = Experiment(
    name="latent-bioner",
    title="Bio-entities of JNLPBA 2004: latent perceptron, perceptron, DPLVM, CRF",
    paper=PAPER,
    protocol="Training on 16,807 sentences (1,800 abstracts), settings chosen on the 1,739 of the development data "
    "(200 abstracts): of all passes, the one with the best F1 there is kept, and of 2 and 4 states per label the "
    "better "
    "one where the note says so (elsewhere 2, unless the row says more). Test on 3,856 sentences (404 abstracts), F1 "
    "of spans in per cent. The latent perceptron is averaged and restarted from the average every 4th pass. States "
    "share weights of their label, unless the row says states only. cc: features that occur at fewer positions are "
    "left out. BIO rules hold. Seconds: training with extraction of features and scoring of the development data after "
    "each iteration, without compilation. Significance: McNemar's test.",
    differences=(
        "The corpus has no POS column. POS tags come from a tagger trained with this library on the words and POS tags "
        f"of CoNLL-2000 (Wall Street Journal): an averaged perceptron, {POS_PASSES} passes, built-in features.",
        "Table 1 names orthography modes but does not say what they are: here the short shape of a word, prefixes and "
        "suffixes of 2 to 4 letters, lower-cased neighbours. These features are richer than the paper's.",
        "Features are combined with states, transitions with state pairs (and triples in order 2); the paper "
        "combines every feature with pairs and triples as well. The paper has 4 states per label, and weights of "
        "states only.",
        f"Passes are {PASSES} at most (the paper: up to 100), iterations of L-BFGS {ITERATIONS} as in the paper.",
    ),
    subset=f"the first {QUICK_TRAIN} training and {QUICK_TEST} development and test sentences, 5 iterations",
    run=run,
    corpora=(CONLL2000, JNLPBA),
    quick_time="2 min",
    full_time="15 min",
    default="quick",
)
