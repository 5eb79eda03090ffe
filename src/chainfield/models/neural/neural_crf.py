"""The neural CRF: a network over words makes emissions, a chain with any number of states per label stands on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from chainfield.arrays import Float
from chainfield.errors import ConfigError, SettingError
from chainfield.features.feature_map import FeatureMap
from chainfield.inference import DECODERS
from chainfield.models.constraints import ordered_space
from chainfield.models.estimator import ChainTagger
from chainfield.models.groups import (
    DecoderSettings,
    FeatureSettings,
    ObjectiveSettings,
    OrderSettings,
    RunningSettings,
    TrainingSettings,
)
from chainfield.models.kinds import StateCounts, seed_of
from chainfield.models.material import Material
from chainfield.parallel import count_jobs
from chainfield.problem import Problem
from chainfield.scorers import Boundary, Chain, Transition, low_rank
from chainfield.settings import Choice, Name, but, choice, flag, given, number, whole
from chainfield.states import Rules, StateSpace, partitioned
from chainfield.states.naming import shared_ties
from chainfield.trainers import Trainer

from .scorer import NEEDS_TORCH, Neural
from .vectors import WordVectors, known_vectors
from .word_features import WordFeatures

if TYPE_CHECKING:
    from .problem import NeuralProblem

WORD_DIM = 100
MANY_STATES = 256  # with fewer, threads of torch wait for each other more than they work
FASTEST_DECAY = 0.05


@final
class NeuralCRF(
    ChainTagger,
    OrderSettings,
    without=(
        "forgetting",
        "rehearsal",
        "objective", "margin", "l1", "temperature", "class_weight", "trainer", "tol", "average_from", "restart_every",
        "aggressiveness", "warm_start", "template", "scaling", "all_features",
    ),
):  # fmt: skip
    """A tagger whose emissions come from a neural network over words; needs torch (pip install 'chainfield[torch]').

    With one state per label it is the neural CRF; with several, the latent-dynamic CRF (LDCRF), and with a ``rank`` the
    embedded latent CRF (ELCRF) of Thai et al. 2017. Sequences are lists of words, or of tuples that hold one. The same
    seed gives the same model as long as the number of threads of torch is the same.
    """

    n_states: int = given(1, "Hidden states of each label.", StateCounts(by_label=False), option="states")
    rank: int | None = whole(
        None, "Transition scores are the product of two matrices of this rank; None: each has its own."
    )
    share_states: bool = flag(
        False,
        "Hidden states are common to all labels: every label may have every one of n_states states, and a score of "
        "each state with each label is learned, ψ(z, y). Labels and states together are what a chain of n_states times "
        "the number of labels costs.",
    )
    vectors: Any = given(
        None,
        "Word vectors to start from: a text file with one word and its numbers per line, or the words and a "
        "matrix. Those of words that training never sees stay as they are. None: random vectors.",
        WordVectors(),
    )
    word_dim: int | None = whole(None, "Dimension of word vectors; None: that of the vectors given, or 100.")
    chars: str = choice("lstm", ("lstm", "cnn", "none"), "What reads the characters of a word.")
    char_dim: int = whole(25, "Dimension of a character's vector.")
    char_hidden: int = whole(25, "Dimension of what is read from characters, in each direction.")
    context: str = choice(
        "lstm", ("none", "lstm"), "lstm: a BiLSTM reads the whole sequence; none: emissions depend on one word each."
    )
    context_hidden: int = whole(100, "Dimension of the BiLSTM, in each direction.")
    hidden: int = whole(100, "Dimension of the layer below the emissions.")
    dropout: float = number(0.5, "Share of a word's representation that is dropped in training.", most=1.0, below=True)
    unknown: float = number(
        0.5, "How often words that occur once in training are taken for unknown ones.", most=1.0, option="unknown-share"
    )
    clip: float = number(5.0, "Gradients longer than this are shortened to it.", above=True)
    initialisation: str = choice(
        "auto",
        ("auto", "glorot", "normal"),
        "Which random numbers matrices start from: uniform ones whose bound depends on the size of the matrix (glorot: "
        "Glorot and Bengio 2010), or normal ones with a deviation of 0.1. auto: glorot, but scores of transitions of "
        "full rank within 0.1. Word vectors are drawn apart.",
    )
    l2: float = but(
        ObjectiveSettings.l2,
        default=0.0,
        optional=False,
        search=(),
        help="Decay of all weights by learning_rate · l2 per step (AdamW).",
    )
    learning_rate: float = but(
        TrainingSettings.learning_rate, default=3e-3, optional=False, search=(1e-3, 1e-2), help="Adam's step."
    )
    epsilon: float = number(
        1e-6, "Adam's epsilon: a smaller one makes larger steps where gradients are tiny.", above=True
    )
    batch_size: int = but(TrainingSettings.batch_size, default=20, optional=False, help="Sequences per step.")
    max_iter: int = but(TrainingSettings.max_iter, default=50, optional=False, help="Most passes over the data.")
    patience: int | None = but(TrainingSettings.patience, default=10)
    min_count: int = but(FeatureSettings.min_count, help="Words that occur less often are unknown.")
    word_column: int = whole(0, "Where rows have several columns: that of the word.", least=0)
    decoder: str = but(
        DecoderSettings.decoder,
        kind=Choice(tuple(DECODERS)),
        help="Which labels predict takes. May be changed after fit.",
    )
    device: str | None = given(None, "Where training runs; None: a GPU if there is one.", Name())
    n_jobs: int | None = but(
        RunningSettings.n_jobs,
        help="Number of threads: of torch in training (one below 256 states, where more would only wait for each "
        "other), and of prediction; None or -1: all processors.",
    )
    remembered: ClassVar[tuple[str, ...]] = ("best_iteration", "outside_shift")
    # Of trainers there is one; it has no setting.
    trainer: str = but(TrainingSettings.trainer, default="adam")

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None) -> Any:
        """Not for networks: Adam's moments and the vocabulary belong to one training."""
        raise ConfigError("NeuralCRF is trained in one go; call fit with all data.")

    def check_settings(self) -> None:
        """Besides the rest: weights must not fade faster than they are learned."""
        super().check_settings()
        if self.share_states and (self.order == 2 or self.n_states == 1):
            raise SettingError(
                "share_states needs order=1 and several states (n_states): one state cannot tell labels apart."
            )
        if self.learning_rate * self.l2 > FASTEST_DECAY:
            raise ConfigError(
                f"learning_rate · l2 is {self.learning_rate * self.l2:g}; weights would lose more than "
                f"{FASTEST_DECAY:g} of themselves per step. Lower one of them."
            )

    def _features(self, sequences: Sequence[Any]) -> FeatureMap:
        return WordFeatures(self.word_column, known_vectors(self.vectors, self.word_dim)[0])

    def _space(self, labels: tuple[Any, ...], rules: Rules | None) -> StateSpace:
        return ordered_space(partitioned([self.n_states] * len(labels)), rules, self.order)

    def _chain(self, material: Material, space: StateSpace) -> Chain:
        features = material.features
        assert isinstance(features, WordFeatures)
        words, table = known_vectors(self.vectors, self.word_dim)
        network = Neural(
            space.n_rows,
            features.n_learned,
            features.n_features - features.n_learned,
            table.shape[1] if len(words) else self.word_dim or WORD_DIM,
            len(features.chars),
            self.chars,
            self.char_dim,
            self.char_hidden,
            self.context,
            self.context_hidden,
            self.hidden,
            space.n_labels if self.share_states else 1,
        )
        if self.rank is not None:
            moved = low_rank(space, self.rank, shared=self.share_states)
            return Chain(space, (network, Boundary(space.n_rows)), (moved,))
        moves = [Transition(shared_ties(space) if self.share_states else space.edge_row)]
        if space.n_states > space.n_rows:
            moves.append(Transition(np.arange(space.n_edges, dtype=np.int32), name="transition2"))
        return Chain(space, (network, Boundary(space.n_rows)), tuple(moves))

    def _start(self, problem: Problem, material: Material, theta: Float) -> tuple[Any, Float]:
        """The same problem in torch, from where its network starts; known vectors are put in."""
        if material.previous is not None:
            raise ConfigError("NeuralCRF cannot start from another model; leave start_from out.")
        try:
            from .problem import in_torch
        except ImportError:
            raise ConfigError(NEEDS_TORCH) from None
        own = in_torch(problem, self.dropout, self.rank, seed_of(self.random_state), self.device, self.initialisation)
        own.write(theta)
        self._put_vectors(own, material.features, theta)
        return own, theta

    def _put_vectors(self, problem: NeuralProblem, features: Any, theta: Float) -> None:
        """Known vectors in their places; that of unknown words is the mean of all."""
        words, table = known_vectors(self.vectors, self.word_dim)
        if not len(words):
            return
        views, n = problem.chain.views(theta), features.n_learned
        learned, fixed = views["network.words"], views["network.fixed"]
        for word, vector in zip(words, table, strict=True):
            place = features.words[word]
            if place < n:
                learned[place] = vector
            else:
                fixed[place - n] = vector
        learned[0] = table.mean(0)

    def _trainer(self, problem: Any, theta: Float, partial: bool) -> Trainer[Any]:
        from .training import NeuralAdam

        return NeuralAdam(
            rate=self.learning_rate,
            batch_size=self.batch_size,
            clip=self.clip,
            epsilon=self.epsilon,
            l2=self.l2,
            unknown=self.unknown,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
            threads=count_jobs(self.n_jobs) if problem.chain.space.n_states >= MANY_STATES else 1,
        )
