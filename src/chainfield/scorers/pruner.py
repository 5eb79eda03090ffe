"""A pruner: a model of single positions that tells which rows are plausible there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chainfield.arrays import Arrays, Float
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.potentials import Clamp, Lattice
from chainfield.schema import Part, Tensor, demand, number

from .linear import SparseLinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .scorer import Scorer

MOST_ROWS = 50


@dataclass(frozen=True, eq=False)
class Pruner:
    """Leaves the rows whose probability is at least ``threshold``, :data:`MOST_ROWS` at most and one at least.

    It has weights of its own for the chain's sparse features. ``trained``: the threshold of training. A smaller one
    would let in rows that training never compared with the right ones (accuracy falls from 96 % to 45 %).
    ``lost``: the share of positions whose label it would have left out, measured in training on positions that it had
    not learned from yet; ``width``: how many rows it left there.
    """

    schema: ClassVar[Part] = Part(
        (
            number("threshold", "labels with at least this probability stay", most=1.0),
            number("trained", "the threshold of training, not larger than that", most=1.0),
            number("lost", "the share of right labels that were lost, as measured in training", most=1.0),
            number("width", "how many labels a position had in training"),
        ),
        (Tensor("weight", ("F32",), ("pairs",), "as the weights of `SparseLinear`"),),
    )

    weight: Float  # (P,) exact in single precision
    threshold: float
    trained: float
    lost: float = 0.0
    width: float = 0.0

    def at(self, threshold: float) -> Pruner:
        """The same with another threshold; a smaller one than in training is refused."""
        if threshold < self.trained:
            raise ConfigError(
                f"prune is {threshold:g}, but the model was trained with {self.trained:g}; give at least that, or fit "
                "again."
            )
        return replace(self, threshold=threshold)

    def lattice(
        self,
        scorers: Sequence[Scorer],
        batch: Batch,
        clamp: Clamp | None = None,
        *,
        keep_known: bool = False,
        threshold: float | None = None,
    ) -> Lattice:
        """The rows that are plausible; with a threshold that is not its own, however many there are.

        Where hundreds are about as probable, as for a word without a known feature, the best of them stay: what a
        position costs has a bound. Of the rows that a clamp allows, the plausible ones stay, or all where none is;
        keep_known: those that it allows stay beside the plausible ones, unless it allows all.
        """
        from chainfield.kernels.train.zero_order import list_plausible

        scorer, sparse, n = sparse_scorer(scorers), batch.sparse, batch.n_positions
        assert sparse is not None
        pairs = scorer.pairs
        own = threshold is None and self.threshold > 0.0
        table, index = np.ones((1, scorer.n_rows), np.bool_), np.zeros(n, np.int32)
        if clamp is not None:
            table, index = clamp.table, clamp.index
        first = np.zeros(n + 1, np.int64)
        rows = np.empty(n * (MOST_ROWS if own and clamp is None else scorer.n_rows), np.int32)
        list_plausible(
            sparse.indptr, sparse.indices, sparse.weights(), pairs.first, pairs.row, pairs.n_full, pairs.n_single,
            self.weight, self.threshold if threshold is None else threshold, MOST_ROWS if own else 0, index, table,
            keep_known, first, rows,
        )  # fmt: skip
        return Lattice(first, rows[: first[-1]].copy())

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """For a model file."""
        return {value.name: getattr(self, value.name) for value in self.schema.values}, {
            "weight": self.weight.astype(np.float32)
        }

    @classmethod
    def from_parts(cls, config: dict[str, Any], arrays: Arrays) -> Pruner:
        """The inverse of :meth:`to_parts`."""
        cls.schema.check(config, arrays, {}, "pruner.")
        values = {value.name: float(config[value.name]) for value in cls.schema.values}
        return cls(arrays["weight"].astype(np.float64), **values)

    def check(self, scorers: Sequence[Scorer]) -> None:
        """Refuse one from a file that does not fit the chain."""
        demand(self.weight.shape == (sparse_scorer(scorers).pairs.n_pairs,), "the number of the pruner's weights")
        demand(self.trained <= self.threshold, "the threshold of the pruner")


def sparse_scorer(scorers: Sequence[Scorer]) -> SparseLinear:
    """The scorer whose features a pruner reads."""
    found = [scorer for scorer in scorers if isinstance(scorer, SparseLinear) and not len(scorer.group_of)]
    if len(found) != 1:
        raise ValueError("a pruner needs sparse features")
    return found[0]
