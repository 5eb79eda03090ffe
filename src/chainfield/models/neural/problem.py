"""A network with a chain on top, and the data it learns from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch

from chainfield.arrays import Array, Bool, Float, Int, Int32
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch, Tokens
from chainfield.objectives import Objective, Targets
from chainfield.problem import Problem, Trainable, data_arrays, windowed
from chainfield.scorers import Chain
from chainfield.torch import CRF
from chainfield.torch.layout import Layout

from .network import Network, Words, words_of
from .scorer import Neural
from .starting import restart


@dataclass(eq=False)
class NeuralProblem(Trainable):
    """A problem in torch: a network and a layer that learn. The flat vector of ``chain`` is their memory.

    Penalties are the trainer's: they decay weights step by step.
    """

    chain: Chain
    network: Network
    crf: CRF
    objective: Objective
    batch: Batch
    targets: Targets
    rare: Bool  # (words,) those that occur once: now and then they are taken for unknown
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
    def n_parameters(self) -> int:
        """Length of θ."""
        return self.chain.n_parameters

    @property
    def n_sequences(self) -> int:
        """How many terms the sum has."""
        return self.batch.n_sequences

    @property
    def n_positions(self) -> int:
        """How many words the sequences have together."""
        return self.batch.n_positions

    def arrays(self) -> Iterator[Array]:
        """Offsets, targets and words."""
        return data_arrays(self.batch, self.targets)

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
        whole = self.places[name].detach().double().cpu().numpy().copy()
        whole[self.crf.sides()] = values[self._ties]
        return whole

    def _flat(self, name: str, values: Float) -> Float:
        if name != "transition.weight":
            return values
        flat = np.empty(int(self._ties.max(initial=-1)) + 1)
        flat[self._ties] = values[self.crf.sides()]
        return flat

    @property
    def _ties(self) -> Int32:
        return next(t.tie for t in self.chain.transitions if t.name == "transition")  # type: ignore[attr-defined]

    # ---- learning and scoring ------------------------------------------------------------------------------------

    def words(self, sequences: Int, unknown: float) -> Words:
        """The words of some sequences; rare ones are now and then taken for unknown."""
        part = self.batch.take(sequences)
        assert part.tokens is not None
        used = part.tokens.used()
        if unknown > 0:
            hidden = self.rare[used.word] & (torch.rand(len(used.word)).numpy() < unknown)
            used = Tokens(used.index, np.where(hidden, np.int32(0), used.word), used.chars, used.bounds)
        return self._words(used, part.offsets)

    def loss(self, sequences: Int, words: Words) -> torch.Tensor:
        """The mean loss of some sequences."""
        emissions = self.network(words)
        clamp = self.targets.clamp[self.batch.positions(sequences)]
        layout = Layout(words.offsets, None, (len(emissions),), True, emissions.device)
        found = self.crf.log_likelihood(emissions, layout, clamp)
        weight = self.targets.weight[sequences]
        if np.ptp(weight):
            return -(found * torch.from_numpy(weight).to(found)).sum() / len(sequences)
        return found.sum() * (-float(weight[0]) / len(sequences))

    def _words(self, tokens: Tokens, offsets: Int) -> Words:
        return words_of(tokens.index, tokens.word, tokens.chars, tokens.bounds, offsets, self.device)


def in_torch(
    problem: Problem,
    dropout: float,
    rank: int | None,
    seed: int,
    device: str | None = None,
    initialisation: str = "auto",
) -> NeuralProblem:
    """A problem whose first scorer is a network, as torch solves it; ``device``: None for a GPU if there is one.

    Long sequences are cut: a step is taken for some windows, and the network reads one window at a time.
    """
    problem = windowed(problem, given=False) if problem.cuttable else problem
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    check_device(device)
    scorer, tokens = problem.chain.emissions[0], problem.batch.tokens
    assert isinstance(scorer, Neural)
    assert tokens is not None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(scorer.shape, dropout, sparse=True)
        layer = CRF(problem.chain.space, rank=rank, shared=scorer.n_labels > 1)
        if initialisation != "auto":
            restart(network, layer, initialisation)
    counts = np.bincount(tokens.word[tokens.index], minlength=scorer.n_words + scorer.n_fixed)
    return NeuralProblem(
        problem.chain,
        network.to(device),
        layer.to(device),
        problem.objective,
        problem.batch,
        problem.targets,
        counts == 1,
        device,
    )


def check_device(device: str) -> None:
    """Refuse a device that torch does not know, or does not have here."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).split("\n")[0].split(". ")[0]
        raise ConfigError(f"device={device!r} cannot be used here ({reason}); leave it out, or say cpu.") from None


#: The chain's names of parameters → the layer's.
_LAYER_NAMES = {
    "transition.weight": "transitions",
    "transition2.weight": "extra",
    "low_rank.U": "left",
    "low_rank.V": "right",
}
