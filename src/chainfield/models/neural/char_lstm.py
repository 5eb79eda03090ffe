"""A BiLSTM over the characters of words, of which only the last state of each direction is wanted.

    i, f, o = σ(…),  g = tanh(a),   a = P[character] + h_{t-1} R        c_t = f c_{t-1} + i g,   h_t = o tanh c_t

Characters come from a small alphabet, so their share of ``a`` is a row of a table P that is made once, and both
directions take a step together. The words are sorted by length: at step t only the first n_t are left, and nothing is
padded. All that the backward pass needs besides its recursion is computed for all positions at once. On the processor
compiled kernels do the same word by word.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from chainfield.arrays import Int
from chainfield.kernels.text.char_lstm import read_words, unread_words

_ORDER = (3, 0, 1, 2)  # gates here: o, i, f, g; torch keeps them as i, f, g, o


def last_states(lstm: nn.LSTM, letters: Tensor, chars: Tensor, lengths: Tensor) -> Tensor:
    """(M, 2 H) the last states of both directions; letters (V, D), chars (M, C) filled up at the end, lengths (M,).

    ``lstm`` holds the weights: one layer, two directions.
    """
    table, recurrent = [], []
    for side in ("", "_reverse"):
        weight, inner, *offsets = (
            _gates(getattr(lstm, f"{name}_l0{side}")) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        table.append(torch.addmm(offsets[0] + offsets[1], letters, weight.t()))
        recurrent.append(inner.t())
    read = _Compiled.apply if letters.device.type == "cpu" else _by_steps
    return read(torch.stack(table), torch.stack(recurrent), chars.cpu().numpy(), lengths.cpu().numpy())


def _by_steps(table: Tensor, recurrent: Tensor, chars: Int, counts: Int) -> Tensor:
    """(M, 2 H) the last states of each word, on any device."""
    rank = np.argsort(-counts, kind="stable")
    codes, first = _steps(chars[rank], counts[rank])
    found = _Recursion.apply(table, recurrent, torch.from_numpy(codes).to(table.device), first)  # (2, M, H)
    back = torch.from_numpy(np.argsort(rank)).to(table.device)
    return found.transpose(0, 1).reshape(len(counts), -1).index_select(0, back)


def _gates(weight: Tensor) -> Tensor:
    """The rows of four gates in the order of this module."""
    parts = weight.chunk(4)
    return torch.cat([parts[i] for i in _ORDER])


def _steps(chars: Int, counts: Int) -> tuple[Int, list[int]]:
    """(2, P) characters by (step, rank of the word), from the front and from the back; where each step begins."""
    step = np.arange(int(counts[0]) if len(counts) else 0)[:, None]
    inside = step < counts  # (T, M)
    backward = np.take_along_axis(chars.T, np.maximum(counts - 1 - step, 0), 0)
    first = np.concatenate([[0], np.cumsum(inside.sum(1))])
    return np.stack([chars.T[: len(step)][inside], backward[inside]]), first.tolist()


class _Recursion(torch.autograd.Function):  # type: ignore[misc]
    """(2, M, H) the last state of each word, longest first."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, recurrent: Tensor, codes: Tensor, first: list[int]) -> Tensor:
        """table (2, V, 4 H), recurrent (2, H, 4 H), codes (2, P), first (T+1,)."""
        h = recurrent.shape[1]
        gates = torch.stack([part.index_select(0, code) for part, code in zip(table, codes, strict=True)])  # (2, P, 4H)
        state, cell, bent = gates.new_empty((3, 2, codes.shape[1], h))  # h, c and tanh c
        last = gates.new_zeros((2, first[1], h))
        for t, (a, b) in enumerate(pairwise(first)):
            here, own, n = gates[:, a:b], cell[:, a:b], b - a
            before = slice(first[t - 1], first[t - 1] + n)
            if t:
                here.baddbmm_(state[:, before], recurrent)
            here[..., : 3 * h].sigmoid_()
            here[..., 3 * h :].tanh_()
            torch.mul(here[..., h : 2 * h], here[..., 3 * h :], out=own)
            if t:
                own.addcmul_(here[..., 2 * h : 3 * h], cell[:, before])
            torch.tanh(own, out=bent[:, a:b])
            torch.mul(here[..., :h], bent[:, a:b], out=state[:, a:b])
            left = first[t + 2] - b if t + 2 < len(first) else 0
            last[:, left:n] = state[:, a + left : b]  # of the words that end here
        ctx.first, ctx.size = first, table.shape
        ctx.save_for_backward(gates, state, cell, bent, recurrent, codes)
        return last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_last: Tensor) -> tuple[Tensor | None, ...]:
        """d loss / d a of all positions, from the last step to the first; then that of the tables by one sum each."""
        gates, state, cell, bent, recurrent, codes = ctx.saved_tensors
        first, h, start = ctx.first, recurrent.shape[1], ctx.first[1]
        before = [slice(a, a + c - b) for a, b, c in zip(first, first[1:], first[2:], strict=False)]
        o, i, f, g = gates.split(h, -1)
        through = o * (1 - bent * bent)  # d h / d c
        slope = gates * (1 - gates)  # of σ; then the factor of every gate beside it
        slope[..., :h] *= bent
        slope[..., h : 2 * h] *= g
        slope[:, :start, 2 * h : 3 * h] = 0.0
        for t, prior in enumerate(before):
            slope[:, first[t + 1] : first[t + 2], 2 * h : 3 * h] *= cell[:, prior]
        torch.mul(i, 1 - g * g, out=slope[..., 3 * h :])
        d_state = d_last.clone(memory_format=torch.contiguous_format)
        d_cell = torch.zeros_like(d_state)
        turned = recurrent.transpose(1, 2).contiguous()
        for t in range(len(first) - 2, -1, -1):
            a, b = first[t], first[t + 1]
            here, now, cells = slope[:, a:b], d_state[:, : b - a], d_cell[:, : b - a]
            cells.addcmul_(now, through[:, a:b])
            here[..., :h] *= now
            here[..., h:].unflatten(-1, (3, h)).mul_(cells.unsqueeze(2))
            if t:
                cells *= f[:, a:b]
                now.copy_(torch.bmm(here, turned))
        d_table, d_recurrent = slope.new_zeros(ctx.size), torch.zeros_like(recurrent)
        for into, code, part in zip(d_table, codes, slope, strict=True):
            into.index_add_(0, code, part)
        if before:
            prior = torch.cat([state[:, part] for part in before], 1)
            torch.bmm(prior.transpose(1, 2), slope[:, start:], out=d_recurrent)
        return d_table, d_recurrent, None, None


class _Compiled(torch.autograd.Function):  # type: ignore[misc]
    """(M, 2 H) the last states of each word, on the processor."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, recurrent: Tensor, chars: Int, counts: Int) -> Tensor:
        """table (2, V, 4 H), recurrent (2, H, 4 H), chars (M, C), counts (M,)."""
        bounds = np.concatenate([[0], np.cumsum(counts)])
        h, n = recurrent.shape[1], int(bounds[-1])
        gates = table.new_empty((2, n, 4 * h))
        state, cell, bent = (table.new_empty((2, n, h)) for _ in range(3))
        last = table.new_empty((len(counts), 2 * h))
        given = (t.detach().contiguous().numpy() for t in (table, recurrent))
        read_words(*given, chars, bounds, *(t.numpy() for t in (gates, state, cell, bent, last)))
        ctx.chars, ctx.bounds, ctx.size = chars, bounds, table.shape
        ctx.save_for_backward(recurrent, gates, state, cell, bent)
        return last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_last: Tensor) -> tuple[Tensor | None, ...]:
        """The recursion in the kernel; the recurrent weights by one product."""
        recurrent, gates, state, cell, bent = ctx.saved_tensors
        slope, d_table = torch.empty_like(gates), gates.new_zeros(ctx.size)
        scratch = gates.new_empty((2, recurrent.shape[1])).numpy()
        turned = recurrent.detach().transpose(1, 2).contiguous()
        arrays = [t.numpy() for t in (gates, cell, bent, d_last.contiguous(), slope, d_table)]
        unread_words(turned.numpy(), ctx.chars, ctx.bounds, *arrays, scratch[0], scratch[1])
        before = torch.zeros_like(state)
        before[:, 1:] = state[:, :-1]
        before[:, torch.from_numpy(ctx.bounds[:-1])] = 0.0  # the first character of a word has none before it
        return d_table, torch.bmm(before.transpose(1, 2), slope), None, None
