"""The inputs of a request as a model reads them, and what is known of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chainfield.arrays import Ragged
from chainfield.errors import DataError
from chainfield.text.rules import Rules
from chainfield.text.tokens import Tokens

from .bounds import Bounds
from .question import Question
from .refusal import Refusal
from .registry import Served


@dataclass(frozen=True, eq=False)
class Inputs:
    """Sequences, which inputs they belong to (a text may have several sentences), and the tokens of texts."""

    rows: Any
    documents: Ragged  # tokens by input
    sequences: Ragged  # tokens by sequence
    texts: list[str] | None = None
    tokens: Tokens | None = None

    @property
    def n_tokens(self) -> int:
        """Of all inputs."""
        return self.documents.n_positions

    @property
    def lengths(self) -> list[int]:
        """The number of tokens of each input."""
        found: list[int] = self.documents.lengths.tolist()
        return found

    def own(self, i: int) -> range:
        """The sequences of input i."""
        lo, hi = np.searchsorted(self._of_input, [i, i + 1])
        return range(int(lo), int(hi))

    @property
    def _of_input(self) -> Any:
        """The input of each sequence."""
        if self.sequences is self.documents:
            return np.arange(self.documents.n_sequences)
        starts = self.sequences.offsets[:-1]
        # Empty texts have an empty sequence of their own, at the place where the next text begins.
        empty = np.flatnonzero(self.documents.lengths == 0)
        found = np.searchsorted(self.documents.offsets, starts, side="right") - 1
        found[self.sequences.lengths == 0] = empty
        return found

    def place(self, i: int, position: int) -> tuple[int, int]:
        """The sequence of a token, and where it stands there."""
        at = int(self.documents.offsets[i]) + position
        s = int(np.searchsorted(self.sequences.offsets, at, side="right")) - 1
        return s, at - int(self.sequences.offsets[s])


def read_inputs(served: Served, question: Question, bounds: Bounds) -> Inputs:
    """Texts are cut, sequences taken as they are; too many tokens are refused."""
    if question.texts is not None:
        if not served.reads_text:
            raise Refusal(422, f"The model {served.name!r} does not read texts; give it sequences of tokens.")
        if served.reader is None:
            tokens = Rules().cut(question.texts)
        else:
            _, tokens = served.reader.cut(question.texts)
        _check_size(len(tokens), bounds)
        return Inputs(tokens.rows(), tokens.documents, tokens.sequences, question.texts, tokens)
    sequences = question.sequences or []
    _check_size(sum(map(len, sequences)), bounds)
    lengths = Ragged.of([len(sequence) for sequence in sequences])
    return Inputs([_numbers(sequence, i) for i, sequence in enumerate(sequences)], lengths, lengths)


def _check_size(n: int, bounds: Bounds) -> None:
    if n > bounds.tokens:
        raise Refusal(
            413, f"The request has {n:,} tokens; {bounds.tokens:,} are allowed. Send several requests, or a stream."
        )


def _numbers(sequence: list[Any], i: int) -> Any:
    """A sequence of numbers is an array."""
    first = sequence[0] if sequence else None
    if not isinstance(first, list) or not first or not all(type(cell) in (int, float) for cell in first):
        return sequence
    if not all(isinstance(row, list) and len(row) == len(first) for row in sequence):
        raise DataError(f"Sequence {i}: its positions do not all have {len(first)} numbers.")
    try:
        return np.array(sequence, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"Sequence {i} does not consist of numbers only.") from None


def known_labels(served: Served, question: Question, inputs: Inputs) -> list[list[Any]] | None:
    """The labels that a request fixes, sequence by sequence, as ``given=`` takes them."""
    if not question.given:
        return None
    number = {str(label): label for label in served.labels}
    found: list[list[Any]] = [[None] * n for n in inputs.sequences.lengths.tolist()]
    for one in question.given:
        s, t = _checked_place(inputs, one.get("input", 0), one["position"])
        wanted = one["label"] if isinstance(one["label"], list) else [one["label"]]
        strange = [label for label in wanted if str(label) not in number]
        if strange:
            raise Refusal(422, f"The model has no label {str(strange[0])[:60]!r}; {_some(list(number))}.")
        labels = [number[str(label)] for label in wanted]
        found[s][t] = labels[0] if len(labels) == 1 else set(labels)
    return found


def _checked_place(inputs: Inputs, i: int, position: int) -> tuple[int, int]:
    n = inputs.documents.n_sequences
    if i >= n:
        raise Refusal(422, f"There is no input {i}: the request has {n}, counted from 0.")
    length = int(inputs.documents.lengths[i])
    if position >= length:
        raise Refusal(422, f"Input {i} has no token {position}: it has {length}, counted from 0.")
    return inputs.place(i, position)


def explained_places(question: Question, inputs: Inputs) -> tuple[int, list[int]]:
    """The input and the positions of it that are to be explained."""
    asked = question.explain or {}
    i = asked.get("input", 0)
    if i >= inputs.documents.n_sequences:
        raise Refusal(422, f"There is no input {i}: the request has {inputs.documents.n_sequences}, counted from 0.")
    positions = asked.get("positions", range(int(inputs.documents.lengths[i])))
    for position in positions:
        _checked_place(inputs, i, position)
    return i, list(positions)


def _some(labels: list[str]) -> str:
    return f"it has {', '.join(labels[:12])}{' …' if len(labels) > 12 else ''}"
