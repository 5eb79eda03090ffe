"""Hidden-unit CRFs against the same model written plainly in batched PyTorch, and against the bare matrix products."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from chainfield.models.hidden_units.hidden_unit_crf import HiddenUnitCRF
from chainfield.problem import Problem, Steps

from .engine import begin_watched
from .measure import Measurements, Options, alternate

THREADS, UNITS, BATCH = 2, 1000, 32


def letters() -> tuple[list[np.ndarray], list[list[str]]]:
    """The words of Taskar's OCR data, pixels -1 or 1."""
    X: list[np.ndarray] = []
    y: list[list[str]] = []
    rows, labels = [], []
    for line in (Path(os.environ["CHAINFIELD_DATA"]) / "ocr" / "letter.data").open():
        fields = line.rstrip("\n").split("\t")
        rows.append([2.0 * float(v) - 1.0 for v in fields[6:134]])
        labels.append(fields[1])
        if fields[2] == "-1":
            X.append(np.array(rows))
            y.append(labels)
            rows, labels = [], []
    return X, y


def problem_of(model: HiddenUnitCRF, X: Any, y: Any) -> Problem:
    """The problem behind a fit."""
    found: list[Problem] = []
    with begin_watched(found.append):
        model.fit(X, y)
    return found[0]


class Plain:
    """The model as one writes it in PyTorch: padded batches, broadcasting over (words, letters, units, labels)."""

    def __init__(self, X: list[np.ndarray], y: list[list[str]], n_units: int) -> None:
        import torch

        self.torch = torch
        names = sorted({label for labels in y for label in labels})
        order = np.argsort([len(x) for x in X], kind="stable")  # words of like length: little padding
        self.batches = []
        for at in range(0, len(order), BATCH):
            some = order[at : at + BATCH]
            longest = max(len(X[i]) for i in some)
            x, t, mask = np.zeros((len(some), longest, 128)), np.zeros((len(some), longest)), []
            for row, i in enumerate(some):
                x[row, : len(X[i])] = X[i]
                t[row, : len(X[i])] = [names.index(label) for label in y[i]]
                mask.append([s < len(X[i]) for s in range(longest)])
            self.batches.append((torch.tensor(x).float(), torch.tensor(t).long(), torch.tensor(mask)))
        generator = torch.Generator().manual_seed(0)
        k = len(names)
        shapes = {"W": (128, n_units), "b": (n_units,), "V": (n_units, k), "c": (k,), "A": (k, k), "s": (k,), "e": (k,)}
        self.p = {
            name: (0.01 * torch.randn(shape, generator=generator)).requires_grad_() for name, shape in shapes.items()
        }

    def loss(self, x: Any, t: Any, mask: Any, how: str) -> Any:
        """Free less clamped: summed for the likelihood, maximised with a margin of 1 for the large margin."""
        torch, p = self.torch, self.p
        o = (x @ p["W"] + p["b"]).unsqueeze(-1) + p["V"]
        node = (torch.nn.functional.softplus(o) if how == "sum" else torch.relu(o)).sum(2) + p["c"]
        n = mask.sum(1)
        rows = torch.arange(len(x))
        gold = node.gather(2, t.unsqueeze(-1)).squeeze(-1)
        below = (gold * mask).sum(1) + p["s"][t[:, 0]] + p["e"][t[rows, n - 1]]
        below = below + (p["A"][t[:, :-1], t[:, 1:]] * mask[:, 1:]).sum(1)
        if how == "max":
            node = node + 1.0 - torch.nn.functional.one_hot(t, node.shape[2])
        alpha = node[:, 0] + p["s"]
        for s in range(1, x.shape[1]):
            step = alpha.unsqueeze(2) + p["A"] + node[:, s].unsqueeze(1)
            moved = step.logsumexp(1) if how == "sum" else step.max(1).values
            alpha = torch.where(mask[:, s : s + 1], moved, alpha)
        alpha = alpha + p["e"]
        above = alpha.logsumexp(1) if how == "sum" else alpha.max(1).values
        return (above - below).sum()

    def sweep(self) -> None:
        """A pass of large-margin training: one step per batch."""
        optimiser = self.torch.optim.SGD(self.p.values(), lr=1e-4)
        for batch in self.batches:
            optimiser.zero_grad()
            self.loss(*batch, "max").backward()
            optimiser.step()

    def gradient(self) -> None:
        """The gradient of the likelihood of all words."""
        for p in self.p.values():
            p.grad = None
        for batch in self.batches:
            self.loss(*batch, "sum").backward()


def run(options: Options) -> Measurements:
    """A sweep of large-margin training, one step per word, and a gradient of the likelihood."""
    import torch

    torch.set_num_threads(THREADS)
    X, y = letters()
    X, y = X[: options.sample], y[: options.sample]
    settings: dict[str, Any] = {"hidden_units": UNITS, "max_iter": 1, "n_jobs": THREADS}
    margin = problem_of(HiddenUnitCRF(dtype="float32", **settings), X, y)
    smooth = problem_of(HiddenUnitCRF(objective="likelihood", trainer="rprop", **settings), X, y)
    plain = Plain(X, y, UNITS)
    theta = margin.chain.start(np.random.default_rng(0))
    point = smooth.chain.start(np.random.default_rng(0))
    order = np.random.default_rng(0).permutation(margin.n_sequences)
    x = smooth.batch.dense
    assert x is not None
    x32 = x.astype(np.float32)
    weight, units = np.zeros((128, UNITS), np.float32), np.zeros((len(x), UNITS), np.float32)

    def sweep() -> None:
        lag = np.zeros_like(theta)
        margin.walk(Steps(theta.copy(), order, np.full(len(order), 0.006), lag=lag, mass=1.0))

    def gradient() -> None:
        smooth.evaluate(point)

    def product() -> None:
        np.matmul(x32, weight, out=units)

    def products() -> None:
        product()
        np.matmul(x32.T, units)

    found = Measurements("hidden-unit")
    with threadpool_limits(1, "blas"):
        for own in (sweep, gradient):
            own()
        seconds = alternate({"sweep": sweep, "gradient": gradient}, options.repeats or 3)
    with threadpool_limits(THREADS, "blas"):
        seconds |= alternate({"product": product, "products": products}, options.repeats or 3)
    seconds |= alternate({"torch sweep": plain.sweep, "torch gradient": plain.gradient}, 1)
    found.samples |= seconds
    found.speedup("sweep_speedup_torch", "torch sweep", "sweep")
    found.speedup("gradient_speedup_torch", "torch gradient", "gradient")
    found.speedup("sweep_times_its_products", "sweep", "products")
    found.speedup("gradient_times_its_products", "gradient", "products")
    found.notes += [
        f"OCR, {len(x):,} letters, {UNITS} units, 26 labels; float32 in the sweep, float64 in the gradient, float32 in "
        f"PyTorch. Both sides may use {THREADS} threads; our sweep needs one thread, since it makes one step per word.",
        f"PyTorch makes one step per batch of {BATCH} words, sorted by length; it is timed once.",
        "products: x W and its way back for all letters at once, float32, on two threads: the least that a training "
        "needs in which all words are wrong.",
    ]
    return found
