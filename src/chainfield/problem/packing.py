"""Parameters as the fused kernel wants them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from chainfield.arrays import Float, aligned_zeros
from chainfield.scorers import Pairs

if TYPE_CHECKING:
    from chainfield.kernels.train.linear_chain import Parameters


@dataclass(frozen=True, eq=False)
class Packing:
    """From the flat vector θ to (weights of features, all others) and back.

    θ has the weights of ``pairs`` from ``at`` on. Packed, the rows of full features are padded to ``width`` and start
    on cache lines; the other weights lie behind them. Buffers are used again and again: fresh memory costs a page fault
    every four kilobytes.
    """

    pairs: Pairs
    n_rows: int
    width: int
    at: int
    n_parameters: int
    _free: list[Parameters] = field(default_factory=list, init=False)

    @property
    def shift(self) -> int:
        """How much further back the weights behind the full features lie."""
        return self.pairs.n_full * (self.width - self.n_rows)

    def place(self, at: int) -> int:
        """Where a parameter that is no weight of a feature lies among all others."""
        return at if at < self.at else at - self.pairs.n_pairs

    def take(self, theta: Float | None = None) -> Parameters:
        """Packed parameters in a buffer that is to be given back: θ, or zeros."""
        from chainfield.kernels.train.linear_chain import Parameters

        try:
            packed = self._free.pop()
        except IndexError:
            n_rest = self.n_parameters - self.pairs.n_pairs
            packed = Parameters(aligned_zeros(self.pairs.n_pairs + self.shift), np.zeros(n_rest))
        if theta is None:
            packed.weights.fill(0.0)
            packed.rest.fill(0.0)
        else:
            full, behind = self._zones(packed)
            own_full, own_behind = self._own(theta)
            full[:, : self.n_rows] = own_full
            behind[:] = own_behind
            np.concatenate(self._others(theta), out=packed.rest)
        return packed

    def give_back(self, packed: Parameters) -> None:
        """The buffer may be used again."""
        self._free.append(packed)

    @contextmanager
    def packed(self, theta: Float) -> Iterator[Parameters]:
        """θ packed, for a while."""
        buffer = self.take(theta)
        try:
            yield buffer
        finally:
            self.give_back(buffer)

    def add(self, packed: Parameters, theta: Float) -> None:
        """θ += what is packed. What was added for pairs that do not exist is left out."""
        full, behind = self._zones(packed)
        own_full, own_behind = self._own(theta)
        own_full += full[:, : self.n_rows] * self._exists
        own_behind += behind
        self._spread(packed, theta, add=True)

    def unpack(self, packed: Parameters, theta: Float) -> None:
        """θ = what is packed."""
        full, behind = self._zones(packed)
        own_full, own_behind = self._own(theta)
        own_full[...] = full[:, : self.n_rows]
        own_behind[:] = behind
        self._spread(packed, theta, add=False)

    @cached_property
    def _exists(self) -> Float:
        return self.pairs.mask.reshape(-1, self.n_rows) if len(self.pairs.mask) else np.ones((1, 1))

    def _zones(self, packed: Parameters) -> tuple[Float, Float]:
        n = self.pairs.n_full * self.width
        return packed.weights[:n].reshape(-1, self.width), packed.weights[n:]

    def _own(self, theta: Float) -> tuple[Float, Float]:
        own, n = theta[self.at : self.at + self.pairs.n_pairs], self.pairs.n_full * self.n_rows
        return own[:n].reshape(-1, self.n_rows), own[n:]

    def _others(self, theta: Float) -> tuple[Float, Float]:
        return theta[: self.at], theta[self.at + self.pairs.n_pairs :]

    def _spread(self, packed: Parameters, theta: Float, *, add: bool) -> None:
        for part, rest in zip(self._others(theta), (packed.rest[: self.at], packed.rest[self.at :]), strict=True):
            if add:
                part += rest
            else:
                part[:] = rest
