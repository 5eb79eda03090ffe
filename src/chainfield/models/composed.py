"""The general estimators: whole parts in, a model out. The named models give the same answers from plain settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

from chainfield.arrays import Float
from chainfield.errors import ConfigError, SettingError
from chainfield.objectives import OBJECTIVES, Objective, objective_named
from chainfield.problem import Problem
from chainfield.scorers import Chain, Scorer
from chainfield.settings import Kind, but, given, number
from chainfield.states import Rules, StateSpace, class_blocks, left_to_right, one_per_label
from chainfield.trainers import TRAINERS, Trainer

from .compose import linear_emissions
from .compose import transitions as dense_transitions
from .constraints import restricted
from .estimator import ChainClassifier, ChainEstimator, ChainTagger
from .groups import Grouped, ObjectiveSettings, TrainingSettings
from .material import Material
from .trainers import STEPS, named_trainer, trainer_name


@final
@dataclass(frozen=True)
class Part(Kind):
    """A whole part: a function, or an object of a class; or the name of one."""

    what: str
    type: type | None = None
    names: tuple[str, ...] = ()
    metavar: ClassVar[str] = "PART"

    @property
    def noun(self) -> str:
        """What it is."""
        return self.what

    @property
    def expected(self) -> str:
        """What it has to be."""
        names = f", or one of {', '.join(self.names)}" if self.names else ""
        return f"give {self.what}{names}"

    def fits(self, value: Any) -> bool:
        """A function, an object of the class, or a name."""
        if isinstance(value, str):
            return value in self.names
        return callable(value) if self.type is None else isinstance(value, self.type)

    def parse(self, text: Any) -> Any:
        """Parts are for Python."""
        raise ConfigError(f"{self.what} cannot be written on a command line.")

    def stored(self, value: Any) -> Any:
        """Names are kept; the fitted chain holds the parts themselves."""
        return value if isinstance(value, str) else None


def linear_scorers(material: Material, space: StateSpace) -> list[Scorer]:
    """Linear scores of whatever features there are, and of the borders."""
    return linear_emissions(material, space, boundary=True)


def dense_moves(material: Material, space: StateSpace) -> list[Scorer]:
    """A weight for every edge of the space."""
    return dense_transitions(material, space, all_transitions=True)


def three_states(n_labels: int) -> StateSpace:
    """A left-to-right chain of three states for every class."""
    return class_blocks([left_to_right(3)] * n_labels)


class PartSettings(Grouped):
    """The parts of a chain."""

    space: Any = given(
        one_per_label,
        "The states: a function from the number of labels to a StateSpace.",
        Part("a function"),
        option="",
    )
    emissions: Any = given(
        linear_scorers,
        "The scorers of nodes: a function from Material (features, batch, labels) and StateSpace to a list of scorers.",
        Part("a function"),
        option="",
    )
    transitions: Any = given(
        dense_moves, "The scorers of edges: a function of the same kind.", Part("a function"), option=""
    )
    start_scale: float = number(
        0.0, "Standard deviation of the random weights that training starts from; hidden states need some."
    )
    objective: Any = but(
        ObjectiveSettings.objective,
        kind=Part("an Objective", Objective, tuple(OBJECTIVES)),
        help="What training minimises: an Objective, or the name of one.",
        option="",
    )
    trainer: Any = but(
        TrainingSettings.trainer,
        kind=Part("a Trainer", Trainer, TRAINERS),
        help="How: a Trainer, or the name of one.",
        option="",
    )


class Composed(PartSettings, ChainEstimator):
    """Composes a chain of the parts given."""

    def check_settings(self) -> None:
        """Besides the rest: a trainer of one's own has its settings in itself."""
        super().check_settings()
        if isinstance(self.trainer, Trainer):
            for name in (*STEPS, "max_iter", "tol"):
                if name in self.changed():
                    raise SettingError(f"{name} has no effect beside a trainer of your own; give it to the trainer.")

    def _objective(self) -> Objective:
        return self.objective if isinstance(self.objective, Objective) else objective_named(self.objective)

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return restricted(self.space(len(labels)), rules)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        parts = tuple(self.emissions(material, space)), tuple(self.transitions(material, space))
        return Chain(space, *parts, float(self.start_scale))

    def _trainer(self, problem: Problem, theta: Float, partial: bool) -> Trainer[Any]:
        if isinstance(self.trainer, Trainer):
            return self.trainer
        return named_trainer(self, trainer_name(self, problem.objective, partial), problem.objective, partial)


@final
class ComposedTagger(Composed, ChainTagger):
    """A tagger of whole parts: a state space, scorers, an objective and a trainer, yours or the library's."""


@final
class ComposedClassifier(Composed, ChainClassifier):
    """A classifier of whole sequences, of whole parts: its state space has a block of states for every class."""

    space: Any = but(PartSettings.space, default=three_states)
