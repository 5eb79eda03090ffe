"""The compiled encoder of dicts and lists: equal to its definition, and harmless whatever it is given."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import OrderedDict, UserDict
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainfield.errors import DataError
from chainfield.features import NamedFeatures, flat
from chainfield.features.attributes import DEEPEST, attributes
from chainfield.kernels.layout import PADDING
from support import items
from support.native import flatten as encoder

TEXT = st.text(st.characters(), max_size=5)  # surrogates and NUL too
STRING = st.one_of(TEXT, TEXT.map(lambda text: text.encode("utf-8", "replace")))
NUMBER = st.one_of(st.booleans(), st.integers(), st.floats(), st.just(2**1100), st.sampled_from(items.PLAIN))
STRINGS = st.one_of(st.lists(STRING, max_size=3), st.sets(STRING, max_size=5))
PRINTABLE = [value for value in items.ODD if not isinstance(value, int | items.Silent)]
ODD = st.one_of(st.none(), st.binary(max_size=2), st.sampled_from(PRINTABLE))
VALUE = st.recursive(
    st.one_of(STRING, STRING, NUMBER, STRINGS, ODD),
    lambda inner: st.one_of(
        st.dictionaries(STRING, inner, max_size=3),
        st.dictionaries(STRING, inner, max_size=2).map(OrderedDict),
        st.lists(inner, max_size=2),
    ),
    max_leaves=8,
)
RECORD = st.dictionaries(st.one_of(STRING, STRING, STRING, st.integers()), VALUE, max_size=4)
ITEM = st.one_of(RECORD, STRINGS, STRINGS.map(tuple), STRINGS.map(frozenset), VALUE)
SEQUENCE = st.lists(ITEM, max_size=4)
SEQUENCES = st.lists(st.one_of(SEQUENCE, SEQUENCE.map(tuple), ODD), max_size=4)


@pytest.fixture(scope="module")
def compiled():
    found = encoder()
    if found is None:
        pytest.skip("no compiler, and no compiled encoder")
    return found


@pytest.fixture
def both(compiled, monkeypatch):
    """What the compiled encoder reads in the library, after a check that its definition reads the same."""

    def read(sequences):
        monkeypatch.setattr(flat, "compiled", compiled)
        found = items.answer(lambda: flat.flatten(sequences))
        assert found == items.answer(lambda: [flat.defined(sequences)])
        return found

    return read


@given(sequences=SEQUENCES)
def test_the_encoders_agree(compiled, sequences):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flat, "compiled", compiled)
        found = items.answer(lambda: flat.flatten(sequences))
    assert found == items.answer(lambda: [flat.defined(sequences)])


def test_the_encoders_agree_on_random_input(compiled, monkeypatch):
    monkeypatch.setattr(flat, "compiled", compiled)
    for seed in range(600):
        found, expected = items.both(seed, (0.0, 0.02, 0.2)[seed % 3])
        assert found == expected, seed


def stop(compiled, *sequences):
    return compiled(list(sequences), 0, 1 << 20, DEEPEST, PADDING, flat.NUMBERS)[0]


TUTORIAL = {
    "bias": 1.0, "word.lower()": "the", "word[-3:]": "Ünï", "word.isupper()": False, "BOS": True, "-1:postag": "DT",
    "n": 3, "ratio": np.float32(0.5), "affixes": ["t", "th"], "set": {"x", "y"}, "nested": {"a": {"b": "c"}},
    b"k": b"v",
}  # fmt: skip


def test_what_is_ordinary_is_read_by_compiled_code(compiled, both):
    for item in (TUTORIAL, ["a", b"b"], ("a",), {"a"}, frozenset("a"), {}, [], {"a": 2**70, "b": "\ud800"}):
        assert stop(compiled, [item], (item,)) == 2
        assert not isinstance(both([[item]])[0], type)
    for value in items.PLAIN:
        assert stop(compiled, [{"a": value}]) == 1
    names, lengths, counts, values = both([[TUTORIAL, ["q"]], []])
    assert names[:3] == ["bias", "word.lower():the", "word[-3:]:Ünï"]
    assert names[-6:] == ["affixes:th", "set:x", "set:y", "nested:a:b:c", "k:v", "q"]
    assert (lengths, counts) == ([2, 0], [14, 1])
    assert np.frombuffer(values).tolist() == [1, 1, 1, 0, 1, 1, 3, 0.5] + [1] * 7


@pytest.mark.parametrize("odd", items.ODD, ids=lambda value: type(value).__name__)
def test_what_is_unusual_is_left_to_the_definition(compiled, both, odd):
    """Compiled code stops in front of the sequence; those before and behind it are its own."""
    before, behind = [["a"], {"v": 0.5}], [{"w": "b"}]
    for item in ({"x": "y", "a": odd}, {"a": {"b": odd}}, {"a": ["b", odd]}, ["b", odd]):
        assert stop(compiled, before, [["c"], item], behind) == 1
        both([before, [["c"], item], behind])
        both([before, [["c"], item]] + [behind] * 100)


def test_things_that_can_be_read_once(compiled, monkeypatch):
    monkeypatch.setattr(flat, "compiled", compiled)
    found = items.answer(lambda: flat.flatten([[["a"], iter(["b", "c"])], iter([["d"], {"e": 2}])]))
    assert found[:3] == (["a", "b", "c", "d", "e"], [2, 2], [1, 2, 1, 1])


def nested(depth):
    found = {"end": 1.0}
    for _ in range(depth - 1):
        found = {"a": found}
    return found


def test_depth(compiled, both):
    assert both([[nested(DEEPEST)]])[0] == ["a:" * (DEEPEST - 1) + "end"]
    assert stop(compiled, [nested(DEEPEST)]) == 1
    circle = {"b": "c"}
    circle["a"] = circle
    for item in (nested(DEEPEST + 1), nested(5000), circle, {"a": [nested(5000)]}, [circle], {"a": (nested(5000),)}):
        kind, message = both([[["fine"], item]])
        assert kind is DataError
        assert message.startswith("Sequence 0, position 1: ")
        assert len(message) < 200
    assert "nested more than 100 deep" in both([[circle]])[1]


def test_sets_come_in_order():
    """In the order of their texts, and not of their hashes, which change from one process to the next."""
    texts = [*"zyxwvutsrqponmlkjihgfedcba", "é", "中", "😀", "\uffff", "aa", ""]
    expected = sorted(texts)
    assert [name for name, _ in attributes(set(texts))] == expected
    assert [name for name, _ in attributes(frozenset(texts))] == expected
    assert [name for name, _ in attributes({"k": {*texts[:9], *(t.encode() for t in texts[9:])}})] == [
        f"k:{t}" for t in expected
    ]


def test_sets_come_in_order_from_compiled_code_too(both):
    rng = Random(0)
    for _ in range(50):
        chosen = {"".join(rng.choice("aé中😀\ud800\uffff:") for _ in range(rng.randrange(4))) for _ in range(40)}
        assert both([[{"k": chosen}]])[0] == sorted(f"k:{t}" for t in chosen)


def test_parts_are_joined(compiled, monkeypatch):
    rng = Random(3)
    train = [[items.record(rng, 0.0) for _ in range(3)] for _ in range(200)]
    mixed = [[UserDict(item) for item in s] if i % 7 == 0 else s for i, s in enumerate(train)]
    results = []
    for part, use, data in ((1 << 20, compiled, train), (5, compiled, train), (50, compiled, mixed), (1, None, train)):
        monkeypatch.setattr(flat, "compiled", use)
        monkeypatch.setattr(flat, "PART", part)
        features = NamedFeatures()
        learned, again = features.learn(data[:150], min_count=2), features.encode(data, n_jobs=2)
        results.append((features.feature_names(), *map(content, (learned, again))))
    assert results[0][1][3] is not None
    assert results[1:] == results[:1] * 3


def content(batch):
    sparse = batch.sparse
    values = None if sparse.values is None else sparse.values.tobytes()
    return batch.offsets.tolist(), sparse.indptr.tolist(), sparse.indices.tolist(), values, sparse.n_features


@pytest.mark.parametrize("use", [True, False])
def test_what_is_refused_leaves_the_map_as_it_was(compiled, monkeypatch, use):
    monkeypatch.setattr(flat, "compiled", compiled if use else None)
    monkeypatch.setattr(flat, "PART", 1)
    features = NamedFeatures()
    features.learn([[["a"], ["b"]]])
    with pytest.raises(DataError, match="Sequence 100, position 1"):
        features.learn([[["new"], {"w": "x"}]] * 100 + [[["c"], 3]])
    assert features.feature_names() == ["a", "b"]
    assert features.learn([[["c"]]]).sparse.indices.tolist() == [2]
    assert content(NamedFeatures().learn([])) == ([0], [0], [], None, 0)
    assert content(features.encode([])) == ([0], [0], [], None, 3)
    assert content(features.encode([[], [{}]])) == ([0, 0, 1], [0, 0], [], None, 3)


def test_wrong_arguments(compiled):
    for arguments, error in (
        (("abc", 0, 1, 1, 8, ()), TypeError),
        (([], 0, 1, 1, 8, []), TypeError),
        (([], -1, 1, 1, 8, ()), ValueError),
        (([], 0, 1, 1, -8, ()), ValueError),
        (([], 0), TypeError),
        (([], 1 << 80, 1, 1, 8, ()), OverflowError),
    ):
        with pytest.raises(error):
            compiled(*arguments)
    assert compiled([[["a"]]], 5, 1, 1, 0, ())[0] == 5
    assert compiled([[["a"]]], 0, 1, 1, 0, ())[4] == b"a"


def growth(run):
    """The memory that many runs leave behind."""
    tracemalloc.start()
    run()
    gc.collect()
    used = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        run()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - used
    tracemalloc.stop()
    return grown


def test_references_and_memory(compiled):
    """Nothing is kept, whichever way reading ends."""
    key, text, number, odd = "".join(["a ", "key"]), "".join(["a ", "text"]), 12345.678, items.Text("odd")
    inner = {text, key}
    watched = [key, text, number, odd, inner, {key: text, text: number, "c": {key: inner, "d": [text]}}]
    good, bad = [[watched[5], [text]]], [[watched[5], {key: odd}]]

    def run():
        for sequences in (good, bad, [good[0], bad[0]]):
            compiled(sequences, 0, 10, 3, PADDING, flat.NUMBERS)
        compiled(good, 0, 10, 1, PADDING, flat.NUMBERS)
        compiled([[{"a": b"\xff"}]], 0, 10, 3, PADDING, flat.NUMBERS)
        compiled([[{"a": 10**400, "b": np.float64(2)}]], 0, 10, 3, PADDING, flat.NUMBERS)

    run()
    before = [sys.getrefcount(thing) for thing in watched]
    grown = min(growth(run) for _ in range(3))  # what another thread keeps meanwhile counts as well
    assert [sys.getrefcount(thing) for thing in watched] == before
    assert grown < 2000


def test_finalizers_that_empty_what_is_being_read(compiled):
    """Before Python 3.12, the iterator of a set may start the garbage collector."""

    class Saboteur:
        def __init__(self, target):
            self.target, self.circle = target, self

        def __del__(self):
            self.target.clear()

    threshold = gc.get_threshold()
    stops = []
    for which in range(40):
        item = {f"k{i}": {f"s{i}", "t"} for i in range(20)}
        sequence = [item, {"z": {"y"}}]
        arguments = ([sequence], 0, 1 << 20, DEEPEST, PADDING, flat.NUMBERS)  # made here, lest they wake the collector
        gc.collect()
        Saboteur((item, item["k0"], item["k3"], sequence)[which % 4])
        gc.set_threshold(1)
        try:
            result = compiled(*arguments)
        finally:
            gc.set_threshold(*threshold)
        stops.append(result[0])
        del item, sequence, arguments, result
    if sys.version_info < (3, 12):
        assert 0 in stops
