"""``Tagger``: labels, probabilities and marginals of one sequence at a time, or of many."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, final

import numpy as np

from chainfield.arrays import Float
from chainfield.compat.crfsuite import CrfsuiteModel, from_crfsuite, parse_crfsuite
from chainfield.compat.crfsuite.translate import as_text
from chainfield.errors import DataError
from chainfield.features import NamedFeatures
from chainfield.features.batch import Batch
from chainfield.features.named import Entries, as_batch
from chainfield.fitted import Tagger as Fitted
from chainfield.fitted.straight import Straight
from chainfield.inference import clamped_path, label_marginals, log_partition, score_paths
from chainfield.models.tagging import TaggingModel
from chainfield.parallel import count_jobs

from ._dumpparser import ParsedDump
from .dumping import dump_lines, parsed
from .errors import ClosedError, ItemError, UnknownLabelError
from .items import ItemSequence, label_text, whole_number, without_number


@final
class Tagger:
    """A model that is open, and the sequence that was tagged or set last.

    It can be pickled and copied. Any number of threads may call :meth:`tag` with sequences at once; what is asked
    about "the current sequence" belongs to one thread.
    """

    def __init__(self) -> None:
        self._content: bytes | None = None
        self._parts: CrfsuiteModel | None = None
        self._model: TaggingModel | None = None
        self._short: tuple[NamedFeatures, Straight, list[str]] | None = None  # the shortest way to labels
        self._batch: Batch | Entries | None = None  # the current sequence
        self._marginals: Float | None = None

    # ---- the model -----------------------------------------------------------------------------------------------

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Open a model file: OSError if it cannot be read, ValueError if it is no sound model."""
        return self._open(Path(name).read_bytes(), os.fspath(name))

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Open a model from the bytes of a file."""
        if not isinstance(value, bytes):
            raise TypeError(f"open_inmemory takes the bytes of a model file, not {type(value).__name__}.")
        return self._open(value, "the model")

    def _open(self, content: bytes, name: str) -> contextlib.closing[Tagger]:
        parts = parse_crfsuite(content, name)
        model = from_crfsuite(parts) if parts.labels else None
        self._content, self._parts, self._model, self._short = content, parts, model, None
        if model is not None:
            fitted = model.tagger_
            if fitted.straight is not None and isinstance(fitted.features, NamedFeatures):
                self._short = fitted.features, fitted.straight, self.labels()
        self._batch = self._marginals = None
        return contextlib.closing(self)

    def close(self) -> None:
        """Forget the model."""
        self._content = self._parts = self._model = self._short = self._batch = self._marginals = None

    @property
    def model(self) -> TaggingModel:
        """The model itself: everything that the library can do with one. A model without labels has none."""
        if self._model is None:
            raise ClosedError if self._parts is None else DataError("The model was trained without any data.")
        return self._model

    @property
    def _fitted(self) -> Fitted:
        model = self._model
        return (self.model if model is None else model).tagger_

    def labels(self) -> list[str]:
        """The labels, in the order of their numbers."""
        if self._parts is None:
            raise ClosedError
        return [as_text(name) for name in self._parts.labels]

    def info(self) -> ParsedDump:
        """Names and weights of the model, in full precision."""
        if self._parts is None or self._content is None:
            raise ClosedError
        return parsed(self._content, self._parts)

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write names and weights as text, to a file or to standard output."""
        text = "".join(f"{line}\n" for line in dump_lines(self.info()))
        if filename is None:
            sys.stdout.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        else:
            Path(filename).write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")

    # ---- one sequence --------------------------------------------------------------------------------------------

    def set(self, xseq: Any) -> None:
        """Make a sequence the current one."""
        self._batch, self._marginals = self._read(xseq), None

    def _read(self, xseq: Any) -> Batch:
        features = self._fitted.features
        if isinstance(xseq, ItemSequence):
            assert isinstance(features, NamedFeatures)
            return features.look_up(xseq.flat)
        try:
            return features.encode([xseq], 1)
        except DataError as error:
            raise ItemError(without_number(error)) from None

    def tag(self, xseq: Any = None) -> list[str]:
        """The best labels of a sequence, which becomes the current one; without it, of the current one."""
        if self._short is not None and xseq is not None:
            features, straight, labels = self._short
            entries = features.entries(xseq)
            found = None if entries is None else straight.of(*entries)
            if found is not None:
                self._batch, self._marginals = entries, None
                return [labels[number] for number in found.tolist()]
        fitted = self._fitted
        if xseq is not None:
            self.set(xseq)
        return [] if self._batch is None else fitted.decode(self._current)[0]

    def probability(self, yseq: Sequence[Any]) -> float:
        """P(labels | current sequence)."""
        fitted, batch = self._fitted, self._current
        labels = self._known(fitted, yseq)
        if len(labels) != batch.n_positions:
            raise DataError(f"The sequence has {batch.n_positions} items, but there are {len(labels)} labels.")
        if not labels:
            return 0.0
        space = fitted.chain.space
        path = clamped_path(space, fitted.task.clamp(space, [labels], batch.offsets), batch.offsets)
        potentials = fitted.potentials(batch)
        assert path is not None  # one state per label
        return float(np.exp(score_paths(space, potentials, path) - log_partition(space, potentials))[0])

    def marginal(self, y: Any, pos: int) -> float:
        """P(label at a position | current sequence)."""
        fitted, batch = self._fitted, self._current
        pos = whole_number(pos, "The position")
        (label,) = self._known(fitted, [y])
        if batch.n_positions == 0:
            return 0.0
        if not 0 <= pos < batch.n_positions:
            raise DataError(f"The position {pos} is outside of the sequence, which has {batch.n_positions} items.")
        if self._marginals is None:
            self._marginals = label_marginals(fitted.chain.space, fitted.potentials(batch))
        return float(self._marginals[pos, fitted.task.number[label]])

    @property
    def _current(self) -> Batch:
        if self._batch is None:
            raise DataError("There is no current sequence; call set or tag with one first.")
        if isinstance(self._batch, tuple):
            self._batch = as_batch(self._batch, self._fitted.features.n_features)
        return self._batch

    def _known(self, fitted: Fitted, labels: Iterable[Any]) -> list[str]:
        found = [label_text(label) for label in labels]
        for label in found:
            if label not in fitted.task.number:
                raise UnknownLabelError(label, self.labels())
        return found

    # ---- many sequences (python-crfsuite has nothing like it) ----------------------------------------------------

    def tag_many(self, xseqs: Iterable[Any], n_jobs: int | None = None) -> list[list[str]]:
        """The best labels of many sequences, on all processors (or ``n_jobs`` threads)."""
        sequences = [x.items() if isinstance(x, ItemSequence) else x for x in xseqs]
        try:
            return replace(self._fitted, n_jobs=count_jobs(n_jobs)).predict(sequences)
        except DataError as error:
            raise ItemError(str(error)) from None

    def marginals(self, xseq: Any) -> list[dict[str, float]]:
        """The probabilities of all labels at every position of a sequence, which becomes the current one."""
        self.set(xseq)
        fitted, batch = self._fitted, self._current
        labels = self.labels()
        if batch.n_positions:
            self._marginals = label_marginals(fitted.chain.space, fitted.potentials(batch))
        rows = [] if self._marginals is None else self._marginals.tolist()
        return [dict(zip(labels, row, strict=True)) for row in rows]

    # ---- pickles -------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {"content": self._content}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()
        if state["content"] is not None:
            self._open(state["content"], "the pickled model")
