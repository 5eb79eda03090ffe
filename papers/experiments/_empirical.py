"""What the experiments with empirical training share: systems, accuracies by kind of word, choices on held-out data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean
from typing import Any

import chainfield
from chainfield.features import lafferty_template, spelling_template
from chainfield.metrics import span_f1
from harness.cells import kept
from harness.experiment import Context, Row
from harness.grids import best_of

PAPER = "Zhu, Hiemstra, Apers and Wombacher, Closed form maximum likelihood estimator of conditional random fields"
PUBLISHED = "published"
Sentences = Sequence[tuple[list[str], list[str]]]  # words and labels
#: The paper's own estimate: no smoothing, no rare words.
STRICT = {"label_strength": 0.0, "word_strength": 0.0, "pair_strength": 0.0, "min_count": 1, "counted": "tokens"}
#: Penalties of exponential functions, and of the CRFs beside them.
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
METRICS = ("accuracy", "accuracy, known words", "accuracy, unknown words")
TEMPLATES = {"lafferty": lafferty_template, "spelling": spelling_template}


@dataclass(frozen=True)
class System:
    """A model with its settings; those of ``grid`` are chosen on held-out data (:mod:`harness.grids`)."""

    name: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    template: str = "lafferty"
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def make(self, jobs: int, **settings: Any) -> Any:
        """The model, untrained."""
        kind = getattr(chainfield, self.model)
        return kind(**self.options, **settings, template=TEMPLATES[self.template](), n_jobs=jobs)

    def told(self) -> dict[str, Any]:
        """What kept parts are known by, besides what was chosen."""
        return {key: value for key, value in asdict(self).items() if key not in ("name", "grid")}


def systems() -> tuple[System, ...]:
    """All kinds of empirical training that tables compare, by the paper's features and by richer ones."""
    types = ("tokens", "types")
    ladder = {"counted": types, "word_strength": (0.1, 0.3, 1.0, 3.0)}
    penalty = {"counted": types, "l2": PENALTIES}
    alone = {"l2": PENALTIES}
    ep2 = {"oov": "exponential"}
    halves = {"oov": "exponential", "pairs": "halves"}
    letter = {"oov": "exponential", "pairs": "exponential", **STRICT}
    return (
        System("EP1", "EmpiricalCRF", {"oov": "empirical"}, grid=ladder),
        System("EP2", "EmpiricalCRF", ep2, grid=penalty),
        System("EP2, to the letter", "EmpiricalCRF", letter, grid=alone),
        System("EP2, to the letter but for pairs", "EmpiricalCRF", {**ep2, **STRICT}, grid=alone),
        System("EP2, halves", "EmpiricalCRF", halves, grid=penalty),
        System("EP2, trained together", "EmpiricalCRF", {"oov": "together"}, grid=penalty),
        System("EP1, richer spelling", "EmpiricalCRF", {"oov": "empirical"}, "spelling", ladder),
        System("EP2, richer spelling", "EmpiricalCRF", ep2, "spelling", penalty),
        System("EP2, halves, richer spelling", "EmpiricalCRF", halves, "spelling", penalty),
        System("EP2, trained together, richer spelling", "EmpiricalCRF", {"oov": "together"}, "spelling", penalty),
    )


@dataclass(frozen=True)
class Accuracy:
    """Shares of right labels in per cent: of all tokens, of words that training has, of those that it has not.

    With F1 of spans, the processor seconds of training, and why it stopped (nothing for counting).
    """

    overall: float
    known: float
    unknown: float
    f1: float
    seconds: float
    stopped: str = ""


def words_of(data: Sentences) -> list[list[str]]:
    """The words of sentences."""
    return [words for words, _ in data]


def labels_of(data: Sentences) -> list[list[str]]:
    """The labels of sentences."""
    return [labels for _, labels in data]


def accuracy(train: Sentences, test: Sentences, predicted: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Overall, known, unknown: by whether the training data have a word."""
    vocabulary = {word for words, _ in train for word in words}
    right, total = {True: 0, False: 0}, {True: 0, False: 0}
    for (words, gold), guess in zip(test, predicted, strict=True):
        for word, a, b in zip(words, gold, guess, strict=True):
            total[word in vocabulary] += 1
            right[word in vocabulary] += a == b
    overall = sum(right.values()) / sum(total.values())
    known, unknown = (100 * right[kind] / max(total[kind], 1) for kind in (True, False))
    return 100 * overall, known, unknown


def measured(
    system: System, settings: Mapping[str, Any], train: Sentences, test: Sentences, context: Context, data: str
) -> Accuracy:
    """Train and test; what is finished is kept. ``data`` names both parts of the data."""

    def compute() -> dict[str, Any]:
        model = system.make(context.jobs, **settings)
        words, labels = words_of(train), labels_of(train)
        started = time.process_time()
        model.fit(words, labels)
        seconds = time.process_time() - started
        predicted = model.predict(words_of(test))
        f1 = 100 * span_f1(labels_of(test), predicted) if any("-" in y for _, ys in test[:50] for y in ys) else 0.0
        stopped = f"{model.n_iter_} iterations: {model.stop_reason_}" if hasattr(model, "n_iter_") else ""
        return asdict(Accuracy(*accuracy(train, test, predicted), f1, seconds, stopped))

    found = Accuracy(**kept(f"{system.name}, {data}", {**system.told(), **settings}, context, compute))
    context.log(f"{system.name}, {data}: {dict(settings)}, {found.overall:.2f}, {found.seconds:.1f} s")
    return found


def choose(system: System, train: Sentences, dev: Sentences, context: Context, data: str) -> tuple[dict[str, Any], str]:
    """The settings of a system's grid with the best accuracy on held-out data, and a note that says so."""
    if context.quick:
        return {name: values[len(values) // 2] for name, values in system.grid.items()}, "nothing chosen"

    def wrong(settings: dict[str, Any]) -> float:
        return 100.0 - measured(system, settings, train, dev, context, data).overall

    found = best_of(system.grid, wrong)
    return found.settings, f"{found.told()}: chosen on held-out data, {100.0 - found.loss:.2f} there"


def rows(setting: str, found: Sequence[Accuracy], published: Sequence[float | None] = (), note: str = "") -> list[Row]:
    """Three accuracies beside the published ones: means, where there are several draws of data."""
    values = [one.overall for one in found]
    note = f"{found[0].stopped}; {note}" if found[0].stopped else note
    if len(values) > 1:
        note = f"mean of {len(values)} draws, {min(values):.2f} to {max(values):.2f}; {note}"
    figures = [*published, None, None, None]
    return [
        Row(
            setting,
            metric,
            figure,
            mean(getattr(one, part) for one in found),
            mean(one.seconds for one in found),
            note if metric == METRICS[0] else "",
            "" if figure is None else PUBLISHED,
        )
        for metric, figure, part in zip(METRICS, figures[:3], ("overall", "known", "unknown"), strict=True)
    ]
