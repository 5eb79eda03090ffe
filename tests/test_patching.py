"""Single weights: read, written as lines, changed; numbers added to the scores of single positions."""

from __future__ import annotations

import numpy as np
import pytest

from chainfield import LinearCRF, load
from chainfield.commands.given import known_of
from chainfield.commands.main import group
from chainfield.compat.foreign import parse_foreign
from chainfield.compat.patching import Change, patched, read_changes, weight_lines, weights_of
from chainfield.errors import ConfigError, DataError
from support.foreign import ROWS, crfsuite_model, wapiti_model

X = [[("New", "X"), ("York", "X"), ("is", "x")], [("is", "x"), ("New", "X")]]
Y = [["B", "I", "O"], ["O", "B"]]


@pytest.fixture(scope="module")
def model():
    return LinearCRF(template="U0:%x[0,0]\nU1:%x[-1,1]\nB\nB1:%x[0,1]\n", max_iter=20, n_jobs=1).fit(X, Y)


def test_lines_give_the_same_model(model):
    lines = list(weight_lines(model))
    again = patched(patched(model, [Change("U0:New", None, "B", -5.0)]), read_changes(lines, model))
    assert list(weight_lines(again)) == lines
    np.testing.assert_array_equal(again.predict_marginals(X)[0], model.predict_marginals(X)[0])


@pytest.mark.parametrize("content", [wapiti_model(), wapiti_model(1), crfsuite_model()])
def test_scores_change_by_what_was_changed(content):
    model = parse_foreign(content, "m")
    x = [("w=1",), ("w=2",), ("w=1",)] if content[:4] == b"lCRF" else ROWS
    change = next(iter(weights_of(model)))
    before = model.tagger_.potentials(model.tagger_.features.encode([x]))
    made = patched(model, [change._replace(weight=change.weight + 2.0), Change(None, "B", "I", 0.25)])
    assert dict.fromkeys(weights_of(made)).keys() >= {change._replace(weight=change.weight + 2.0)}
    assert len(made.predict([x])[0]) == len(x)
    after = model.tagger_.potentials(model.tagger_.features.encode([x]))
    np.testing.assert_array_equal(after.node, before.node)  # the model itself stays


def test_a_pair_without_a_weight_gets_one(model):
    known = {(c.feature, c.label) for c in weights_of(model) if c.before is None}
    feature, label = next((f, y) for f in ("U0:New", "U0:is") for y in "BIO" if (f, y) not in known)
    made = patched(model, [Change(feature, None, label, 100.0)])
    word = feature.removeprefix("U0:")
    assert made.predict([[(word, "X")]]) == [[label]]
    assert [c for c in weights_of(made) if c.weight == 100.0] == [Change(feature, None, label, 100.0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("U0:New\t#\tB", "3 cells"),
        ("U0:New\t#\tQ\t1", "no label 'Q'"),
        ("U0:New\t#\tB\tnan", "no finite number"),
        ("U0:New\t#\tB\tx", "no finite number"),
    ],
)
def test_lines_that_cannot_be_read(model, line, message):
    with pytest.raises(DataError, match=f"the patch, line 2: .*{message}"):
        read_changes(["\n", line], model)


def test_what_cannot_be_changed(model):
    with pytest.raises(DataError, match="no feature 'U0:Paris'"):
        patched(model, [Change("U0:Paris", None, "B", 1.0)])
    with pytest.raises(DataError, match="no label"):
        patched(model, [Change("U0:New", None, "Z", 1.0)])
    second = LinearCRF(order=2, max_iter=2, n_jobs=1).fit([["a", "b"]] * 2, [["A", "B"]] * 2)
    with pytest.raises(ConfigError, match="first order"):
        list(weights_of(second))


def test_commands(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model.save("m.cf", {"label_column": -1})
    group.main(["show", "m.cf", "--lines"], standalone_mode=False)
    assert capsys.readouterr().out.splitlines() == list(weight_lines(model))
    (tmp_path / "p.txt").write_text("U0:is\t#\tB\t50\nb\tB\tB\t0x1p3\n")
    group.main(["update", "m.cf", "p.txt", "-o", "n.cf"], standalone_mode=False)
    assert "2 weights set" in capsys.readouterr().out
    assert load("n.cf").predict(X)[0][2] == "B"
    (tmp_path / "d.txt").write_text("is x B=99\nNew X ?\n\nis x O\nNew X B|I\n\nis x I|O=0\n")
    with pytest.raises(DataError, match=r"line 7: 'I\|O=0' is neither"):
        group.main(["tag", "m.cf", "d.txt", "--given", "2"], standalone_mode=False)
    (tmp_path / "d.txt").write_text("is x B=99\nNew X ?\n\nis x I\nNew X B|I\n")
    capsys.readouterr()
    group.main(["tag", "m.cf", "d.txt", "--given", "-1"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[-1] for line in lines if line][::2] == ["B", "I"]


def test_what_a_cell_says():
    labels = {"A": "A", "B=1": "B=1", "?": "?"}
    assert known_of("A", labels, "f") == "A"
    assert known_of("?", labels, "f") == "?"
    assert known_of("_", labels, "f") is None
    assert known_of("A|B=1", labels, "f") == {"A", "B=1"}
    assert known_of("A=-2.5|B=1=3", labels, "f") == {"A": -2.5, "B=1": 3.0}


# ---- numbers that are added to scores ----------------------------------------------------------------------------


def test_added_scores_are_those_of_a_feature():
    """A dict at a position is what a feature of that position with these weights would be."""
    rng = np.random.default_rng(0)
    words = [[[f"w={rng.integers(5)}"] for _ in range(6)] for _ in range(8)]
    labels = [[str(rng.integers(3)) for _ in range(6)] for _ in range(8)]
    model = LinearCRF(max_iter=10, n_jobs=1).fit([[[*item, "x"] for item in s] for s in words], labels)
    zero = patched(model, [Change("x", None, y, 0.0) for y in "012"])
    moved = patched(model, [Change("x", None, "1", -1.5), Change("x", None, "2", 0.5), Change("x", None, "0", 0.0)])
    marked = [[[*item, "x"] if t in (1, 4) else item for t, item in enumerate(s)] for s in words]
    given = [[{"1": -1.5, "2": np.float64(0.5)} if t in (1, 4) else None for t in range(6)] for _ in words]
    assert zero.predict(words, given) == moved.predict(marked)
    for a, b in zip(zero.predict_marginals(words, given), moved.predict_marginals(marked), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    best = zero.predict_n_best(words[:1], 3, given[:1])[0]
    assert [found for found, _ in best] == [found for found, _ in moved.predict_n_best(marked[:1], 3)[0]]
    assert zero.predict_confidence(words[:1], given[:1])[0].labels == moved.predict(marked[:1])[0]
    ruled_out = zero.predict(words, [[{"0": -np.inf}] * 6] * len(words))
    assert "0" not in {label for found in ruled_out for label in found}


@pytest.mark.parametrize(("given", "message"), [({"Q": 1}, "'Q' is not the model's"), ({"B": np.nan}, "give a number")])
def test_added_scores_that_are_refused(model, given, message):
    with pytest.raises(DataError, match=f"Sequence 0, position 1: .*{message}"):
        model.predict(X[:1], [[None, given, None]])
