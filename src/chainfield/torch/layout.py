"""Padded batches with any mask, and batches laid end to end: both become ragged once, at the border.

A position that the mask leaves out is simply not there: holes and leading padding are as good as padding at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainfield.arrays import Array, Int
from chainfield.errors import DataError


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the positions of S sequences lie in a user's tensor. N positions in all, in the order of the sequences.

    ``place`` (N,): their numbers in the padded tensor, flattened as it lies; None: they are laid end to end already.
    """

    offsets: Int  # (S+1,)
    place: Tensor | None  # (N,)
    shape: tuple[int, ...]  # of the user's tensor, without the last dimension
    batch_first: bool
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @cached_property
    def ends(self) -> tuple[Tensor, Tensor]:
        """(S,) the first and the last position of each sequence."""
        first, last = torch.from_numpy(self.offsets[:-1]), torch.from_numpy(self.offsets[1:] - 1)
        return first.to(self.device), last.to(self.device)

    @property
    def n_sequences(self) -> int:
        """S."""
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> Int:
        """(S,) positions of each sequence."""
        return np.diff(self.offsets)

    def gather(self, values: Tensor) -> Tensor:
        """(…, C) as the user gives it, or (…) for C = 1 → (N, C) or (N,), end to end."""
        depth = len(self.shape)
        flat = values.reshape(-1, *values.shape[depth:])
        return flat if self.place is None else flat.index_select(0, self.place)

    def scatter(self, values: Tensor, fill: float = 0.0) -> Tensor:
        """(N, …) end to end → the user's shape; ``fill`` where there is no position."""
        if self.place is None:
            return values.reshape(*self.shape, *values.shape[1:])
        total = int(np.prod(self.shape))
        out = values.new_full((total, *values.shape[1:]), fill)
        return out.index_copy_(0, self.place, values).reshape(*self.shape, *values.shape[1:])

    def split(self, values: Array) -> list[list[Any]]:
        """(N,) end to end → one list per sequence."""
        flat = values.tolist()
        return [flat[a:b] for a, b in pairwise(self.offsets.tolist())]


def layout_of(
    emissions: Tensor, n_rows: int, *, mask: Tensor | None, lengths: Sequence[int] | Tensor | None, batch_first: bool
) -> Layout:
    """The layout of a batch of emissions, with shapes checked.

    Three dimensions: padded, (B, T, R) or (T, B, R), all positions unless ``mask`` or ``lengths`` says less. Two
    dimensions: (N, R), sequences of these ``lengths`` end to end; one sequence if there are none.
    """
    check_tensors(emissions=emissions, mask=mask)
    if emissions.dim() not in (2, 3) or emissions.shape[-1] != n_rows:
        order = f"(batch, time, {n_rows})" if batch_first else f"(time, batch, {n_rows})"
        raise DataError(
            f"emissions have the shape {tuple(emissions.shape)}; {order} is expected, or (positions, {n_rows}) with "
            "lengths."
        )
    if not emissions.is_floating_point():
        raise DataError(f"emissions have the type {emissions.dtype}; float32 or float64 is expected.")
    if mask is not None and lengths is not None:
        raise DataError("mask and lengths say the same thing; give one of them.")
    if emissions.dim() == 2:
        return _ragged(emissions, mask, lengths)
    shape = tuple(emissions.shape[:2])
    b, t = shape if batch_first else shape[::-1]
    if lengths is not None:
        mask = _prefix(lengths, b, t, batch_first, emissions.device)
    if mask is None:
        if t == 0 and b > 0:
            raise DataError("Sequence 0 has no position; leave empty sequences out of the batch.")
        place = None
        if not batch_first:
            place = torch.arange(b * t, device=emissions.device).reshape(t, b).t().reshape(-1)
        return Layout(np.arange(b + 1, dtype=np.int64) * t, place, shape, batch_first, emissions.device)
    return _masked(mask, shape, batch_first)


def check_tensors(**given: Any) -> None:
    """Refuse lists and arrays: what is no tensor."""
    for name, value in given.items():
        if value is not None and not isinstance(value, torch.Tensor):
            raise DataError(f"{name} is of the type {type(value).__name__}; a tensor is expected.")


def _ragged(emissions: Tensor, mask: Tensor | None, lengths: Sequence[int] | Tensor | None) -> Layout:
    n = len(emissions)
    if mask is not None:
        raise DataError("Emissions laid end to end have no mask; give the lengths of the sequences.")
    counts = np.array([n]) if lengths is None else _counts(lengths)
    if counts.sum() != n:
        raise DataError(f"lengths add up to {counts.sum()}, but there are emissions of {n} positions.")
    _refuse_empty(counts)
    return Layout(np.concatenate([[0], np.cumsum(counts)]), None, (n,), True, emissions.device)


def _masked(mask: Tensor, shape: tuple[int, ...], batch_first: bool) -> Layout:
    if tuple(mask.shape) != shape:
        raise DataError(f"mask has the shape {tuple(mask.shape)}, but the emissions need {shape}.")
    on = mask if mask.dtype == torch.bool else mask != 0
    rows = on if batch_first else on.t()
    counts = rows.sum(1).cpu().numpy()
    _refuse_empty(counts)
    place = rows.reshape(-1).nonzero().reshape(-1)
    if not batch_first:  # numbers in the transposed tensor → numbers as it lies
        t, b = shape
        place = place % t * b + place // t
    return Layout(np.concatenate([[0], np.cumsum(counts)]), place, shape, batch_first, mask.device)


def _prefix(lengths: Sequence[int] | Tensor, b: int, t: int, batch_first: bool, device: Any) -> Tensor:
    counts = _counts(lengths)
    if len(counts) != b:
        raise DataError(f"There are {len(counts)} lengths for {b} sequences.")
    if len(counts) and counts.max() > t:
        s = int(counts.argmax())
        raise DataError(f"Sequence {s} has the length {counts[s]}, but the batch has {t} time steps.")
    mask = torch.arange(t, device=device) < torch.from_numpy(counts).to(device)[:, None]
    return mask if batch_first else mask.t()


def _counts(lengths: Sequence[int] | Tensor) -> Int:
    values = lengths.cpu().numpy() if isinstance(lengths, torch.Tensor) else np.asarray(lengths)
    if values.ndim != 1 or (len(values) and values.dtype.kind not in "iu"):
        raise DataError("lengths must be a list of whole numbers, one per sequence.")
    return values.astype(np.int64)


def _refuse_empty(counts: Int) -> None:
    if len(counts) and counts.min() < 1:
        s = int(counts.argmin())
        raise DataError(f"Sequence {s} has no position; leave empty sequences out of the batch.")
