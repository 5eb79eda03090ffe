"""The parameters of a layer: scores of first and last rows, and of edges."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from chainfield.arrays import Integers
from chainfield.errors import ConfigError
from chainfield.states import StateSpace
from chainfield.states.naming import row_ranks, shared_sides


class ChainParameters(nn.Module):  # type: ignore[misc]
    """What a chain adds to emissions; R emission rows, E edges. Names and shapes are those of pytorch-crf.

    ``start_transitions`` and ``end_transitions`` (R,). ``transitions`` (R, R), read [from, to], and where several
    states share a row (the pairs of a second-order space) ``extra`` (E,). With a ``rank`` in their place ``left``
    (K, rank), of the states that edges leave, and ``right`` (R, rank), of the rows that they enter: a score is the
    product of the two (Thai et al. 2017). Where labels share their states, those take the place of rows.
    """

    def __init__(self, space: StateSpace, rank: int | None = None, shared: bool = False) -> None:
        super().__init__()
        if rank is not None and (not isinstance(rank, int) or isinstance(rank, bool) or rank < 1):
            raise ConfigError(f"rank is {rank!r}; a whole number of at least 1 is expected, or None for a full matrix.")
        n = space.n_rows
        self.space, self.rank, self.shared = space, rank, shared
        plain = space.n_states == n and np.array_equal(space.row_of, np.arange(n))
        if shared and not plain:
            raise ConfigError("shared=True needs a space of first order, in which every state has a row of its own.")
        self._all_pairs = bool(plain and not shared and space.n_edges == n * n)
        n_left, n_right = (int(row_ranks(space).max()) + 1,) * 2 if shared else (space.n_states, n)
        self._width = n_right
        self.register_buffer("_pair", self.pairs(), persistent=False)
        self.start_transitions = nn.Parameter(torch.empty(n))
        self.end_transitions = nn.Parameter(torch.empty(n))
        if rank is None:
            self.transitions = nn.Parameter(torch.empty(n_right, n_right))
        else:
            self.left = nn.Parameter(torch.empty(n_left, rank))
            self.right = nn.Parameter(torch.empty(n_right, rank))
        if rank is None and not plain:
            self.extra = nn.Parameter(torch.empty(space.n_edges))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform numbers within 0.1; those of Glorot and Bengio (2010) for the narrow matrices."""
        for name, parameter in self.named_parameters(recurse=False):
            narrow = name in ("left", "right")
            bound = math.sqrt(6.0 / sum(parameter.shape)) if narrow else 0.1
            nn.init.uniform_(parameter, -bound, bound)

    def sides(self) -> tuple[Integers, Integers]:
        """(E,) the line and the column of each edge's score in :meth:`transition_matrix`."""
        space = self.space
        if self.shared:
            return shared_sides(space)
        return (space.row_of[space.src] if self.rank is None else space.src), space.row_of[space.dst]

    def pairs(self) -> Tensor:
        """(E,) where the score of each edge stands in the matrix, row by row."""
        source, target = self.sides()
        return torch.from_numpy(source.astype(np.int64) * self._width + target)

    def transition_matrix(self) -> Tensor:
        """(R, R) scores of rows that follow each other, or (K, R) of states and rows with a rank; read [from, to].

        (Z, Z) where labels share Z states.
        """
        return self.transitions if self.rank is None else self.left @ self.right.t()

    def edge_scores(self) -> Tensor:
        """(E,)."""
        flat = self.transition_matrix().reshape(-1)
        if self._all_pairs:
            return flat
        scores = flat.index_select(0, self._pair)
        return scores + self.extra if hasattr(self, "extra") else scores
