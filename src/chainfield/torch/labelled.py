"""The paths of known labels by small products: a step leads from the states of one label to those of the next.

With L labels of m states each, the step of a sequence is one (m, m) block of exp W, chosen by its two labels: L² times
cheaper than all states with -inf for those of other labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from chainfield.arrays import Int
from chainfield.kernels.chain.labelled import sum_labelled
from chainfield.states import StateSpace

from .products import Steps, Weights, gather, shares


@dataclass(frozen=True, eq=False)
class Blocks:
    """The states of each label, filled up to the same number m."""

    space: StateSpace

    @cached_property
    def table(self) -> Int:
        """(L, m) states of each label; -1 where a label has fewer."""
        counts = np.bincount(self.space.label_of, minlength=self.space.n_labels)
        table = np.full((self.space.n_labels, int(counts.max())), -1, np.int64)
        for label in range(self.space.n_labels):
            table[label, : counts[label]] = np.flatnonzero(self.space.label_of == label)
        return table

    @property
    def width(self) -> int:
        """m."""
        return int(self.table.shape[1])

    @property
    def worthwhile(self) -> bool:
        """Whether blocks are much smaller than the whole."""
        return 2 * self.width <= self.space.n_states

    @cached_property
    def runs(self) -> Int | None:
        """(L+1,) where the states of each label begin; None if those of some label do not lie side by side."""
        if (np.diff(self.space.label_of) < 0).any():
            return None
        return np.searchsorted(self.space.label_of, np.arange(self.space.n_labels + 1)).astype(np.int64)


def forward_backward(
    blocks: Blocks,
    node: Tensor,
    weights: Weights,
    steps: Steps,
    offsets: Int,
    labels: Int,
    weight: Tensor | None,
    d_node: Tensor,
    d_edge: Tensor,
) -> Tensor:
    """log Z (S,) of the paths of ``labels`` (N,); weight[s] × their posteriors are added to d_node and d_edge."""
    if node.device.type == "cpu" and blocks.runs is not None:
        return _compiled(blocks.runs, node, weights, offsets, labels, weight, d_node, d_edge)
    device, n_labels, m = node.device, blocks.space.n_labels, blocks.width
    order = steps.order.cpu().numpy()
    own = labels[order]
    states = torch.from_numpy(blocks.table).to(device)
    absent = states < 0
    states = states.clamp(min=0)
    at_labels = torch.from_numpy(own).to(device)
    where = states.index_select(0, at_labels)  # (N, m)
    x = node.index_select(0, steps.order).gather(1, where)
    x = x.masked_fill(absent.index_select(0, at_labels), -torch.inf)
    # (L², m, m), and absent states are harmless: their emissions are 0
    matrix = weights.matrix[states[:, None, :, None], states[None, :, None, :]].reshape(-1, m, m)
    top = x.amax(1, keepdim=True)
    emission = shares(x, top)  # (N, m), as is alpha
    alpha, total = torch.empty_like(emission), torch.empty_like(top)
    first, count = steps.first, steps.count
    sources = [own[a : a + n] for a, n in zip(first[:-2], count[1:], strict=True)]
    pair = np.concatenate(sources) * n_labels + own[first[1] :] if sources else np.empty(0, np.int64)
    pairs = torch.from_numpy(pair).to(device)
    start = first[1]
    for t, n in enumerate(count):
        at, end = first[t], first[t + 1]
        here = alpha[at:end]
        if t == 0:
            here.copy_(emission[at:end])
        else:
            before = alpha[first[t - 1] : first[t - 1] + n].unsqueeze(1)
            step = matrix.index_select(0, pairs[at - start : end - start])
            torch.mul(torch.bmm(before, step).squeeze(1), emission[at:end], out=here)
        share = total[at:end]
        torch.sum(here, 1, keepdim=True, out=share)
        here.mul_(share.reciprocal())  # a product is cheaper than a quotient
    log_z = gather(steps, total, top, weights.top)
    if weight is None:
        return log_z
    right = emission.mul_(total.reciprocal())
    posterior = torch.empty_like(alpha)
    beta = torch.ones_like(alpha[: count[0]])
    for t in range(len(count) - 1, -1, -1):
        at, end, n = first[t], first[t + 1], count[t]
        torch.mul(alpha[at:end], beta[:n], out=posterior[at:end])
        right[at:end].mul_(beta[:n])
        if t:
            step = matrix.index_select(0, pairs[at - start : end - start])
            beta[:n] = torch.bmm(step, right[at:end].unsqueeze(2)).squeeze(2)
    many = weight.to(alpha.dtype).index_select(0, steps.sequence).unsqueeze(1)
    posterior.mul_(many)
    right.mul_(many)
    places = steps.order.unsqueeze(1) * node.shape[1] + where
    posterior.masked_fill_(absent.index_select(0, at_labels), 0.0)
    d_node.view(-1).index_add_(0, places.view(-1), posterior.view(-1))
    _add_expected(blocks, steps, alpha, right, matrix, pair, states, d_edge)
    return log_z


def _compiled(
    runs: Int,
    node: Tensor,
    weights: Weights,
    offsets: Int,
    labels: Int,
    weight: Tensor | None,
    d_node: Tensor,
    d_edge: Tensor,
) -> Tensor:
    many = np.empty(0) if weight is None else weight.numpy()
    given = (t.contiguous().numpy() for t in (weights.matrix, weights.turned, node))
    log_z = np.empty(len(offsets) - 1)
    into = (d_node.numpy(), d_edge.numpy())
    sum_labelled(*given, labels, runs, offsets, weight is not None, many.astype(into[0].dtype), *into, log_z)
    return torch.from_numpy(log_z + np.maximum(np.diff(offsets) - 1, 0) * float(weights.top))


def _add_expected(
    blocks: Blocks, steps: Steps, alpha: Tensor, right: Tensor, matrix: Tensor, pair: Int, states: Tensor, into: Tensor
) -> None:
    """Expected transitions into (K, K): a product for every pair of labels that occurs."""
    if not len(pair):
        return
    before = torch.cat([alpha[a : a + n] for a, n in zip(steps.first[:-2], steps.count[1:], strict=True)])
    turn = np.argsort(pair, kind="stable")
    kinds, begin = np.unique(pair[turn], return_index=True)
    index = torch.from_numpy(turn).to(alpha.device)
    before, after = before.index_select(0, index), right[steps.first[1] :].index_select(0, index)
    n_labels, table = blocks.space.n_labels, blocks.table
    for kind, a, b in zip(kinds.tolist(), begin.tolist(), [*begin.tolist()[1:], len(pair)], strict=True):
        found = torch.mm(before[a:b].t(), after[a:b]).mul_(matrix[kind])
        source, target = divmod(kind, n_labels)
        rows, columns = (int((table[label] >= 0).sum()) for label in (source, target))
        into[states[source, :rows, None], states[target, None, :columns]] += found[:rows, :columns]
