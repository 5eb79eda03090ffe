"""Proteins, questions and answers, parts of speech: the error against the number of hidden units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from experiments._hucrf import PAPER, Data, Setting, hidden, linear, row
from experiments._hucrf_data import read_cb513, read_faq, read_treebank
from harness.corpora import CB513, FAQ, TREEBANK
from harness.curves import curves
from harness.experiment import Context, Experiment, Row


class Task(NamedTuple):
    """A corpus, and how both models are trained on it."""

    read: Callable[[Context], Data]
    options: dict[str, Any]
    own: dict[str, Any]  # of hidden units
    units: tuple[int, ...]
    scaling: str = ""


MARGIN, SINGLE = {"objective": "large_margin"}, {"dtype": "float32"}
BATCH = {"objective": "likelihood", "trainer": "lbfgs", "max_iter": 60, "l2": 100.0}
TASKS = {
    "proteins": Task(
        read_cb513, MARGIN | {"max_iter": 20}, SINGLE | {"input_pace": 4.0}, (10, 25, 50, 100, 250), "standardised"
    ),
    "parts of speech": Task(read_treebank, MARGIN | {"max_iter": 12}, SINGLE, (25, 50, 100, 250, 500)),
    "questions and answers": Task(read_faq, BATCH, {}, (10, 25, 50), "standardised"),
}


def settings(name: str, task: Task) -> Iterator[Setting]:
    """The linear model, and hidden units by their number."""
    yield linear(f"{name}, linear", options=task.options, scaling=task.scaling)
    for units in task.units:
        options = task.options | task.own | {"hidden_units": units}
        yield hidden(f"{name}, H = {units}", options=options, scaling=task.scaling)


def run(context: Context) -> Iterator[Row]:
    """All rows of all tasks; quick runs: the first two of the first."""
    for name, task in list(TASKS.items())[: 1 if context.quick else None]:
        data = task.read(context)
        for setting in list(settings(name, task))[: 2 if context.quick else None]:
            yield row(setting, data, "error %", context)


def picture(rows: Sequence[Row]) -> str:
    """The error of hidden units in per cent of the linear model's, over their number."""
    found = {r.setting: r.ours for r in rows if r.ours is not None}
    lines = {
        name: [(float(h), 100.0 * found[f"{name}, H = {h}"] / found[f"{name}, linear"]) for h in task.units]
        for name, task in TASKS.items()
    }
    return curves(lines, "hidden units", "error, % of the linear CRF's")


EXPERIMENT = Experiment(
    name="hucrf-units",
    title="Proteins, parts of speech, questions and answers: error against the number of hidden units",
    paper=PAPER,
    protocol="The folds, features and scaling of hucrf-cb513, hucrf-treebank and hucrf-faq, mean error over ten folds. "
    "Proteins and parts of speech: large margin, 20 and 12 passes, default steps (proteins: an input_pace of 4). "
    "Questions and answers: likelihood by L-BFGS, 60 iterations, a penalty of 100 for both models. Seeds are the "
    "folds.",
    differences=(
        "The paper does not show these curves.",
        "Ten units for 45 parts of speech are left out: with the default step their error is several times the linear "
        "CRF's.",
    ),
    subset="proteins, one fold, 10 units, 3 passes, two settings",
    run=run,
    corpora=(CB513, TREEBANK, FAQ),
    quick_time="a minute",
    full_time="20 minutes",
    picture=picture,
)
