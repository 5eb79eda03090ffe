"""Forward and backward by matrix products, in torch: any device, many states, where every state may follow every one.

    alpha_t = (alpha_{t-1} exp W) ∘ exp x_t,   scaled to sum 1        beta_{t-1} = exp W (exp x_t ∘ beta_t), as alpha

All sequences take a step together, so that a step is one product (n, K) (K, K). They are sorted by length: at step t
only the first n_t are left, and nothing is padded. W must not span more than SPAN: then a state whose share falls out
of the range of the numbers is one that any path avoids at a cost beyond their precision, and nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from chainfield.arrays import Int

SPAN = 50.0
FAINT = -80.0  # exp of less would be a denormal number, or nearly


@dataclass(frozen=True, eq=False)
class Steps:
    """Sequences side by side, the longest first. Step t has the positions ``first[t]:first[t+1]`` of ``order``."""

    n_sequences: int
    order: Tensor  # (N,) positions by (step, rank of the sequence)
    sequence: Tensor  # (N,) the sequence of each of them
    first: list[int]  # (T+1,)
    count: list[int]  # (T,) sequences that reach each step


def make_steps(offsets: Int, device: torch.device) -> Steps:
    """Steps of sequences laid end to end."""
    lengths = np.diff(offsets)
    rank = np.argsort(-lengths, kind="stable")
    ordered = lengths[rank]
    longest = int(ordered[0]) if len(ordered) else 0
    grid = np.arange(longest)[:, None] < ordered  # (T, S)
    positions = offsets[:-1][rank] + np.arange(longest)[:, None]
    count = grid.sum(1)
    first = np.concatenate([[0], np.cumsum(count)])

    def tensor(values: Int) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)

    sequence = np.broadcast_to(rank, grid.shape)[grid]
    return Steps(len(rank), tensor(positions[grid]), tensor(sequence), first.tolist(), count.tolist())


@dataclass(frozen=True, eq=False)
class Weights:
    """Edge scores as factors."""

    matrix: Tensor  # (K, K) exp(edge - top)
    top: Tensor  # the largest edge score

    @cached_property
    def turned(self) -> Tensor:
        """(K, K) the matrix by columns: products with it are faster so."""
        return self.matrix.t().contiguous()


def weigh(edge: Tensor) -> Weights | None:
    """Edge scores (K, K) as factors; None if they span too much for products."""
    low, high = edge.aminmax()
    return Weights(torch.exp(edge - high), high) if bool(high - low < SPAN) else None


def shares(scores: Tensor, top: Tensor) -> Tensor:
    """exp(scores - top), 0 where that is next to nothing: denormal numbers are slow."""
    apart = scores - top
    return torch.exp(apart).masked_fill_(apart < FAINT, 0.0)


def forward_backward(
    node: Tensor, weights: Weights, steps: Steps, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """log Z (S,), weight[s] × posteriors of states (N, K), and × transitions (K, K), which all sequences share.

    node (N, K): scores, -inf where a state may not be. A log Z that is not finite spoils the posteriors of
    the batch: whoever calls looks at it first. Without weights, log Z alone is computed.
    """
    matrix = weights.matrix
    x = node.index_select(0, steps.order)
    top = x.amax(1, keepdim=True)
    emission = shares(x, top)  # (N, K), as is alpha
    alpha, total = torch.empty_like(emission), torch.empty_like(top)
    count, first = steps.count, steps.first
    for t, n in enumerate(count):
        at, end = first[t], first[t + 1]
        here = alpha[at:end]
        if t == 0:
            here.copy_(emission[at:end])
        else:
            before = alpha[first[t - 1] : first[t - 1] + n]
            torch.mm(before, matrix, out=here).mul_(emission[at:end])
        share = total[at:end]
        torch.sum(here, 1, keepdim=True, out=share)
        here.mul_(share.reciprocal())  # a product is cheaper than a quotient
    log_z = gather(steps, total, top, weights.top)
    if weight is None:
        return log_z, emission[:0], emission[:0]
    right = emission.mul_(total.reciprocal())
    posterior = torch.empty_like(alpha)
    beta = torch.ones_like(alpha[: count[0]] if count else alpha)
    for t in range(len(count) - 1, -1, -1):
        at, end, n = first[t], first[t + 1], count[t]
        torch.mul(alpha[at:end], beta[:n], out=posterior[at:end])
        right[at:end].mul_(beta[:n])
        if t:
            torch.mm(right[at:end], weights.turned, out=beta[:n])
    many = weight.to(alpha.dtype).index_select(0, steps.sequence).unsqueeze(1)
    posterior.mul_(many)
    right.mul_(many)
    if len(count) > 1:
        before = torch.cat([alpha[a : a + n] for a, n in zip(first[:-2], count[1:], strict=True)])
        expected = torch.mm(before.t(), right[first[1] :]).mul_(matrix)
    else:
        expected = torch.zeros_like(matrix)
    out = alpha  # no longer needed
    return log_z, out.index_copy_(0, steps.order, posterior), expected


def gather(steps: Steps, total: Tensor, top: Tensor, top_edge: Tensor) -> Tensor:
    """The logarithms of all scales of a sequence, added up in float64 where the device has it: (S,)."""
    pieces = (torch.log(total) + top).reshape(-1)
    pieces = pieces if pieces.device.type == "mps" else pieces.double()
    pieces[steps.first[1] :] += top_edge
    return pieces.new_zeros(steps.n_sequences).index_add_(0, steps.sequence, pieces)
