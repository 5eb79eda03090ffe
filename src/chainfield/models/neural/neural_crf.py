"""The neural CRF: a network over words makes emissions, a chain with any number of states a label stands on top."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from chainfield.arrays import Array, Float
from chainfield.errors import ConfigError
from chainfield.features.batch import Batch
from chainfield.files.checkpoint import load_checkpoint, mark_of, saver
from chainfield.files.container import check_writable
from chainfield.models.constraints import check_rules, found_scheme, label_rules, restricted
from chainfield.models.development import Development, check_development
from chainfield.models.estimator import CHECKPOINT_SECONDS, print_progress
from chainfield.models.inputs import split_sequences
from chainfield.models.labels import all_labels
from chainfield.models.settings import seed_of
from chainfield.models.tagging import TaggingModel
from chainfield.models.weights import sequence_weights
from chainfield.objectives import Targets
from chainfield.parallel import count_jobs
from chainfield.scorers import Boundary, Chain, Transition, low_rank
from chainfield.states import StateSpace, partitioned, second_order
from chainfield.trainers import Progress, Session, begin, run

from .checks import check_neural_settings, known_vectors
from .scorer import NEEDS_TORCH, Neural
from .word_features import WordFeatures

if TYPE_CHECKING:
    from .problem import Pupil
    from .training import NeuralAdam

WORD_DIM = 100
MANY_STATES = 256  # with fewer, threads of torch wait for each other more than they work


@final
class NeuralCRF(TaggingModel):
    """A tagger whose emissions come from a neural network over words; needs torch (pip install 'chainfield[torch]').

    With one state a label it is the neural CRF; with several, the latent-dynamic CRF (LDCRF), and with a ``rank`` the
    embedded latent CRF (ELCRF) of Thai et al. 2017. Sequences are lists of words, or of tuples that hold one.

    Parameters
    ----------
    states_per_label : int
        Hidden states of each label.
    rank : int, optional
        Transition scores are the product of two matrices of this rank; None: each has its own.
    order : 1 or 2
        How many labels (states) back a label sees.
    vectors : path or (words, array), optional
        Word vectors to start from: a text file with a word and its numbers a line, or the words and a matrix. Those of
        words that training never sees stay as they are. None: random vectors.
    word_dim : int, optional
        Dimension of word vectors; None: that of ``vectors``, or 100.
    chars : "lstm", "cnn" or "none"
        What reads the characters of a word.
    char_dim, char_hidden : int
        Dimension of a character's vector, and of what is read in one direction.
    context : "none" or "lstm"
        "none": emissions depend on one word each; "lstm": a BiLSTM reads the whole sequence.
    context_hidden, hidden : int
        Dimension of the BiLSTM in one direction, and of the layer below the emissions.
    dropout : float
        Share of a word's representation that is dropped in training.
    unknown : float
        How often words that occur once in training are taken for unknown ones.
    learning_rate, batch_size, clip
        Adam's step, the sequences a step, and the length to which longer gradients are cut.
    l2 : float
        Decay of all weights by learning_rate · l2 a step (AdamW).
    max_iter, patience
        Most passes over the data; with development data, stop after so many without a better score.
    min_count : int
        Words that occur less often are unknown.
    word_column : int
        Where rows have several columns: that of the word.
    scheme, forbidden
        Hard constraints, as for LinearCRF.
    decoder : "viterbi", "posterior" or "latent-dynamic"
        What ``predict`` takes for the best labels. May be changed after ``fit``.
    device : str, optional
        Where training runs; None: a GPU if there is one.
    random_state, n_jobs, verbose
        Seed; threads of torch in training (one below 256 states: more would only wait for each other), and of
        prediction; whether to print a line a pass.
    """

    remembered: ClassVar[tuple[str, ...]] = ("best_iteration",)

    def __init__(
        self,
        states_per_label: int = 1,
        rank: int | None = None,
        order: int = 1,
        vectors: Any = None,
        word_dim: int | None = None,
        chars: str = "lstm",
        char_dim: int = 25,
        char_hidden: int = 25,
        context: str = "none",
        context_hidden: int = 100,
        hidden: int = 100,
        dropout: float = 0.5,
        unknown: float = 0.5,
        learning_rate: float = 1e-3,
        batch_size: int = 20,
        clip: float = 5.0,
        l2: float = 0.0,
        max_iter: int = 50,
        patience: int | None = 10,
        min_count: int = 1,
        word_column: int = 0,
        scheme: str | None = None,
        forbidden: Iterable[tuple[Any, Any]] | None = None,
        decoder: str = "viterbi",
        device: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.states_per_label = states_per_label
        self.rank = rank
        self.order = order
        self.vectors = vectors
        self.word_dim = word_dim
        self.chars = chars
        self.char_dim = char_dim
        self.char_hidden = char_hidden
        self.context = context
        self.context_hidden = context_hidden
        self.hidden = hidden
        self.dropout = dropout
        self.unknown = unknown
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.clip = clip
        self.l2 = l2
        self.max_iter = max_iter
        self.patience = patience
        self.min_count = min_count
        self.word_column = word_column
        self.scheme = scheme
        self.forbidden = forbidden
        self.decoder = decoder
        self.device = device
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        lengths: Sequence[int] | None = None,
        X_dev: Any = None,
        y_dev: Any = None,
        callback: Callable[[Progress], None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
    ) -> NeuralCRF:
        """Train on sequences of words and their labels y (None: unknown, a set: one of these).

        ``X_dev``, ``y_dev``: development data; the parameters with the best score on them are kept.
        ``checkpoint``: a file that is written again and again, from which ``resume=True`` continues.
        """
        check_neural_settings(self)
        sequences, targets = split_sequences(X, lengths), self._targets(y, lengths)
        development = check_development(self, X_dev, y_dev)
        labels = all_labels(self.task_type, targets, [], development)
        task, space = self.task_type(labels), self._space(labels, targets)
        features = WordFeatures(self.word_column)
        batch = features.learn(sequences, self.min_count)
        clamp = task.clamp(space, targets, batch.offsets)
        weight = sequence_weights(sample_weight, batch.n_sequences)
        words, table = known_vectors(self.vectors, self.word_dim)
        features.extend(words)
        chain = self._chain(features, space, table.shape[1] if len(words) else self.word_dim or WORD_DIM)
        trainer, pupil = self._pupil(chain, batch, Targets(clamp, weight))
        theta = _start(pupil, features, words, table)
        session, save = self._session(trainer, pupil, theta, labels, checkpoint, resume)
        with _threads(count_jobs(self.n_jobs) if space.n_states >= MANY_STATES else 1):
            if session is None:
                session = begin(trainer, pupil, theta)  # type: ignore[arg-type]
            try:
                run(
                    trainer,
                    pupil,  # type: ignore[arg-type]
                    session,
                    dev_score=development and self._dev_score(pupil, features, development, labels),
                    patience=self.patience,
                    watch=callback if callback is not None else print_progress if self.verbose else None,
                    save=save,
                )
            finally:
                if session.history:  # an interrupted training leaves its best parameters behind
                    self.fitted_ = self._make(features, task, chain, session.best, "sum")
                    self.trainer_ = "adam"
                    self.n_iter_ = session.state.iteration
                    self.history_ = session.history
                    self.best_iteration_ = session.best_iteration
                    self.stop_reason_ = session.reason or "interrupted"
        return self

    def _space(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> StateSpace:
        self.scheme_ = found_scheme(labels, self.scheme, targets)
        rules = label_rules(labels, self.scheme_, self.forbidden)
        check_rules(rules, labels, targets)
        space = restricted(partitioned([self.states_per_label] * len(labels)), rules)
        return second_order(space) if self.order == 2 else space

    def _chain(self, features: WordFeatures, space: StateSpace, word_dim: int) -> Chain:
        network = Neural(
            space.n_rows,
            features.n_learned,
            features.n_features - features.n_learned,
            word_dim,
            len(features.chars),
            self.chars,
            self.char_dim,
            self.char_hidden,
            self.context,
            self.context_hidden,
            self.hidden,
        )
        if self.rank is not None:
            return Chain(space, (network, Boundary(space.n_rows)), (low_rank(space, self.rank),))
        moves = [Transition(space.edge_row)]
        if space.n_states > space.n_rows:
            moves.append(Transition(np.arange(space.n_edges, dtype=np.int32), name="transition2"))
        return Chain(space, (network, Boundary(space.n_rows)), tuple(moves))

    def _pupil(self, chain: Chain, batch: Batch, targets: Targets) -> tuple[NeuralAdam, Pupil]:
        try:
            import torch
        except ImportError:
            raise ConfigError(NEEDS_TORCH) from None
        from chainfield.torch import CRF

        from .network import Network
        from .problem import Pupil
        from .training import NeuralAdam

        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        network = chain.emissions[0]
        assert isinstance(network, Neural)
        assert batch.tokens is not None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(self.random_state))
            own, layer = Network(network.shape, self.dropout, sparse=True), CRF(chain.space, rank=self.rank)
        counts = np.bincount(batch.tokens.word[batch.tokens.index], minlength=network.n_words + network.n_fixed)
        pupil = Pupil(chain, own.to(device), layer.to(device), batch, targets, counts == 1, device)
        trainer = NeuralAdam(
            rate=self.learning_rate,
            batch_size=self.batch_size,
            clip=self.clip,
            l2=self.l2,
            unknown=self.unknown,
            max_iter=self.max_iter,
            seed=seed_of(self.random_state),
        )
        return trainer, pupil

    def _dev_score(
        self, pupil: Pupil, features: WordFeatures, development: Development, labels: tuple[Any, ...]
    ) -> Callable[[Float], float]:
        sequences, truth = development
        batch = features.encode(sequences)

        def score(theta: Float) -> float:
            found = pupil.decode(batch, self.decoder)
            return self._quality(truth, [[labels[i] for i in sequence] for sequence in found], labels)

        return score

    def _settings(self) -> dict[str, Any]:
        """Vectors are in the parameters; of a file, its name is kept."""
        vectors = os.fspath(self.vectors) if isinstance(self.vectors, str | os.PathLike) else None
        given, self.vectors = self.vectors, vectors
        try:
            return {k: v for k, v in super()._settings().items() if k != "device"}
        finally:
            self.vectors = given

    def _session(
        self,
        trainer: NeuralAdam,
        pupil: Pupil,
        theta: Float,
        labels: tuple[Any, ...],
        checkpoint: str | os.PathLike[str] | None,
        resume: bool,
    ) -> tuple[Session | None, Callable[[Session], None] | None]:
        """The session of a checkpoint, if one is to be resumed, and what writes new checkpoints."""
        if checkpoint is None:
            return None, None
        check_writable(checkpoint)
        tokens, targets = pupil.batch.tokens, pupil.targets
        assert tokens is not None
        settings = {k: v for k, v in self._settings().items() if k not in ("max_iter", "patience")}
        arrays: list[Array] = [theta, pupil.batch.offsets, tokens.index, tokens.word, tokens.chars]
        arrays += [targets.clamp.index, targets.clamp.table, targets.weight]
        mark = mark_of(arrays, settings | {"labels": repr(labels)})
        session = None
        if resume and Path(checkpoint).exists():
            session = load_checkpoint(checkpoint, trainer, mark)
            if session.state.iteration > trainer.max_iter:
                raise ConfigError(
                    f"The checkpoint stands at iteration {session.state.iteration} already; give a larger max_iter "
                    f"than {trainer.max_iter} to go on."
                )
        return session, saver(checkpoint, mark, CHECKPOINT_SECONDS)


def _start(pupil: Pupil, features: WordFeatures, words: Sequence[str], table: Any) -> Float:
    """The network's start, with known vectors put in; that of unknown words is the mean of all."""
    theta = np.zeros(pupil.chain.n_parameters)
    pupil.write(theta)
    if len(words):
        views, n = pupil.chain.views(theta), features.n_learned
        learned, fixed = views["network.words"], views["network.fixed"]
        for word, vector in zip(words, table, strict=True):
            number = features.words[word]
            if number < n:
                learned[number] = vector
            else:
                fixed[number - n] = vector
        learned[0] = table.mean(0)
    return theta


class _threads:
    """Torch with so many threads, and as before afterwards."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __enter__(self) -> None:
        import torch

        self.before = torch.get_num_threads()
        torch.set_num_threads(self.n)

    def __exit__(self, *_: object) -> None:
        import torch

        torch.set_num_threads(self.before)
