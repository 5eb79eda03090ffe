"""Bio-entity recognition on JNLPBA 2004 (Table 2) with the features of Table 1 alone: F1 and training time."""

from __future__ import annotations

from collections.abc import Iterator

from experiments._bioner import DIFFERENCES, PROTOCOL, QUICK_TEST, QUICK_TRAIN, TABLE_1, table
from experiments._latent import PAPER
from harness.corpora import CONLL2000, JNLPBA
from harness.experiment import Context, Experiment, Row


def run(context: Context) -> Iterator[Row]:
    """The table, by Table 1's features."""
    return table(TABLE_1, "bioner table 1", context)


EXPERIMENT = Experiment(
    name="latent-bioner-table1",
    title="Bio-entities of JNLPBA 2004, Table 1's features: latent perceptron, perceptron, DPLVM, CRF",
    paper=PAPER,
    protocol=f"The 7 templates of words, 12 of POS tags and 9 of orthography modes of Table 1, and a bias. {PROTOCOL}",
    differences=(
        "The paper names orthography features (prefixes, upper and lower case, and others) but does not list them: "
        "here the short shape of a word (runs of capitals, small letters, digits and other characters), without "
        "prefixes.",
        "The DPLVMs and the models of order 2 have weights shared by the states of a label, beside those of states; "
        "the paper has weights of states only.",
        *DIFFERENCES,
    ),
    subset=f"the first {QUICK_TRAIN} training and {QUICK_TEST} development and test sentences, 3 iterations, no grid",
    run=run,
    corpora=(CONLL2000, JNLPBA),
    quick_time="2 min",
    full_time="90 min of processor time",
    default="quick",
)
