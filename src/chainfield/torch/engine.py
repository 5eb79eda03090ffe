"""Which way the numbers are computed: by the compiled kernels, by products, or in log space. All give the same ones.

A *contrast* is the log-partition of the paths that agree with what is known, less that of all paths; its gradient is
the difference of two posteriors. One forward-backward a side gives both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from chainfield.arrays import Floats, Int, Integers
from chainfield.errors import ConfigError, NoPathError
from chainfield.inference import add_path, add_posteriors, best_paths, clamped_path, log_partition, score_paths
from chainfield.potentials import Clamp, Potentials
from chainfield.states import StateSpace

from . import labelled, logspace, products

Way = Literal["auto", "compiled", "torch"]
#: Complete spaces of so many states are faster by products, even on the processor.
MANY_STATES = 64
_KNOWN = "its tags"


@dataclass(frozen=True, eq=False)
class Contrast:
    """log P of what is known, for each sequence, and its gradient times weights: None if it was not asked for."""

    value: Tensor  # (S,)
    d_node: Tensor | None  # (N, R)
    d_edge: Tensor | None  # (E,)


@dataclass(frozen=True, eq=False)
class Engine:
    """A state space, ready for all three ways."""

    space: StateSpace
    way: Way = "auto"

    def __post_init__(self) -> None:
        if self.way not in ("auto", "compiled", "torch"):
            raise ConfigError(f"engine is {self.way!r}; choose auto, compiled or torch.")

    @cached_property
    def complete(self) -> bool:
        """Whether every state may follow every state, start and end, and has a row of its own."""
        space = self.space
        own_rows = space.n_states == space.n_rows and np.array_equal(space.row_of, np.arange(space.n_rows))
        return bool(own_rows and space.n_edges == space.n_states**2 and space.start.all() and space.end.all())

    @cached_property
    def blocks(self) -> labelled.Blocks:
        """The states of each label."""
        return labelled.Blocks(self.space)

    def _compiled(self, node: Tensor, *, products: bool) -> bool:
        """Whether the kernels are to be used: on the processor, unless products are as good and faster."""
        if self.way != "auto":
            return self.way == "compiled"
        return node.device.type == "cpu" and not (products and self.complete and self.space.n_states >= MANY_STATES)

    # ---- contrasts -----------------------------------------------------------------------------------------------

    def contrast(
        self, node: Tensor, edge: Tensor, offsets: Int, clamp: Clamp | None, weight: Tensor | None
    ) -> Contrast:
        """log P of what a clamp says; without a clamp, minus log Z. ``weight`` (S,): of the gradients."""
        if self._compiled(node, products=True):
            return self._by_kernels(node, edge, offsets, clamp, weight)
        return self._by_torch(node, edge, offsets, clamp, weight)

    def _by_kernels(
        self, node: Tensor, edge: Tensor, offsets: Int, clamp: Clamp | None, weight: Tensor | None
    ) -> Contrast:
        space, potentials = self.space, as_potentials(node, edge, offsets)
        path = None if clamp is None else clamped_path(space, clamp, offsets)
        if weight is None:
            with _told():
                value = -log_partition(space, potentials)
            with _told(_KNOWN):
                if path is not None:
                    value += score_paths(space, potentials, path)
                elif clamp is not None:
                    value += log_partition(space, clamp.apply(potentials))
                _check(value, _KNOWN)
            return Contrast(torch.from_numpy(value), None, None)
        many = weight.detach().double().cpu().numpy()
        d = potentials.zeros()
        with _told():
            value = -add_posteriors(space, potentials, -many, d)
        with _told(_KNOWN):
            if path is not None:
                value += add_path(space, potentials, path, many, d)
            elif clamp is not None:
                value += add_posteriors(space, clamp.apply(potentials), many, d)
            _check(value, _KNOWN)
        return Contrast(torch.from_numpy(value), torch.from_numpy(d.node), torch.from_numpy(d.edge[0]))

    def _by_torch(
        self, node: Tensor, edge: Tensor, offsets: Int, clamp: Clamp | None, weight: Tensor | None
    ) -> Contrast:
        scores, matrix = self.state_scores(node, offsets), self.matrix(edge)
        steps = products.make_steps(offsets, node.device)
        weights = products.weigh(matrix) if self.complete else None

        def both(node: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
            if weights is not None:
                return products.forward_backward(node, weights, steps, weight)
            return logspace.forward_backward(node, matrix, steps, weight)

        free, d_node, d_edge = both(scores, None if weight is None else -weight)
        _check(free.cpu().numpy())
        if clamp is None:
            return self._back(-free, d_node, d_edge, weight)
        labels = clamp.only_label(self.space)[clamp.index].astype(np.int64)
        known = labels.min(initial=0) >= 0 and _whole(clamp, self.space)
        if weights is not None and known and self.blocks.worthwhile:
            data = (scores, weights, steps, offsets, labels)
            bound = labelled.forward_backward(self.blocks, *data, weight, d_node, d_edge)
            _check(bound.cpu().numpy(), _KNOWN)
        else:
            allowed = torch.from_numpy(clamp.table[clamp.index][:, self.space.row_of]).to(node.device)
            bound, d_own, d_moves = both(scores.masked_fill(~allowed, -torch.inf), weight)
            _check(bound.cpu().numpy(), _KNOWN)
            if weight is not None:
                d_node, d_edge = d_node + d_own, d_edge + d_moves
        return self._back(bound - free, d_node, d_edge, weight)

    def _back(self, value: Tensor, d_node: Tensor, d_edge: Tensor, weight: Tensor | None) -> Contrast:
        """From states to rows, and from a matrix to edges."""
        if weight is None:
            return Contrast(value, None, None)
        space = self.space
        if not self.complete:
            row_of = torch.from_numpy(space.row_of.astype(np.int64)).to(d_node.device)
            rows = d_node.new_zeros((len(d_node), space.n_rows))
            d_node = rows.index_add_(1, row_of, d_node)
        return Contrast(value, d_node, self.edges(d_edge))

    def state_scores(self, node: Tensor, offsets: Int) -> Tensor:
        """(N, R) scores of rows as (N, K) scores of states; -inf where a state may not start or end."""
        if self.complete:
            return node
        space = self.space
        scores = node[:, torch.from_numpy(space.row_of.astype(np.int64)).to(node.device)]
        for allowed, at in ((space.start, offsets[:-1]), (space.end, offsets[1:] - 1)):
            where = torch.from_numpy(np.ascontiguousarray(at)).to(node.device)
            absent = torch.from_numpy(~allowed).to(node.device)
            scores[where] = scores[where].masked_fill(absent, -torch.inf)
        return scores

    def matrix(self, edge: Tensor) -> Tensor:
        """(E,) as (K, K); -inf where there is no edge."""
        k = self.space.n_states
        if self.space.n_edges == k * k:
            return edge.reshape(k, k)
        return edge.new_full((k * k,), -torch.inf).index_copy(0, self._places(edge), edge).reshape(k, k)

    def edges(self, matrix: Tensor) -> Tensor:
        """(K, K) as (E,)."""
        flat = matrix.reshape(-1)
        return flat if self.space.n_edges == len(flat) else flat.index_select(0, self._places(flat))

    def _places(self, like: Tensor) -> Tensor:
        space = self.space
        return torch.from_numpy(space.src.astype(np.int64) * space.n_states + space.dst).to(like.device)

    # ---- best paths ----------------------------------------------------------------------------------------------

    def best_states(self, node: Tensor, edge: Tensor, offsets: Int) -> Integers:
        """(N,) the best state path of every sequence."""
        if self._compiled(node, products=False):
            paths = best_paths(self.space, as_potentials(node, edge, offsets))
            _check(paths.score)
            return paths.states
        scores, matrix = self.state_scores(node, offsets), self.matrix(edge)
        states, score = logspace.viterbi(scores, matrix, products.make_steps(offsets, node.device))
        _check(score.cpu().numpy())
        return states.cpu().numpy()


def as_potentials(node: Tensor, edge: Tensor, offsets: Int) -> Potentials:
    """Tensors on any device as potentials of the NumPy engine, in double precision."""
    return Potentials(node.detach().cpu().numpy(), edge.detach().cpu().numpy()[None], offsets)


def _whole(clamp: Clamp, space: StateSpace) -> bool:
    """Whether every set of a clamp has all rows of its label, or is not that of one label at all."""
    label = clamp.only_label(space)
    one = label >= 0
    return bool(np.array_equal(clamp.table[one], space.label_of_row == label[one, None]))


class _told:
    """Says what leaves no path: tags, or the rules and emissions alone."""

    def __init__(self, known: str = "") -> None:
        self.known = known

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, NoPathError):
            raise _no_path(error.sequence, self.known) from None


def _no_path(s: int, known: str) -> NoPathError:
    what = f"the rules, {known}" if known else "the rules"
    return NoPathError(s, detail=f"{what} and emissions of -inf exclude every one.")


def _check(values: Floats, known: str = "") -> None:
    """Name the first sequence without a path."""
    if not np.isfinite(values).all():
        raise _no_path(int(np.argmin(np.isfinite(values))), known)
