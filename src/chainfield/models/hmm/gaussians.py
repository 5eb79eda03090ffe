"""Gaussian mixtures by their means, log variances and log weights: what gradient training of an HMM moves.

The scores are those of :class:`~chainfield.models.hmm.mixture.GaussianMixture` with the natural parameters that means
and variances stand for. With z = (o - centre) / spread, and per component the mean μ and the log variance v of z:

    log c - 1/2 Σ_d [ log 2π + 2 log spread + v + (z - μ)² e^{-v} ]

Log weights are free: nothing makes them sum to 1 but a projection after each step (``Problem.project``), if wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import numpy as np

from chainfield.arrays import Float
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.scorers.scorer import Params, Pullback, Scorer

from .mixture import SQUARES, gather, moment_features, spread_out

if TYPE_CHECKING:
    from .mixture import GaussianMixture


@final
@dataclass(frozen=True, eq=False)
class Gaussians(Scorer):
    """R rows of M Gaussians each, with diagonal covariances. A way to train; models keep natural parameters.

    ``whitened``: the gradient of a mean is Σ γ (z - μ), without its division by the variance (Mahajan et al. 2006). It
    points uphill all the same, but is the gradient of no function.
    """

    n_columns: int
    n_rows: int
    n_components: int
    centre: Float  # (D,)
    spread: Float  # (D,)
    sharpness: float = 1.0
    whitened: bool = False
    name: str = field(default="mixture", kw_only=True)

    @classmethod
    def like(cls, scorer: GaussianMixture) -> Gaussians:
        """The same mixture, to be moved by means and variances."""
        return cls(
            scorer.n_columns, scorer.n_rows, scorer.n_components, scorer.centre, scorer.spread, scorer.sharpness,
            name=scorer.name,
        )  # fmt: skip

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """log_weight (R·M,), mean (D, R·M), log_variance (D, R·M)."""
        n = self.n_rows * self.n_components
        return {"log_weight": (n,), "mean": (self.n_columns, n), "log_variance": (self.n_columns, n)}

    def width(self) -> int:
        """Features and components."""
        return 1 + 2 * self.n_columns + self.n_rows * self.n_components

    def natural(self, params: Params) -> Float:
        """(1 + 2D, R·M) the weights of a :class:`GaussianMixture` with the same scores."""
        mean, log_variance = params["mean"], params["log_variance"]
        precision = np.exp(-log_variance)
        second = -0.5 * precision
        units = 0.5 * np.log(2.0 * np.pi) + np.log(self.spread)
        bias = params["log_weight"] - (units[:, None] + 0.5 * (log_variance + precision * mean**2)).sum(axis=0)
        # z² = q / SQUARES + 1
        return np.concatenate([(bias + second.sum(axis=0))[None], precision * mean, second / SQUARES])

    def moments(self, weight: Float) -> dict[str, Float]:
        """The inverse of :meth:`natural`; where weights of squares are not negative there is no such Gaussian: NaN."""
        d = self.n_columns
        second = SQUARES * weight[1 + d :]
        variance = np.divide(-0.5, second, out=np.full_like(second, np.nan), where=second < 0.0)
        mean = weight[1 : 1 + d] * variance
        units = 0.5 * np.log(2.0 * np.pi) + np.log(self.spread)
        norm = (units[:, None] + 0.5 * (np.log(variance) + mean**2 / variance)).sum(axis=0)
        return {
            "log_weight": weight[0] - second.sum(axis=0) + norm,
            "mean": mean,
            "log_variance": np.log(variance),
        }

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """By natural parameters, there and back."""
        assert batch.dense is not None
        x, m, d = moment_features(batch.dense, self.centre, self.spread), self.n_components, self.n_columns
        components = x @ self.natural(params)
        if m == 1:
            scores += components
            shares = None
        else:
            shares = gather(components, m, self.sharpness, how, scores)

        def pullback(d_scores: Float, into: Params, scale: float) -> None:
            counts = x.T @ (d_scores if shares is None else spread_out(d_scores, m, shares))
            zeroth, first = counts[0], counts[1 : 1 + d]
            second = counts[1 + d :] / SQUARES + zeroth
            mean, precision = params["mean"], np.exp(-params["log_variance"])
            d_mean = (1.0 if self.whitened else precision) * (first - mean * zeroth)
            d_log = 0.5 * (precision * (second - 2.0 * mean * first + mean**2 * zeroth) - zeroth)
            into["log_weight"][...] += scale * zeroth
            into["mean"][...] += scale * d_mean
            into["log_variance"][...] += scale * d_log

        return pullback
