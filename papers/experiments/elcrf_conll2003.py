"""Embedded latent CRF on CoNLL-2003 with token-only input (Table 1): F1 against the number of states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import mean, stdev
from typing import Any

from experiments._elcrf import LABELS, PAPER, Cell, cell, load, vectors
from harness.corpora import CONLL2003, GLOVE50
from harness.curves import curves
from harness.experiment import Context, Experiment, Row
from harness.tagging import comparison_rows

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
SEEDS = 3
PASSES, PATIENCE, RATE = 100, 10, 0.003
BILSTM: dict[str, Any] = {"context": "lstm", "max_iter": PASSES, "patience": PATIENCE, "learning_rate": RATE}
SLOW = 0.001  # the paper's step
STUDENT = 4.303  # 97.5 % of Student's t with two degrees of freedom
SHARED = 64  # hidden states that all labels share


def settings_of(states: int, rank: int | None, quick: bool) -> dict[str, Any]:
    """The network is the estimator's default; only the chain changes."""
    passes = {"max_iter": 2 if quick else PASSES, "patience": PATIENCE, "learning_rate": RATE}
    return {"n_states": states // LABELS, "rank": rank, **passes}


def rank_of(states: int) -> int:
    """The paper's: 16, and 8 for 16 states."""
    return 8 if states == 16 else 16


def run(context: Context) -> Iterator[Row]:
    """Every cell of the table that is kept or asked for, each over several seeds; then what goes beyond it."""
    data, known = load(context), vectors(context)
    gold = data[2][1]

    def cells(title: str, settings: dict[str, Any], n: int = SEEDS) -> list[Cell]:
        found = (cell(title, settings, seed, context, data, known) for seed in range(1 if context.quick else n))
        return [one for one in found if one is not None]

    for states in (8, 16) if context.quick else tuple(PUBLISHED):
        both = []
        for column, name in enumerate(("ldcrf", "elcrf")):
            if states == LABELS and column == 1:
                continue
            rank = rank_of(states) if column else None
            title = f"{name}-{states}" if states > LABELS else "crf-8"
            setting = "CRF, 8 states" if states == LABELS else f"{name.upper()}, {states} states"
            both.append(cells(title, settings_of(states, rank, context.quick)))
            yield from rows(setting, both[-1], PUBLISHED[states][column])
        if len(both) == 2:
            yield from gap(f"ELCRF against LDCRF, {states} states", *both, gold, context.seed)
    most = 16 if context.quick else 512
    for name, rank in (("LDCRF", None), ("ELCRF", rank_of(most))):
        settings = settings_of(most, rank, context.quick) | {"learning_rate": SLOW}
        yield from rows(f"{name}, {most} states, a step of {SLOW}", cells(f"{name}-{most} slow", settings, 1), None)
    shared = settings_of(most, rank_of(most), context.quick) | {"n_states": most // LABELS, "share_states": True}
    title = f"ELCRF, {most // LABELS} states shared by all labels, learned ψ(z, y)"
    yield from rows(title, cells(f"shared-{most}", shared), None)
    if not context.quick:
        yield from rows("BiLSTM + CRF, 8 states", cells("bilstm-crf", BILSTM, 1), None)


def rows(setting: str, cells: list[Cell], published: float | None) -> Iterator[Row]:
    """Means over seeds; nothing for a cell that was not computed."""
    if not cells:
        if published is not None:
            yield Row(setting, "F1, test", published, None, source=SOURCE, note="not run")
        return
    note = "; ".join(f"seed {c.seed}: {_told(c)}" for c in cells)
    seconds = mean(c.seconds for c in cells)
    source = SOURCE if published is not None else ""
    yield Row(setting, "F1, test", published, mean(c.test for c in cells), seconds, note, source)
    yield Row(setting, "F1, development", None, mean(c.dev for c in cells))


def _told(cell: Cell) -> str:
    cap = " (the cap)" * (cell.passes >= cell.settings["max_iter"])
    return f"{cell.test:.2f}, pass {cell.best} of {cell.passes}{cap} chosen on eng.testa"


def gap(setting: str, ldcrf: list[Cell], elcrf: list[Cell], gold: list[list[str]], seed: int) -> Iterator[Row]:
    """The mean difference over seeds with its interval, and paired tests of the first seed."""
    gains = [b.test - a.test for a, b in zip(ldcrf, elcrf, strict=False)]
    if not gains:
        return
    interval = None
    if len(gains) == SEEDS:
        half = STUDENT * stdev(gains) / math.sqrt(len(gains))
        interval = (mean(gains) - half, mean(gains) + half)
    states = int(setting.split()[-2])
    before, behind = PUBLISHED[states]
    paper = None if before is None or behind is None else round(behind - before, 2)
    note = f"seeds: {', '.join(f'{gain:+.2f}' for gain in gains)}; the interval is Student's, over seeds"
    yield Row(setting, "mean difference of F1", paper, mean(gains), None, note, SOURCE if paper else "", interval)
    yield from comparison_rows(f"{setting}, seed 0", gold, elcrf[0].labels, ldcrf[0].labels, seed)


def picture(rows: Sequence[Row]) -> str:
    """Errors over the number of states, here and in the paper."""
    found = {row.setting: row.ours for row in rows if row.metric == "F1, test"}
    lines: dict[str, list[tuple[float, float]]] = {}
    for states, published in PUBLISHED.items():
        for name, figure in zip(("LDCRF", "ELCRF"), published, strict=True):
            ours = found.get(f"{name}, {states} states")
            for told, f1 in ((f"{name} here", ours), (f"{name}, published", figure)):
                if f1 is not None and states > LABELS:
                    lines.setdefault(told, []).append((float(states), 100.0 - f1))
    return curves(lines, "hidden states", "100 - F1")


EXPERIMENT = Experiment(
    name="elcrf-conll2003",
    title="F1 against the number of hidden states, token-only input (Table 1)",
    paper=PAPER,
    protocol="Training on eng.train, the pass chosen on eng.testa, test on eng.testb; IOB1, 8 labels. A word's vector "
    "(50 dimensions, GloVe, trained on) and a character BiLSTM (25 + 25), dropout 0.5, a tanh layer of 100, then one "
    "score per state; the words around it are not used. Adam with a step of 0.003 and an epsilon of 1e-6 (the "
    "paper's), batches of 20, until 10 passes brought no better development F1, and 100 passes at most; mean of three "
    "seeds. The step was chosen from 0.001 and 0.003 by the first passes of the ELCRF with 512 states on eng.testa; "
    "two rows have the paper's 0.001. Rank 16 (8 for 16 states). Decoding by Viterbi over states. Differences of ELCRF "
    "and LDCRF: by seed, and by McNemar's test and a paired bootstrap of the first seed.",
    differences=(
        "GloVe vectors of 50 dimensions, in place of skip-n-gram vectors of 100; all words of the vector file are "
        "known, also those that only the test data have",
        "early stopping after 10 passes without a gain, 100 passes at most, and a step of 0.003; the paper: 200 passes "
        "at most, early stopping of a kind that it does not describe, and a step of 0.001",
        "matrices of the network start as in Glorot and Bengio (2010), as in the paper; word and character vectors "
        "that are not given start uniformly as in Lample et al. (2016), full transitions uniformly within 0.1",
        "batches of sentences of similar length",
        "words and characters as in Lample et al. (2016); their number of hidden units is not given in the paper",
        "hidden states that all labels share are tractable, as the paper says, but it does not try them; here by "
        "two seeds",
    ),
    subset="600 training sentences and two passes, so that no figure compares",
    run=run,
    corpora=(CONLL2003, GLOVE50),
    quick_time="2 min",
    full_time="5 hours of processor time",
    default="quick",
    picture=picture,
)
