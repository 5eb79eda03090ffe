"""The layer: a chain on top of whatever makes emissions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from chainfield.arrays import Bool, Integers
from chainfield.errors import ConfigError, DataError
from chainfield.inference import best_label_paths, class_log_probabilities, decoder_named, marginals, sample
from chainfield.potentials import UNKNOWN, Clamp, Potentials, clamp_labels
from chainfield.states import StateSpace, one_per_label

from .engine import Engine, Way, as_potentials
from .layout import Layout, check_tensors, layout_of
from .likelihood import LogLikelihood, Query, node_scores
from .parameters import ChainParameters
from .precision import widened

Lengths: TypeAlias = Sequence[int] | Tensor
REDUCTIONS = ("none", "sum", "mean", "token_mean")


class CRF(ChainParameters):
    """A linear-chain CRF over any state space; L labels, R emission rows (R = L unless labels have several states).

    ``num_tags``: the number of labels, or a :class:`~chainfield.states.StateSpace`. ``batch_first``: whether padded
    tensors are (batch, time, …) or (time, batch, …). ``rank``: transitions are the product of two matrices of this
    rank. ``shared``: the first states of all labels have the same transitions, and so have the second ones, and so on:
    they are one hidden state with another label. ``engine``: "auto", or "compiled" or "torch" to choose how it is
    computed.

    Emissions are padded, with a ``mask`` of any shape (holes, leading padding) or ``lengths``; or they are sequences
    of these ``lengths`` laid end to end, (positions, R). An emission of -inf makes a row impossible at its position.
    Emissions in half precision are computed with, and answered, in float32.
    """

    def __init__(
        self,
        num_tags: int | StateSpace,
        batch_first: bool = False,
        *,
        rank: int | None = None,
        shared: bool = False,
        engine: Way = "auto",
    ) -> None:
        super().__init__(_space(num_tags), rank, shared)
        self.batch_first = batch_first
        self._engine = Engine(self.space, engine)
        self._clamp = clamp_labels(self.space, np.empty(0, np.int32))
        _ = self._clamp.single_row  # kept, and shared by all clamps

    @property
    def num_tags(self) -> int:
        """L."""
        return self.space.n_labels

    @property
    def n_rows(self) -> int:
        """R: how many emissions a position needs."""
        return self.space.n_rows

    def extra_repr(self) -> str:
        """The sizes, for printing."""
        rank = "" if self.rank is None else f", rank={self.rank}"
        return f"num_tags={self.num_tags}, n_states={self.space.n_states}, batch_first={self.batch_first}{rank}"

    # ---- likelihoods ---------------------------------------------------------------------------------------------

    def forward(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor | None = None,
        reduction: str = "sum",
        *,
        lengths: Lengths | None = None,
    ) -> Tensor:
        """Log-likelihood of the tags, summed over all state paths that carry them.

        tags: numbers of labels, -1 where one is unknown, shaped as the emissions without their last dimension; or
        truth values with a last dimension of L, true for every label that is possible; over class blocks also (batch,).
        reduction: "none" (one number per sequence), "sum", "mean" or "token_mean".
        """
        if reduction not in REDUCTIONS:
            raise ConfigError(f"Unknown reduction {reduction!r}; choose one of {', '.join(REDUCTIONS)}.")
        layout = self._layout(emissions, mask, lengths)
        found = self.log_likelihood(emissions, layout, self._known(tags, layout))
        if reduction == "none":
            return found
        if reduction == "sum":
            return found.sum()
        return found.mean() if reduction == "mean" else found.sum() / int(layout.offsets[-1])

    def log_partition(self, emissions: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None) -> Tensor:
        """(batch,) log of the sum over all paths of exp(score); differentiable."""
        return -self.log_likelihood(emissions, self._layout(emissions, mask, lengths), None)

    def log_likelihood(self, emissions: Tensor, layout: Layout, clamp: Clamp | None) -> Tensor:
        """(batch,) log P of what a clamp says, for positions that lie as ``layout`` tells; None: minus log Z."""
        return LogLikelihood.apply(
            widened(emissions),
            widened(self.start_transitions),
            widened(self.end_transitions),
            self._edges(),
            Query(self._engine, layout, clamp),
        )

    # ---- decoding ------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def decode(
        self,
        emissions: Tensor,
        mask: Tensor | None = None,
        *,
        lengths: Lengths | None = None,
        decoder: str = "viterbi",
    ) -> list[list[int]]:
        """The best labels of each sequence: "viterbi", "posterior" or "latent-dynamic" (see docs/concepts.md)."""
        if decoder == "viterbi":
            layout, states = self._best(emissions, mask, lengths)
            return layout.split(self.space.label_of[states])
        decode = decoder_named(decoder)
        layout, potentials = self._potentials(emissions, mask, lengths)
        return layout.split(decode(self.space, potentials))

    @torch.no_grad()
    def decode_states(
        self, emissions: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> list[list[int]]:
        """The best state path of each sequence."""
        layout, states = self._best(emissions, mask, lengths)
        return layout.split(states)

    def _best(self, emissions: Tensor, mask: Tensor | None, lengths: Lengths | None) -> tuple[Layout, Integers]:
        layout = self._layout(emissions, mask, lengths)
        node = self._nodes(emissions, layout)
        return layout, self._engine.best_states(node, self._edges(), layout.offsets)

    @torch.no_grad()
    def n_best(
        self, emissions: Tensor, n: int, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> list[list[tuple[list[int], float]]]:
        """The n best label sequences of each sequence with their probabilities, best first."""
        _check_number(n, "path")
        _, potentials = self._potentials(emissions, mask, lengths)
        return [
            list(zip(found.labels.tolist(), np.exp(found.log_probability).tolist(), strict=True))
            for found in best_label_paths(self.space, potentials, n)
        ]

    # ---- posteriors ----------------------------------------------------------------------------------------------

    @torch.no_grad()
    def marginals(self, emissions: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None) -> Tensor:
        """Posterior probabilities of rows (states), shaped as the emissions; 0 where the mask is off."""
        layout = self._layout(emissions, mask, lengths)
        node = self._nodes(emissions, layout)
        ones = torch.ones(layout.n_sequences, dtype=node.dtype, device=node.device)
        found = self._engine.contrast(node, self._edges(), layout.offsets, None, ones)
        assert found.d_node is not None
        return layout.scatter((-found.d_node).to(widened(emissions).dtype))

    @torch.no_grad()
    def label_marginals(
        self, emissions: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> Tensor:
        """Posterior probabilities of labels, (…, L); those of their states, added up."""
        rows = self.marginals(emissions, mask, lengths=lengths)
        label = torch.from_numpy(self.space.label_of_row.astype(np.int64)).to(rows.device)
        return rows.new_zeros((*rows.shape[:-1], self.num_tags)).index_add_(-1, label, rows)

    @torch.no_grad()
    def expected_transitions(
        self, emissions: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> Tensor:
        """(K, K) how often states follow each other in the batch, in expectation; read [from, to]."""
        _, potentials = self._potentials(emissions, mask, lengths)
        edge = torch.from_numpy(marginals(self.space, potentials).expected.edge[0])
        matrix = self._engine.matrix(edge)
        return torch.where(torch.isinf(matrix), 0.0, matrix).to(widened(emissions).dtype)

    @torch.no_grad()
    def class_log_probabilities(
        self, emissions: Tensor, mask: Tensor | None = None, *, lengths: Lengths | None = None
    ) -> Tensor:
        """(batch, L) log P(class), over class blocks: no edge leads from one label to another."""
        _, potentials = self._potentials(emissions, mask, lengths)
        return torch.from_numpy(class_log_probabilities(self.space, potentials)).to(widened(emissions))

    @torch.no_grad()
    def sample(
        self,
        emissions: Tensor,
        n: int,
        mask: Tensor | None = None,
        *,
        lengths: Lengths | None = None,
        generator: torch.Generator | None = None,
    ) -> list[list[list[int]]]:
        """n label sequences for each sequence, drawn independently from the posterior."""
        _check_number(n, "sample")
        _, potentials = self._potentials(emissions, mask, lengths)
        seed = torch.randint(2**62, (1,), generator=generator)
        rng = np.random.default_rng(int(seed))
        return [self.space.label_of[states].tolist() for states in sample(self.space, potentials, n, rng)]

    # ---- from the user's tensors ---------------------------------------------------------------------------------

    def _layout(self, emissions: Tensor, mask: Tensor | None, lengths: Lengths | None) -> Layout:
        return layout_of(emissions, self.n_rows, mask=mask, lengths=lengths, batch_first=self.batch_first)

    def _nodes(self, emissions: Tensor, layout: Layout) -> Tensor:
        query = Query(self._engine, layout, None)
        return node_scores(query, widened(emissions), self.start_transitions, self.end_transitions)

    def _edges(self) -> Tensor:
        """(E,) scores of edges, in single precision at least (autocast multiplies matrices in half precision)."""
        return widened(self.edge_scores())

    def _potentials(self, emissions: Tensor, mask: Tensor | None, lengths: Lengths | None) -> tuple[Layout, Potentials]:
        layout = self._layout(emissions, mask, lengths)
        return layout, as_potentials(self._nodes(emissions, layout), self._edges(), layout.offsets)

    def _known(self, tags: Tensor, layout: Layout) -> Clamp:
        """What tags say, as sets of rows."""
        check_tensors(tags=tags)
        shape, n_labels = layout.shape, self.num_tags
        if tuple(tags.shape) == (layout.n_sequences,) != shape:
            numbers = np.repeat(tags.cpu().numpy(), layout.lengths)
        elif tags.dtype == torch.bool and tuple(tags.shape) == (*shape, n_labels):
            return self._sets(layout.gather(tags).cpu().numpy(), layout)
        elif tuple(tags.shape) == shape and tags.dtype != torch.bool and not tags.is_floating_point():
            numbers = layout.gather(tags).cpu().numpy()
        else:
            raise DataError(
                f"tags are {tags.dtype} of the shape {tuple(tags.shape)}; whole numbers of the shape {shape} are "
                f"expected, or truth values of the shape {(*shape, n_labels)}."
            )
        if len(numbers) and (numbers.min() < UNKNOWN or numbers.max() >= n_labels):
            at = int(np.argmax((numbers < UNKNOWN) | (numbers >= n_labels)))
            raise DataError(
                f"The tag of {_place(layout, at)} is {numbers[at]}; tags are numbers from 0 to {n_labels - 1}, or "
                f"{UNKNOWN} where one is unknown."
            )
        index = numbers.astype(np.int32)
        clamp = Clamp(np.where(index == UNKNOWN, np.int32(n_labels), index), self._clamp.table)
        clamp.__dict__["single_row"] = self._clamp.single_row
        return clamp

    def _sets(self, allowed: Bool, layout: Layout) -> Clamp:
        if not allowed.any(axis=1).all():
            at = int(np.argmin(allowed.any(axis=1)))
            raise DataError(f"The tags of {_place(layout, at)} allow no label at all; at least one is needed.")
        table, index = np.unique(allowed, axis=0, return_inverse=True)
        return Clamp(index.reshape(-1).astype(np.int32), table[:, self.space.label_of_row])


def _check_number(n: Any, what: str) -> None:
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ConfigError(f"n is {n!r}; a whole number is expected, and at least one {what} must be asked for.")


def _place(layout: Layout, at: int) -> str:
    s = int(np.searchsorted(layout.offsets, at, side="right")) - 1
    return f"sequence {s}, position {at - int(layout.offsets[s])}"


@lru_cache(maxsize=32)
def _plain(n_labels: int) -> StateSpace:
    return one_per_label(n_labels)


def _space(num_tags: Any) -> StateSpace:
    if isinstance(num_tags, StateSpace):
        return num_tags
    if not isinstance(num_tags, int) or isinstance(num_tags, bool) or num_tags < 1:
        raise ConfigError(f"num_tags is {num_tags!r}; a number of labels of at least 1, or a state space, is expected.")
    return _plain(num_tags)
