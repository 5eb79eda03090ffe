"""Adam for a table of which a step changes few rows: the word vectors.

A row without a gradient still moves, by what is left of its momentum. After step s, k steps later, with m, v as they
were, a decay d (1 for none) and r = β₁ / (d √β₂):

    θ' = d^k (θ - rate · m / (√v + ε) · (U(s) - r^k U(s + k))),    U(s) = Σ_{j≥1} r^j √(1 - β₂^{s+j}) / (1 - β₁^{s+j})

So a row is left alone until it is used again, and then all its steps are made at once. That is Adam (Kingma and Ba
2015) but for the place of ε, and a step costs what the rows of a batch cost.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

BETAS = (0.9, 0.999)
LONG = 20000  # steps after which the corrections of both moments are 1


@lru_cache(maxsize=4)
def _reach(r: float) -> Tensor:
    """(LONG+1,) U; beyond, it stays as it is."""
    n = np.arange(1, LONG + 1)
    factor = np.sqrt(1 - BETAS[1] ** n) / (1 - BETAS[0] ** n)
    found = np.empty(LONG + 1)
    found[LONG] = r / (1 - r)
    for s in range(LONG - 1, -1, -1):
        found[s] = r * (factor[s] + found[s + 1])
    return torch.from_numpy(found)


class RowAdam:
    """The moments of a table (rows, columns), and the step to which each row has come."""

    def __init__(self, table: torch.nn.Parameter, rate: float, eps: float, decay: float = 0.0) -> None:
        self.table, self.rate, self.eps = table, rate, eps
        self.kept = 1 - rate * decay
        self.ratio = BETAS[0] / BETAS[1] ** 0.5 / self.kept
        self.first, self.second = torch.zeros_like(table.data), torch.zeros_like(table.data)
        self.at = torch.zeros(len(table), dtype=torch.int64, device=table.device)
        self.reach = _reach(self.ratio).to(table.device)

    @torch.no_grad()
    def catch_up(self, step: int, rows: Tensor | None = None) -> None:
        """Make the steps up to ``step`` that these rows (all of them) have missed; they had no gradient then."""
        rows = torch.arange(len(self.table), device=self.at.device) if rows is None else rows
        since = self.at.index_select(0, rows)
        k = step - since
        b1, b2 = BETAS
        sums = self.reach[since.clamp(max=LONG)] - self.ratio ** k.double() * self.reach[(since + k).clamp(max=LONG)]
        m, v = self.first.index_select(0, rows), self.second.index_select(0, rows)
        late = (1 - b2 ** since.clamp(min=1).double()).sqrt().to(v).unsqueeze(1)
        move = m / (v.sqrt() + self.eps * late) * (self.rate * sums).to(m).unsqueeze(1)
        own = (self.table.index_select(0, rows) - move) * (self.kept ** k.double()).to(m).unsqueeze(1)
        self.table.index_copy_(0, rows, own)
        self.first.index_copy_(0, rows, m * (b1 ** k.double()).to(m).unsqueeze(1))
        self.second.index_copy_(0, rows, v * (b2 ** k.double()).to(m).unsqueeze(1))
        self.at.index_fill_(0, rows, step)

    @torch.no_grad()
    def step(self, step: int, rows: Tensor, gradient: Tensor) -> None:
        """Step number ``step`` (from 1) of rows that have made those before; the others are left behind."""
        (b1, b2), rate = BETAS, self.rate
        m = self.first.index_select(0, rows).lerp_(gradient, 1 - b1)
        v = self.second.index_select(0, rows).mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
        self.first.index_copy_(0, rows, m)
        self.second.index_copy_(0, rows, v)
        below = v.sqrt_().div_((1 - b2**step) ** 0.5).add_(self.eps)
        own = self.table.index_select(0, rows).mul_(self.kept)
        self.table.index_copy_(0, rows, own.addcdiv_(m, below, value=-rate / (1 - b1**step)))
        self.at.index_fill_(0, rows, step)
