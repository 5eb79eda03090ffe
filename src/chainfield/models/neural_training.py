"""Training of a network with a chain on top: Adam over small batches, in torch (Kingma and Ba 2015)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
import torch
from numpy.typing import NDArray

from chainfield.errors import DivergenceError
from chainfield.features.batch import Batch, Tokens
from chainfield.objectives import Targets
from chainfield.scorers import Chain
from chainfield.torch import CRF
from chainfield.torch.layout import Layout
from chainfield.torch.network import Network, Words, words_of
from chainfield.trainers import Record, State, Trainer
from chainfield.trainers.trainer import orders

Float = NDArray[np.float64]
Float32 = NDArray[np.float32]
Int = NDArray[np.int64]
EPSILON = 1e-6  # the paper's
DECODED = 2000  # positions decoded at a time


@dataclass(eq=False)
class Pupil:
    """A network and a layer that learn, and the data they learn from. The flat vector of ``chain`` is their memory."""

    chain: Chain
    network: Network
    crf: CRF
    batch: Batch
    targets: Targets
    rare: NDArray[np.bool_]  # (words,) those that occur once: now and then they are taken for unknown
    device: str = "cpu"
    places: dict[str, torch.nn.Parameter] = field(init=False)  # by the chain's names of parameters

    def __post_init__(self) -> None:
        own = dict(self.network.named_parameters(prefix=self.chain.emissions[0].name))
        layer = dict(self.crf.named_parameters())
        own["boundary.start"], own["boundary.end"] = layer.pop("start_transitions"), layer.pop("end_transitions")
        for name in self.chain.shapes:
            if name not in own:
                own[name] = layer.pop(_LAYER_NAMES[name])
        assert not layer, f"parameters that no scorer has: {', '.join(layer)}"
        self.places = own

    @property
    def trained(self) -> list[torch.nn.Parameter]:
        """What training changes."""
        return [p for p in self.places.values() if p.requires_grad]

    def read(self, theta: Float) -> None:
        """Take the numbers of a flat vector over."""
        with torch.no_grad():
            for name, values in self.chain.views(theta).items():
                place = self.places[name]
                place.copy_(torch.from_numpy(self._turned(name, values)))

    def write(self, theta: Float) -> None:
        """Write the numbers into a flat vector."""
        for name, values in self.chain.views(theta).items():
            values[...] = self._flat(name, self.places[name].detach().double().cpu().numpy())

    def _turned(self, name: str, values: Float) -> Float:
        """From the chain's order to the layer's: only a full matrix of transitions has edges that do not exist."""
        if name != "transition.weight":
            return values
        space, whole = self.chain.space, self.places[name].detach().double().cpu().numpy().copy()
        whole[space.row_of[space.src], space.row_of[space.dst]] = values[self._ties]
        return whole

    def _flat(self, name: str, values: Float) -> Float:
        if name != "transition.weight":
            return values
        space = self.chain.space
        flat = np.empty(int(self._ties.max(initial=-1)) + 1)
        flat[self._ties] = values[space.row_of[space.src], space.row_of[space.dst]]
        return flat

    @property
    def _ties(self) -> NDArray[np.int32]:
        return next(t.tie for t in self.chain.transitions if t.name == "transition")  # type: ignore[attr-defined]

    # ---- learning and scoring ------------------------------------------------------------------------------------

    def loss(self, sequences: Int, unknown: float) -> torch.Tensor:
        """The mean loss of some sequences."""
        part = self.batch.take(sequences)
        assert part.tokens is not None
        used = part.tokens.used()
        if unknown > 0:
            hidden = self.rare[used.word] & (torch.rand(len(used.word)).numpy() < unknown)
            used = Tokens(used.index, np.where(hidden, np.int32(0), used.word), used.chars, used.bounds)
        emissions = self.network(self._words(used, part.offsets))
        clamp = self.targets.clamp[self.batch.positions(sequences)]
        layout = Layout(part.offsets, None, (part.n_positions,), True)
        found = self.crf.log_likelihood(emissions, layout, clamp)
        weight = self.targets.weight[sequences]
        if np.ptp(weight):
            return -(found * torch.from_numpy(weight).to(found)).sum() / len(sequences)
        return found.sum() * (-float(weight[0]) / len(sequences))

    def _words(self, tokens: Tokens, offsets: Int) -> Words:
        return words_of(tokens.index, tokens.word, tokens.chars, tokens.bounds, offsets, self.device)

    def decode(self, batch: Batch, decoder: str) -> list[list[int]]:
        """Numbers of the best labels, sequence by sequence."""
        assert batch.tokens is not None
        self.network.eval()
        found: list[list[int]] = []
        lo = 0
        with torch.no_grad():
            while lo < batch.n_sequences:
                hi = int(np.searchsorted(batch.offsets, batch.offsets[lo] + DECODED, side="right")) - 1
                hi = min(max(hi, lo + 1), batch.n_sequences)
                part = batch.window(lo, hi)
                full = np.flatnonzero(np.diff(part.offsets) > 0)
                labels: list[list[int]] = [[] for _ in range(hi - lo)]
                if len(full):
                    assert part.tokens is not None
                    emissions = self.network(self._words(part.tokens.used(), part.offsets))
                    lengths = np.diff(part.offsets)[full]
                    own = self.crf.decode(emissions, lengths=lengths.tolist(), decoder=decoder)
                    for s, sequence in zip(full.tolist(), own, strict=True):
                        labels[s] = sequence
                found += labels
                lo = hi
        return found


#: The chain's names of parameters → the layer's.
_LAYER_NAMES = {
    "transition.weight": "transitions",
    "transition2.weight": "extra",
    "low_rank.U": "left",
    "low_rank.V": "right",
}


@dataclass
class NeuralState(State):
    """The parameters and Adam's moments of those that are trained, laid end to end."""

    first: Float32 = field(default_factory=lambda: np.empty(0, np.float32))
    second: Float32 = field(default_factory=lambda: np.empty(0, np.float32))
    steps: int = 0


@final
@dataclass(frozen=True, eq=False)
class NeuralAdam(Trainer[NeuralState]):
    """One iteration is a pass over the data in a fresh random order; gradients longer than ``clip`` are shortened."""

    rate: float = 1e-3
    batch_size: int = 20
    clip: float = 5.0
    l2: float = 0.0
    unknown: float = 0.5
    max_iter: int = 100
    seed: int = 0
    online: ClassVar[bool] = True
    state_type: ClassVar[type[State]] = NeuralState
    #: The optimiser in torch, and for which state it stands.
    _live: dict[str, Any] = field(default_factory=dict, repr=False)

    def check(self, problem: Any) -> None:
        """Anything that is a pupil."""
        assert isinstance(problem, Pupil)

    def begin(self, problem: Any, theta: Float) -> NeuralState:
        """Moments of 0."""
        n = sum(p.numel() for p in problem.trained)
        return NeuralState(theta.copy(), first=np.zeros(n, np.float32), second=np.zeros(n, np.float32))

    def step(self, problem: Any, state: NeuralState) -> Record:
        """A pass over the data."""
        pupil: Pupil = problem
        optimiser = self._optimiser(pupil, state)
        pupil.network.train()
        n = pupil.batch.n_sequences
        order = orders(self.seed, state.iteration, n)
        order = order[np.diff(pupil.batch.offsets)[order] > 0]
        total = longest = 0.0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(hash((self.seed, state.iteration)) % 2**31)
            for at in range(0, len(order), self.batch_size):
                chosen = np.sort(order[at : at + self.batch_size])
                loss = pupil.loss(chosen, self.unknown)
                optimiser.zero_grad()
                loss.backward()
                norm = torch.nn.utils.clip_grad_norm_(pupil.trained, self.clip)
                value, size = float(loss.detach()), float(norm)
                if not np.isfinite(value + size):
                    raise DivergenceError(
                        f"Training ran away in pass {state.iteration + 1}: the loss is {value}, the gradient's length "
                        f"{size}; lower the learning rate."
                    )
                optimiser.step()
                total += value * len(chosen)
                longest = max(longest, size)
                state.steps += 1
        state.iteration += 1
        pupil.write(state.theta)
        self._keep(pupil, optimiser, state)
        return Record(state.iteration, total, None, {"longest_gradient": longest})

    def _optimiser(self, pupil: Pupil, state: NeuralState) -> Any:
        """The one that has come so far, or a new one that takes over where a checkpoint stands."""
        if self._live.get("state") is state:
            return self._live["optimiser"]
        pupil.read(state.theta)
        kind = torch.optim.AdamW if self.l2 else torch.optim.Adam
        options: dict[str, Any] = {"weight_decay": self.l2} if self.l2 else {}
        optimiser = kind(pupil.trained, lr=self.rate, eps=EPSILON, fused=True, **options)
        at = 0
        for p in pupil.trained if state.steps else []:
            both = [
                torch.from_numpy(m[at : at + p.numel()].copy()).reshape(p.shape) for m in (state.first, state.second)
            ]
            optimiser.state[p] = {
                "step": torch.tensor(float(state.steps), device=p.device),
                "exp_avg": both[0].to(p),
                "exp_avg_sq": both[1].to(p),
            }
            at += p.numel()
        self._live.update(state=state, optimiser=optimiser)
        return optimiser

    def _keep(self, pupil: Pupil, optimiser: Any, state: NeuralState) -> None:
        at = 0
        for p in pupil.trained:
            moments = optimiser.state.get(p)
            if moments:
                state.first[at : at + p.numel()] = moments["exp_avg"].reshape(-1).cpu().numpy()
                state.second[at : at + p.numel()] = moments["exp_avg_sq"].reshape(-1).cpu().numpy()
            at += p.numel()
