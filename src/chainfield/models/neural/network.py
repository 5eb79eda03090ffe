"""The networks that score words: a vector for each word, its characters, and perhaps its neighbours.

Every distinct word of a batch is encoded once. A network that looks at one token at a time (Thai et al. 2017) scores
every distinct word once, too; one with a context (Lample et al. 2016) runs a BiLSTM over each sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from chainfield.arrays import Int, Integers
from chainfield.errors import ConfigError

from .char_lstm import last_states

CHARS = ("lstm", "cnn", "none")
CONTEXTS = ("none", "lstm")
_KERNEL = 3


@dataclass(frozen=True)
class Shape:
    """The sizes of a network."""

    n_rows: int  # scores a position
    n_words: int  # vectors that are trained, that of unknown words first
    n_fixed: int  # vectors that stay as they are
    word_dim: int
    n_chars: int
    chars: str = "lstm"  # lstm, cnn or none
    char_dim: int = 25
    char_hidden: int = 25  # a direction; the CNN has twice as many filters
    context: str = "none"  # none or lstm
    context_hidden: int = 100  # a direction
    hidden: int = 100
    n_labels: int = 1  # labels that share the states, so that rows are labels × states; 1: states are rows

    def __post_init__(self) -> None:
        for name, known in (("chars", CHARS), ("context", CONTEXTS)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(known)}.")


class Words(NamedTuple):
    """Words as tensors: M distinct ones, N positions."""

    index: Tensor  # (N,) the distinct word at each position
    word: Tensor  # (M,) its number
    chars: Tensor  # (M, C) its characters, filled up with 0
    lengths: Tensor  # (M,) how many they are; at least 1
    offsets: Int  # (S+1,)


class Network(nn.Module):  # type: ignore[misc]
    """(N, R) scores of words. ``sparse``: the gradient of word vectors is one of the rows that occur."""

    def __init__(self, shape: Shape, dropout: float = 0.0, sparse: bool = False) -> None:
        super().__init__()
        self.shape, self.sparse = shape, sparse
        self.dropout = nn.Dropout(dropout)
        self.words = nn.Parameter(torch.empty(shape.n_words, shape.word_dim))
        self.fixed = nn.Parameter(torch.empty(shape.n_fixed, shape.word_dim), requires_grad=False)
        width = shape.word_dim
        if shape.chars != "none":
            self.letters = nn.Parameter(torch.empty(shape.n_chars, shape.char_dim))
            width += 2 * shape.char_hidden
        if shape.chars == "lstm":
            self.spelling = nn.LSTM(shape.char_dim, shape.char_hidden, batch_first=True, bidirectional=True)
        elif shape.chars == "cnn":
            self.spelling = nn.Conv1d(shape.char_dim, 2 * shape.char_hidden, _KERNEL, padding=_KERNEL // 2)
        if shape.context == "lstm":
            self.context = nn.LSTM(width, shape.context_hidden, batch_first=True, bidirectional=True)
            width = 2 * shape.context_hidden
        self.hidden = nn.Linear(width, shape.hidden)
        n_states = shape.n_rows // shape.n_labels
        self.scores = nn.Linear(shape.hidden, n_states)
        if shape.n_labels > 1:
            self.labels = nn.Parameter(torch.empty(shape.n_labels, n_states))  # ψ(z, y)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot and Bengio (2010) for matrices, 0 for offsets; 1 for the forget gates of LSTMs."""
        for name, parameter in self.named_parameters():
            if name in ("words", "fixed", "letters"):
                bound = (3.0 / parameter.shape[1]) ** 0.5
                nn.init.uniform_(parameter, -bound, bound)
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
                if "bias_ih" in name:
                    nn.init.ones_(parameter[len(parameter) // 4 : len(parameter) // 2])

    def forward(self, words: Words) -> Tensor:
        """Scores of every position."""
        own = self.dropout(self.encode(words))  # (M, width)
        if self.shape.context == "none":
            return self._score(own).index_select(0, words.index)
        return self._score(self.dropout(self._in_context(own.index_select(0, words.index), words.offsets)))

    def _score(self, x: Tensor) -> Tensor:
        found = self.scores(torch.tanh(self.hidden(x)))
        if self.shape.n_labels == 1:
            return found
        return (found.unsqueeze(1) + self.labels).reshape(len(found), -1)

    def encode(self, words: Words) -> Tensor:
        """(M, width) word vectors and what their characters say."""
        n = self.shape.n_words
        vector = nn.functional.embedding(words.word.clamp(max=n - 1), self.words, sparse=self.sparse)
        if self.shape.n_fixed:
            fixed = nn.functional.embedding((words.word - n).clamp(min=0), self.fixed)
            vector = torch.where((words.word >= n).unsqueeze(1), fixed, vector)
        if self.shape.chars == "none":
            return vector
        if self.shape.chars == "lstm":
            spelled = last_states(self.spelling, self.letters, words.chars, words.lengths)
        else:
            spelled = self._by_cnn(words)
        return torch.cat([vector, spelled], 1)

    def _by_cnn(self, words: Words) -> Tensor:
        """The largest answer of every filter."""
        letters = nn.functional.embedding(words.chars, self.letters)  # (M, C, char_dim)
        inside = torch.arange(letters.shape[1], device=letters.device) < words.lengths.unsqueeze(1)
        letters = letters * inside.unsqueeze(2)
        found = self.spelling(letters.transpose(1, 2))  # (M, filters, C)
        return found.masked_fill(~inside.unsqueeze(1), -torch.inf).amax(2)

    def _in_context(self, own: Tensor, offsets: Int) -> Tensor:
        """Step by step over all sequences that are still going on, the longest first: nothing is padded."""
        lengths = np.diff(offsets)
        rank = np.empty(len(lengths), np.int64)
        rank[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
        step = np.arange(len(own)) - np.repeat(offsets[:-1] - offsets[0], lengths)
        order = np.lexsort((np.repeat(rank, lengths), step))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        rows = own.index_select(0, torch.from_numpy(order).to(own.device))
        packed = PackedSequence(rows, torch.from_numpy(np.bincount(step)))
        return self.context(packed)[0].data.index_select(0, torch.from_numpy(back).to(own.device))


def words_of(
    index: Integers,
    word: Integers,
    chars: Integers,
    bounds: Integers,
    offsets: Int,
    device: str | torch.device = "cpu",
) -> Words:
    """Numbers of words and characters as tensors; words without a character get an unknown one."""
    lengths = np.diff(bounds)
    grid = np.zeros((len(word), max(int(lengths.max(initial=1)), 1)), np.int64)
    grid[np.arange(grid.shape[1]) < lengths[:, None]] = chars

    def tensor(values: Integers) -> Tensor:
        return torch.from_numpy(values.astype(np.int64)).to(device)

    return Words(tensor(index), tensor(word), tensor(grid), tensor(np.maximum(lengths, 1)), offsets)
