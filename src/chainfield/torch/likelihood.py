"""Log-likelihoods as a function that torch can differentiate: one forward-backward gives value and gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from chainfield.errors import DataError
from chainfield.potentials import Clamp

from .engine import Engine
from .layout import Layout


@dataclass(frozen=True, eq=False)
class Query:
    """What is asked of a batch: where its positions are, and what is known of their labels (None: nothing)."""

    engine: Engine
    layout: Layout
    clamp: Clamp | None


def node_scores(query: Query, emissions: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """(N, R) emissions end to end, with the scores of first and last rows added."""
    layout = query.layout
    node = layout.gather(emissions.detach())
    check_numbers(node, layout)
    compiled = node.device.type == "cpu" and node.dtype == torch.float32 and query.engine._compiled(node, products=True)
    node = node.double() if compiled else node.clone() if layout.place is None else node
    first, last = layout.ends
    node.index_add_(0, first, start.detach().to(node.dtype).expand(len(first), -1))
    return node.index_add_(0, last, end.detach().to(node.dtype).expand(len(last), -1))


def check_numbers(node: Tensor, layout: Layout) -> None:
    """Refuse emissions that are NaN or +inf, with their place; -inf says that a row is impossible there."""
    if not len(node) or float(node.max()) < np.inf:  # the maximum of anything with a NaN is NaN
        return
    at, row = (int(i) for i in (~(node < np.inf)).nonzero()[0])
    s = int(np.searchsorted(layout.offsets, at, side="right")) - 1
    raise DataError(
        f"The emissions of sequence {s} hold {float(node[at, row])} at position {at - int(layout.offsets[s])}, row "
        f"{row}; numbers or -inf are expected."
    )


class LogLikelihood(torch.autograd.Function):  # type: ignore[misc]
    """(S,) log-likelihoods; gradients for emissions, start, end and edge scores."""

    @staticmethod
    def forward(ctx: Any, emissions: Tensor, start: Tensor, end: Tensor, edge: Tensor, query: Query) -> Tensor:
        """The gradients are computed here, as if every sequence had the weight 1."""
        node = node_scores(query, emissions, start, end)
        wanted = any(ctx.needs_input_grad[:4])
        ones = torch.ones(query.layout.n_sequences, dtype=node.dtype, device=node.device) if wanted else None
        found = query.engine.contrast(node, edge.detach(), query.layout.offsets, query.clamp, ones)
        if wanted:
            ctx.query, ctx.found, ctx.dtype = query, found, emissions.dtype
            ctx.save_for_backward(node, edge)
        return found.value.to(emissions.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weight: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the gradients; only where sequences weigh differently, edges need another run."""
        query, found, layout = ctx.query, ctx.found, ctx.query.layout
        node, edge = ctx.saved_tensors
        low, high = (float(w) for w in torch.aminmax(weight)) if layout.n_sequences else (0.0, 0.0)
        if low == high:
            d_node, d_edge = (d if high == 1.0 else d * high for d in (found.d_node, found.d_edge))
        else:
            again = query.engine.contrast(node, edge, layout.offsets, query.clamp, weight)
            d_node, d_edge = again.d_node, again.d_edge
        first, last = layout.ends
        d_start = d_node.index_select(0, first).sum(0)
        d_end = d_node.index_select(0, last).sum(0)
        d_emissions = layout.scatter(d_node.to(ctx.dtype))
        dtype = edge.dtype
        return d_emissions, d_start.to(dtype), d_end.to(dtype), d_edge.to(dtype), None
