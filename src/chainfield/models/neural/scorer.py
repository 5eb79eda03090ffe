"""Scores from a neural network over words and their characters."""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.potentials import How
from chainfield.schema import NAME, Part, Value, demand, whole
from chainfield.scorers.model_files import register
from chainfield.scorers.scorer import Params, Pullback, Scorer

if TYPE_CHECKING:
    from chainfield.features.feature_map import FeatureMap
    from chainfield.states import StateSpace

    from .network import Network, Shape

_THREAD = threading.local()
DIMENSIONS = ("word_dim", "char_dim", "char_hidden", "context_hidden", "hidden")
WIDEST = 1 << 20  # a dimension of a network in a file
NEEDS_TORCH = "Neural networks need torch; install it with: pip install 'chainfield[torch]'."


@final
@register
@dataclass(frozen=True, eq=False)
class Neural(Scorer):
    """scores += network(words): a vector per word, its characters, perhaps a context (:mod:`.network`).

    The fields are the sizes of the network. Torch is imported when scores are first asked for. ``fixed`` vectors are
    parameters that training leaves alone. Where ``n_labels`` share the states, a row is a label with a state z, and its
    score is that of the state and ψ(z, label), a parameter.
    """

    n_rows: int
    n_words: int
    n_fixed: int
    word_dim: int
    n_chars: int
    chars: str
    char_dim: int
    char_hidden: int
    context: str
    context_hidden: int
    hidden: int
    n_labels: int = 1
    name: str = field(default="network", kw_only=True)
    group = "emissions"
    needs = "tokens"
    schema = Part(
        (
            NAME,
            whole("n_rows", "rows", "R"),
            whole("n_words", "words whose vectors are trained", least=1),
            whole("n_fixed", "words whose vectors are not"),
            whole("n_chars", "characters", "characters"),
            Value("n_labels", "whole", "labels that share every state; 1: none", least=1, most=WIDEST, optional=True),
            Value("chars", "text", "what reads characters", choices=("lstm", "cnn", "none")),
            Value("context", "text", "what reads the sequence", choices=("none", "lstm")),
            *(whole(name, "a dimension", least=1, most=WIDEST) for name in DIMENSIONS),
        )
    )

    @cached_property
    def shape(self) -> Shape:
        """The sizes, as the network takes them."""
        try:
            from .network import Shape
        except ImportError:
            raise ConfigError(NEEDS_TORCH) from None
        return Shape(**{f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "name"})

    @property
    def network(self) -> Network:
        """The network without numbers: they are given with every call. Each thread has its own, because torch puts the
        numbers into the network for as long as the call lasts.
        """
        networks: dict[Shape, Network] = _THREAD.__dict__.setdefault("networks", {})
        if self.shape not in networks:
            import torch

            from .network import Network

            with torch.device("meta"):
                networks[self.shape] = Network(self.shape).eval()
        return networks[self.shape]

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(p.shape) for name, p in self.network.named_parameters()}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the network's parameters: words (n_words, word_dim), hidden.weight …"""
        return self._shapes

    def start(self, rng: np.random.Generator) -> dict[str, Float]:
        """As the network starts."""
        shape = self.shape
        import torch

        from .network import Network

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31 - 1)))
            return {name: p.detach().double().numpy() for name, p in Network(shape).named_parameters()}

    def forward(self, params: Params, batch: Batch, how: How, scores: Float) -> Pullback:
        """In double precision, on the processor, without dropout."""
        network = self.network
        import torch

        from .network import words_of
        from .torch_threads import torch_threads

        assert batch.tokens is not None
        used = batch.tokens.used()
        words = words_of(used.index, used.word, used.chars, used.bounds, batch.offsets)
        tensors = {name: torch.from_numpy(_open(values)) for name, values in params.items()}

        def run() -> Any:
            with torch_threads(1):  # sequences are shared out to threads by whoever calls
                return torch.func.functional_call(network, tensors, (words,))

        if batch.n_positions:
            with torch.no_grad():
                scores += run().numpy()

        def pullback(d: Float, into: Params, scale: float) -> None:
            if not batch.n_positions:
                return
            trained = [t.requires_grad_(name != "fixed") for name, t in tensors.items()]
            found = run()
            names = [name for name in tensors if name != "fixed"]
            wanted = [t for t in trained if t.requires_grad]
            grads = torch.autograd.grad(found, wanted, torch.from_numpy(np.ascontiguousarray(d)), allow_unused=True)
            for name, gradient in zip(names, grads, strict=True):
                if gradient is not None:
                    into[name][...] += scale * gradient.numpy()

        return pullback

    def jitter(self, rng: np.random.Generator, scale: float) -> dict[str, Float]:
        """None: the network's own start tells hidden states apart."""
        return {name: np.zeros(shape) for name, shape in self.shapes().items()}

    def check(self, space: StateSpace, features: FeatureMap) -> None:
        """As many words, characters and rows as the features and the space have."""
        demand(self.n_rows == space.n_rows, "the number of rows of the network")
        shared = self.n_labels == space.n_labels and self.n_rows % self.n_labels == 0
        demand(self.n_labels == 1 or shared, "the number of labels of the network")
        demand(self.n_words + self.n_fixed == features.n_features, "the number of word vectors")
        demand(self.n_chars == len(getattr(features, "chars", ())), "the number of characters")


def _open(values: Float) -> Float:
    """The same numbers, as torch wants them: it warns of read-only arrays. Nothing is written to them here."""
    if values.flags.writeable:
        return values
    whole = values.view()
    try:
        whole.flags.writeable = True
    except ValueError:  # read-only memory
        return values.copy()
    return whole
