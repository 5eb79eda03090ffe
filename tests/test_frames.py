"""Data frames of pandas, Polars and PyArrow: one door, the same models, frames given back as they came."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainfield import HMMClassifier, LinearCRF, TextTagger, load
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
def test_a_column_of_numbers(library: str) -> None:
    rng = np.random.default_rng(0)
    values = [(rng.normal(size=6) + 3 * (i % 2)).tolist() for i in range(12)]
    columns = [made(library, {"a": own})["a"] for own in values]
    arrays = [np.array(own)[:, None] for own in values]
    model = HMMClassifier(n_states=2, max_iter=3).fit(columns, [i % 2 for i in range(12)])
    assert list(model.predict(columns)) == list(model.predict(arrays))
    flat = made(library, {"s": [0, 0, 1], "a": [1.0, 2.0, 3.0], "b": [True, False, True]})
    assert [own.tolist() for own in read_frame(flat, sequence="s", columns="a").X] == [[[1.0], [2.0]], [[3.0]]]
    assert [own.tolist() for own in read_frame(flat, sequence="s", columns="b").X] == [[[1.0], [0.0]], [[1.0]]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_texts_and_known_labels(library: str) -> None:
    tagger = TextTagger(model=LinearCRF(max_iter=10))
    texts = made(library, {"text": ["Bob is here", "Rome is old"] * 4})["text"]
    tagger.fit(texts, [[(0, 3, "PER")], [(0, 4, "LOC")]] * 4)
    assert [[s.label for s in own] for own in tagger.predict(texts)] == [["PER"], ["LOC"]] * 4
    assert list(tagger.pipe(texts)) == tagger.predict(texts)
    with pytest.raises(DataError, match="Text 1 is missing; a string is expected"):
        tagger.predict(made(library, {"text": ["a", None]})["text"])
    with pytest.raises(
        DataError, match=r"The texts are a frame; give the column that holds them, such as frame\['text'\]"
    ):
        tagger.predict(made(library, {"text": ["a"]}))
    model = LinearCRF(max_iter=10).fit(WORDS, TAGS)
    known = made(library, {"y": [None, "B-LOC", None]})["y"]
    assert model.predict([WORDS[0]], given=[known])[0][1] == "B-LOC"
    with pytest.raises(DataError, match="y, sequence 0: the value in row 0 is missing"):
        LinearCRF().fit([WORDS[0]], [known])


def test_what_pandas_alone_has() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"s": [0, 0], "word": pandas.array(["a", pandas.NA], dtype="string")})
    with pytest.raises(DataError, match="The frame: the value in row 1 is missing"):
        read_frame(frame, sequence="s", columns="word")
    model = LinearCRF(max_iter=10).fit(WORDS, TAGS)
    with pytest.raises(DataError, match="SeriesGroupBy; a data frame in memory, or a column of one, is expected"):
        model.predict(frame.groupby("s")["word"])
    with pytest.raises(DataError, match="several columns of one name"):
        read_frame(pandas.DataFrame([[0, "a", "b"]], columns=["s", "w", "w"]), sequence="s")
    assert read_frame(pandas.DataFrame([[0, "a", "b"]]), sequence=0, columns=[2]).X == [["b"]]  # names may be numbers


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


def numbers(library: str, names: str, x: Any) -> Any:
    return made(library, {name: x[:, "abc".index(name) if name in "abc" else 0].tolist() for name in names})


RNG, SHIFT = np.random.default_rng(0), np.array([3.0, 0.0, -3.0])
CLASSES = ["up", "down"] * 6
SHAPES = [RNG.normal(size=(5, 3)) + SHIFT * (label == "up") for label in CLASSES]


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_are_those_of_training_in_their_order(library: str, tmp_path: Path) -> None:
    frames = [numbers(library, "abc", x) for x in SHAPES]
    model = HMMClassifier(n_states=1, max_iter=3).fit(frames, CLASSES)
    model.save(tmp_path / "m.cf")
    for own in (model, load(tmp_path / "m.cf"), pickle.loads(pickle.dumps(model))):
        assert own.feature_names_in_.tolist() == ["a", "b", "c"]
        assert own.predict(frames).tolist() == own.predict(SHAPES).tolist() == CLASSES
        for names, message in (
            (
                "cba",
                r"X, sequence 1: column 0 of the frame is 'c', but in training it was 'a'; give the columns",
            ),
            ("abx", r"X, sequence 1: column 2 of the frame is 'x', but in training it was 'c'"),
            ("ab", r"X, sequence 1: column 2 of the frame is nothing, but in training it was 'c'"),
            ("abcx", r"X, sequence 1: column 3 of the frame is 'x', but in training it was nothing"),
        ):
            wrong = [frames[0], numbers(library, names, SHAPES[1])]
            for ask in (own.predict, own.predict_proba, own.predict_states, own.align, own.decision_function):
                with pytest.raises(DataError, match=message):
                    ask(wrong)
            with pytest.raises(DataError, match=message):
                own.score(wrong, CLASSES[:2])
        with pytest.raises(DataError, match="X, sequence 0: column 0 of the frame is 'c'"):
            own.classify(numbers(library, "cab", SHAPES[0]))
        with pytest.raises(DataError, match="X: column 0 of the frame is 'c'"):
            own.predict(numbers(library, "cab", SHAPES[0]), lengths=[2, 3])
    others = [frames[0], *(numbers(library, "bac", x) for x in SHAPES[1:])]
    with pytest.raises(DataError, match="X, sequence 1: column 0 of the frame is 'b', but in training it was 'a'"):
        HMMClassifier(n_states=1, max_iter=3).fit(others, CLASSES)
    HMMClassifier(n_states=1, max_iter=3).fit(frames, CLASSES, X_dev=frames, y_dev=CLASSES)
    with pytest.raises(DataError, match="X_dev, sequence 1: column 0 of the frame is 'b'"):
        HMMClassifier(n_states=1, max_iter=3).fit(frames, CLASSES, X_dev=others, y_dev=CLASSES)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_of_text_and_more_data(library: str) -> None:
    frames = [made(library, {"word": w, "pos": p}) for w, p in zip(WORDS, POS, strict=True)]
    turned = [made(library, {"pos": p, "word": w}) for w, p in zip(WORDS, POS, strict=True)]
    model = LinearCRF(max_iter=10).fit(frames, TAGS)
    for ask in (model.predict, model.predict_marginals, model.predict_n_best, model.predict_confidence):
        with pytest.raises(
            DataError, match="X, sequence 0: column 0 of the frame is 'pos', but in training it was 'word'"
        ):
            ask(turned)
    with pytest.raises(DataError, match="X, sequence 0: column 0 of the frame is 'pos'"):
        model.tag(turned[0])
    with pytest.raises(DataError, match="column 0 of the frame is 'pos'"):
        model.partial_fit(turned, TAGS)
    assert model.partial_fit(frames, TAGS).columns_ == ["word", "pos"]
    assert model.fit(turned, TAGS).predict(turned) == TAGS  # trained anew
    assert model.fit([list(zip(w, p, strict=True)) for w, p in zip(WORDS, POS, strict=True)], TAGS).columns_ is None
    assert model.predict(turned)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("library", LIBRARIES)
def test_attributes_come_in_any_order(library: str) -> None:
    data = [({"word": w, "n": [len(v) for v in w]}) for w in WORDS]
    frames = [made(library, one) for one in data]
    turned = [made(library, dict(reversed(one.items()))) for one in data]
    model = LinearCRF(max_iter=10).fit([*frames, *turned], [*TAGS, *TAGS])
    assert model.columns_ is None
    assert model.predict(turned) == model.predict(frames) == TAGS
    one = made(library, {name: data[0][name] + data[1][name] for name in ("n", "word")})
    assert model.predict(one, lengths=[0, 3, 3]) == [[], *TAGS[:2]]


def test_columns_without_names_have_places() -> None:
    pandas = pytest.importorskip("pandas")
    model = HMMClassifier(n_states=1, max_iter=3).fit([pandas.DataFrame(x) for x in SHAPES], CLASSES)
    assert model.columns_ is None
    named = model.predict([numbers("pandas", "abc", x) for x in SHAPES])
    assert named.tolist() == model.predict(SHAPES).tolist()
    any_names = [numbers("pandas", "abc" if s else "xbc", x) for s, x in enumerate(SHAPES)]
    assert model.predict(any_names).shape == (12,)
    model.fit([pandas.DataFrame(x) for x in SHAPES], CLASSES, X_dev=any_names, y_dev=CLASSES)
