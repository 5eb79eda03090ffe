"""A pruner: a model of single positions that tells which rows are plausible there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from chainfield.arrays import Arrays, Bool, Float
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.potentials import Clamp, Lattice, lattice_of
from chainfield.schema import Part, Tensor, Value, demand, number

from .counting_pruner import counted_lattice, limited
from .linear import SparseLinear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .scorer import Scorer

MOST_ROWS = 50
KINDS = ("softmax", "dictionary", "counts")


@dataclass(frozen=True, eq=False)
class Pruner:
    """Leaves the rows whose probability is at least ``threshold``, :data:`MOST_ROWS` at most and one at least.

    It has weights of its own for the chain's sparse features, beside how frequent rows are (``prior``; files of
    earlier versions have none). ``trained``: the threshold of training. A smaller one
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
            Value("kind", "text", "what tells them: a softmax, or counts", choices=KINDS, optional=True),
        ),
        (
            Tensor("weight", ("F32",), ("pairs",), "as the weights of `SparseLinear`; of counts, the share of a label"),
            Tensor("prior", ("F32",), ("rows",), "of a softmax: how frequent labels are, as logarithms", optional=True),
            Tensor("word", ("BOOL",), ("features",), "of counts: which features are frequent words", optional=True),
            Tensor("open", ("BOOL",), ("rows",), "of a dictionary: labels that other words may have", optional=True),
        ),
    )

    weight: Float  # (P,) exact in single precision
    threshold: float
    trained: float
    lost: float = 0.0
    width: float = 0.0
    kind: str = "softmax"
    prior: Float = field(default_factory=lambda: np.empty(0))  # (R,) of a softmax, exact in single precision
    word: Bool = field(default_factory=lambda: np.empty(0, np.bool_))  # (F,) of counts: words seen often enough
    open_rows: Bool = field(default_factory=lambda: np.empty(0, np.bool_))  # (R,) of a dictionary

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

        if self.kind != "softmax":
            return self._counted(sparse_scorer(scorers), batch, clamp, keep_known, threshold)
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
            self.weight, self.prior if len(self.prior) else np.zeros(scorer.n_rows),
            self.threshold if threshold is None else threshold, MOST_ROWS if own else 0, index, table, keep_known,
            first, rows,
        )  # fmt: skip
        return Lattice(first, rows[: first[-1]].copy())

    def _counted(
        self, scorer: SparseLinear, batch: Batch, clamp: Clamp | None, keep_known: bool, threshold: float | None
    ) -> Lattice:
        if threshold is not None:  # the rules leave no path: everything is let in
            everything = np.ones((batch.n_positions, scorer.n_rows), np.bool_)
            return lattice_of(limited(everything, clamp, keep_known=keep_known))
        return counted_lattice(
            scorer, self.weight, self.word, self.open_rows, self.threshold, batch, clamp, keep_known=keep_known
        )

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """For a model file."""
        arrays: Arrays = {"weight": self.weight.astype(np.float32)}
        if self.kind != "softmax":
            arrays |= {"word": self.word, "open": self.open_rows}
        elif len(self.prior):
            arrays["prior"] = self.prior.astype(np.float32)
        return {value.name: getattr(self, value.name) for value in self.schema.values}, arrays

    @classmethod
    def from_parts(cls, config: dict[str, Any], arrays: Arrays) -> Pruner:
        """The inverse of :meth:`to_parts`."""
        cls.schema.check(config, arrays, {}, "pruner.")
        values: dict[str, Any] = {name: float(config[name]) for name in ("threshold", "trained", "lost", "width")}
        weight, kind = arrays["weight"].astype(np.float64), str(config.get("kind", "softmax"))
        if kind == "softmax":
            return cls(weight, **values, prior=arrays.get("prior", np.empty(0)).astype(np.float64))
        none = np.empty(0, np.bool_)
        return cls(weight, **values, kind=kind, word=arrays.get("word", none), open_rows=arrays.get("open", none))

    def check(self, scorers: Sequence[Scorer]) -> None:
        """Refuse one from a file that does not fit the chain."""
        demand(self.weight.shape == (sparse_scorer(scorers).pairs.n_pairs,), "the number of the pruner's weights")
        demand(self.trained <= self.threshold, "the threshold of the pruner")
        demand(self.prior.shape in ((0,), (sparse_scorer(scorers).n_rows,)), "the frequencies of the pruner")
        if self.kind != "softmax":
            scorer = sparse_scorer(scorers)
            demand(self.word.shape == (scorer.pairs.n_features,), "the words of the pruner")
            demand(self.open_rows.shape in ((0,), (scorer.n_rows,)), "the open labels of the pruner")


def sparse_scorer(scorers: Sequence[Scorer]) -> SparseLinear:
    """The scorer whose features a pruner reads."""
    found = [scorer for scorer in scorers if isinstance(scorer, SparseLinear) and not len(scorer.group_of)]
    if len(found) != 1:
        raise ValueError("a pruner needs sparse features")
    return found[0]
