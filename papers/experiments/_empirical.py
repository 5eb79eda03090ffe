"""What the experiments with empirical training share: accuracies by kind of word, choices on held-out data."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from harness.experiment import Context, Row

PAPER = "Zhu, Hiemstra, Apers and Wombacher, Closed form maximum likelihood estimator of conditional random fields"
PUBLISHED = "published"
Sentences = Sequence[tuple[list[str], list[str]]]  # words and labels
#: The paper's own estimate: no smoothing, no rare words.
STRICT = {"label_strength": 0.0, "word_strength": 0.0, "pair_strength": 0.0, "min_count": 1, "counted": "tokens"}
TO_THE_LETTER = {"oov": "exponential", "pairs": "exponential"}
#: Penalties of exponential functions, and of the CRFs beside them.
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
METRICS = ("accuracy", "accuracy, known words", "accuracy, unknown words")


@dataclass(frozen=True)
class Accuracy:
    """Shares of right labels in per cent: of all tokens, of words that training has, of those that it has not."""

    overall: float
    known: float
    unknown: float


def words_of(data: Sentences) -> list[list[str]]:
    """The words of sentences."""
    return [words for words, _ in data]


def labels_of(data: Sentences) -> list[list[str]]:
    """The labels of sentences."""
    return [labels for _, labels in data]


def accuracy(train: Sentences, test: Sentences, predicted: Sequence[Sequence[str]]) -> Accuracy:
    """By whether the training data have a word."""
    vocabulary = {word for words, _ in train for word in words}
    right, total = {True: 0, False: 0}, {True: 0, False: 0}
    for (words, gold), guess in zip(test, predicted, strict=True):
        for word, a, b in zip(words, gold, guess, strict=True):
            total[word in vocabulary] += 1
            right[word in vocabulary] += a == b
    overall = sum(right.values()) / sum(total.values())
    shares = [right[known] / max(total[known], 1) for known in (True, False)]
    return Accuracy(100 * overall, 100 * shares[0], 100 * shares[1])


def trained(model: Any, train: Sentences) -> tuple[Any, float]:
    """A model trained, and the processor time it took in seconds."""
    words, labels = words_of(train), labels_of(train)
    started = time.process_time()
    model.fit(words, labels)
    return model, time.process_time() - started


def choose(
    make: Any, grid: dict[str, Sequence[Any]], train: Sentences, dev: Sentences, context: Context, title: str
) -> tuple[dict[str, Any], str]:
    """The settings of a grid with the best accuracy on held-out data, and a note that says so."""
    best: tuple[float, dict[str, Any]] | None = None
    for values in product(*grid.values()):
        settings = dict(zip(grid, values, strict=True))
        model, _ = trained(make(**settings), train)
        found = accuracy(train, dev, model.predict(words_of(dev))).overall
        context.log(f"{title}: {settings}, held-out accuracy {found:.2f}")
        if best is None or found > best[0]:
            best = (found, settings)
    assert best is not None
    edges = [name for name, values in grid.items() if len(values) > 2 and best[1][name] in (values[0], values[-1])]
    listed = ", ".join(f"{name} = {value}{' (edge of its grid)' * (name in edges)}" for name, value in best[1].items())
    return best[1], f"{listed}: chosen on held-out data, {best[0]:.2f} there"


def rows(
    setting: str, found: Accuracy, seconds: float, published: Sequence[float | None] = (), note: str = ""
) -> Iterator[Row]:
    """Three accuracies beside the published ones."""
    figures = [*published, None, None, None]
    for metric, figure, ours in zip(METRICS, figures[:3], (found.overall, found.known, found.unknown), strict=True):
        yield Row(
            setting,
            metric,
            figure,
            ours,
            seconds,
            note if metric == METRICS[0] else "",
            "" if figure is None else PUBLISHED,
        )
