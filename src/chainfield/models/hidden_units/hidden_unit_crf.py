"""The hidden-unit conditional random field (van der Maaten, Welling and Saul 2011)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, DataWarning, SettingError
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import FittedModel, Tagger, herd_of
from chainfield.inspection.units import UnitPortrait, portraits, unit_posteriors, units_of
from chainfield.models.compose import transitions
from chainfield.models.constraints import label_space, ordered_space
from chainfield.models.estimator import ChainTagger
from chainfield.models.groups import (
    DecoderSettings,
    FeatureSettings,
    ObjectiveSettings,
    OrderSettings,
    TrainingSettings,
    TransitionSettings,
)
from chainfield.models.inputs import split_sequences
from chainfield.models.kinds import seed_of
from chainfield.models.material import Material
from chainfield.models.scales import check_scales
from chainfield.models.trainers import named_trainer, trainer_name
from chainfield.objectives import Objective
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.problem import Problem
from chainfield.scorers import Boundary, Chain, HiddenUnits
from chainfield.settings import Choice, but, choice, number, whole
from chainfield.states import Rules, StateSpace
from chainfield.trainers import SGD, Trainer

from .herding import Herding
from .pretraining import PRETRAININGS, pretrain
from .slimming import slimmed
from .steps import PACE, UNIT_PACE, Sized, Steps, Wishes, mean_square_norm, passes_of, scale_of, steps_of

BATCH_L2 = 0.05
BURN_IN = 10
BATCH_TRAINERS = ("lbfgs", "rprop")


@final
class HiddenUnitCRF(
    ChainTagger,
    OrderSettings,
    TransitionSettings,
    without=("all_features", "aggressiveness", "forgetting", "rehearsal"),
):
    """A tagger with binary hidden units between features and labels: not linear in its features, inference exact."""

    hidden_units: int = whole(
        100, "How many hidden units. More are better and cost more; some hundred are usual.", search=(50, 100, 200, 400)
    )
    input_pace: float = number(
        PACE,
        "Step of the weights from features to units, times the mean of ‖x‖², relative to that of the transitions, "
        "for online trainers. Numbers that differ much from position to position bear 4 to 8, centred black and white "
        "pictures want 0.5 to 1.",
        above=True,
    )
    unit_pace: float = number(
        UNIT_PACE,
        "Step of the weights from units to labels, and of all biases, relative to that of the transitions, for online "
        "trainers.",
        above=True,
    )
    input_start: float | None = number(
        None,
        "How far the inputs of units lie apart at the start, as a deviation: in steps of the transitions for the max "
        "objectives, as it is for the others. None: 1 and 0.3.",
        above=True,
    )
    output_start: float | None = number(
        None,
        "Deviation of the weights from units to labels at the start, likewise. None: 0.1, but 10 steps for the "
        "perceptron over sparse features.",
    )
    pretraining: str | None = choice(
        None,
        PRETRAININGS,
        "A start for the units: as a discriminative restricted Boltzmann machine on single positions "
        "(frames), or by contrastive divergence on features and labels together (contrastive; dense arrays only).",
    )
    dtype: str = choice(
        "float64", ("float64", "float32"), "How parameters are stored; float32 halves memory, for online trainers."
    )
    storage: str = choice(
        "auto",
        ("auto", "full"),
        "auto: models of a million parameters or more leave out features that training hardly moved from their random "
        "start, and keep weights in 8 or 16 bits, if their answers on training data stay; full: all as trained.",
    )
    objective: str = but(
        ObjectiveSettings.objective,
        default="large_margin",
        kind=Choice(("large_margin", "perceptron", "likelihood", "softmax_margin")),
        help="What training minimises. With large margin and perceptron, units take their best values; with the others "
        "they are summed out.",
    )
    l2: float | None = but(
        ObjectiveSettings.l2,
        help="Penalty l2 · ‖w‖². None: 0 for online trainers, which averaging regularises, 0.05 for the others.",
    )
    trainer: str = but(
        TrainingSettings.trainer,
        kind=Choice(("auto", "averaged", "herding", "sgd", "adam", "lbfgs", "rprop")),
        help="How the objective is minimised. auto: averaged stochastic steps. herding: the same steps, but the "
        "parameters of all passes are kept, and their predictions vote (large margin and perceptron).",
    )
    learning_rate: float | None = but(
        TrainingSettings.learning_rate,
        help="Step of the transitions; all other steps, and the start, are tied to it and to the size of the data. The "
        "first setting to try: for the max objectives, its size relative to the margin counts. None: 0.2 / "
        "sqrt(hidden_units) of the margin for them, 0.2 for the others, and less if sequences have more than 25 "
        "positions on average.",
    )
    max_iter: int | None = but(
        TrainingSettings.max_iter,
        help="Most iterations. None: 30 passes of online trainers, and up to 60 over data of fewer than 10,000 "
        "positions.",
    )
    average_from: int | None = but(
        TrainingSettings.average_from,
        help="Iterates are averaged (by herding: vote) from this pass on. None: after a third of the passes, at "
        "most 10.",
    )
    decoder: str = but(
        DecoderSettings.decoder,
        default="auto",
        kind=Choice(("auto", "joint", "summed", "posterior")),
        help="Which labels predict takes: the best labels and units together (joint), the best labels with units "
        "summed out (summed), or the most probable label of each position (posterior). auto: as in training. May be "
        "changed after fit.",
    )
    auto_trainer: ClassVar[str] = "averaged"
    # Units see all features; the setting is not one of this model's.
    all_features: bool = but(FeatureSettings.all_features, default=True)

    # ---- what the settings mean ----------------------------------------------------------------------------------

    def check_settings(self) -> None:
        """Besides the rest: settings that belong to other objectives and trainers."""
        super().check_settings()
        if not self._objective().uses_cost and self.margin != 1.0:
            raise SettingError(
                f'margin has no effect with objective="{self.objective}"; it belongs to "large_margin" and '
                '"softmax_margin".'
            )
        paces = {"input_pace": PACE, "unit_pace": UNIT_PACE}
        for name, usual in paces.items():
            if getattr(self, name) != usual and self.trainer in BATCH_TRAINERS and self.pretraining != "frames":
                raise SettingError(
                    f'{name} has no effect with trainer="{self.trainer}"; it belongs to online trainers.'
                )
        if self.decoder == "summed" and self._objective().how == "max":
            self._warn_of_sums()

    def _steps(self, data: Sized, objective: Objective, *, sparse: bool = False) -> Steps:
        wishes = Wishes(self.learning_rate, self.input_start, self.output_start)
        return steps_of(data, objective, self.hidden_units, self.margin, wishes, sparse=sparse)

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return ordered_space(label_space(len(labels)), rules, self.order)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        features, dense = material.features, material.extent.dense
        norm = mean_square_norm(material)
        check_scales(material, units=True)
        steps = self._steps(material.extent, self._objective(), sparse=not dense)
        units = HiddenUnits(
            features.n_columns if dense else features.n_features,
            int(self.hidden_units),
            space.n_rows,
            "dense" if dense else "sparse",
            input_pace=self.input_pace / norm,
            unit_pace=self.unit_pace,
            output_pace=self.unit_pace,
            row_pace=self.unit_pace,
            input_scale=steps.input_scale / float(np.sqrt(norm)),
            output_scale=steps.output_scale,
        )
        emissions = (units, Boundary(space.n_rows)) if self.boundary else (units,)
        moves = transitions(material, space, all_transitions=self.all_transitions)
        return Chain(space, emissions, tuple(moves), dtype=self.dtype)

    def _start(self, problem: Problem, material: Material, theta: Float) -> tuple[Problem, Float]:
        if self.l2 is None:
            batch_l2 = BATCH_L2 if problem.objective.smooth and self.trainer in BATCH_TRAINERS else 0.0
            problem = replace(problem, l2=batch_l2 * material.share)
        if self.pretraining is not None and material.previous is None:
            material.in_memory()
            gap = scale_of(problem.objective, self.margin)
            theta = pretrain(self.pretraining, problem, theta, seed_of(self.random_state), gap)
        return problem, theta

    def _trainer(self, problem: Problem, theta: Float, partial: bool) -> Trainer[Any]:
        objective, name = problem.objective, trainer_name(self, problem.objective, partial)
        steps = self._steps(problem, objective)
        if name == "herding":
            passes = (1 if partial else passes_of(problem)) if self.max_iter is None else int(self.max_iter)
            burn_in = min(BURN_IN, passes // 3) if self.average_from is None else int(self.average_from)
            seed = seed_of(self.random_state)
            return Herding(SGD(rate=steps.rate, decay=0.0, max_iter=passes, seed=seed), burn_in)
        return named_trainer(
            self,
            name,
            objective,
            partial,
            rate=steps.rate if name in ("sgd", "averaged") else None,
            max_iter=passes_of(problem) if name in ("sgd", "averaged", "adam") and not partial else None,
            average_from=BURN_IN if name == "averaged" else None,
        )

    def _compacted(self, fitted: FittedModel, start: Float, material: Material) -> FittedModel:
        fitted = super()._compacted(fitted, start, material)
        if self.storage == "full" or material.whole is None or not isinstance(fitted, Tagger):
            return fitted
        return slimmed(fitted, start, material.batch)

    # ---- prediction ----------------------------------------------------------------------------------------------

    def _decoding(self) -> dict[str, Any]:
        how: How = self._objective().how
        how = {"joint": "max", "summed": "sum"}.get(self.decoder, how)  # type: ignore[assignment]
        return {"how": how, "decoder": "posterior" if self.decoder == "posterior" else "viterbi"}

    def _prediction_settings(self) -> dict[str, Any]:
        found = self._decoding()
        if self._objective().how == "max" and found["how"] == "sum" and self.fitted_.how == "max":
            self._warn_of_sums()
        return super()._prediction_settings() | found

    def _warn_of_sums(self) -> None:
        warnings.warn(
            f'decoder="summed" sums units out by scores that objective="{self.objective}" never gave a scale; '
            'predictions may be much worse. Use decoder="auto", or train by likelihood or softmax_margin.',
            DataWarning,
            stacklevel=4,
        )

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Tagger:
        first = theta[: chain.n_parameters]
        return herd_of(Tagger(features, task, chain, first, n_jobs=count_jobs(self.n_jobs), **self._decoding()), theta)

    # ---- looking into units --------------------------------------------------------------------------------------

    def transform(self, X: Any, y: Any = None, *, lengths: Sequence[int] | None = None) -> list[Float]:
        """Probabilities that units are on: one (length, hidden_units) array per sequence.

        Given the data, and labels where ``y`` has any (None: unknown, a set: one of these).
        """
        known = None if y is None else split_sequences(y, lengths, "y")
        return unit_posteriors(self._tagger(), self._input(X, lengths), known)

    @property
    def unit_weights_(self) -> tuple[Float, Float]:
        """What leads to units and from them: W (features, units) and V (units, labels)."""
        tagger = self._tagger()
        own = tagger.own(units_of(tagger))
        return own["input"], own["output"].T

    def receptive_fields(self, shape: tuple[int, ...]) -> Float:
        """``(units, *shape)``: the input weights of every unit as pictures, for positions that are images."""
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
