"""The hidden-unit conditional random field (van der Maaten, Welling and Saul 2011)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DataWarning
from chainfield.features.batch import Batch
from chainfield.features.map import FeatureMap
from chainfield.fitted import Tagger, herd_of
from chainfield.inspection.units import UnitPortrait, portraits, unit_posteriors, units_of
from chainfield.models.compose import Material, transitions
from chainfield.models.constraints import ordered_space
from chainfield.models.estimator import ChainTagger
from chainfield.models.inputs import split_sequences
from chainfield.models.settings import check_number, check_whole, seed_of
from chainfield.objectives import Objective
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.problem import Problem
from chainfield.scorers import Boundary, Chain, HiddenUnits
from chainfield.states import StateSpace
from chainfield.trainers import SGD, Trainer, resolve_trainer

from .herding import Herding
from .pretraining import PRETRAININGS, pretrain

# Steps relative to those of transitions. A step on the input weights moves the input of a unit by its size times
# the squared norm of x: dividing by the mean of that makes the scale of the data immaterial.
UNIT_PACE, PACE = 0.1, 2.0
# The step of transitions, relative to the margin. Scores of max objectives are homogeneous: multiplying steps, start
# and margin by one number changes nothing, so that this is one knob, not three. It is for a thousand units: with more
# of them a step on all moves a score further, so that it falls with the root of their number.
STEP, UNITS = 0.006, 1000
# The start, for max objectives, relative to the step: deviations of w · x and of the output weights.
START_INPUT, START_OUTPUT = 1.0, 0.1
# The start for sums, whose scores have a scale of their own.
SUM_INPUT, SUM_OUTPUT = 0.3, 0.1
# And the step: a trial of a few hundred sequences, as for convex models, tells little where the start is a saddle.
SUM_STEP = 0.2
# Both are for sequences of up to this length. The gradient of a longer one is a sum of more terms, partly alike: steps
# fall with this power of the length; a maximum has no gradient where labels are right.
LENGTH, MAX_POWER, SUM_POWER = 25.0, 0.75, 1.0
BATCH_L2 = 0.05
PASSES, BURN_IN = 30, 10
# Columns whose sizes differ by more than this share no step size.
WILD = 1e3


@final
class HiddenUnitCRF(ChainTagger):
    """A tagger with binary hidden units between features and labels: not linear in its features, inference exact.

    Parameters
    ----------
    hidden_units : int
        How many. More are better and cost more; some hundred are usual.
    order, l1, tol, batch_size, restart_every, patience, template, min_count, all_transitions, boundary, scheme, \
forbidden, class_weight, warm_start, random_state, n_jobs, verbose
        As for LinearCRF.
    objective : "large_margin", "perceptron", "likelihood" or "softmax_margin"
        What training minimises. With the first two, units take their best values; with the others they are summed out.
    trainer : "auto", "averaged", "herding", "sgd", "adam", "lbfgs" or "rprop"
        "auto": averaged stochastic steps. "herding": the same steps, but the parameters of all passes are kept, and
        their predictions vote; for "large_margin" and "perceptron".
    l2 : float, optional
        None: 0 for online trainers, which averaging regularises, 0.05 for the others.
    learning_rate : float, optional
        Step of the transitions; all other steps, and the start, are tied to it and to the size of the data. The first
        knob to turn: of the max objectives, what counts is its size relative to the margin. None: 0.2 /
        sqrt(hidden_units) of the margin for them, 0.2 for the others, and less if sequences have more than 25 positions
        on average.
    input_pace : float
        Step of the weights from features to units, times the mean of |x|², relative to that of the transitions, for
        online trainers. Numbers that differ much from position to position bear 4 to 8, centred black and white
        pictures want 0.5 to 1.
    max_iter, average_from : int, optional
        None: 30 passes of online trainers, averaged (or kept, by herding) after a third of them, at most 10.
    margin : float
        Cost of a wrong label in the margin objectives.
    decoder : "auto", "joint", "summed" or "posterior"
        "joint": the best labels and units together; "summed": the best labels, units summed out; "posterior": the most
        probable label of each position. "auto": as in training. May be changed after ``fit``.
    pretraining : None, "frames" or "contrastive"
        Before training: as a discriminative restricted Boltzmann machine on single positions, or by contrastive
        divergence on the joint distribution of features and labels (dense arrays only).
    dtype : "float64" or "float32"
        How parameters are stored; "float32" halves memory, for online trainers.
    """

    all_features = True  # units see all features
    decoders: ClassVar[tuple[str, ...]] = ("auto", "joint", "summed", "posterior")

    def __init__(
        self,
        hidden_units: int = 100,
        order: int = 1,
        objective: str = "large_margin",
        trainer: str = "auto",
        l1: float = 0.0,
        l2: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        learning_rate: float | None = None,
        input_pace: float = PACE,
        batch_size: int | None = None,
        average_from: int | None = None,
        restart_every: int | None = None,
        margin: float = 1.0,
        pretraining: str | None = None,
        patience: int | None = None,
        template: Any = None,
        min_count: int = 1,
        all_transitions: bool = True,
        boundary: bool = True,
        scheme: str | None = None,
        forbidden: Iterable[tuple[Any, Any]] | None = None,
        class_weight: Any = None,
        decoder: str = "auto",
        dtype: str = "float64",
        warm_start: bool = False,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.hidden_units = hidden_units
        self.order = order
        self.objective = objective
        self.trainer = trainer
        self.l1 = l1
        self.l2 = l2
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.input_pace = input_pace
        self.batch_size = batch_size
        self.average_from = average_from
        self.restart_every = restart_every
        self.margin = margin
        self.pretraining = pretraining
        self.patience = patience
        self.template = template
        self.min_count = min_count
        self.all_transitions = all_transitions
        self.boundary = boundary
        self.scheme = scheme
        self.forbidden = forbidden
        self.class_weight = class_weight
        self.decoder = decoder
        self.dtype = dtype
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # ---- what the settings mean ----------------------------------------------------------------------------------

    def _objective(self) -> Objective:
        objective = super()._objective()
        check_whole(self, "hidden_units", 1)
        check_number(self, "input_pace", 0, strict=True)
        if not objective.uses_cost and self.margin != 1.0:
            raise ConfigError(
                f'margin has no effect with objective="{self.objective}"; it belongs to "large_margin" and '
                '"softmax_margin".'
            )
        if self.input_pace != PACE and self.trainer in ("lbfgs", "rprop") and self.pretraining != "frames":
            raise ConfigError(f'input_pace has no effect with trainer="{self.trainer}"; it belongs to online trainers.')
        if self.dtype not in ("float64", "float32"):
            raise ConfigError(f'dtype is {self.dtype!r}; "float64" and "float32" are possible.')
        if self.pretraining is not None and self.pretraining not in PRETRAININGS:
            raise ConfigError(f"Unknown pretraining {self.pretraining!r}; choose one of {', '.join(PRETRAININGS)}.")
        return objective

    def _scale(self, objective: Objective) -> float:
        """The difference of scores that max objectives ask for."""
        return self.margin if objective.uses_cost and self.margin > 0 else 1.0

    def _step(self, objective: Objective, batch: Batch | None = None) -> float:
        """The step of transitions for max objectives: everything else is measured by it."""
        if self.learning_rate is not None:
            return self.learning_rate
        step = STEP * self._scale(objective) * float(np.sqrt(UNITS / self.hidden_units))
        return step if batch is None else step * calming(batch, MAX_POWER)

    def _adjusted(self, trainer: Trainer[Any], problem: Problem) -> Trainer[Any]:
        """Smaller steps for longer sequences, unless the user gives one."""
        walk = trainer.walk if isinstance(trainer, Herding) else trainer
        if self.learning_rate is not None or not isinstance(walk, SGD) or walk.rate is None:
            return trainer
        power = SUM_POWER if problem.objective.smooth else MAX_POWER
        calmer = replace(walk, rate=walk.rate * calming(problem.batch, power))
        return replace(trainer, walk=calmer) if isinstance(trainer, Herding) else calmer

    def _trainer(self, objective: Objective, partial: bool) -> tuple[str, Trainer[Any]]:
        if self.trainer == "herding":
            return "herding", self._herding(objective, partial)
        name = resolve_trainer(self.trainer, objective)
        name = "averaged" if name == "auto" else name
        return self._named_trainer(
            name,
            objective,
            partial,
            rate=(SUM_STEP if objective.smooth else self._step(objective)) if name in ("sgd", "averaged") else None,
            max_iter=PASSES if name in ("sgd", "averaged", "adam") and not partial else None,
            average_from=BURN_IN if name == "averaged" else None,
        )

    def _herding(self, objective: Objective, partial: bool) -> Herding:
        passes = (1 if partial else PASSES) if self.max_iter is None else int(self.max_iter)
        burn_in = min(BURN_IN, passes // 3) if self.average_from is None else int(self.average_from)
        if self.batch_size is not None or self.restart_every is not None:
            raise ConfigError('batch_size and restart_every have no effect with trainer="herding".')
        walk = SGD(rate=self._step(objective), decay=0.0, max_iter=passes, seed=seed_of(self.random_state))
        return Herding(walk, burn_in)

    def _default_l2(self, objective: Objective) -> float:
        online = self.trainer in ("auto", "averaged", "herding", "sgd", "adam")
        return BATCH_L2 if objective.smooth and not online else 0.0

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        space, self.scheme_ = ordered_space(labels, targets, self.order, self.scheme, self.forbidden)
        return space

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        batch, features, objective = material.batch, material.features, self._objective()
        dense = batch.dense is not None
        norm = mean_square_norm(material)
        if dense:
            check_scales(material)
        step = self._step(objective, batch)
        tied = (START_INPUT * step, START_OUTPUT * step)
        start = (SUM_INPUT, SUM_OUTPUT) if objective.smooth else tied
        units = HiddenUnits(
            features.n_columns if dense else features.n_features,
            int(self.hidden_units),
            space.n_rows,
            "dense" if dense else "sparse",
            input_pace=self.input_pace / norm,
            unit_pace=UNIT_PACE,
            output_pace=UNIT_PACE,
            row_pace=UNIT_PACE,
            input_scale=start[0] / float(np.sqrt(norm)),
            output_scale=start[1],
        )
        emissions = (units, Boundary(space.n_rows)) if self.boundary else (units,)
        moves = transitions(material, space, all_transitions=self.all_transitions)
        return Chain(space, emissions, tuple(moves), dtype=self.dtype)

    def _prepared(self, problem: Any, theta: Float, previous: Any) -> Float:
        if self.pretraining is None or previous is not None:
            return theta
        return pretrain(self.pretraining, problem, theta, seed_of(self.random_state), self._scale(problem.objective))

    # ---- prediction ----------------------------------------------------------------------------------------------

    def _how(self) -> How:
        summed: How = "sum"
        return "max" if self.decoder == "joint" else summed if self.decoder == "summed" else self._objective().how

    def _decoding(self) -> dict[str, Any]:
        return {"how": self._how(), "decoder": "posterior" if self.decoder == "posterior" else "viterbi"}

    def _prediction_settings(self) -> dict[str, Any]:
        return super()._prediction_settings() | self._decoding()

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Tagger:
        first = theta[: chain.n_parameters]
        return herd_of(Tagger(features, task, chain, first, n_jobs=count_jobs(self.n_jobs), **self._decoding()), theta)

    # ---- looking into units --------------------------------------------------------------------------------------

    def transform(self, X: Any, y: Any = None, *, lengths: Sequence[int] | None = None) -> list[Float]:
        """Probabilities that units are on: a (length, hidden_units) array a sequence.

        Given the data, and labels where ``y`` has any (None: unknown, a set: one of these).
        """
        known = None if y is None else split_sequences(y, lengths, "y")
        return unit_posteriors(self._tagger(), split_sequences(X, lengths), known)

    @property
    def unit_weights_(self) -> tuple[Float, Float]:
        """What leads to units and from them: W (features, units) and V (units, labels)."""
        tagger = self._tagger()
        own = tagger.own(units_of(tagger))
        return own["input"], own["output"].T

    def receptive_fields(self, shape: tuple[int, ...]) -> Float:
        """(units, *shape) the input weights of every unit as pictures, for positions that are images."""
        weight, _ = self.unit_weights_
        if int(np.prod(shape)) != len(weight):
            raise ConfigError(f"shape is {shape}, but positions have {len(weight)} numbers.")
        return np.ascontiguousarray(weight.T).reshape(-1, *shape)

    def plot_receptive_fields(self, shape: tuple[int, int], n: int = 25) -> Any:
        """A figure with the receptive fields of the n units that tell labels apart most (extra ``plot``)."""
        from chainfield.plots.units import receptive_fields

        fields, chosen = self.receptive_fields(shape), self.describe_units(0)[:n]
        return receptive_fields(fields[[p.unit for p in chosen]], [f"{p.unit}: {p.labels[0][0]}" for p in chosen])

    def describe_units(self, n_features: int = 5) -> list[UnitPortrait]:
        """The most telling features of each unit by name, and the labels it speaks for; the strongest unit first."""
        return portraits(self._tagger(), n_features)


def calming(batch: Batch, power: float) -> float:
    """A factor of at most 1 for steps on sequences of this length."""
    length = batch.n_positions / max(batch.n_sequences, 1)
    return float(min(1.0, (LENGTH / max(length, 1.0)) ** power))


def mean_square_norm(material: Material) -> float:
    """The mean of ‖x‖² over positions; 1 if there is nothing to measure."""
    batch, n = material.batch, max(material.batch.n_positions, 1)
    if batch.dense is not None:
        if not batch.dense.shape[1]:
            raise ConfigError("The data have no features at all.")
        total = float(np.einsum("td,td->", batch.dense, batch.dense))
    elif batch.sparse is not None:
        values, known = batch.sparse.values, batch.sparse.indices >= 0
        total = float(known.sum()) if values is None else float((values[known] ** 2).sum())
    else:
        raise ConfigError("The data have no features at all.")
    return total / n or 1.0


def check_scales(material: Material) -> None:
    """Warn if columns have sizes that no step can serve together."""
    assert material.batch.dense is not None
    sizes = np.sqrt(np.mean(material.batch.dense**2, axis=0))
    present = np.flatnonzero(sizes)
    if len(present) < 2:
        return
    low, high = present[sizes[present].argmin()], present[sizes[present].argmax()]
    if sizes[high] > WILD * sizes[low]:
        names = material.features.feature_names()
        warnings.warn(
            f"The columns have very different scales: {names[high]} is about {sizes[high]:.3g}, {names[low]} about "
            f"{sizes[low]:.3g}. Standardise them (mean 0, deviation 1), or the larger ones will drown the others.",
            DataWarning,
            stacklevel=5,
        )
