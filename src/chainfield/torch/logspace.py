"""Forward, backward and Viterbi in log space, in torch: any device, any edges, any scores.

A step looks at all pairs of states at once, (n, K, K), so that there is no loop over labels. Slower than products, and
never out of range: for spaces with forbidden edges, and edge scores that span very much.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .products import Steps


def _log_sum(scores: Tensor, dim: int) -> Tensor:
    """log of the sum of exp; -inf where all scores are."""
    top = scores.amax(dim, keepdim=True)
    shift = top.masked_fill(top == -torch.inf, 0.0)
    return (torch.log(torch.exp(scores - shift).sum(dim, keepdim=True)) + shift).squeeze(dim)


def forward_backward(node: Tensor, edge: Tensor, steps: Steps, weight: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`chainfield.torch.products.forward_backward`; edge (K, K) has -inf where there is no edge."""
    x = node.index_select(0, steps.order)
    alpha = torch.empty_like(x)
    first, count = steps.first, steps.count
    log_z = node.new_empty(steps.n_sequences)
    for t, n in enumerate(count):
        at, end = first[t], first[t + 1]
        if t == 0:
            alpha[at:end] = x[at:end]
        else:
            before = alpha[first[t - 1] : first[t - 1] + n]
            alpha[at:end] = _log_sum(before.unsqueeze(2) + edge, 1) + x[at:end]
        left = count[t + 1] if t + 1 < len(count) else 0
        if left < n:  # those that end here
            log_z[steps.sequence[at + left : end]] = _log_sum(alpha[at + left : end], 1)
    if weight is None or not bool(torch.isfinite(log_z).all()):
        return log_z, node[:0], edge[:0]
    z = log_z.index_select(0, steps.sequence)
    many = weight.to(node.dtype).index_select(0, steps.sequence)
    posterior = torch.empty_like(x)
    d_edge = torch.zeros_like(edge)
    beta = torch.zeros_like(x[: count[0]])
    for t in range(len(count) - 1, -1, -1):
        at, end, n = first[t], first[t + 1], count[t]
        posterior[at:end] = torch.exp(alpha[at:end] + beta[:n] - z[at:end, None]) * many[at:end, None]
        if t:
            before = alpha[first[t - 1] : first[t - 1] + n]
            ahead = edge + (x[at:end] + beta[:n]).unsqueeze(1)  # (n, K, K)
            share = torch.exp(before.unsqueeze(2) + ahead - z[at:end, None, None])
            d_edge += (share * many[at:end, None, None]).sum(0)
            beta[:n] = _log_sum(ahead, 2)
    return log_z, torch.empty_like(posterior).index_copy_(0, steps.order, posterior), d_edge


def viterbi(node: Tensor, edge: Tensor, steps: Steps) -> tuple[Tensor, Tensor]:
    """The best states (N,), end to end, and the score of each sequence (S,)."""
    x = node.index_select(0, steps.order)
    first, count = steps.first, steps.count
    back = torch.zeros(x.shape, dtype=torch.int64, device=node.device)
    delta = x[: count[0]].clone()
    score, last = node.new_empty(steps.n_sequences), back.new_empty(steps.n_sequences)
    for t, n in enumerate(count):
        at, end = first[t], first[t + 1]
        if t:
            best, source = (delta[:n].unsqueeze(2) + edge).max(1)
            delta[:n] = best + x[at:end]
            back[at:end] = source
        left = count[t + 1] if t + 1 < len(count) else 0
        if left < n:
            own = steps.sequence[at + left : end]
            score[own], last[own] = delta[left:n].max(1)
    states = torch.empty_like(back[:, 0])
    for t in range(len(count) - 1, -1, -1):
        at, end, n = first[t], first[t + 1], count[t]
        left = count[t + 1] if t + 1 < len(count) else 0
        own = steps.sequence[at:end]
        here = last.index_select(0, own)
        if left:
            later = slice(first[t + 1], first[t + 2])
            here[:left] = back[later].gather(1, states[later].unsqueeze(1)).squeeze(1)
        states[at:end] = here
    return torch.empty_like(states).index_copy_(0, steps.order, states), score
