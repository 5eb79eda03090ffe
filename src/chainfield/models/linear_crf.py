"""The linear-chain conditional random field (Lafferty, McCallum and Pereira 2001)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.problem import Problem
from chainfield.scorers import Chain
from chainfield.states import Rules, StateSpace
from chainfield.trainers import Trainer

from .compose import linear_emissions, transitions
from .constraints import label_space, ordered_space, paired, restricted
from .estimator import ChainTagger
from .groups import OrderSettings, PruningSettings, TransitionSettings
from .kinds import seed_of
from .material import Material
from .pruning import MANY_POSITIONS, pruned, prunes, threshold_of, triples
from .trainers import named_trainer


class LinearTagger(ChainTagger, OrderSettings, TransitionSettings):
    """Base of the taggers with one state per label, linear emissions and dense transitions."""

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return ordered_space(label_space(len(labels)), rules, self.order)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        emissions = linear_emissions(material, space, boundary=self.boundary)
        return Chain(space, tuple(emissions), tuple(transitions(material, space, all_transitions=self.all_transitions)))


@final
class LinearCRF(LinearTagger, PruningSettings):
    """A log-linear tagger: one state per label, linear emissions, dense transitions.

    Inference is exact. With many labels it is exact over those that a pruner leaves at each position (``prune``).

    >>> X = [["Anna", "lives", "in", "Oslo"], ["Oslo", "is", "cold"]]
    >>> y = [["B-PER", "O", "O", "B-LOC"], ["B-LOC", "O", "O"]]
    >>> model = LinearCRF(l2=0.1).fit(X, y)
    >>> model.predict([["Anna", "is", "in", "Oslo"]])
    [['B-PER', 'O', 'O', 'B-LOC']]
    """

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        # Whether pairs become states is seen when the data are: a pruned chain of second order looks triples up.
        return restricted(label_space(len(labels)), rules)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        if self.order == 1:
            return super()._chain(material, space)
        if not prunes(self, self._objective(), material, space):
            return super()._chain(material, paired(space))
        chain = super()._chain(material, space)
        return replace(chain, transitions=(*chain.transitions, triples(material, space)))

    def _start(self, problem: Problem, material: Material, theta: Float) -> tuple[Problem, Float]:
        if not prunes(self, problem.objective, material, problem.chain.space):
            return problem, theta
        return pruned(problem, material, theta, threshold_of(self, problem), seed_of(self.random_state), self.prune_by)

    def _trainer(self, problem: Problem, theta: Float, partial: bool) -> Trainer[Any]:
        """Much data over a lattice: averaged stochastic steps from the pruner's weights, a fraction of the way in time.

        On 5,000 sentences of the Brown corpus six passes took a third of the time of the optimum, and were as accurate
        (the step was chosen on the sentences that say so). On 400 sentences they would stop points below it.
        """
        enough = problem.lattice is not None and problem.n_positions >= MANY_POSITIONS
        if not enough or partial or self.trainer != "auto" or not problem.objective.smooth:
            return super()._trainer(problem, theta, partial)
        return named_trainer(self, "averaged", problem.objective, partial, max_iter=6, average_from=3, rate=0.2)

    def _prediction_settings(self) -> dict[str, Any]:
        found = super()._prediction_settings()
        chain = self.fitted_.chain
        if self.prune == "auto" or (self.prune is None and chain.pruner is None):
            return found
        self.settings["prune"].check(self.prune)
        if chain.pruner is None:
            raise ConfigError(f"prune is {self.prune:g}, but the model was trained without pruning; fit again.")
        wanted = 0.0 if self.prune is None else float(self.prune)
        if wanted != chain.pruner.threshold:
            found["chain"] = replace(chain, pruner=chain.pruner.at(wanted))
        return found
