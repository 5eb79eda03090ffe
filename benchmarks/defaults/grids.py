"""Which models are tried, and with which settings: the defaults, and one setting at a time beside them."""

from __future__ import annotations

from collections.abc import Iterator

from .cells import Cell, Family

NAMES = ("names-nl", "names-en", "names-wiki", "names-bio")
SPARSE = ("chunks", *NAMES, "tags", "slots", "addresses")
ARRAYS = ("letters", "proteins")
SOME = ("chunks", "names-nl", "names-wiki", "slots", "addresses")  # for models that take long

PENALTIES = ("l2", (0.05, 0.5, 0.015, 1.5))
FAMILIES = (
    Family(
        "LinearCRF, piecewise",
        "LinearCRF",
        (*SPARSE, *ARRAYS),
        (("l2", (0.15, 0.015, 0.5, 0.005)), ("objective", ("plain_piecewise",))),
        {"objective": "piecewise"},
    ),
    Family(
        "LinearCRF, pseudo-likelihood",
        "LinearCRF",
        (*SPARSE, *ARRAYS),
        (("l2", (0.15, 1.5, 5.0, 0.05)),),
        {"objective": "pseudolikelihood"},
    ),
    Family(
        "LinearCRF",
        "LinearCRF",
        (*SPARSE, *ARRAYS),
        (PENALTIES, ("order", (2,)), ("min_count", (2,)), ("all_features", (True,)), ("all_transitions", (False,))),
    ),
    Family(
        "HiddenCRF",
        "HiddenCRF",
        ("vowels", "phones", "words"),
        (
            ("kappa", (0.1, 0.03, 1.0)),
            ("l2", (1.0, 30.0, 100.0, 300.0)),
            ("n_components", (2, 4)),
            ("n_states", (1, 2, 5)),
            ("max_iter", (10, 40)),
            ("trainer", ("lbfgs",)),
        ),
    ),
    Family(
        "HMMClassifier",
        "HMMClassifier",
        ("vowels", "phones", "words"),
        (
            ("n_components", (2, 4, 8)),
            ("n_states", (1, 2, 4, 5, 6, 8)),
            ("variance_floor", (0.003, 0.05, 0.2)),
            ("smoothing", (0.1, 1.0)),
            ("topology", ("ergodic",)),
        ),
    ),
    Family(
        "HiddenCRF over words",
        "HiddenCRF",
        ("intents",),
        (("n_states", (1, 2, 5)), ("l2", (0.05, 0.5)), ("topology", ("ergodic",))),
    ),
    Family(
        "HiddenUnitCRF",
        "HiddenUnitCRF",
        (*SOME, "tags", *ARRAYS),
        (
            ("hidden_units", (50, 200)),
            ("objective", ("likelihood", "perceptron")),
            ("max_iter", (15, 60, 120)),
            ("input_pace", (1.0, 4.0)),
        ),
    ),
    Family(
        "LinearCRF, perceptron",
        "LinearCRF",
        SPARSE,
        (("max_iter", (5, 20)), ("min_count", (2,))),
        {"objective": "perceptron", "temperature": 1.0},
    ),
    Family(
        "LinearCRF, large margin",
        "LinearCRF",
        SPARSE,
        (("max_iter", (5, 20)), ("margin", (0.3, 3.0))),
        {"objective": "large_margin", "temperature": 1.0},
    ),
    Family("LinearCRF, softmax margin", "LinearCRF", SPARSE, (PENALTIES,), {"objective": "softmax_margin"}),
    Family("MEMM", "MEMM", SPARSE, (("l2", (0.015, 0.15, 0.5)), ("order", (2,)))),
    Family(
        "EmpiricalCRF",
        "EmpiricalCRF",
        SPARSE,
        (
            ("oov", ("empirical",)),
            ("pairs", ("halves",)),
            ("min_count", (1, 6)),
            ("word_strength", (0.1, 1.0)),
            ("feature_strength", (0.1, 1.0)),
        ),
    ),
    Family(
        "LatentCRF",
        "LatentCRF",
        SOME,
        (("n_states", (1, 3)), ("l2", (0.05, 0.5)), ("share_labels", (False,)), ("n_init", (1,))),
    ),
    Family(
        "LatentCRF, perceptron",
        "LatentCRF",
        SOME,
        (("n_states", (1, 3)), ("max_iter", (5, 20)), ("start_scale", (0.3,))),
        {"objective": "perceptron", "temperature": 1.0, "n_init": 1},
    ),
    Family(
        "NeuralCRF",
        "NeuralCRF",
        ("names-wiki", "slots"),
        (("max_iter", (25,)), ("dropout", (0.3,)), ("learning_rate", (1e-3, 1e-2)), ("unknown", (0.2,))),
    ),
)


def cells() -> Iterator[Cell]:
    """All of them: the defaults of every family, then the first choice beside them of every family, and so on."""
    longest = max(len(family.choices()) for family in FAMILIES)
    for rank in range(longest):
        for family in FAMILIES:
            choices = family.choices()
            for corpus in family.corpora if rank < len(choices) else ():
                yield Cell(family, tuple(choices[rank].items()), corpus)
