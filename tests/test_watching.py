"""Trainings that are watched: TensorBoard, functions of others, bars in notebooks."""

from __future__ import annotations

import builtins
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from chainfield import LinearCRF
from chainfield.errors import ConfigError
from chainfield.trainers import Progress
from chainfield.watching import NotebookBar, TensorBoard, each_of, in_notebook, log_to
from test_commands import assert_refused, corpus_text, run

X, Y = [["a", "b"], ["b", "a", "b"]], [["A", "B"], ["B", "A", "B"]]


def progress(iteration: int, **more: Any) -> Progress:
    given = {"objective": 2.0, "gradient_norm": 0.5, "dev_score": None, "seconds": 1.0 * iteration, "notes": {}} | more
    return Progress(iteration, 10, **given)


def test_numbers_go_to_a_function_with_their_step() -> None:
    seen: list[tuple[int, dict[str, float]]] = []
    crf = LinearCRF(max_iter=3, tol=1e-9)
    crf.fit(X, Y, X_dev=X, y_dev=Y, callback=log_to(lambda numbers, step: seen.append((step, numbers)), "train/"))
    assert [step for step, _ in seen] == [record["iteration"] for record in crf.history_]
    assert [numbers["train/objective"] for _, numbers in seen] == [record["objective"] for record in crf.history_]
    assert {"train/dev_score", "train/seconds"} <= set(seen[0][1])
    assert all(type(value) is float for value in seen[0][1].values())


def test_several_callbacks_are_called_in_their_order() -> None:
    seen: list[str] = []
    watch = each_of(lambda _: seen.append("a"), None, lambda _: seen.append("b"))
    watch(progress(1))
    assert seen == ["a", "b"]


@pytest.mark.parametrize("make", [lambda: log_to({}), lambda: each_of("here")])  # type: ignore[arg-type]
def test_what_is_no_function_is_refused(make: Any) -> None:
    with pytest.raises(ConfigError, match="is expected"):
        make()


def scalars(folder: Path) -> dict[str, list[float]]:
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.record_writer import RecordWriter  # noqa: F401

    found: dict[str, list[float]] = {}
    (file,) = folder.iterdir()
    data = file.read_bytes()
    while data:
        length = int.from_bytes(data[:8], "little")
        event = Event.FromString(data[12 : 12 + length])
        for value in event.summary.value:
            found.setdefault(value.tag, []).append(value.simple_value)
        data = data[16 + length :]
    return found


def test_curves_for_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    with TensorBoard(tmp_path / "runs" / "first") as watch:
        crf = LinearCRF(max_iter=3, tol=1e-9).fit(X, Y, callback=watch)
    found = scalars(tmp_path / "runs" / "first")
    assert found["objective"] == pytest.approx([record["objective"] for record in crf.history_], rel=1e-6)


def test_the_command_writes_curves(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    data = tmp_path / "train.txt"
    data.write_text(corpus_text("train", 0, 10), encoding="utf-8")
    done = run("train", data, tmp_path / "m.cf", "--max-iter", 2, "--tensorboard", tmp_path / "runs", "--quiet")
    assert (done.code, done.stderr) == (0, "")
    assert len(scalars(tmp_path / "runs")["objective"]) == 2
    (tmp_path / "file").write_text("")
    told = assert_refused("train", data, tmp_path / "n.cf", "--tensorboard", tmp_path / "file", "--quiet")
    assert "no event file can be written there" in told
    told = assert_refused("train", data, tmp_path / "n.cf", "--model", "empirical", "--tensorboard", tmp_path / "runs")
    assert "--tensorboard has no effect with --model empirical" in told


def test_without_tensorboardx_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> Any:
        if name == "tensorboardX":
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ConfigError, match=r"pip install 'chainfield\[watch\]'"):
        TensorBoard(tmp_path)


def test_verbose_models_show_a_bar_in_notebooks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[str] = []
    handle = types.SimpleNamespace(update=shown.append)

    def display(page: str, display_id: bool) -> Any:
        shown.append(page)
        return handle

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    displaying = types.ModuleType("IPython.display")
    displaying.HTML, displaying.display = str, display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displaying)
    assert in_notebook()
    crf = LinearCRF(max_iter=3, tol=1e-9, verbose=True).fit(X, Y)
    assert len(shown) == len(crf.history_) + 1
    assert "value='1'" in shown[0]
    assert "max='3' value='3'" in shown[-1]
    assert crf.stop_reason_ in shown[-1]
    assert capsys.readouterr().out == ""


def test_a_bar_tells_the_time_left() -> None:
    bar = NotebookBar()
    texts = [bar.text(progress(i, dev_score=0.5)) for i in (1, 2, 3)]
    assert "left" not in texts[0]
    assert "3 of at most 10 · objective 2 · dev 50.00 · 3.0 s · ≤ 7 s left" in texts[2]


def test_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
