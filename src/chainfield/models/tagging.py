"""What all taggers share: prediction of label sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from chainfield.arrays import Float, offsets_of
from chainfield.checking import weights_of
from chainfield.errors import ConfigError
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import Confidence, Tagger, confidences
from chainfield.parallel import count_jobs
from chainfield.potentials import How
from chainfield.scorers import Chain
from chainfield.spans import has_spans
from chainfield.states import Rules
from chainfield.tasks import Tagging, Task, check_lengths

from .base import SequenceModel, not_trained
from .constraints import found_scheme, label_rules
from .groups import DecoderSettings, RuleSettings
from .inputs import split_sequences
from .label_lists import LabelLists
from .repairing import Repair, repair_labels

if TYPE_CHECKING:
    from chainfield.inspection.explanation import Explanation


class TaggingModel(SequenceModel, RuleSettings, DecoderSettings, group="Model"):
    """Base of the taggers, trained in whatever way: a label for every position."""

    task_type: ClassVar[type[Task]] = Tagging
    #: The tagging scheme whose rules hold, if there is one.
    scheme_: str | None
    #: The training labels that broke the scheme and were repaired, as ``repair`` asks.
    repairs_: list[Repair]

    @property
    def tagger_(self) -> Tagger:
        """The parts themselves: features, task, chain and parameters."""
        if "fitted_" not in self.__dict__:
            raise not_trained(self)
        return cast(Tagger, self.fitted_)

    @property
    def classes_(self) -> list[Any]:
        """The labels, in the order of the columns of probabilities."""
        return list(self._fitted().task.labels)

    def _rules(self, labels: tuple[Any, ...], targets: Sequence[Any]) -> tuple[str | None, Rules | None]:
        scheme = found_scheme(labels, self.scheme, targets)
        return scheme, label_rules(labels, scheme, self.forbidden)

    def _repaired(self, targets: Sequence[Any]) -> Sequence[Any]:
        self.repairs_ = []
        if self.repair is None:
            return targets
        assert self.scheme is not None
        mended, self.repairs_ = repair_labels(targets, self.scheme, self.repair)
        return mended

    def check_settings(self) -> None:
        """Refuse a repair of labels that no scheme rules."""
        super().check_settings()
        if self.repair is not None and self.scheme is None:
            raise ConfigError(f'repair="{self.repair}" needs a scheme; give scheme="bio", or whichever labels follow.')

    def _targets(self, y: Any, lengths: Sequence[int] | None, what: str = "y") -> Sequence[Any]:
        return split_sequences(y, lengths, what)

    def _make(self, features: FeatureMap, task: Any, chain: Chain, theta: Float, how: How) -> Tagger:
        return Tagger(features, task, chain, theta, how, count_jobs(self.n_jobs), decoder=self.decoder)

    def _prediction_settings(self) -> dict[str, Any]:
        self.settings["decoder"].check(self.decoder)
        return super()._prediction_settings() | {"decoder": self.decoder}

    def _quality(self, truth: Sequence[Any], guess: Sequence[Any], labels: tuple[Any, ...]) -> float:
        """Span F1 where labels stand for spans, else the share of right labels where they are known."""
        from chainfield.metrics.scores import f1_of_spans
        from chainfield.metrics.scoring import filled, share_right

        textual = all(isinstance(label, str) for label in labels) and has_spans(labels)
        # Where the truth is not known, nothing is counted against the prediction.
        return f1_of_spans(filled(truth, guess), guess) if textual else share_right(truth, guess)

    def _tagger(self) -> Tagger:
        return cast(Tagger, self._fitted())

    def predict(self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None) -> LabelLists:
        """The best label sequence of each sequence; ``given`` fixes labels (None elsewhere, a set: one of these)."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return LabelLists(self._tagger().predict(self._input(X, lengths), fixed))

    def tag(self, x: Any, given: Any = None) -> list[Any]:
        """The best labels of one sequence: ``predict([x])[0]``."""
        fixed = None if given is None else split_sequences([given], None, "given")
        return self._tagger().predict(self._input([x]), fixed)[0]

    def predict_marginals(self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None) -> list[Float]:
        """Label probabilities: a (length, labels) array a sequence, columns in the order of ``classes_``."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return self._tagger().marginals(self._input(X, lengths), fixed)

    def predict_n_best(
        self, X: Any, n: int = 5, given: Any = None, *, lengths: Sequence[int] | None = None
    ) -> list[list[tuple[list[Any], float]]]:
        """The n best label sequences of each sequence with their probabilities, best first."""
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return self._tagger().n_best(self._input(X, lengths), n, fixed)

    def predict_confidence(
        self, X: Any, given: Any = None, *, lengths: Sequence[int] | None = None
    ) -> list[Confidence]:
        """The best labels with the exact probabilities of tokens, of spans, and of the whole sequence.

        ``given`` fixes labels; probabilities are then conditional on them.
        """
        fixed = None if given is None else split_sequences(given, lengths, "given")
        return confidences(self._tagger(), self._input(X, lengths), fixed)

    def log_likelihood(self, X: Any, y: Any, *, lengths: Sequence[int] | None = None) -> Float:
        """Log-probability of each label sequence (-inf if it breaks the rules); labels may be None or sets."""
        return self._tagger().log_likelihood(self._input(X, lengths), split_sequences(y, lengths, "y"))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Sequence[int] | None = None) -> float:
        """Token accuracy; unknown labels (None) do not count, and a set is right if it holds the answer."""
        from chainfield.metrics.scoring import share_right

        truth = split_sequences(y, lengths, "y")
        guess = self.predict(X, lengths=lengths)
        check_lengths(truth, offsets_of([len(labels) for labels in guess]))
        self._check_truth(truth)
        return share_right(truth, guess, weights_of(sample_weight, len(truth)))

    def explain(self, x: Any, against: Any = None, given: Any = None) -> Explanation:
        """Each feature's contribution to the prediction at every position of one sequence.

        ``against``: the label to contrast each position with, or a list of them (None: the best possible rival), such
        as the gold labels. ``given`` fixes labels that are known.
        """
        from chainfield.inspection.explanation import explain

        return explain(self._tagger(), x, against, given)
