"""Columns of numbers: where they lie, how they vary, and the scale on which a model sees them.

Steps, penalties and starts take it that columns lie around 0 and vary by about 1. Where they do not, a model sees them
on another scale, x → (x - centre) / spread, which is learned in training and kept beside the weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import DataError

SCALINGS = ("auto", "none", "centred", "standardised")

# Columns whose sizes differ by more than this share no step size; neither do such a value and the 1 of an attribute.
WILD = 1e3
# What is smaller than this in all columns needs weights so large that the usual penalty forbids them.
TINY = 0.02
# Columns that are together further from 0 than this, in deviations, look constant to hidden units at their start.
FAR = 3.0
# A column that varies by less, as a share of its size, is constant but for rounding.
ROUNDING = 1e-12
BLOCK = 1 << 16  # numbers that are looked at together
TINIEST = float(np.finfo(np.float64).tiny)  # below it, numbers lose digits


@dataclass(frozen=True, eq=False)
class Moments:
    """(D,) of each column over n positions: its mean, the sum of squared distances from it, the largest |x|."""

    n: int
    mean: Float
    squares: Float
    largest: Float

    @classmethod
    def of(cls, rows: Float) -> Moments:
        """Of (N, D) rows; block by block, so that hardly any memory is needed beside them."""
        step = max(1, BLOCK // max(1, rows.shape[1]))
        blocks = (rows[at : at + step] for at in range(0, len(rows), step))
        return reduce(Moments.__add__, map(cls._block, blocks), cls(0, *np.zeros((3, rows.shape[1]))))

    @classmethod
    def _block(cls, rows: Float) -> Moments:
        with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond 1e154: see `deviation`
            mean = rows.mean(axis=0)
            distance = rows - mean
            return cls(len(rows), mean, np.einsum("td,td->d", distance, distance), np.abs(rows).max(axis=0))

    def __add__(self, other: Moments) -> Moments:
        """Of two pieces, by Chan, Golub and LeVeque."""
        if not self.n or not other.n:
            return self if self.n else other
        n = self.n + other.n
        with np.errstate(over="ignore", invalid="ignore"):
            apart, share = other.mean - self.mean, other.n / n
            squares = self.squares + other.squares + apart**2 * (self.n * share)
            return Moments(n, self.mean + apart * share, squares, np.maximum(self.largest, other.largest))

    @property
    def deviation(self) -> Float:
        """(D,) the standard deviation; not finite where squares of the numbers are none."""
        return np.sqrt(self.squares / max(self.n, 1))

    @property
    def present(self) -> np.ndarray:
        """The columns that are not 0 throughout."""
        return np.flatnonzero(self.largest)

    @property
    def wild(self) -> bool:
        """Whether columns differ in size so much that the larger ones drown the others."""
        sizes = self.largest[self.present]
        return bool(len(sizes) and sizes.max() > WILD * sizes.min())

    @property
    def tiny(self) -> bool:
        """Whether all columns are so small that penalties forbid the weights that they need."""
        return bool(len(self.present) and self.largest.max() < TINY)

    @property
    def far(self) -> bool:
        """Whether columns lie far from 0 for how little they vary."""
        with np.errstate(over="ignore", invalid="ignore"):
            away, varied = float((self.mean**2).sum()), float((self.deviation**2).sum())
        return bool(away > FAR**2 * varied > 0)

    def scale(self, scaling: str) -> Scale | None:
        """The scale that suits such columns; None: as they are. ``auto``: standardised where it is needed."""
        if scaling == "none" or (scaling == "auto" and not (self.wild or self.tiny or self.far)):
            return None
        # A constant column keeps its place as the 1 of all positions. One whose squares are too large for numbers is
        # divided by its largest value.
        deviation, peak = self.deviation, np.where(self.largest >= TINIEST, self.largest, 1.0)
        varies = np.isfinite(self.mean) & np.isfinite(deviation) & (deviation > np.maximum(ROUNDING * peak, TINIEST))
        centre = np.where(varies, self.mean, 0.0)
        if scaling == "centred":
            return Scale(centre, np.ones_like(centre))
        return Scale(centre, np.where(varies, deviation, peak))


@dataclass(frozen=True, eq=False)
class Scale:
    """(D,) of each column: what counts as 0, and how much counts as 1."""

    centre: Float
    spread: Float

    @property
    def scaling(self) -> str:
        """Which kind of scale this is."""
        return "standardised" if (self.spread != 1.0).any() else "centred"

    def apply(self, rows: Float) -> Float:
        """(N, D) finite rows on this scale, written over the old ones."""
        with np.errstate(over="ignore"):
            rows -= self.centre
            rows /= self.spread
        if not np.isfinite(rows).all():
            column = int(np.argwhere(~np.isfinite(rows))[0][1])
            raise DataError(
                f"Column {column} has a value so far beyond those of training that it has no number on their scale; "
                "check the data."
            )
        return rows
