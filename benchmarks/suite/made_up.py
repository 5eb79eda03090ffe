"""Made-up data of any size and number of labels: words drawn as Zipf saw them, labels that depend on the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.features import parse_template

WORDS = 20_000
CLASSES = 40
LIKELY = 3  # labels that a word likes; one time in twenty it has any other
COLUMNS = 50  # of dense input
TEMPLATE = parse_template(
    "\n".join(
        [
            *(f"U0{i}:%x[{offset},0]" for i, offset in enumerate((-2, -1, 0, 1, 2))),
            "U05:%x[-1,0]/%x[0,0]",
            "U06:%x[0,0]/%x[1,0]",
            "U07:%x[0,1]",
            "U08:%x[-1,1]/%x[0,1]",
            "U09:%x[0,1]/%x[1,1]",
            "B",
        ]
    )
)


@dataclass(frozen=True)
class Data:
    """Sequences of rows (of two text columns, or of numbers) and their labels."""

    rows: list[Any]
    labels: list[list[str]]

    @property
    def n_tokens(self) -> int:
        """How many positions there are."""
        return sum(map(len, self.labels))


def make(n_tokens: int, n_labels: int, length: int = 20, dense: bool = False, seed: int = 0) -> Data:
    """About ``n_tokens`` positions in sequences of one length. Rows of the same word are one object."""
    rng = np.random.default_rng(seed)
    n_sequences = max(1, n_tokens // length)
    n = n_sequences * length
    words = np.exp(rng.random(n) * np.log(WORDS)).astype(np.int64)
    likes = rng.integers(0, n_labels, size=(WORDS + 1, LIKELY))
    numbers = likes[words, rng.integers(0, LIKELY, size=n)]
    odd = rng.random(n) < 0.05
    numbers[odd] = rng.integers(0, n_labels, size=int(odd.sum()))
    numbers[:n_labels] = np.arange(n_labels)[:n]  # every label occurs
    names = [f"L{i}" for i in range(n_labels)]
    labels = _cut([names[i] for i in numbers.tolist()], length)
    if dense:
        means = rng.normal(size=(n_labels, COLUMNS))
        values = means[numbers] + rng.normal(size=(n, COLUMNS))
        return Data(list(values.reshape(n_sequences, length, COLUMNS)), labels)
    table = [(f"w{i}", f"c{i % CLASSES}") for i in range(WORDS + 1)]
    return Data(_cut([table[i] for i in words.tolist()], length), labels)


def _cut(items: Sequence[Any], length: int) -> list[list[Any]]:
    return [list(items[at : at + length]) for at in range(0, len(items), length)]


SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "al", "en", "is", "or")]
STREAM_WORDS = 1_000_000
FOLLOWERS = 30  # usual ones of a word


def write_columns(path: Path, n_tokens: int, n_labels: int, length: int = 20, seed: int = 0) -> None:
    """A column file of words that can be spelled, as Zipf saw them, and labels; another seed, other sentences."""
    rng = np.random.default_rng([seed, 1])
    likes = np.random.default_rng(0).integers(
        0, n_labels, size=(STREAM_WORDS + 1, LIKELY)
    )  # one language for all files
    words = _follow(rng, max(1, n_tokens // length), length)
    n = len(words)
    numbers = likes[words, rng.integers(0, LIKELY, size=n)]
    odd = rng.random(n) < 0.01
    numbers[odd] = rng.integers(0, n_labels, size=int(odd.sum()))
    codes, which = np.unique(words * n_labels + numbers, return_inverse=True)
    lines = [f"{spell(code // n_labels)} L{code % n_labels}\n" for code in codes.tolist()]
    with path.open("w", encoding="ascii", newline="\n") as file:
        for sentence in _cut(which.tolist(), length):
            file.write("".join([lines[i] for i in sentence]) + "\n")


def _follow(rng: np.random.Generator, n_sentences: int, length: int) -> NDArray[np.int64]:
    """Words of sentences, end to end: two in three are one of a word's usual followers, the others any word."""
    words = np.empty((n_sentences, length), np.int64)
    for t in range(length):
        share = rng.random(n_sentences)  # words by 1 / rank
        if t:
            follower = np.exp(rng.random(n_sentences) * np.log(FOLLOWERS)).astype(np.int64)
            usual = ((words[:, t - 1] * 7919 + follower * 104_729) % 1_000_003) / 1_000_003
            share = np.where(rng.random(n_sentences) < 2 / 3, usual, share)
        words[:, t] = np.exp(share * np.log(STREAM_WORDS))
    return words.ravel()


def spell(number: int) -> str:
    """A word for a number, another one for every number."""
    text = ""
    while number or not text:
        number, last = divmod(number, len(SYLLABLES))
        text = SYLLABLES[last] + text
    return text
