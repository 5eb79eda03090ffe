"""``tune_for="span_f1"``: one number, added to the score of O at every position, by data that training did not see."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainfield import MEMM, HiddenUnitCRF, LatentCRF, LinearCRF, load
from chainfield.errors import ChainfieldError, ConfigError
from chainfield.metrics import span_f1
from chainfield.models.prior import shifted
from test_commands import run

Data = tuple[list[list[str]], list[list[str]]]


def draw(n: int, seed: int) -> Data:
    """Words that are names one time in three: the most probable labels have no span at all."""
    rng = np.random.default_rng(seed)
    X = [[f"n{rng.integers(5)}" if rng.random() < 0.3 else f"w{rng.integers(5)}" for _ in range(6)] for _ in range(n)]
    return X, [["B-X" if word[0] == "n" and rng.random() < 0.35 else "O" for word in words] for words in X]


TRAIN, DEV, TEST = draw(150, 0), draw(60, 1), draw(100, 2)


def f1(model: Any) -> float:
    return span_f1(TEST[1], model.predict(TEST[0]))


@pytest.mark.parametrize("objective", ["likelihood", "perceptron"])
@pytest.mark.parametrize("development", [{}, {"X_dev": DEV[0], "y_dev": DEV[1]}], ids=["parts", "development"])
def test_spans_are_found_that_are_not_the_most_probable(objective: str, development: dict[str, Any]) -> None:
    plain = LinearCRF(objective=objective, n_jobs=1).fit(*TRAIN, **development)
    tuned = LinearCRF(objective=objective, n_jobs=1, tune_for="span_f1").fit(*TRAIN, **development)
    assert f1(tuned) > f1(plain) + 0.02
    if objective == "likelihood":
        assert f1(tuned) > 0.45  # names everywhere would give 0.52
    assert tuned.outside_shift_ < 0.0
    assert plain.outside_shift_ == 0.0


def test_it_is_part_of_the_model_file(tmp_path: Path) -> None:
    model = LinearCRF(n_jobs=1, tune_for="span_f1").fit(*TRAIN)
    model.save(tmp_path / "m.cf")
    again = load(tmp_path / "m.cf")
    assert (again.outside_shift_, again.tune_for) == (model.outside_shift_, "span_f1")
    assert again.predict(TEST[0]) == model.predict(TEST[0])
    np.testing.assert_array_equal(again.tagger_.theta, model.tagger_.theta)


X, Y = [["a", "b", "c"], ["c", "a"]], [["B-X", "I-X", "O"], ["O", "B-X"]]
MODELS = [
    LinearCRF(),
    LinearCRF(scheme="bio"),
    LinearCRF(order=2),
    LinearCRF(all_transitions=False, boundary=False),
    LinearCRF(prune=0.01),
    LinearCRF(prune=0.01, order=2),
    LatentCRF(n_states=2, n_init=1),
    LatentCRF(n_states=2, n_init=1, rank=2, share_labels=False),
    HiddenUnitCRF(hidden_units=3, objective="likelihood", max_iter=3),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_shift_counts_at_every_position(model: Any) -> None:
    fitted = model.set_params(n_jobs=1).fit(X, Y)._fitted()
    moved = shifted(fitted, -0.75)
    words = ["a", "c", "b"]
    paths = [list(labels) for labels in itertools.product(fitted.task.labels, repeat=3)]
    before, after = (m.log_likelihood([words] * len(paths), paths) for m in (fitted, moved))
    possible = np.isfinite(before)
    gained = after[possible] - before[possible]
    outside = np.array([labels.count("O") for labels in paths])[possible]
    assert possible.sum() >= 2
    np.testing.assert_allclose(gained - gained[0], -0.75 * (outside - outside[0]), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "y", "said"),
    [
        ({}, [["N", "V"]] * 40, "is for labels of spans"),
        ({}, [["B-X", "I-X"]] * 40, "is for labels of spans"),
        ({}, [["B-X", "O"]] * 29, "at least 30 sequences"),
        ({"tune_for": "f1"}, [["B-X", "O"]] * 40, "choose one of span_f1"),
    ],
)
def test_what_cannot_be_tuned(settings: dict[str, Any], y: list[list[str]], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        LinearCRF(**{"tune_for": "span_f1", **settings}).fit([["a", "b"]] * len(y), y)
    assert str(caught.value).count(". ") <= 1


def test_where_it_does_not_belong() -> None:
    model = LinearCRF(tune_for="span_f1")
    with pytest.raises(ConfigError, match="belongs to fit"):
        model.partial_fit(*TRAIN)
    with pytest.raises(ConfigError, match="herding"):
        HiddenUnitCRF(trainer="herding", tune_for="span_f1").fit(*TRAIN)
    with pytest.raises(ChainfieldError, match="MEMM has no setting tune_for"):
        MEMM(tune_for="span_f1")


def test_on_the_command_line(tmp_path: Path) -> None:
    lines = ("".join(f"{w}\t{y}\n" for w, y in zip(*pair, strict=True)) for pair in zip(*TRAIN, strict=True))
    (tmp_path / "train.txt").write_text("\n".join(lines), encoding="utf-8")
    result = run("train", tmp_path / "train.txt", tmp_path / "m.cf", "--tune-for", "span_f1", "--max-iter", 5)
    assert result.code == 0, result.stderr
    assert load(tmp_path / "m.cf").outside_shift_ < 0.0
    refused = run("train", tmp_path / "train.txt", tmp_path / "m.cf", "--model=memm", "--tune-for", "span_f1")
    assert "--tune-for has no effect with --model memm" in refused.stderr
