"""What Thai et al. (2017) claim of hidden states with low-rank embeddings."""

from __future__ import annotations

from harness.claims import Claim, Paper
from harness.figures import Figure, Picture

STATES = (16, 32, 64, 128, 256, 512)


def _f1(model: str, n: int, step: str = "") -> Figure:
    return Figure("elcrf-conll2003", f"{model}, {n} states{step}", "F1, test")


EMBEDDED = Paper(
    "Low-rank hidden state embeddings for Viterbi sequence labeling (Thai et al. 2017)",
    "`NeuralCRF(n_states=…, rank=…)` and `LatentCRF(rank=…)`: many hidden states behind labels. The ELCRF gets its "
    "transitions from embeddings of low rank, the LDCRF has a weight for every pair of states. Figures are F1 of "
    "entities in English news, means of three seeds, with the interval of the difference over seeds. What the states "
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
    ),
    (
        Picture("results/elcrf-conll2003.svg", "Entities: error against the number of hidden states"),
        Picture("results/elcrf-states.svg", "How the 512 hidden states follow each other"),
    ),
)
