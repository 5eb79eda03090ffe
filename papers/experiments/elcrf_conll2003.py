"""Embedded latent CRF on CoNLL-2003 with token-only input (Table 1): F1 against the number of states."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Any

from experiments._elcrf import LABELS, PAPER, Cell, cell, load, vectors
from harness.corpora import CONLL2003, GLOVE50
from harness.experiment import Context, Experiment, Row

#: F1 of Table 1: states → (LDCRF, ELCRF).
PUBLISHED = {
    8: (81.88, None),
    16: (83.69, 84.03),
    32: (84.31, 84.58),
    64: (84.52, 85.02),
    128: (84.36, 86.29),
    256: (84.82, 86.83),
    512: (84.78, 86.91),
}
SOURCE = "Table 1"
SEEDS = {8: 3, 512: 3}  # headline cells; the others have one
PASSES, PATIENCE, RATE = 16, 4, 0.003
BILSTM: dict[str, Any] = {"context": "lstm", "max_iter": PASSES, "patience": PATIENCE, "learning_rate": RATE}


def settings_of(states: int, rank: int | None, quick: bool) -> dict[str, Any]:
    """The network is the estimator's default; only the chain changes."""
    passes = {"max_iter": 2 if quick else PASSES, "patience": PATIENCE, "learning_rate": RATE}
    return {"n_states": states // LABELS, "rank": rank, **passes}


def rank_of(states: int) -> int:
    """The paper's: 16, and 8 for 16 states."""
    return 8 if states == 16 else 16


def run(context: Context) -> Iterator[Row]:
    """Every cell of the table that is kept or asked for; the headline cells over several seeds."""
    data, known = load(context), vectors(context)
    sizes = (8, 16) if context.quick else tuple(PUBLISHED)
    for states in sizes:
        for column, name in enumerate(("ldcrf", "elcrf")):
            if states == LABELS and column == 1:
                continue
            rank = rank_of(states) if column else None
            title = f"{name}-{states}" if states > LABELS else "crf-8"
            setting = "CRF, 8 states" if states == LABELS else f"{name.upper()}, {states} states"
            seeds = range(1 if context.quick else SEEDS.get(states, 1))
            settings = settings_of(states, rank, context.quick)
            found = [cell(title, settings, seed, context, data, known) for seed in seeds]
            yield from rows(setting, [c for c in found if c is not None], PUBLISHED[states][column])
    if not context.quick:
        one = cell("bilstm-crf", BILSTM, 0, context, data, known)
        yield from rows("BiLSTM + CRF, 8 states", [] if one is None else [one], None)


def rows(setting: str, cells: list[Cell], published: float | None) -> Iterator[Row]:
    """Means over seeds; nothing for a cell that was not computed."""
    if not cells:
        if published is not None:
            yield Row(setting, "F1, test", published, None, source=SOURCE, note="not run")
        return
    note = "; ".join(f"seed {c.seed}: {_told(c)}" for c in cells)
    tested = [c.test for c in cells if c.test is not None]
    seconds = mean(c.seconds for c in cells)
    source = SOURCE if published is not None else ""
    yield Row(setting, "F1, test", published, mean(tested) if tested else None, seconds, note, source)
    yield Row(setting, "F1, development", None, mean(c.dev for c in cells))


def _told(cell: Cell) -> str:
    if cell.test is None:
        return f"cut off after pass {cell.passes}, before it ended; the best on eng.testa was pass {cell.best}"
    return f"{cell.test:.2f}, pass {cell.best} of {cell.passes} chosen on eng.testa"


EXPERIMENT = Experiment(
    name="elcrf-conll2003",
    title="F1 against the number of hidden states, token-only input (Table 1)",
    paper=PAPER,
    protocol="Training on eng.train, the pass chosen on eng.testa, test on eng.testb; IOB1, 8 labels. A word's vector "
    "(50 dimensions, GloVe, trained on) and a character BiLSTM (25 + 25), dropout 0.5, a tanh layer of 100, then one "
    "score per state; the words around it are not used. Adam with a step of 0.003, batches of 20, at most 16 passes, "
    "stopped after 4 without a better development F1. The step was chosen from 0.001 and 0.003 by the first passes of "
    "the ELCRF with 512 states on eng.testa. Rank 16 (8 for 16 states). Decoding by Viterbi over states.",
    differences=(
        "GloVe vectors of 50 dimensions, in place of skip-n-gram vectors of 100; all words of the vector file are "
        "known, also those that only the test data have",
        "at most 16 passes with early stopping after 4 and a step of 0.003, in place of 200 passes",
        "batches of sentences of similar length",
        "seconds are wall time on one core, with other work on the other core and with pauses",
        "words and characters as in Lample et al. (2016); their number of hidden units is not given in the paper",
    ),
    subset="600 training sentences and two passes, so that no figure compares",
    run=run,
    corpora=(CONLL2003, GLOVE50),
    quick_time="1 min",
    full_time="45 min",
    default="quick",
)
