"""Parts of speech in the treebank's sample, hidden-unit and linear CRFs of the same features (figure 2, table 1)."""

from __future__ import annotations

from experiments._hucrf import PAPER, hidden, linear, run_table
from experiments._hucrf_data import read_treebank
from harness.corpora import TREEBANK
from harness.experiment import Experiment

PASSES = {"max_iter": 12}
UNITS = {"dtype": "float32", "max_iter": 12}
TABLE = (
    linear("linear, large margin", 3.04, options={"objective": "large_margin"} | PASSES),
    hidden(
        "hidden units, large margin, H = 500",
        2.83,
        options={"objective": "large_margin", "hidden_units": 500} | UNITS,
    ),
    linear("linear, likelihood by SGD", options={"objective": "likelihood", "trainer": "averaged"} | PASSES),
    hidden(
        "hidden units, likelihood by SGD, H = 100", options={"objective": "likelihood", "hidden_units": 100} | UNITS
    ),
    linear("linear, perceptron", options={"objective": "perceptron"} | PASSES),
    hidden("hidden units, perceptron, H = 500", options={"objective": "perceptron", "hidden_units": 500} | UNITS),
)
EXPERIMENT = Experiment(
    name="hucrf-treebank",
    title="Parts of speech, hidden units and linear, the treebank's sample",
    paper=PAPER,
    protocol="Ten random folds of sentences, 9 for training and 1 for testing, mean error of words. Words, prefixes "
    "and suffixes of four characters, and four lexical flags, each of the word and its two neighbours; 12 passes, "
    "averaged after a third of them. All steps are the library's defaults; seeds are the folds.",
    differences=(
        "The freely available sample of 3,914 sentences (94,084 words), a twentieth of the paper's 74,029 sentences: "
        "its figures are for orientation, what can be compared is the gap between linear and hidden-unit CRFs.",
        "Ten folds in place of one random division, 12 passes in place of 100, 500 or 100 units in place of 1,000.",
        "First order only: 45 labels make 2,025 states in second order.",
        "The published figures are those of the best training; the paper does not say which figure belongs to which.",
        "With steps of 0.05 or 0.1, chosen in each fold, large margin with hidden units had given 4.20 %.",
    ),
    subset="600 training sentences, one fold, 20 units, two settings",
    run=run_table(TABLE, read_treebank, "tagging error %"),
    corpora=(TREEBANK,),
    quick_time="a minute",
    full_time="6 minutes",
)
