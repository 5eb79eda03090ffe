"""Bio-entity recognition on JNLPBA 2004 (Table 2) with richer features than the paper's: F1 and training time."""

from __future__ import annotations

from collections.abc import Iterator

from experiments._bioner import DIFFERENCES, PROTOCOL, QUICK_TEST, QUICK_TRAIN, RICHER, table
from experiments._latent import PAPER
from harness.corpora import CONLL2000, JNLPBA
from harness.experiment import Context, Experiment, Row


def run(context: Context) -> Iterator[Row]:
    """The table, by Table 1's features with affixes and shapes."""
    return table(RICHER, "bioner", context)


EXPERIMENT = Experiment(
    name="latent-bioner",
    title="Bio-entities of JNLPBA 2004, features with affixes: latent perceptron, perceptron, DPLVM, CRF",
    paper=PAPER,
    protocol=PROTOCOL,
    differences=(
        "The paper names orthography features (prefixes, upper and lower case, and others) but does not list them: "
        "here the short shape of a word, prefixes and suffixes of 2 to 4 letters, lower-cased neighbours. These "
        "features are richer than the paper's; latent-bioner-table1 has Table 1's alone.",
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
