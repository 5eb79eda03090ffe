"""``chainfield train --tune``: a search around the defaults."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import chainfield
from chainfield import HiddenCRF, HiddenUnitCRF, HMMClassifier, LatentCRF, LinearCRF, NeuralCRF
from chainfield.commands.training_data import load_columns
from chainfield.commands.tuning import tune
from test_commands import run

DATA = "".join(f"{w}\tO\n{n}\tB-X\nand\tO\n\n" for w, n in zip("abcdefgh" * 3, "rstuvwxy" * 3, strict=True))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_text(DATA, encoding="utf-8")
    return path


@pytest.mark.parametrize("development", [True, False])
def test_the_best_of_what_was_tried_is_kept(data: Path, development: bool) -> None:
    pytest.importorskip("optuna", reason="needs the extra tune")
    found = load_columns(str(data), str(data) if development else None, {"label_column": -1})
    model, said = LinearCRF(max_iter=3, n_jobs=1), []
    best = tune(model, found, 10.0, {"max_iter": 3}, said.append, most=4)
    assert said[0].startswith("defaults: ")
    assert len(said) == 4
    assert set(best) <= {"l2", "min_count"}
    assert model.get_params()["max_iter"] == 3
    assert all(model.get_params()[name] == value for name, value in best.items())
    tune(LinearCRF(l2=0.3, n_jobs=1), found, 10.0, {"l2": 0.3, "min_count": 1}, said.append, most=1)
    tune(model, found, 1e-7, {}, said.append)
    assert said[-1] == "no trial was finished in time; the settings stay as they are"


def test_where_there_is_nothing_to_try(data: Path) -> None:
    found, said = load_columns(str(data), None, {"label_column": -1}), []
    assert tune(LinearCRF(), found, 10.0, {"l2": 0.5, "min_count": 1}, said.append) == {}
    assert said == ["every setting that a search could change is given; there is nothing to try"]


def test_parts_of_the_data_that_lack_a_class_do_not_end_a_trial() -> None:
    pytest.importorskip("optuna", reason="needs the extra tune")
    rng = np.random.default_rng(0)
    y = ["a"] * 9 + ["b"] * 3
    X = [rng.normal(size=(6, 2)) + 3 * (label == "b") for label in y]
    found, said = SimpleNamespace(X=X, y=y, development={"X_dev": X, "y_dev": y}), []
    tune(HMMClassifier(n_states=1, n_jobs=1), found, 10.0, {"n_states": 1, "n_components": 1}, said.append, most=1)
    tune(HMMClassifier(n_jobs=1), found, 10.0, {}, said.append, most=2)
    assert any(line.startswith("defaults: ") for line in said)


def test_every_model_has_something_to_search() -> None:
    for kind in (LinearCRF, LatentCRF, HiddenUnitCRF, HMMClassifier, HiddenCRF, NeuralCRF):
        for name, setting in kind.settings.items():
            for value in setting.search:
                kind(**{name: value}).check_settings()
        assert any(setting.search for setting in kind.settings.values())


def test_the_command_says_what_it_tried(data: Path) -> None:
    pytest.importorskip("optuna", reason="needs the extra tune")
    result = run("train", data, data.with_name("m.cf"), "--tune", 0.005, "--max-iter", 2)
    assert result.code == 0, result.stderr
    assert "tuning: " in result.stderr
    assert chainfield.load(data.with_name("m.cf")).max_iter == 2


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf"])
def test_a_limit_that_leaves_no_time(data: Path, minutes: str) -> None:
    result = run("train", data, data.with_name("m.cf"), f"--tune={minutes}")
    assert result.code != 0
    assert "give a number of minutes larger than 0" in result.stderr


def test_what_cannot_be_tuned(data: Path) -> None:
    target = data.with_name("m.cf")
    told = run("train", data, target, "--model=empirical", "--tune=1").stderr
    assert "--tune has no effect with --model empirical" in told
    assert "do not go together" in run("train", data, target, "--resume", "--tune=1").stderr
    data.write_text("a\tO\n\nb\tO\n\n", encoding="utf-8")
    assert "at least 6 sequences" in run("train", data, target, "--tune=1").stderr
