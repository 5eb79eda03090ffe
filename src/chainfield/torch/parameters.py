"""The parameters of a layer: scores of first and last rows, and of edges."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from chainfield.errors import ConfigError
from chainfield.states import StateSpace


class ChainParameters(nn.Module):  # type: ignore[misc]
    """What a chain adds to emissions; R emission rows, E edges. Names and shapes are those of pytorch-crf.

    ``start_transitions`` and ``end_transitions`` (R,). ``transitions`` (R, R), read [from, to], and where several
    states share a row (the pairs of a second-order space) ``extra`` (E,). With a ``rank`` in their place ``left``
    (K, rank), of the states that edges leave, and ``right`` (R, rank), of the rows that they enter: a score is the
    product of the two (Thai et al. 2017).
    """

    def __init__(self, space: StateSpace, rank: int | None = None) -> None:
        super().__init__()
        if rank is not None and (not isinstance(rank, int) or isinstance(rank, bool) or rank < 1):
            raise ConfigError(f"rank is {rank!r}; a whole number of at least 1 is expected, or None for a full matrix.")
        n = space.n_rows
        self.space, self.rank = space, rank
        plain = space.n_states == n and np.array_equal(space.row_of, np.arange(n))
        self._all_pairs = bool(plain and space.n_edges == n * n)
        self.register_buffer("_pair", self.pairs(), persistent=False)
        self.start_transitions = nn.Parameter(torch.empty(n))
        self.end_transitions = nn.Parameter(torch.empty(n))
        if rank is None:
            self.transitions = nn.Parameter(torch.empty(n, n))
        else:
            self.left = nn.Parameter(torch.empty(space.n_states, rank))
            self.right = nn.Parameter(torch.empty(n, rank))
        if rank is None and not plain:
            self.extra = nn.Parameter(torch.empty(space.n_edges))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform numbers within 0.1; those of Glorot and Bengio (2010) for the narrow matrices."""
        for name, parameter in self.named_parameters(recurse=False):
            narrow = name in ("left", "right")
            bound = math.sqrt(6.0 / sum(parameter.shape)) if narrow else 0.1
            nn.init.uniform_(parameter, -bound, bound)

    def pairs(self) -> Tensor:
        """(E,) where the score of each edge stands in the matrix, row by row."""
        space = self.space
        sources = space.row_of[space.src] if self.rank is None else space.src
        return torch.from_numpy(sources.astype(np.int64) * space.n_rows + space.row_of[space.dst])

    def transition_matrix(self) -> Tensor:
        """(R, R) scores of rows that follow each other, or (K, R) of states and rows with a rank; read [from, to]."""
        return self.transitions if self.rank is None else self.left @ self.right.t()

    def edge_scores(self) -> Tensor:
        """(E,)."""
        flat = self.transition_matrix().reshape(-1)
        if self._all_pairs:
            return flat
        scores = flat.index_select(0, self._pair)
        return scores + self.extra if hasattr(self, "extra") else scores
