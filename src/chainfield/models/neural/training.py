"""Training of a network with a chain on top: Adam over small batches, in torch (Kingma and Ba 2015)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
import torch

from chainfield.arrays import Float, Int, Single
from chainfield.errors import DivergenceError
from chainfield.problem import Trainable
from chainfield.trainers import Record, State, Trainer
from chainfield.trainers.trainer import orders

from .problem import NeuralProblem
from .row_adam import BETAS, RowAdam
from .state import NeuralState
from .torch_threads import torch_threads

SORTED = 25  # batches whose sequences are sorted by length together


def of_similar_length(order: Int, lengths: Int, size: int) -> list[Int]:
    """Sequences in a random order as batches of about the same length, so that few steps have few sequences left.

    The order is cut into stretches of SORTED batches; within a stretch, sequences are sorted.
    """
    found = []
    for lo in range(0, len(order), SORTED * size):
        stretch = order[lo : lo + SORTED * size]
        stretch = stretch[np.argsort(lengths[stretch], kind="stable")]
        found += [np.sort(stretch[at : at + size]) for at in range(0, len(stretch), size)]
    return found


class Optimiser:
    """Adam: torch's own, and row by row for the vectors of words, of which a batch has few."""

    def __init__(self, problem: NeuralProblem, rate: float, decay: float, clip: float, epsilon: float) -> None:
        self.words, self.clip, self.steps = problem.network.words, clip, 0
        self.trained = problem.trained
        self.others = [p for p in self.trained if p is not self.words]
        self.rows = RowAdam(self.words, rate, epsilon, decay)
        kind = torch.optim.AdamW if decay else torch.optim.Adam
        options: dict[str, Any] = {"weight_decay": decay} if decay else {}
        self.adam = kind(self.others, lr=rate, betas=BETAS, eps=epsilon, fused=True, **options)

    def prepare(self, word: torch.Tensor) -> None:
        """Bring the vectors of these words up to now."""
        self.rows.catch_up(self.steps, torch.unique(word[word < len(self.words)]))

    def step(self, loss: torch.Tensor) -> float:
        """Follow the gradient of a loss; returns its length, before it was cut."""
        self.adam.zero_grad()
        self.words.grad = None
        loss.backward()
        table = None if self.words.grad is None else self.words.grad.coalesce()
        found = [p.grad for p in self.others if p.grad is not None]
        found += [] if table is None else [table.values()]
        norm = float(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in found])))
        if norm > self.clip:
            for gradient in found:
                gradient.mul_(self.clip / norm)
        self.steps += 1
        self.adam.step()
        if table is not None:
            self.rows.step(self.steps, table.indices()[0], table.values())
        return norm

    def moments(self, p: torch.nn.Parameter) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The first and second moments of a parameter that has been trained."""
        if p is self.words:
            return self.rows.first, self.rows.second
        own = self.adam.state.get(p)
        return (own["exp_avg"], own["exp_avg_sq"]) if own else None

    def keep(self, first: Single, second: Single) -> None:
        """Write all moments into flat vectors; every row is up to now."""
        self.rows.catch_up(self.steps)
        at = 0
        for p in self.trained:
            for into, values in zip((first, second), self.moments(p) or (), strict=False):
                into[at : at + p.numel()] = values.reshape(-1).cpu().numpy()
            at += p.numel()

    def resume(self, first: Single, second: Single, steps: int) -> None:
        """Go on where :meth:`keep` stood."""
        self.steps, at = steps, 0
        self.rows.at.fill_(steps)
        for p in self.trained:
            both = [torch.from_numpy(m[at : at + p.numel()].copy()).reshape(p.shape).to(p) for m in (first, second)]
            if p is self.words:
                self.rows.first, self.rows.second = both
            else:
                step = torch.tensor(float(steps), device=p.device)
                self.adam.state[p] = {"step": step, "exp_avg": both[0], "exp_avg_sq": both[1]}
            at += p.numel()


@final
@dataclass(frozen=True, eq=False)
class NeuralAdam(Trainer[NeuralState]):
    """One iteration is a pass over the data in a fresh random order; gradients longer than ``clip`` are shortened."""

    rate: float = 1e-3
    batch_size: int = 20
    clip: float = 5.0
    epsilon: float = 1e-6
    l2: float = 0.0
    unknown: float = 0.5
    max_iter: int = 100
    seed: int = 0
    threads: int = 1  # of torch
    online: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = NeuralState
    #: The optimiser in torch, and for which state it stands.
    _live: dict[str, Any] = field(default_factory=dict, repr=False)

    def check(self, problem: Trainable) -> None:
        """Only problems in torch."""
        assert isinstance(problem, NeuralProblem)

    def begin(self, problem: Trainable, theta: Float) -> NeuralState:
        """Moments of 0."""
        assert isinstance(problem, NeuralProblem)
        n = sum(p.numel() for p in problem.trained)
        return NeuralState(theta.copy(), first=np.zeros(n, np.float32), second=np.zeros(n, np.float32))

    def sizes(self, problem: Trainable) -> dict[str, int]:
        """How many parameters are trained."""
        assert isinstance(problem, NeuralProblem)
        return super().sizes(problem) | {"trained": sum(p.numel() for p in problem.trained)}

    def step(self, problem: Trainable, state: NeuralState) -> Record:
        """A pass over the data."""
        assert isinstance(problem, NeuralProblem)
        optimiser = self._optimiser(problem, state)
        problem.network.train()
        order = orders(self.seed, state.iteration, problem.n_sequences)
        lengths = problem.batch.ragged.lengths
        batches = of_similar_length(order[lengths[order] > 0], lengths, self.batch_size)
        batches = [batches[i] for i in orders(self.seed, state.iteration, len(batches))]
        total = longest = 0.0
        with torch.random.fork_rng(devices=[]), torch_threads(self.threads):
            torch.manual_seed(hash((self.seed, state.iteration)) % 2**31)
            for chosen in batches:
                words = problem.words(chosen, self.unknown)
                optimiser.prepare(words.word)
                loss = problem.loss(chosen, words)
                size = optimiser.step(loss)
                value = float(loss.detach())
                if not np.isfinite(value + size):
                    raise DivergenceError(
                        f"Training ran away in pass {state.iteration + 1}: the loss is {value}, the gradient's length "
                        f"{size}; lower the learning rate."
                    )
                total += value * len(chosen)
                longest = max(longest, size)
        state.iteration += 1
        state.steps = optimiser.steps
        optimiser.keep(state.first, state.second)
        problem.write(state.theta)
        return Record(state.iteration, total, None, {"longest_gradient": longest})

    def _optimiser(self, problem: NeuralProblem, state: NeuralState) -> Optimiser:
        """The one that has come so far, or a new one that takes over where a checkpoint stands."""
        if self._live.get("state") is not state:
            problem.read(state.theta)
            optimiser = Optimiser(problem, self.rate, self.l2, self.clip, self.epsilon)
            if state.steps:
                optimiser.resume(state.first, state.second, state.steps)
            self._live.update(state=state, optimiser=optimiser)
        return self._live["optimiser"]
