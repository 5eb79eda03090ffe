"""Empirical training of linear-chain CRFs (Zhu, Hiemstra, Apers and Wombacher): a tagger by counting, in one pass."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeVar, final

from chainfield.checking import is_sparse, shown
from chainfield.corpora.corpus import Corpus
from chainfield.errors import ConfigError, DataError
from chainfield.features import FeatureMap, NamedFeatures, TemplateFeatures, spelling_template
from chainfield.features.batch import Sparse
from chainfield.fitted import FittedModel
from chainfield.models.base import check_savable
from chainfield.models.constraints import check_pairs, check_rules, found_scheme, label_rules, label_space, restricted
from chainfield.models.groups import FeatureSettings, ObjectiveSettings, RunningSettings
from chainfield.models.inputs import choose_map, len_of, split_sequences
from chainfield.models.repairing import check_whole
from chainfield.models.tagging import TaggingModel
from chainfield.models.weights import sequence_weights
from chainfield.parallel import count_jobs
from chainfield.settings import but, choice, number
from chainfield.tasks import Tagging, ordered_labels

from .chain import OOV, PAIRS, Fitted, chain_of, counts_of
from .chunks import Chunk, check_lengths, chunks_of
from .corpus_counts import count_source, join_counted
from .counts import Counts
from .distinct import label_sequences, sequence_offsets
from .tally import Tally
from .union import unite_maps
from .unseen import COUNTED

CHUNK = 1 << 14  # sequences of a stream that are counted at a time
E = TypeVar("E", bound="EmpiricalCRF")


@final
class EmpiricalCRF(TaggingModel, RunningSettings, without=("random_state", "verbose")):
    """A tagger trained by counting: P(y | x) of words, co-occurrence rates of the labels of neighbours.

    The first feature of a position is its *observation* (with templates: the first line; usually the word). The other
    features speak for observations that training never met.
    """

    oov: str = choice(
        "auto",
        OOV,
        "What is said of observations that were never seen: the mean of P(y | f) over their features f (empirical, "
        "EP1), or exponential functions of the features, fitted by L-BFGS to words by themselves (exponential, EP2) or "
        "to words beside their neighbours (together). auto: exponential where fitting takes about a second (up to 5 "
        "million words times labels), else empirical.",
    )
    pairs: str = choice(
        "ladder",
        PAIRS,
        "How the labels of neighbours are judged beyond counts of both words: by counts of one word and of labels "
        "alone (ladder); by exponential functions of both words' features wherever the two were never seen side by "
        "side (exponential, EP2 as published); or by the ladder, moved by what the features of an unseen word say "
        "with its neighbour's label (halves).",
    )
    counted: str = choice(
        "types", COUNTED, "When features are judged, a word counts once (types) or as often as it was seen (tokens)."
    )
    label_strength: float = number(
        1.0,
        "How strongly the rates of labels alone are drawn to chance, as a number of observations. With all three "
        "strengths 0: the paper's estimate, without smoothing.",
    )
    word_strength: float = number(0.3, "How strongly the rates of one word are drawn to those of labels alone.")
    pair_strength: float = number(1.0, "How strongly the rates of two words are drawn to those of one word.")
    feature_strength: float = number(
        0.3, "How much the features of a rare observation say, as a number of observations; 0: nothing."
    )
    l2: float = but(ObjectiveSettings.l2, default=0.3, optional=False, help="Penalty of the exponential functions.")
    template: Any = but(
        FeatureSettings.template,
        help="Feature templates for rows of text columns, the observation first. None: the word with its spelling "
        "(chainfield.features.spelling_template).",
    )
    min_count: int = but(
        FeatureSettings.min_count,
        default=3,
        help="Observations seen fewer times are rare: they are judged by their features too.",
    )
    remembered: ClassVar[tuple[str, ...]] = ("scheme",)
    counts_: Counts

    # ---- counting ------------------------------------------------------------------------------------------------

    def fit(self: E, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Sequence[int] | None = None) -> E:
        """Count sequences X with their labels y; positions whose label is None (or a set) are left out.

        In place of both, X may be a corpus in pieces (docs/cluster.md).
        """
        if isinstance(X, Corpus):
            if y is not None or sample_weight is not None or lengths is not None:
                raise ConfigError("A corpus has its labels already; leave out y, sample_weight and lengths.")
            return self._count_corpus(X)
        return self._count([self._sequences(X, y, sample_weight, lengths)], None)

    def partial_fit(self: E, X: Any, y: Any, sample_weight: Any = None, *, classes: Sequence[Any] | None = None) -> E:
        """Count more sequences; the same model as if all had been counted at once. ``classes``: labels to come."""
        chunks = [self._sequences(X, y, sample_weight, None)]
        return self._count(chunks, getattr(self, "fitted_", None), classes or ())

    def fit_stream(self: E, stream: Iterable[tuple[Any, Any]]) -> E:
        """Count (sequence, labels) pairs as they come, a chunk at a time.

        Memory grows with the number of distinct words and of distinct pairs of tagged words, not with the corpus.
        """
        check_whole(self)
        return self._count(chunks_of(stream, CHUNK), None)

    def partial_fit_stream(self: E, stream: Iterable[tuple[Any, Any]]) -> E:
        """Count more (sequence, labels) pairs as they come."""
        check_whole(self)
        return self._count(chunks_of(stream, CHUNK), getattr(self, "fitted_", None))

    def forget(self: E, X: Any, y: Any, sample_weight: Any = None, *, lengths: Sequence[int] | None = None) -> E:
        """Take counted sequences back: the same model as if they had never been counted.

        Numbers of labels, words and features are gone; the names of features stay in the feature map.
        """
        self._fitted()
        other = type(self)(**self.get_params()).set_params(
            scheme=None, repair=None, forbidden=None, oov="empirical", pairs="ladder"
        )
        lost = other._count([self._sequences(X, y, sample_weight, lengths)], None)
        less = self - lost
        self._adopt(less.fitted_, less.counts_)
        return self

    def __add__(self: E, other: Any) -> E:
        """A model with the counts of both, and the settings of the first."""
        theirs = self._counts_of(other)
        features, number = unite_maps(self._fitted().features, other._fitted().features)
        return self._derived(features, self.counts_ + theirs.renumbered(number))

    def __sub__(self: E, other: Any) -> E:
        """A model without the counts of the other, which must all be in it."""
        theirs = self._counts_of(other)
        ours = self._fitted().features
        number = unite_maps(ours, other._fitted().features)[1]
        return self._derived(copy.deepcopy(ours), self.counts_ - theirs.renumbered(number))

    def _counts_of(self, other: Any) -> Counts:
        if not isinstance(other, EmpiricalCRF):
            raise ConfigError(f"Only another EmpiricalCRF can be added or taken away, but this is {shown(other)}.")
        other._fitted()
        return other.counts_

    def _derived(self: E, features: FeatureMap, counts: Counts) -> E:
        if not len(counts.samples):
            raise DataError("Nothing would be left: every count would be 0.")
        model = type(self)(**self.get_params())
        model.check_settings()
        model.scheme_ = self.scheme_
        model._build(features, counts)
        return model

    def _sequences(self, X: Any, y: Any, sample_weight: Any, lengths: Sequence[int] | None) -> Chunk:
        sequences, targets = split_sequences(X, lengths), self._repaired(self._targets(y, lengths))
        weight = None if sample_weight is None else sequence_weights(sample_weight, len(sequences))
        return Chunk(sequences, targets, weight)

    def _count(self: E, chunks: Iterable[Chunk], previous: FittedModel | None, classes: Sequence[Any] = ()) -> E:
        self.check_settings()
        self.stored_settings()  # refuses what could not be saved
        features = None if previous is None else copy.deepcopy(previous.features)
        tally, first, at = None, None, 0
        for chunk in chunks:
            check_lengths(chunk, at)
            at += len(chunk.sequences)
            if features is None and sequence_offsets(chunk.targets)[-1]:
                features = self._map(chunk.sequences)
            if features is not None:
                tally = self._tally(features) if tally is None else tally
                tally.add(*chunk)
                check_savable(tally.labels)
                first = chunk if first is None else first
        if features is None or tally is None or first is None:
            raise DataError("There is nothing to learn from: every sequence is empty.")
        counts = tally.counts()
        counts = counts if previous is None else self.counts_ + counts
        if not len(counts.samples):
            raise DataError("y holds no label at all; at least one position needs a known label.")
        counts = counts.with_labels(classes)
        labels = ordered_labels(counts.labels)
        scheme = getattr(self, "scheme_", None)
        if previous is None or not hasattr(self, "scheme_"):  # of a stream, the first chunk decides what "auto" is
            scheme = found_scheme(labels, self.scheme, label_sequences(first.targets))
        rules = label_rules(labels, scheme, self.forbidden)
        if len(first.sequences) == at:
            check_rules(rules, labels, label_sequences(first.targets))
        else:  # where it was is not known any more
            check_pairs(rules, labels, counts.labels, counts.label_pairs())
        self.scheme_ = scheme
        self._build(features, counts)
        return self

    def _count_corpus(self: E, corpus: Corpus) -> E:
        self.check_settings()
        check_whole(self)
        plain = type(self)(**self.get_params())  # what travels to other machines has no counts
        found = corpus.sources.fold(count_source, join_counted, plain)
        if not len(found.counts.samples):
            raise DataError("The corpus holds no label at all; at least one position needs a known label.")
        labels, sequences = ordered_labels(found.counts.labels), found.profile.witnesses()
        scheme = found_scheme(labels, self.scheme, sequences)
        check_rules(label_rules(labels, scheme, self.forbidden), labels, sequences)
        self.scheme_ = scheme
        self._build(found.features, found.counts)
        return self

    def _map(self, sequences: Sequence[Any]) -> FeatureMap:
        """The feature map of these sequences: attributes, or text columns."""
        first = next((s for s in sequences if len_of(s)), None)
        item = None if first is None or is_sparse(first) else first[0]
        template = self.template
        if template is None and isinstance(item, str | tuple):
            template = spelling_template(1 if isinstance(item, str) else len(item))
        found = choose_map(sequences, template)
        if not isinstance(found, NamedFeatures | TemplateFeatures):
            raise ConfigError(
                "EmpiricalCRF counts words and features, but X holds numbers; give strings, tuples of strings, dicts "
                "or lists of strings, or use LinearCRF."
            )
        if isinstance(found, TemplateFeatures) and found.templates.conditioned_bigrams:
            line = found.templates.conditioned_bigrams[0].text
            raise ConfigError(f"EmpiricalCRF counts label pairs with their words by itself; leave out {line!r}.")
        return found

    def _tally(self, features: FeatureMap) -> Tally:
        alone = isinstance(features, TemplateFeatures) and all(
            slot.offset == 0 and not slot.absolute for line in features.templates.unigrams for slot in line.slots
        )

        def learn(sequences: Sequence[Any]) -> Sparse:
            found = features.learn(sequences).sparse
            assert found is not None
            return found

        return Tally(learn, alone=alone)

    # ---- from counts to a chain ----------------------------------------------------------------------------------

    def _build(self, features: FeatureMap, counts: Counts) -> None:
        labels = ordered_labels(counts.labels)
        space = restricted(label_space(len(labels)), label_rules(labels, self.scheme_, self.forbidden))
        ladder = (float(self.label_strength), float(self.word_strength), float(self.pair_strength))
        rare = (float(self.min_count), float(self.feature_strength))
        fitted = Fitted(self.oov, self.pairs, float(self.l2))
        jobs = count_jobs(self.n_jobs)
        chain, theta = chain_of(counts, labels, space, features.n_features, ladder, rare, self.counted, fitted, jobs)
        self._adopt(self._make(features, Tagging(labels), chain, theta, "sum"), counts)

    def _adopt(self, fitted: FittedModel, counts: Counts) -> None:
        self.fitted_ = fitted
        self.counts_ = counts

    # ---- files ---------------------------------------------------------------------------------------------------

    def _restore(self, fitted: FittedModel, about: dict[str, Any]) -> None:
        super()._restore(fitted, about)
        self.counts_ = counts_of(fitted)
