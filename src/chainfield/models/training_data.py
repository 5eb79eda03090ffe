"""What a model is trained on: sequences in memory, or a corpus in pieces. The road asks both the same questions."""

from __future__ import annotations

import copy
import hashlib
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from chainfield.corpora.corpus import Corpus, Encoding
from chainfield.corpora.part import Part
from chainfield.errors import ConfigError, DataError, DataWarning
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import FittedModel
from chainfield.problem import HeldPieces
from chainfield.states import StateSpace
from chainfield.tasks import Task, ordered_labels

from .base import check_savable
from .facts import feature_counts, fingerprint
from .inputs import as_template, len_of
from .material import Examples, Extent, Material
from .repairing import check_whole
from .run import Development, Run

MANY_LABELS = 100
_CALLER = 5  # frames up to the line that called fit
NO_PARTS: HeldPieces[Part] = HeldPieces([])


class ReadData(NamedTuple):
    """What is told of data after training: how often features occurred, sizes, and a digest."""

    counts: Any
    n_sequences: int
    n_positions: int
    fingerprint: str


class TrainingData(ABC):
    """Labelled sequences, wherever they are."""

    #: One weight per sequence, as the user gives them.
    sample_weight: Any = None
    #: Label sequences to check rules by: all of them, or a few that have all steps of the others.
    label_sequences: Sequence[Any]
    #: The names of columns, of frames that have some.
    columns: list[str] | None = None

    @abstractmethod
    def learn(self, model: Any, previous: FittedModel | None) -> FeatureMap:
        """The feature map; it may be empty until the data are encoded."""

    @abstractmethod
    def labels(self, task: type[Task], known: Iterable[Any], development: Development | None) -> tuple[Any, ...]:
        """The labels of the data and those that are known besides, in order."""

    @abstractmethod
    def lengths(self) -> Mapping[Any, Mapping[int, int]]:
        """Where sequences have one label: how often each length occurs, by label."""

    @abstractmethod
    def material(
        self, model: Any, features: FeatureMap, task: Task, space: StateSpace, previous: FittedModel | None
    ) -> Material:
        """The data in numbers."""

    @abstractmethod
    def read(self, features: FeatureMap, material: Material, n_jobs: int, *, slim: bool) -> ReadData:
        """What is told of the data; ``slim``: the fitted map has fewer features than the material."""


@final
@dataclass(frozen=True, eq=False)
class Held(TrainingData):
    """Sequences in memory."""

    sequences: Sequence[Any]
    label_sequences: Sequence[Any]
    sample_weight: Any = None
    columns: list[str] | None = None

    def learn(self, model: Any, previous: FittedModel | None) -> FeatureMap:
        """Still empty, or a copy of the older model's: that stays as it is, whatever happens on the way."""
        return model._features(self.sequences) if previous is None else copy.deepcopy(previous.features)

    def labels(self, task: type[Task], known: Iterable[Any], development: Development | None) -> tuple[Any, ...]:
        """Read off the targets."""
        return all_labels(task, self.label_sequences, known, development)

    def lengths(self) -> Mapping[Any, Mapping[int, int]]:
        """Unknown labels, and sets of them, count for none; whether there are as many labels is checked with them."""
        return counted_lengths(zip(self.label_sequences, map(len_of, self.sequences), strict=False))

    def material(
        self, model: Any, features: FeatureMap, task: Task, space: StateSpace, previous: FittedModel | None
    ) -> Material:
        """Features are learned, and the sequences encoded, in one go."""
        batch = features.learn(self.sequences, model.min_count)
        clamp = task.clamp(space, self.label_sequences, batch.offsets)
        return Material.of(features, batch, clamp, task.labels, previous=previous)

    def read(self, features: FeatureMap, material: Material, n_jobs: int, *, slim: bool) -> ReadData:
        """Encoded again where features were left out."""
        batch = features.encode(self.sequences, n_jobs) if slim else material.batch
        mark = fingerprint(batch, self.label_sequences)
        return ReadData(feature_counts(batch), batch.n_sequences, batch.n_positions, mark)


@final
class Spread(TrainingData):
    """A corpus in pieces."""

    def __init__(self, corpus: Corpus, model: Any, run: Run, previous: FittedModel | None) -> None:
        check_whole(model)
        if previous is not None or run.partial:
            raise ConfigError("warm_start, start_from and partial_fit need sequences in memory, not a corpus.")
        plain = type(model)(**model.get_params())  # what travels to other machines has no weights
        self._encoding: Encoding = corpus.encoding(
            plain._features, model.min_count, None if model.template is None else as_template(model.template)
        )
        if model.scaling in ("centred", "standardised") and self._encoding.features.scaling == "none":
            raise ConfigError(
                f"scaling={model.scaling!r} belongs to the encoding of a corpus, and this one was encoded as it is; "
                "fit on the files themselves, or leave scaling out."
            )
        profile, whole = self._encoding.profile, not model.task_type.every_position
        if whole and not profile.uniform:
            raise DataError(
                f"{type(model).__name__} gives a whole sequence one label, but sequences of the corpus have several; "
                "give one label per sequence."
            )
        self.label_sequences = list(profile.kinds) if whole else profile.witnesses()

    def learn(self, model: Any, previous: FittedModel | None) -> FeatureMap:
        """Learned already."""
        return self._encoding.features

    def labels(self, task: type[Task], known: Iterable[Any], development: Development | None) -> tuple[Any, ...]:
        """From the profile."""
        profile = self._encoding.profile
        if all(kind is None for kind in profile.kinds):
            raise DataError("The corpus holds no label at all; at least one position needs a known label.")
        if not task.every_position:
            return all_labels(task, list(profile.kinds), known, development, n=profile.n_sequences)
        return all_labels(task, [list(profile.kinds)], known, development, n=profile.n_positions)

    def lengths(self) -> Mapping[Any, Mapping[int, int]]:
        """Piece by piece."""
        return self._encoding.parts.fold(part_lengths, joined_lengths)

    def material(
        self, model: Any, features: FeatureMap, task: Task, space: StateSpace, previous: FittedModel | None
    ) -> Material:
        """The pieces with what their labels tell about states."""
        profile, parts = self._encoding.profile, self._encoding.parts
        kinds = {
            "sparse": features.n_columns == 0,
            "dense": features.n_columns > 0,
            "edges": features.n_edge_features > 0,
        }
        extent = Extent(profile.n_sequences, profile.n_positions, **kinds)
        self._encoding = replace(self._encoding, parts=NO_PARTS)  # what is derived from them is all that is needed
        return Material(features, parts.derive(clamped, task, space), extent, task.labels)

    def read(self, features: FeatureMap, material: Material, n_jobs: int, *, slim: bool) -> ReadData:
        """Piece by piece; where features were left out, nothing is counted again."""
        counts = None if slim or not material.extent.sparse else material.fold(count_features, np.add)
        digest = hashlib.blake2b(digest_size=16)
        for own in material.examples.map(examples_digest):
            digest.update(own.encode())
        return ReadData(counts, material.extent.n_sequences, material.extent.n_positions, digest.hexdigest())


def all_labels(
    task: type[Task],
    targets: Sequence[Any],
    known: Iterable[Any],
    development: tuple[Any, Sequence[Any]] | None,
    n: int | None = None,
) -> tuple[Any, ...]:
    """The labels of the targets and those that are known besides, in order; n: how many places there are for labels."""
    labels = ordered_labels([*known, *task.labels_in(targets)])
    if not labels:
        raise DataError("y holds no label at all; at least one position needs a known label.")
    check_savable(labels)
    if n is None:
        n = sum(map(len, targets)) if task.every_position else len(targets)
    what = "positions" if task.every_position else "sequences"
    if len(labels) > MANY_LABELS and 5 * len(labels) > n:
        warnings.warn(
            f"There are {len(labels)} labels for {n} {what}; are X and y swapped, or is the label in another column?",
            DataWarning,
            stacklevel=_CALLER,
        )
    strange = set() if development is None else set(task.labels_in(development[1])) - set(labels)
    if strange:
        names = ", ".join(sorted(map(repr, strange))[:5])
        warnings.warn(
            f"The development data have labels that training never saw; they count as errors: {names}.",
            DataWarning,
            stacklevel=_CALLER,
        )
    return labels


def counted_lengths(pairs: Iterable[tuple[Any, int]]) -> dict[Any, Counter[int]]:
    """How often each length occurs, by label."""
    found: dict[Any, Counter[int]] = {}
    for label, length in pairs:
        if label is not None and not isinstance(label, set | frozenset):
            found.setdefault(label, Counter())[length] += 1
    return found


def part_lengths(part: Part) -> dict[Any, Counter[int]]:
    """Those of one piece; empty sequences have no label."""
    offsets = part.batch.offsets
    there = np.flatnonzero(np.diff(offsets))
    labels = (part.kinds[code] for code in part.codes[offsets[there]].tolist())
    return counted_lengths(zip(labels, np.diff(offsets)[there].tolist(), strict=True))


def joined_lengths(ours: dict[Any, Counter[int]], theirs: dict[Any, Counter[int]]) -> dict[Any, Counter[int]]:
    """Of two pieces."""
    for label, counts in theirs.items():
        ours.setdefault(label, Counter()).update(counts)
    return ours


def count_features(examples: Examples) -> Any:
    """Those of one piece."""
    return feature_counts(examples.batch)


def examples_digest(examples: Examples) -> str:
    """That of one piece."""
    return fingerprint(examples.batch, [examples.clamp.index])


def clamped(part: Part, task: Task, space: StateSpace) -> Examples:
    """A piece with what its labels tell about states."""
    return Examples(part.batch, part.clamp(task, space), part.first)
