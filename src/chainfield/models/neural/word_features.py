"""Words and their characters, numbered for a network that looks vectors up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, ClassVar, final

import numpy as np

from chainfield.arrays import Arrays, Int32, offsets_of
from chainfield.data.coded_rows import CodedRows, encode_columns
from chainfield.errors import DataError
from chainfield.features.batch import Batch, Tokens
from chainfield.features.feature_map import FeatureMap, pack_strings, unpack_strings
from chainfield.schema import Part, demand, texts_tensors, whole

LONGEST_WORD = 256  # characters that a network reads of a word: memory is that of the longest, times their number
UNKNOWN = 0  # the number of every word, and of every character, that has none of its own
DIGITS = str.maketrans("123456789", "000000000")


@final
class WordFeatures(FeatureMap):
    """One number per word (in lower case; its characters keep their case) and one per character.

    ``column``: which column holds the word, where rows have several. The words of the training data come first; then
    the ``others``, whose vectors are known though they may never occur. A word that is not known is looked up once more
    with every digit as 0.
    """

    kind: ClassVar[str] = "words"
    offers = frozenset({"tokens"})
    schema = Part(
        (
            whole("column", "that of the word"),
            whole("n_columns", "columns of the training data"),
            whole("n_learned", "words of the training data; they come first", least=1),
        ),
        (*texts_tensors("words.", "F", "words"), *texts_tensors("chars.", "characters", "characters")),
    )

    def __init__(self, column: int = 0, others: Iterable[str] = ()) -> None:
        self.column = column
        self.others = others
        self.width: int = 0  # columns of the training data
        self.words: dict[str, int] = {"": UNKNOWN}
        self.chars: dict[str, int] = {"": UNKNOWN}
        self.n_learned = 1  # words of the training data, the unknown one among them

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """How many words there are."""
        return len(self.words)

    def learn(self, sequences: Sequence[Any], min_count: int = 1) -> Batch:
        """Number the words that occur ``min_count`` times, and all characters."""
        if self.n_learned < len(self.words):
            raise DataError("The vocabulary is closed already; words are learned before others are added.")
        rows, index, forms = self._forms(sequences)
        self.width = _width(sequences)
        counts = np.bincount(index, minlength=len(forms))
        total: dict[str, int] = {}
        for form, n in zip(forms, counts.tolist(), strict=True):
            total[form.lower()] = total.get(form.lower(), 0) + n
        for word, n in total.items():
            if n >= min_count:
                self.words.setdefault(word, len(self.words))
        for sign in chain.from_iterable(forms):
            self.chars.setdefault(sign, len(self.chars))
        self.n_learned = len(self.words)
        batch = self._batch(rows, index, forms)
        for word in self.others:
            self.words.setdefault(word, len(self.words))
        return batch

    def encode(self, sequences: Sequence[Any], n_jobs: int = 1) -> Batch:
        """Unknown words and characters all have the same number."""
        return self._batch(*self._forms(sequences))

    def number(self, form: str) -> int:
        """The number of a word."""
        word = form.lower()
        found = self.words.get(word)
        return self.words.get(word.translate(DIGITS), UNKNOWN) if found is None else found

    def _forms(self, sequences: Sequence[Any]) -> tuple[CodedRows, Int32, Sequence[str]]:
        """The rows, the type of each position, and the types."""
        if not isinstance(sequences, CodedRows):
            words = [
                item if isinstance(item, str) else self._cell(item, s, t)
                for s, sequence in enumerate(sequences)
                for t, item in enumerate(sequence)
            ]
            coded = encode_columns([words], offsets_of([len(sequence) for sequence in sequences]))
            return coded, coded.codes[0], coded.values[0]
        if self.column >= sequences.n_columns:
            raise DataError(
                f"There is no column {self.column} to take words from; the {sequences.n_columns} columns are counted "
                "from 0."
            )
        return sequences, sequences.codes[self.column], sequences.values[self.column]

    def _cell(self, item: Any, s: int, t: int) -> str:
        if isinstance(item, tuple) and len(item) > self.column and isinstance(item[self.column], str):
            return item[self.column]
        raise DataError(
            f"Sequence {s}, position {t} is {item!r:.40} ({type(item).__name__}); a word is expected, or a tuple of "
            f"strings with the word in column {self.column}."
        )

    def _batch(self, rows: CodedRows, index: Int32, forms: Sequence[str]) -> Batch:
        word = np.fromiter(map(self.number, forms), np.int32, len(forms))
        signs = self.chars.get
        read = [form if len(form) <= LONGEST_WORD else form[:LONGEST_WORD] for form in forms]
        chars = np.array([signs(sign, UNKNOWN) for form in read for sign in form], np.int32)
        return Batch(rows.offsets, tokens=Tokens(index, word, chars, offsets_of([*map(len, read)])))

    def renumber(self, numbers: Int32) -> None:
        """Words are no sparse features: they keep their numbers."""

    def feature_names(self) -> Sequence[str]:
        """The words by number."""
        return list(self.words)

    def save(self) -> tuple[dict[str, Any], Arrays]:
        """Words and characters in order."""
        arrays = {f"words.{k}": v for k, v in pack_strings(list(self.words)).items()}
        arrays |= {f"chars.{k}": v for k, v in pack_strings(list(self.chars)).items()}
        return {"column": self.column, "n_columns": self.width, "n_learned": self.n_learned}, arrays

    @classmethod
    def load(cls, config: dict[str, Any], arrays: Arrays) -> WordFeatures:
        """The inverse of :meth:`save`."""
        features = cls(config["column"])
        features.width, features.n_learned = config["n_columns"], config["n_learned"]
        tables = []
        for name in ("words", "chars"):
            strings = unpack_strings({k: arrays[f"{name}.{k}"] for k in ("bytes", "lengths")})
            tables.append({text: i for i, text in enumerate(strings)})
            demand(len(tables[-1]) == len(strings) and strings[:1] == [""], f"the table of {name}")
        features.words, features.chars = tables
        demand(features.n_learned <= len(features.words), "the number of words")
        return features


def _width(sequences: Sequence[Any]) -> int:
    """Columns of rows; words by themselves are one."""
    if isinstance(sequences, CodedRows):
        return sequences.n_columns
    first = next((item for sequence in sequences for item in sequence), "")
    return 1 if isinstance(first, str) else len(first)
