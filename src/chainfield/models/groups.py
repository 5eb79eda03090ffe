"""Settings that models share, in groups. A setting is declared here once; models redeclare what they mean differently.

Where a model does without one of them (``without=`` of its class), it behaves as with the default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from chainfield.features.scale import SCALINGS
from chainfield.objectives import OBJECTIVES
from chainfield.scorers.pruner import KINDS
from chainfield.settings import Configurable, choice, flag, given, number, whole
from chainfield.trainers import TRAINERS

from .kinds import Forbidden, Jobs, LabelWeights, Seed, Template

OBJECTIVE, TRAINING, FEATURES, RULES, PREDICTION, RUNNING = (
    "Objective",
    "Training",
    "Features",
    "Rules",
    "Prediction",
    "Running",
)


class Grouped(Configurable):
    """The order in which groups are shown: what makes a model what it is comes first."""

    groups = ("Model", OBJECTIVE, TRAINING, FEATURES, RULES, PREDICTION, RUNNING)


class RunningSettings(Grouped, group=RUNNING):
    """Of every model."""

    random_state: Any = given(
        0,
        "Seed. The same data, settings and seed give the same model, bit by bit, with any number of threads.",
        Seed(),
        option="seed",
        optional=True,
    )
    n_jobs: int | None = given(None, "Number of threads; None or -1: all processors.", Jobs(), option="jobs")
    verbose: int | bool = flag(False, "Print one line per iteration.", option="")


class ObjectiveSettings(Grouped, group=OBJECTIVE):
    """What training minimises."""

    objective: str = choice(
        "likelihood",
        tuple(OBJECTIVES),
        "What training minimises. Likelihood, piecewise likelihood, pseudo-likelihood and softmax margin are smooth; "
        "perceptron and large margin follow best paths. piecewise: every step by itself, knowing how frequent the "
        "label before it is; plain_piecewise: without that, as published.",
    )
    margin: float = number(1.0, "Cost of a wrong label in the margin objectives.")
    l1: float = number(0.0, "Penalty l1 · ‖w‖₁ (CRFsuite's c1). It makes most weights exactly 0.")
    l2: float | None = number(
        None,
        "Penalty l2 · ‖w‖² (CRFsuite's c2; there is no ½). None: 0.15 (0.5 over arrays); for piecewise "
        "likelihood 0.05 (0.5), for the plain one 0.005 (0.5), for pseudo-likelihood 0.15 (5); 0 for perceptron and "
        "large margin, which averaging regularises.",
        search=(0.001, 10.0),
    )
    temperature: Any = number(
        "auto",
        "What scores are divided by before they become probabilities. auto: 1 for likelihoods; for perceptron and "
        "large margin, which have no scale of their own, the one under which development data are most probable, or a "
        "part of the training data on which smaller models are judged.",
        above=True,
        words=("auto",),
    )
    class_weight: Any = given(
        None,
        'Odds by which labels are favoured at every position: a dict, or "balanced": rare labels by the root of their '
        "rarity, at most by 3. Classes of whole sequences count by their weights, balanced ones alike.",
        LabelWeights(),
    )


class TrainingSettings(Grouped, group=TRAINING):
    """How training goes."""

    trainer: str = choice(
        "auto",
        TRAINERS,
        "How the objective is minimised. auto: a few stochastic passes, then L-BFGS (OWL-QN with l1) until the "
        "objective is within about 0.1 % of its optimum; averaged stochastic steps for objectives that are not smooth.",
    )
    max_iter: int | None = whole(
        None, "Most iterations; for online trainers, passes over the data. None: the trainer's own default."
    )
    tol: float | None = number(
        None, "Relative accuracy at which training stops. None: the trainer's own default.", above=True
    )
    learning_rate: float | None = number(
        None,
        "First step size of sgd, averaged, adam and rprop. None: sgd finds it by trial, the averaged perceptron "
        "takes 1.",
        above=True,
    )
    batch_size: int | None = whole(None, "Sequences per step, for sgd, averaged, adam and rprop.")
    average_from: int | None = whole(None, "Iterates are averaged from this pass on (sgd, averaged, adam).", least=0)
    restart_every: Any = whole(None, "Every so many passes, training continues from the average (sgd, averaged, adam).")
    aggressiveness: float | None = number(
        None,
        "How far steps of pa-i, pa-ii and mira may go (their C), and those of arow (1 / γ). None: 1.",
        above=True,
    )
    strands: int | None = whole(
        None,
        "Corpora in pieces and trainers that take steps on single sequences: parts of the data that are trained side "
        "by side and mixed after every pass. None: one for every 20,000 sequences, 1 to 16.",
    )
    patience: int | None = whole(
        None, "With development data: stop after this many iterations without a better score.", least=0
    )
    warm_start: bool = flag(False, "fit starts from the weights of the last fit.", option="")
    forgetting: float = number(
        0.0,
        "partial_fit: the share of what earlier calls taught that every call forgets. 0: all data count alike; 1: only "
        "the weights are kept, and new data may change them freely.",
        most=1.0,
        option="",
    )
    rehearsal: int = whole(
        50_000,
        "partial_fit: how many positions of earlier calls are kept in memory, never in files, and gone through again "
        "with new data, ten for each new one at most. 0: none.",
        least=0,
        option="",
    )


class FeatureSettings(Grouped, group=FEATURES):
    """From data to features."""

    template: Any = given(
        None,
        "Feature templates (CRF++, Wapiti or chainfield syntax) for rows of text columns: a TemplateSet, the text "
        "of a template, or a path. None: the built-in features for text.",
        Template(),
    )
    scaling: str = choice(
        "auto",
        SCALINGS,
        "On which scale columns of arrays are seen: from their means on (centred), in deviations from them "
        "(standardised), or as they are (none). auto: standardised if their sizes differ by more than 1,000, if none "
        "goes beyond 0.02, or if they lie far from 0 for how little they vary. The scale is that of the first training "
        "data, and part of the model; weights are those of scaled columns.",
    )
    min_count: int = whole(1, "Features that occur at fewer positions are left out.", least=0, search=(1, 2, 3))
    all_features: bool = flag(
        False, "A weight for every feature with every label, not only for pairs seen in training."
    )


class TransitionSettings(Grouped, group=FEATURES):
    """Which weights label sequences have."""

    all_transitions: bool = flag(True, "A weight for every label pair, not only for those seen in training.")
    boundary: bool = flag(True, "Weights for the first and the last label of a sequence.")


class RuleSettings(Grouped, group=RULES):
    """Hard constraints, in training and in prediction alike."""

    scheme: str | None = choice(
        None,
        ("bio", "iob2", "iob1", "bioes", "iobes", "bilou", "auto"),
        "Hard constraints of a tagging scheme, in training and in prediction; auto: the scheme that the labels follow.",
        any_case=True,
    )
    repair: str | None = choice(
        None,
        ("conlleval", "open"),
        "What becomes of training labels that break the scheme. None: they are refused; conlleval: they are rewritten "
        "as conlleval reads them; open: they count as unknown. repairs_ lists them.",
    )
    forbidden: Iterable[tuple[Any, Any]] | None = given(
        None,
        "Transitions that must not occur: pairs (from, to); (None, label) forbids a start, (label, None) an end.",
        Forbidden(),
        option="forbid",
    )


class DecoderSettings(Grouped, group=PREDICTION):
    """How labels are chosen."""

    decoder: str = choice(
        "viterbi",
        ("viterbi", "posterior"),
        "Which labels predict takes: those of the best path, which obeys all rules (viterbi), or the most probable "
        "label of each position by itself, which makes the fewest mistakes per token (posterior). May be "
        "changed after fit.",
    )


class OrderSettings(Grouped):
    """How far a label sees."""

    order: int = choice(1, (1, 2), "How many labels back a label sees.")


class PruningSettings(Grouped):
    """What inference leaves out."""

    prune: Any = number(
        "auto",
        "With many labels, inference goes over the labels that a fast model of single positions finds plausible: those "
        "with at least this probability. auto: from 142 labels on (28 in second order) 0.001, or 0.0003 below 50,000 "
        "positions of training data; else none are left out; "
        "None: all labels, exactly. May be raised after fit, not lowered.",
        most=0.5,
        words=("auto",),
        optional=True,
    )

    prune_by: str = choice(
        "softmax",
        KINDS,
        "What tells which labels are plausible. softmax: a model of single positions; dictionary: the labels that a "
        "word had in training, for words that are new or rare all labels of rare words; counts: labels whose share "
        "reaches the threshold among those of the word, or of the features of a new or rare one.",
    )


LabelStates = int | Mapping[Any, int]
