"""The data of a report: one pure function, documented in docs/reports.md. A page is a template around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import chainfield
from chainfield.errors import ConfigError, DataError
from chainfield.models import ClassifyingModel, SequenceModel, TaggingModel
from chainfield.models.facts import fingerprint
from chainfield.models.folds import doubtful_labels, learning_curve
from chainfield.models.inputs import split_sequences

from .asking import Answers, ask
from .classes import classifying
from .comparing import compare
from .errors import Interned, doubtful_rows, error_list
from .findings import findings
from .inside import inside
from .scores import calibration, coverage_rows, intervals, label_mistakes, rounded, score_rows, span_mistakes

SCHEMA = 1
MOST_DOUBTFUL = 40
SURE = 0.8  # how probable the other labels are where a sure model disagrees
MOST_ERRORS = 200  # sentences with mistakes

Watch = Callable[[str], None]
"""Called with a few words on what is being done."""


def report_data(
    models: SequenceModel | Sequence[SequenceModel],
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    groups: Sequence[Any] | None = None,
    train: tuple[Any, Any] | None = None,
    train_groups: Sequence[Any] | None = None,
    title: str = "",
    source: str = "",
    max_errors: int = MOST_ERRORS,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """What one model, or several, do on labelled data, as an object for JSON.

    ``groups`` names the group of each sequence, such as its document: intervals resample whole groups. ``train``: the
    training data (X, y); with them, models of parts of them are trained for the learning curve and for doubtful labels
    out of fold, which takes some fifteen trainings. ``max_errors``: how many sentences with mistakes are kept.
    """
    several = [models] if isinstance(models, SequenceModel) else list(models)
    if not several:
        raise ConfigError("A report needs at least one model.")
    called = list(names) if names is not None else _names(several)
    if len(called) != len(several) or len(set(called)) != len(called):
        raise ConfigError(f"There are {len(several)} models and the names {called}; give each a name of its own.")
    if max_errors < 0:
        raise ConfigError(f"max_errors is {max_errors}; it must be 0 or more.")
    if y is None:
        raise DataError("A report compares answers with gold labels; give y.")
    kinds = {isinstance(model, TaggingModel) for model in several}
    if len(kinds) > 1:
        raise ConfigError("Taggers and classifiers of whole sequences cannot be compared; report on them one by one.")
    say = watch or (lambda text: None)
    sequences, targets = several[0]._input(X), several[0]._targets(y, None)
    features = Interned()
    parts = [
        _one(model, name, sequences, targets, groups, max_errors, features, say)
        for model, name in zip(several, called, strict=True)
    ]
    if train is not None:
        for model, part in zip(several, parts, strict=True):
            _add_trainings(model, part[0], train, train_groups, (sequences, targets), say)
    found = [part for part, _ in parts]
    for own in found:
        own["findings"] = findings(own)
    answers = [own for _, own in parts]
    data = {
        "schema": SCHEMA,
        "version": chainfield.__version__,
        "title": title or f"{', '.join(called)}{f' on {source}' if source else ''}",
        "task": several[0].task_type.kind,
        "data": {
            "source": source,
            "n_sequences": len(sequences),
            "n_positions": sum(map(len, targets)) if several[0].task_type.every_position else None,
            "n_groups": None if groups is None else len(set(groups)),
        },
        "features": features.texts,
        "models": found,
    }
    if len(several) > 1:
        say("comparing")
        gold, _, of_spans = answers[0]
        whole = not several[0].task_type.every_position
        guesses = [own[1] for own in answers]
        data["comparison"] = compare(called, sequences, gold, guesses, of_spans, groups, whole=whole)
    return data


def _names(models: Sequence[SequenceModel]) -> list[str]:
    """Class names, numbered where they repeat."""
    kinds = [type(model).__name__ for model in models]
    counts = Counter(kinds)
    return [kind if counts[kind] == 1 else f"{kind} {kinds[: i + 1].count(kind)}" for i, kind in enumerate(kinds)]


_Labels = tuple[list[list[str]], list[list[str]], bool]


def _one(
    model: SequenceModel,
    name: str,
    X: Sequence[Any],
    y: Sequence[Any],
    groups: Sequence[Any] | None,
    max_errors: int,
    features: Interned,
    say: Watch,
) -> tuple[dict[str, Any], _Labels]:
    """The part of one model; and gold and found labels, for comparisons."""
    say(f"{name}: answers")
    fitted = model._fitted()
    found: dict[str, Any] = {"name": name, "about": _about(model), "seen_in_training": _seen(model, X, y)}
    if isinstance(model, TaggingModel):
        answers = ask(model, X, y)
        frequency = dict(Counter(label for labels in answers.gold for label in labels))
        say(f"{name}: mistakes and explanations")
        found |= _tagging(model, X, answers, groups, max_errors, features, seen=found["seen_in_training"])
        labels: _Labels = (answers.gold, answers.found, answers.of_spans)
    elif isinstance(model, ClassifyingModel):
        own, frequency = classifying(model, X, y, groups, max_errors)
        found |= own
        guess = [[str(label)] for label in model.predict(X)]
        truth = [guess[i] if label is None else [str(label)] for i, label in enumerate(y)]
        labels = (truth, guess, False)
    else:
        raise ConfigError(f"There are no reports on {type(model).__name__}.")
    say(f"{name}: inside the model")
    found["labels"] = [str(label) for label in fitted.task.labels[:500]]
    found["inside"] = inside(model, X, frequency)
    return found, labels


def _about(model: SequenceModel) -> dict[str, Any]:
    """What was trained, and how it went."""
    fitted = model._fitted()
    facts = getattr(model, "training_", None)
    return {
        "class": type(model).__name__,
        "n_labels": len(fitted.task.labels),
        "n_states": fitted.chain.space.n_states,
        "n_features": fitted.features.n_features or fitted.features.n_columns,
        "n_weights": fitted.n_weights,
        "training": None if facts is None else asdict(facts),
        "settings": {
            key: value for key, value in model.stored_settings().items() if isinstance(value, str | int | float)
        },
    }


def _seen(model: SequenceModel, X: Sequence[Any], y: Sequence[Any]) -> bool:
    """Whether these are the data of its training."""
    facts = getattr(model, "training_", None)
    if facts is None or facts.n_sequences != len(X):
        return False
    return bool(fingerprint(model._fitted().features.encode(X), y) == facts.fingerprint)


def _tagging(
    model: TaggingModel,
    X: Sequence[Any],
    answers: Answers,
    groups: Sequence[Any] | None,
    max_errors: int,
    features: Interned,
    *,
    seen: bool,
) -> dict[str, Any]:
    said, right, n_gold = answers.judged
    flat = [[label for labels in side for label in labels] for side in (answers.gold, answers.found)]
    places = list(answers.places.values())
    found: dict[str, Any] = {
        "mistakes": span_mistakes(answers) if answers.of_spans else label_mistakes(*flat),
        "errors": error_list(model, X, answers, max_errors, features),
        "calibration": calibration(said, right),
        "coverage": coverage_rows(said, right, n_gold),
        "unknown_labels": list(answers.unknown),
        "token_accuracy": rounded(sum(a == b for a, b in zip(*flat, strict=True)) / max(len(flat[0]), 1)),
    }
    scores = intervals(answers.gold, answers.found, groups)
    if scores is not None:
        found["scores"] = score_rows(scores)
    if not seen:
        sure = [place for place in places if place.p_found >= SURE]
        found["doubtful"] = {
            "of": "these",
            "n_sure": len(sure),
            "sure": SURE,
            "rows": doubtful_rows(sure, X, MOST_DOUBTFUL),
        }
    return found


def _add_trainings(
    model: SequenceModel,
    found: dict[str, Any],
    train: tuple[Any, Any],
    groups: Sequence[Any] | None,
    test: tuple[Any, Any],
    say: Watch,
) -> None:
    """What only more trainings can tell: the learning curve, and doubtful labels out of fold."""
    name = found["name"]
    curve = learning_curve(
        model, *train, *test, groups=groups, watch=lambda i, n: say(f"{name}: learning curve, {i} of {n}")
    )
    found["curve"] = {
        "metric": curve.metric,
        "still_rising": curve.still_rising,
        "points": [
            {key: rounded(value) if isinstance(value, float) else value for key, value in asdict(point).items()}
            for point in curve.points
        ],
    }
    if isinstance(model, TaggingModel):
        places = doubtful_labels(
            model, *train, groups=groups, watch=lambda i, n: say(f"{name}: doubtful labels, {i} of {n}")
        )
        sure = [place for place in places if place.p_found >= SURE]
        rows = doubtful_rows(sure, split_sequences(train[0], None), MOST_DOUBTFUL)
        found["doubtful"] = {"of": "training", "n_sure": len(sure), "sure": SURE, "rows": rows}
