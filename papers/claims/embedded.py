"""What Thai et al. (2017) claim of hidden states with low-rank embeddings."""

from __future__ import annotations

from harness.claims import Claim, Paper
from harness.figures import Figure, Picture

STATES = (16, 32, 64, 128, 256, 512)


def _f1(model: str, n: int, step: str = "") -> Figure:
    return Figure("elcrf-conll2003", f"{model}, {n} states{step}", "F1, test")


def _shared(metric: str) -> Figure:
    return Figure("elcrf-conll2003", "ELCRF, 64 states shared by all labels, learned ψ(z, y)", metric)


def _right(sentence: str) -> Figure:
    words = 42 if sentence.startswith("Taiwan") else 25
    return Figure("elcrf-states", sentence, f"right labels of {words}")


SENTENCES = "Both sentences are in the training data."
EMBEDDED = Paper(
    "Low-rank hidden state embeddings for Viterbi sequence labeling (Thai et al. 2017)",
    "`NeuralCRF(n_states=…, rank=…)` and `LatentCRF(rank=…)`: many hidden states behind labels. The ELCRF gets its "
    "transitions from embeddings of low rank, the LDCRF has a weight for every pair of states. Figures are F1 of "
    "entities in English news, means of three seeds, with the interval of the difference over seeds: none leaves out "
    "0. The size of steps was chosen by first passes of the ELCRF with 512 states, for all models. What the states "
    "stand for is told in [RESULTS.md](RESULTS.md), under elcrf-states.",
    (
        Claim("512 hidden states are better than none.", _f1("ELCRF", 512), _f1("CRF", 8)),
        *(
            Claim(
                f"{n} states: embedded (ELCRF) above free transitions (LDCRF).",
                _f1("ELCRF", n),
                _f1("LDCRF", n),
                tested=Figure("elcrf-conll2003", f"ELCRF against LDCRF, {n} states", "mean difference of F1"),
            )
            for n in STATES
        ),
        Claim(
            "512 states, trained by the paper's step of 0.001: embedded (ELCRF) above free transitions (LDCRF).",
            _f1("ELCRF", 512, ", a step of 0.001"),
            _f1("LDCRF", 512, ", a step of 0.001"),
            note="One seed. The paper's gap is 2.13.",
        ),
        Claim(
            "States shared by all labels, with a learned ψ(z, y), are possible, too: better than none.",
            _shared("F1, test"),
            _f1("CRF", 8),
            note="The paper proposes them and gives no figure. 64 states, two seeds: hardly more than without states.",
        ),
        Claim(
            "A state for particles in names (van, de) leads on to one for surnames: in three of four moves.",
            Figure(
                "elcrf-states",
                "ELCRF, 512 states: particles in names",
                "share of moves to its most frequent next state, %",
            ),
            reaches=75.0,
            note="The paper gives no share.",
        ),
        Claim(
            "In “Association for Relations Across the Taiwan Straits”, the ELCRF labels more words right than a CRF.",
            _right("Taiwan Straits: ELCRF, 512 states"),
            _right("Taiwan Straits: CRF, 8 states"),
            note=SENTENCES,
        ),
        Claim(
            "In “Boston's Mo Vaughn went 3-for-3 …”, the ELCRF labels more words right than a CRF.",
            _right("Boston's Mo Vaughn: ELCRF, 512 states"),
            _right("Boston's Mo Vaughn: CRF, 8 states"),
            note="The ELCRF calls Boston an organisation, as in the paper, which takes that to be right; the corpus "
            "says location.",
        ),
    ),
    (
        Picture("results/elcrf-conll2003.svg", "Entities: error against the number of hidden states"),
        Picture("results/elcrf-states.svg", "How the 512 hidden states follow each other"),
    ),
)
