"""Hidden units between features and rows (van der Maaten, Welling and Saul 2011).

    score(t, r) = c_r + Σ_h softplus(b_h + w_h · x_t + V_rh)        how = "sum": units are summed out
    score(t, r) = c_r + Σ_h max(0, b_h + w_h · x_t + V_rh)          how = "max": units take their best values

Given data and labels the units of a position are independent of each other, so that both are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from chainfield.arrays import Float, Int, aligned_zeros
from chainfield.features.batch import Batch
from chainfield.kernels.layout import padded, side_by_side
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Value, demand, number, whole

from .model_files import register
from .origin import Origin
from .scorer import Params, Pullback, Scorer
from .shares import Share

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

Source = Literal["dense", "sparse"]


@final
@register
@dataclass(frozen=True, eq=False)
class HiddenUnits(Scorer):
    """H units over D numbers or D sparse features a position.

    The relative steps of the blocks, and the deviations of their random start: one unit is told from another by its
    start alone. Steps of ``row`` are 1.
    """

    n_inputs: int
    n_units: int
    n_rows: int
    source: str = "dense"
    input_pace: float = 1.0
    unit_pace: float = 1.0
    output_pace: float = 1.0
    row_pace: float = 1.0
    input_scale: float = 0.1
    output_scale: float = 0.1
    name: str = field(default="hidden", kw_only=True)
    group = "emissions"
    schema = Part(
        (
            NAME,
            whole("n_inputs", "sparse features (F) or columns (D)"),
            whole("n_units", "hidden units", least=1),
            whole("n_rows", "rows", "R"),
            Value("source", "text", "what the units read", choices=("dense", "sparse")),
            *(number(f"{block}_pace", "a relative step") for block in ("input", "unit", "output", "row")),
            *(number(f"{block}_scale", "a deviation of the start") for block in ("input", "output")),
        )
    )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """input (D, H): W; unit (H,): b; output (R, H): V; row (R,): c."""
        return {
            "input": (self.n_inputs, self.n_units),
            "unit": (self.n_units,),
            "output": (self.n_rows, self.n_units),
            "row": (self.n_rows,),
        }

    @property
    def needs(self) -> str:  # type: ignore[override]
        """What the units read."""
        return self.source

    @property
    def padded(self) -> int:
        """Units, padded."""
        return padded(self.n_units)

    def width(self) -> int:
        """Inputs of units and their exponentials."""
        return 2 * self.padded

    def inputs(self, params: Params, batch: Batch) -> Float:
        """w_h · x_t, flat (N padded, H padded)."""
        n = batch.n_positions
        a = aligned_zeros(side_by_side(n) * self.padded)
        if self.source == "dense":
            x = batch.dense
            assert x is not None
            weight = params["input"]
            x = x if x.dtype == weight.dtype else x.astype(weight.dtype)
            a[: n * self.padded].reshape(n, self.padded)[:, : self.n_units] = x @ weight
        else:
            from chainfield.kernels.train.unit_inputs import gather_inputs

            sparse = batch.sparse
            assert sparse is not None
            entries = (sparse.indptr, sparse.indices, sparse.weights())
            gather_inputs(*entries, n, params["input"], self.n_units, a, self.padded)
        return a

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """Inputs of units by a matrix product (or gathered rows), then all rows with all units."""
        from chainfield.kernels.train.hidden_units import backward_units, forward_units

        n, width = batch.n_positions, self.padded
        a = self.inputs(params, batch)
        v = aligned_zeros(self.n_rows * width)
        summed = how == "sum"
        ea, ev = aligned_zeros(len(a) * summed), aligned_zeros(len(v) * summed)
        way = forward_units(a, n, params["unit"], params["output"], params["row"], not summed, v, ea, ev, scores)

        def pullback(d: Float, into: Params, scale: float | Mapping[str, float]) -> None:
            d_a, d_v = np.empty(n * width), np.zeros(self.n_rows * width)
            backward_units(way, a, n, self.n_units, v, self.n_rows, ea, ev, np.ascontiguousarray(d), d_a, d_v)
            steps = scale if isinstance(scale, Mapping) else dict.fromkeys(self.shapes(), scale)
            inputs = d_a.reshape(n, width)[:, : self.n_units]
            into["unit"][...] += steps["unit"] * inputs.sum(0)
            into["output"][...] += steps["output"] * d_v.reshape(self.n_rows, width)[:, : self.n_units]
            into["row"][...] += steps["row"] * d.sum(0)
            self._pull_inputs(batch, d_a, steps["input"], into["input"])

        return pullback

    def _pull_inputs(self, batch: Batch, d_a: Float, scale: float, into: Float) -> None:
        n, width = batch.n_positions, self.padded
        if self.source == "dense":
            assert batch.dense is not None
            d = d_a.reshape(n, width)[:, : self.n_units]
            some = np.flatnonzero(d.any(axis=1))
            if len(some):
                x = batch.dense if len(some) == n else batch.dense[some]
                into += scale * (x.T @ (d if len(some) == n else d[some]))
        else:
            from chainfield.kernels.train.unit_inputs import scatter_inputs

            sparse = batch.sparse
            assert sparse is not None
            entries = (sparse.indptr, sparse.indices, sparse.weights())
            scatter_inputs(*entries, n, d_a, width, scale, self.n_units, into)

    def posteriors(self, params: Params, batch: Batch, rows: Float) -> Float:
        """(N, H) the probability that a unit is on, given rows with the weights ``rows`` (N, R)."""
        from chainfield.kernels.train.hidden_units import backward_units, forward_units

        n, width = batch.n_positions, self.padded
        a, v = self.inputs(params, batch), aligned_zeros(self.n_rows * width)
        ea, ev, scores = aligned_zeros(len(a)), aligned_zeros(len(v)), np.zeros((n, self.n_rows))
        way = forward_units(a, n, params["unit"], params["output"], params["row"], False, v, ea, ev, scores)
        d_a, d_v = np.empty(n * width), np.zeros(self.n_rows * width)
        backward_units(way, a, n, self.n_units, v, self.n_rows, ea, ev, np.ascontiguousarray(rows), d_a, d_v)
        return d_a.reshape(n, width)[:, : self.n_units].clip(0.0, 1.0)

    # ---- training ------------------------------------------------------------------------------------------------

    def start(self, rng: np.random.Generator) -> dict[str, Float]:
        """Random connections, zero biases. Single precision is enough of randomness, and half the memory."""
        shapes = self.shapes()
        start: dict[str, Any] = {"unit": np.zeros(self.n_units), "row": np.zeros(self.n_rows)}
        for name, scale in (("input", self.input_scale), ("output", self.output_scale)):
            start[name] = rng.standard_normal(shapes[name], dtype=np.float32)
            start[name] *= np.float32(scale)
        return {name: start[name] for name in shapes}

    def pace(self, parameter: str) -> float:
        """Each block has its own."""
        return float(getattr(self, f"{parameter}_pace"))

    def fused(self) -> tuple[str, Any]:
        """The kernel of hidden units has a pass of its own."""
        return "units", self

    def carry(self, old: HiddenUnits, origin: Origin, theirs: Params, ours: Params) -> None:
        """Units keep their numbers; rows and features that were there before keep their weights."""
        n = min(self.n_units, old.n_units)
        there = origin.rows >= 0
        ours["unit"][:n] = theirs["unit"][:n]
        ours["row"][there] = theirs["row"][origin.rows[there]]
        ours["output"][there, :n] = theirs["output"][origin.rows[there], :n]
        if self.source == "dense":
            ours["input"][:, :n] = theirs["input"][:, :n]
        else:
            known = origin.features >= 0
            ours["input"][known, :n] = theirs["input"][origin.features[known], :n]

    # ---- inspection ----------------------------------------------------------------------------------------------

    def shares(
        self, params: Params, batch: Batch, scores: Float, columns: Int, features: FeatureMap
    ) -> list[list[Share]]:
        """What each unit adds, with units summed out; the label's own weight is a share of its own."""
        a = self.inputs(params, batch).reshape(-1, self.padded)[: batch.n_positions, : self.n_units]
        found: list[list[Share]] = []
        for own, wanted in zip(a + params["unit"], columns.tolist(), strict=True):
            parts = np.logaddexp(0.0, own + params["output"][wanted])  # (C, H)
            shares = [Share(f"unit {h}", 1.0, tuple(part)) for h, part in enumerate(parts.T.tolist())]
            found.append([*shares, Share("label", 1.0, tuple(params["row"][wanted].tolist()))])
        return found

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """Inputs within the features, rows of the space, at least one unit."""
        demand(self.source in ("dense", "sparse"), "the source of the hidden units")
        columns = features.n_columns if self.source == "dense" else features.n_features
        demand(self.n_inputs == columns and self.n_rows == space.n_rows, "the shape of the hidden units' weights")
        demand(self.n_units >= 1, "the number of hidden units")
