"""Mixtures of diagonal quadratics: what Gaussian mixtures become in a hidden CRF (Gunawardana et al. 2005).

    score(t, r) = gathered over components m of   b_rm + λ¹_rm · z_t + λ²_rm · q_t        z = (o - centre) / spread
                                                                                        q = SQUARES (z² - 1)

That is the log-density of a Gaussian mixture, up to a constant, written in natural parameters: with free weights any
quadratic, "negative variances" included. Centre, spread and the odd way to enter squares change nothing but the
condition: weights of all features are then of one size, and a step of one size suits them all.

The way back of a posterior gives Σγ, Σγz and Σγq: the sufficient statistics of EM and of extended Baum-Welch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Tensor, demand, number, whole
from chainfield.scorers.model_files import register
from chainfield.scorers.origin import Origin
from chainfield.scorers.scorer import Params, Pullback, Scorer
from chainfield.scorers.shares import Place, Share, Weight

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

SQUARES = 0.3  # the deviation of 0.3 (z² - 1) is 0.42 for a normal z: curvatures count a little less than slopes


def moment_features(x: Float, centre: Float, spread: Float) -> Float:
    """(N, D) observations → (N, 1 + 2D): 1, z, q."""
    n, d = x.shape
    out = np.empty((n, 1 + 2 * d))
    out[:, 0] = 1.0
    z, q = out[:, 1 : 1 + d], out[:, 1 + d :]
    np.subtract(x, centre, out=z)
    z /= spread
    np.multiply(z, z, out=q)
    q -= 1.0
    q *= SQUARES
    return out


def gather(components: Float, m: int, sharpness: float, how: How, scores: Float) -> Float:
    """Add components (N, R·M), gathered by rows, to scores; the array becomes the components' shares."""
    from chainfield.kernels.train.mixture import gather_components

    gather_components(components, m, sharpness, how == "max", scores)
    return components


def spread_out(d: Float, m: int, shares: Float) -> Float:
    """d loss / d components from d loss / d scores."""
    from chainfield.kernels.train.mixture import spread_components

    out = np.empty_like(shares)
    spread_components(np.ascontiguousarray(d), m, shares, out)
    return out


@final
@register
@dataclass(frozen=True, eq=False)
class GaussianMixture(Scorer):
    """R rows of M components each over D numbers a position.

    ``sharpness`` κ flattens components: they gather as 1/κ · log Σ exp(κ x), so that κ times the score is the log-sum
    of flattened components.
    """

    n_columns: int
    n_rows: int
    n_components: int
    centre: Float  # (D,)
    spread: Float  # (D,)
    sharpness: float = 1.0
    name: str = field(default="mixture", kw_only=True)
    group = "emissions"
    needs = "dense"
    schema = Part(
        (
            NAME,
            whole("n_columns", "columns", "D", least=1),
            whole("n_rows", "rows", "R"),
            whole("n_components", "components of a row", least=1),
            number("sharpness", "how components are flattened; above 0"),
        ),
        (
            Tensor("centre", ("F64",), ("D",), "z = (o - centre) / spread"),
            Tensor("spread", ("F64",), ("D",), "the same; above 0", least=0),
        ),
    )

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """A single component hides nothing."""
        return self.n_components == 1

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """weight (1 + 2D, R·M): of the occupancy, of first and of second moments."""
        return {"weight": (1 + 2 * self.n_columns, self.n_rows * self.n_components)}

    def width(self) -> int:
        """Features and components."""
        return 1 + 2 * self.n_columns + self.n_rows * self.n_components

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """A matrix product each way, and components gathered in between."""
        assert batch.dense is not None
        x, m = moment_features(batch.dense, self.centre, self.spread), self.n_components
        components = x @ params["weight"]
        if m == 1:
            scores += components
            shares = None
        else:
            shares = gather(components, m, self.sharpness, how, scores)
        kept: list[tuple[Float, Float]] = []  # an averaging trainer asks twice for the same gradient

        def pullback(d: Float, into: Params, scale: float) -> None:
            if not kept or kept[0][0] is not d:
                kept[:] = [(d, x.T @ (d if shares is None else spread_out(d, m, shares)))]
            into["weight"][...] += scale * kept[0][1]

        return pullback

    def best_components(self, params: Params, batch: Batch, rows: Int) -> Int:
        """(N,) the component with the largest score, in the given row of each position."""
        assert batch.dense is not None
        x = moment_features(batch.dense, self.centre, self.spread)
        weight = params["weight"].reshape(len(params["weight"]), self.n_rows, self.n_components)
        return np.einsum("tf,ftm->tm", x, weight[:, rows]).argmax(axis=1)

    def carry(self, old: GaussianMixture, origin: Origin, theirs: Params, ours: Params) -> None:
        """Rows that were there before keep their weights, if the features and the components are the same."""
        same = np.array_equal(old.centre, self.centre) and np.array_equal(old.spread, self.spread)
        if same and old.n_components == self.n_components:
            there, m = origin.rows >= 0, self.n_components
            size = len(theirs["weight"])
            before = theirs["weight"].reshape(size, -1, m)
            ours["weight"].reshape(size, -1, m)[:, there] = before[:, origin.rows[there]]

    def weights(self, place: Place, params: Params, features: FeatureMap) -> Iterator[Weight]:
        """One weight per moment and row; with several components, the name ends in the component's number."""
        if place != "position":
            return
        for moment, values in zip(self._names(features), params["weight"].tolist(), strict=True):
            for column, weight in enumerate(values):
                row, i = divmod(column, self.n_components)
                yield Weight(moment if self.n_components == 1 else f"{moment}, component {i}", row, weight)

    def _names(self, features: FeatureMap) -> list[str]:
        names = list(features.feature_names())
        return ["occupancy", *names, *(f"{name}²" for name in names)]

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """The share of every moment, where a row has one component; else of the mixture as a whole."""
        if self.n_components > 1:
            return super().shares(params, batch, scores, columns, features)
        assert batch.dense is not None
        x, names = moment_features(batch.dense, self.centre, self.spread), self._names(features)
        found: list[list[Share]] = []
        for values, rows in zip(x, columns.tolist(), strict=True):
            weight = params["weight"][:, rows] * values[:, None]
            found.append([Share(names[f], float(values[f]), tuple(w.tolist())) for f, w in enumerate(weight)])
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As many columns and rows as there are, and units that can be divided by."""
        shape = (self.n_columns, self.n_rows)
        demand(shape == (features.n_columns, space.n_rows), "the shape of a mixture")
        demand(bool((self.spread > 0).all()) and self.sharpness > 0.0, "the units of a mixture")
