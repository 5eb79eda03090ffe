"""The torch layer against pytorch-crf and torch-struct; with many states, against the bare products it needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .measure import Measurements, Options, Table, timed

REPEATS = 15
BATCH, LENGTH, LABELS = 32, 50, 20
STATES = 512
CALLS = 5  # of a contestant in a round
WARM = 3  # calls before them that do not count


def run(options: Options) -> Measurements:
    """One thread: at these sizes torch has no use for two."""
    import torch

    result = Measurements("torch-layer")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _layers(options, result)
            _products(options, result)
    finally:
        torch.set_num_threads(before)
    result.notes += [
        f"float32, batch {BATCH}, length {LENGTH}, no mask; {LABELS} labels unless it says otherwise; one thread; the "
        "same parameters and inputs; medians of alternating rounds.",
        "Forward and backward: the log-likelihood of given tags, and gradients for emissions and parameters.",
        "Bare products: what forward-backward needs at least, (B, K) (K, K) for every step in both directions and "
        "one (K, N) (N, K), in torch, and nothing else.",
        "Every layer warms up with three untimed calls before its turn. Without them the first calls after another "
        "layer's turn take several times as long, ours most of all, since it takes only 1 ms. An earlier run "
        "without warm-up gave 2.7 times pytorch-crf for forward and backward in place of the figure here.",
    ]
    return result


def _time(contestants: dict[str, Callable[[], Any]], repeats: int, result: Measurements) -> None:
    """Rounds in which all take their turn; before its turn, each warms up, and clears away what another has left."""
    for _ in range(repeats):
        for name, function in contestants.items():
            for _ in range(WARM):
                function()
            seconds, _ = timed(lambda function=function: [function() for _ in range(CALLS)])  # type: ignore[misc]
            result.add(name, seconds / CALLS)


def _layers(options: Options, result: Measurements) -> None:
    import torch
    from torchcrf import CRF as PytorchCRF

    from chainfield.torch import CRF

    torch.manual_seed(0)
    theirs = PytorchCRF(LABELS, batch_first=True)
    ours = CRF(LABELS, batch_first=True)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(BATCH, LENGTH, LABELS, requires_grad=True)
    tags = torch.randint(LABELS, (BATCH, LENGTH))
    structured = _torch_struct(theirs, result)
    train = {
        "ours": lambda: ours(x, tags).backward(),
        "pytorch-crf": lambda: theirs(x, tags).backward(),
    }
    decode = {
        "ours, viterbi": lambda: ours.decode(x),
        "pytorch-crf, viterbi": lambda: theirs.decode(x),
    }
    values = {"ours": float(ours(x, tags).detach()), "pytorch-crf": float(theirs(x, tags).detach())}
    if structured is not None:
        likelihood, best = structured
        train["torch-struct"] = lambda: likelihood(x, tags).backward()
        decode["torch-struct, viterbi"] = lambda: best(x)
        values["torch-struct"] = float(likelihood(x, tags).detach())
        if best(x) != ours.decode(x):
            raise RuntimeError("torch-struct finds other paths; the comparison would mean nothing.")
    if not np.allclose(list(values.values()), values["ours"], rtol=1e-5):
        raise RuntimeError(f"The log-likelihoods differ: {values}.")
    repeats = options.repeats or REPEATS
    _time(train, repeats, result)
    _time(decode, repeats, result)
    rows = []
    for peer in ("pytorch-crf", "torch-struct"):
        result.speedup(f"forward_backward_vs_{peer}", peer, "ours")
        result.speedup(f"viterbi_vs_{peer}", f"{peer}, viterbi", "ours, viterbi")
    for name in ("ours", "pytorch-crf", "torch-struct"):
        both = [result.middle(key) for key in (name, f"{name}, viterbi")]
        rows.append([name, *(None if v is None else 1000 * v for v in both)])
    result.tables.append(Table(f"{LABELS} labels, milliseconds", ["layer", "forward + backward", "Viterbi"], rows))


def _torch_struct(crf: Any, result: Measurements) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """The same chain in torch-struct: its scores are those of (next, before) label pairs."""
    try:
        import torch
        import torch_struct
    except Exception as error:  # it is old: whatever it stumbles over
        result.notes.append(f"torch-struct does not run here: {error}.")
        return None

    def scores(x: Any) -> Any:
        steps = crf.transitions.t()[None, None] + x[:, 1:, :, None]
        first = crf.start_transitions + x[:, 0]
        head = steps[:, :1] + first[:, None, None, :]
        whole = torch.cat([head, steps[:, 1:]], 1)
        tail = whole[:, -1:] + crf.end_transitions[:, None]
        return torch.cat([whole[:, :-1], tail], 1)

    def likelihood(x: Any, tags: Any) -> Any:
        chain = torch_struct.LinearChainCRF(scores(x))
        parts = torch_struct.LinearChainCRF.struct.to_parts(tags, x.shape[-1])
        return chain.log_prob(parts.type_as(x)).sum()

    def best(x: Any) -> list[list[int]]:
        found = torch_struct.LinearChainCRF(scores(x.detach())).argmax
        return torch_struct.LinearChainCRF.struct.from_parts(found)[0].tolist()

    return likelihood, best


def _products(options: Options, result: Measurements) -> None:
    """Many states per label: the layer beside the products that it needs."""
    import torch

    from chainfield.states import partitioned
    from chainfield.torch import CRF

    torch.manual_seed(0)
    rows = []
    for rank in (None, 16):
        crf = CRF(partitioned([STATES // 8] * 8), batch_first=True, rank=rank)
        x = torch.randn(BATCH, LENGTH, STATES, requires_grad=True)
        tags = torch.randint(8, (BATCH, LENGTH))
        matrix, alpha = torch.rand(STATES, STATES), torch.rand(BATCH, STATES)
        turned, whole = matrix.t().contiguous(), torch.rand(BATCH * LENGTH, STATES)

        def bare(a: Any = alpha, m: Any = matrix, t: Any = turned, w: Any = whole) -> None:
            for _ in range(LENGTH - 1):
                torch.mm(a, m)
                torch.mm(a, t)
            torch.mm(w.t(), w)

        name = "dense" if rank is None else f"rank {rank}"
        contestants = {
            f"{STATES} states, {name}": lambda crf=crf, x=x, tags=tags: crf(x, tags).backward(),
            f"bare products, {name}": bare,
        }
        _time(contestants, max(3, (options.repeats or REPEATS) // 3), result)
        own, least = (result.middle(key) or 0.0 for key in contestants)
        result.figures[f"times_bare_products_{STATES}_{name.replace(' ', '_')}"] = own / least
        rows.append([f"{STATES} states, {name}", 1000 * own, 1000 * least, own / least])
    head = ["layer", "forward + backward", "bare products", "times"]
    result.tables.append(Table(f"{STATES} states, milliseconds", head, rows))
