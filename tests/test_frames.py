"""Data frames of pandas, Polars and PyArrow: one door, the same models, frames given back as they came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from chainfield import HMMClassifier, LinearCRF
from chainfield.errors import ConfigError, DataError
from chainfield.frames import read_frame

pytest.importorskip("narwhals")
WORDS = [["I", "am", "Bob"], ["Rome", "is", "old"]] * 5
TAGS = [["O", "O", "B-PER"], ["B-LOC", "O", "O"]] * 5
POS = [[word[:1].lower() for word in words] for words in WORDS]


def made(library: str, columns: dict[str, list[Any]], index: list[Any] | None = None) -> Any:
    module = pytest.importorskip(library)
    if library == "pandas":
        return module.DataFrame(columns, index=index)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


LIBRARIES = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_for_each_sequence(library: str) -> None:
    plain = LinearCRF(max_iter=10).fit([list(zip(w, p, strict=True)) for w, p in zip(WORDS, POS, strict=True)], TAGS)
    frames = [made(library, {"word": w, "pos": p}) for w, p in zip(WORDS, POS, strict=True)]
    framed = LinearCRF(max_iter=10).fit(frames, TAGS)
    assert framed.feature_names_ == plain.feature_names_
    assert framed.predict(frames) == TAGS
    columns = [made(library, {"word": w})["word"] for w in WORDS]
    series = LinearCRF(max_iter=10).fit(columns, [made(library, {"y": y})["y"] for y in TAGS])
    assert series.predict(columns) == series.predict(WORDS) == TAGS


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_frame_with_a_sequence_column(library: str) -> None:
    flat = {"s": [s for s, w in enumerate(WORDS) for _ in w], "word": sum(WORDS, []), "tag": sum(TAGS, [])}  # noqa: RUF017
    frame = made(library, flat, index=list(range(100, 130)))
    found = read_frame(frame, sequence="s", label="tag")
    assert found.X == WORDS
    assert found.y == TAGS
    model = LinearCRF(max_iter=10).fit(found.X, found.y)
    answered = found.attach(model.predict(found.X), "predicted")
    assert type(answered) is type(frame)
    assert list(answered["predicted"]) == sum(TAGS, []) or answered["predicted"].to_pylist() == sum(TAGS, [])  # noqa: RUF017
    if library == "pandas":
        assert answered.index.tolist() == list(range(100, 130))
    for wrong, message in (
        ({"sequence": "x"}, "The frame has no column 'x'; it has 's', 'word', 'tag'"),
        ({"sequence": "tag"}, "rows of tag 'O' in several places; sort it by 'tag' first"),
        ({"sequence": "s", "columns": []}, "no column besides"),
    ):
        with pytest.raises(DataError, match=message):
            read_frame(frame, **wrong)
    with pytest.raises(DataError, match="not as many labels as rows"):
        found.attach([["O"]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers(library: str) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(6, 2)) + 3 * (i % 2) for i in range(12)]
    frames = [made(library, {"a": x[:, 0].tolist(), "b": x[:, 1].tolist()}) for x in arrays]
    model = HMMClassifier(n_states=2, max_iter=3).fit(arrays, [i % 2 for i in range(12)])
    assert list(model.predict(frames)) == list(model.predict(arrays))
    mixed = [made(library, {"word": w, "n": list(map(len, w))}) for w in WORDS]
    assert LinearCRF(max_iter=10).fit(mixed, TAGS).feature_names_[:2] == ["n", "word:I"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_bad_frames(library: str) -> None:
    frame = made(library, {"word": ["a", None]})
    with pytest.raises(DataError, match="X, sequence 0, column 'word': the value in row 1 is missing"):
        LinearCRF().fit([frame], [["O", "O"]])
    with pytest.raises(DataError, match="X is one frame or column; give a list with one for each sequence"):
        LinearCRF().fit(made(library, {"word": ["a", "b"]}), [["O", "O"]])
    with pytest.raises(DataError, match="X is one frame or column"):
        LinearCRF().fit(made(library, {"word": ["a", "b"]})["word"], [["O", "O"]])


def test_sequences_are_named_by_numbers_or_texts() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": [{"a": 1}, {"a": 2}], "word": ["x", "y"]})
    with pytest.raises(DataError, match="names no sequence; use numbers or texts"):
        read_frame(frame, sequence="id")


def test_a_column_of_lists() -> None:
    frame = made("pandas", {"words": WORDS, "tags": TAGS})
    assert LinearCRF(max_iter=10).fit(frame["words"], frame["tags"]).predict(WORDS) == TAGS


def test_lengths_with_a_frame() -> None:
    flat = made("pandas", {"word": sum(WORDS, [])}, index=list(range(5, 35)))  # noqa: RUF017
    lengths = [3] * 10
    assert LinearCRF(max_iter=10).fit(flat["word"], sum(TAGS, []), lengths=lengths).predict(WORDS) == TAGS  # noqa: RUF017


def test_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    frame = made("pandas", {"word": ["a"]})
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ConfigError, match=r"Data frames need the package narwhals; install it with: pip install"):
        LinearCRF().fit([frame], [["O"]])
