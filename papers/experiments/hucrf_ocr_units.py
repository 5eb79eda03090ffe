"""Handwritten words: the error against the number of hidden units."""

from __future__ import annotations

from collections.abc import Sequence

from experiments._hucrf import PAPER, hidden, linear, run_table
from experiments._hucrf_data import read_ocr
from harness.corpora import OCR
from harness.curves import curves
from harness.experiment import Experiment, Row

UNITS = (10, 25, 50, 100, 250, 500, 1000)
TABLE = (
    linear("linear", options={"objective": "large_margin", "max_iter": 30}, scaling="centred"),
    *(
        hidden(
            f"H = {units}",
            options={"objective": "large_margin", "hidden_units": units, "input_pace": 1.0, "dtype": "float32"},
            scaling="centred",
        )
        for units in UNITS
    ),
)


def picture(rows: Sequence[Row]) -> str:
    """The error over the number of units; the linear model is a level line."""
    found = {row.setting: row.ours for row in rows if row.ours is not None}
    own = [(float(units), found[f"H = {units}"]) for units in UNITS if f"H = {units}" in found]
    level = [(x, found["linear"]) for x in (own[0][0], own[-1][0])]
    return curves({"linear CRF": level, "hidden-unit CRF": own}, "hidden units", "letter error, %")


EXPERIMENT = Experiment(
    name="hucrf-ocr-units",
    title="Handwritten words, error against the number of hidden units",
    paper=PAPER,
    protocol="Ten folds as they come with the data, 9 for training and 1 for testing, mean error of letters. Large "
    "margin, first order; pixels have mean 0 in the training part; an input_pace of 1 (in hucrf-ocr, folds chose "
    "0.5 or 1); everything else is the library's default; seeds are the folds.",
    differences=("The paper does not show this curve.", "30 passes in place of 100."),
    subset="one fold, 150 training words, 10 units, 3 passes",
    run=run_table(TABLE, read_ocr, "letter error %"),
    corpora=(OCR,),
    quick_time="a minute",
    full_time="6 minutes",
    picture=picture,
)
