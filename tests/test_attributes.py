"""Items as python-crfsuite takes them."""

from collections import OrderedDict, UserDict
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainfield.data.string_table import StringTable, pieces_of
from chainfield.errors import DataError
from chainfield.features import NamedFeatures
from chainfield.features.attributes import attributes, sequence_attributes

# CRFsuite cuts names at a NUL character, being written in C; here it is a character like any other.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
STRING = st.one_of(TEXT, TEXT.map(str.encode))
NUMBER = st.one_of(st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False))
STRINGS = st.one_of(st.lists(STRING, max_size=3), st.sets(STRING, max_size=3))
NESTED = st.recursive(
    st.one_of(STRING, NUMBER, STRINGS), lambda inner: st.dictionaries(STRING, inner, max_size=3), max_leaves=8
)
ITEM = st.one_of(STRINGS, st.dictionaries(STRING, NESTED, max_size=4))


@given(ITEM)
def test_equal_to_crfsuite(item):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    assert dict(attributes(item)) == pycrfsuite.ItemSequence([item]).items()[0]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"a": 2, "b": 0, "c": True, "d": False}, [("a", 2.0), ("b", 0.0), ("c", 1.0), ("d", 0.0)]),
        ({"word": "John", "empty": ""}, [("word:John", 1.0), ("empty:", 1.0)]),
        ({b"key": b"value"}, [("key:value", 1.0)]),
        ({"a": {"b": {"c": 0.5}, "d": "e"}}, [("a:b:c", 0.5), ("a:d:e", 1.0)]),
        ({"a": ["x", "y"], "b": {"z"}, "c": {}, "d": []}, [("a:x", 1.0), ("a:y", 1.0), ("b:z", 1.0)]),
        (["x", b"y", "x"], [("x", 1.0), ("y", 1.0), ("x", 1.0)]),
        (("x", "y"), [("x", 1.0), ("y", 1.0)]),
        ((name for name in "xy"), [("x", 1.0), ("y", 1.0)]),
        (OrderedDict(a=1), [("a", 1.0)]),
        ({"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True)}, [("a", 0.5), ("b", 3.0), ("c", 1.0)]),
        ({}, []),
        ([], []),
    ],
)
def test_examples(item, expected):
    found = attributes(item)
    assert found == expected
    assert all(type(value) is float for _, value in found)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("word", "put one string in a list"),
        (b"word", "put one string in a list"),
        (3, "dict or a list of strings, but is 3 .int."),
        (None, "None .NoneType."),
        ({"a": {"b": float("nan")}}, "'a:b' is nan; only finite"),
        ({"a": float("-inf")}, "'a' is -inf"),
        ({"a": 10**400}, "'a' is 1000.*only finite"),
        ({"a": None}, "'a' is None .NoneType.; accepted are a string, a number"),
        ({"a": ("x",)}, "'a' is .* .tuple."),
        ({"a": 1j}, "'a' is 1j .complex."),
        ({"a": np.array([1.0, 2.0])}, "'a' is array"),
        ({1: "x"}, "names must be strings, but there is 1 .int."),
        ({"a": {1: "x"}}, "names must be strings, but in 'a:' there is 1"),
        (["x", 2], "there is 2 .int."),
        ({"a": [["x"]]}, r"in 'a:' there is \['x'\] .list."),
        ([b"\xff"], "not valid UTF-8"),
        ({"a": b"\xff"}, "not valid UTF-8"),
    ],
)
def test_faults(item, message):
    with pytest.raises(DataError, match=message):
        attributes(item)


def test_sequences_name_the_position():
    assert sequence_attributes([["a"], {"b": 2}]) == [[("a", 1.0)], [("b", 2.0)]]
    with pytest.raises(DataError, match=r"sequence 4, position 1: .*'b' is nan"):
        sequence_attributes([["a"], {"b": float("nan")}], "sequence 4")
    for items in ("word", {"a": 1}):
        with pytest.raises(DataError, match="a sequence must be a list of items"):
            sequence_attributes(items)


def test_lists_of_strings_are_encoded_like_everything_else():
    lists = [[["a", "b"], ["c"]], [[], ["b", "b"]]]
    same = [[{"a": 1.0, "b": True}, {"c": 1}], [{}, ("b", "b")]]
    first, second = NamedFeatures(), NamedFeatures()
    for one, other in ((first.learn(lists), second.learn(same)), (first.encode(lists), second.encode(same))):
        assert one.sparse.indices.tolist() == other.sparse.indices.tolist() == [0, 1, 2, 1, 1]
        assert one.sparse.indptr.tolist() == other.sparse.indptr.tolist() == [0, 2, 3, 3, 5]
        assert one.offsets.tolist() == other.offsets.tolist() == [0, 2, 4]
    assert first.encode([[["unknown", "c"]]]).sparse.indices.tolist() == [-1, 2]


def test_dicts_are_encoded_like_other_mappings():
    """What compiled code reads, where it is built, gives what the rules for single items give."""
    rng = np.random.default_rng(0)
    words = ["a", "b:c", "", "é", "long " * 5, "a:b", "x" * 16, "x" * 17]

    signatures = [("w", "w:b", "n"), ("n", "w"), (), ("flag", "p", "w:b", "w", "n")]

    def item():
        keys = signatures[rng.integers(len(signatures))]
        return {
            str(k): words[rng.integers(len(words))] if k in ("w", "w:b", "p") else float(rng.integers(0, 3))
            for k in keys
        }

    train = [[item() for _ in range(rng.integers(0, 5))] for _ in range(40)]
    test = [[item() for _ in range(4)] for _ in range(10)]
    dicts, pairs = NamedFeatures(), NamedFeatures()

    def plain(sequences):  # the same attributes in a form that is taken item by item
        return [[UserDict(i) for i in sequence] for sequence in sequences]

    for learn in (True, False):
        one = dicts.learn(train) if learn else dicts.encode(test)
        other = pairs.learn(plain(train)) if learn else pairs.encode(plain(test))
        assert one.sparse.indices.tolist() == other.sparse.indices.tolist()
        assert one.sparse.indptr.tolist() == other.sparse.indptr.tolist()
        np.testing.assert_array_equal(one.sparse.values, other.sparse.values)
    assert dicts.feature_names() == pairs.feature_names()


def test_a_table_of_strings_is_a_dict():
    rng = np.random.default_rng(1)
    alphabet = ["a", "b", "é", "\u4e2d", "\ud800", "\x00"]
    strings = ["".join(rng.choice(alphabet, size=rng.integers(0, 40))) for _ in range(3000)] + ["", "\x00", "\x00\x00"]
    table, known = StringTable(), {}
    for part in (strings[:1000], strings[500:2500]):
        expected = [known.setdefault(s, len(known)) for s in part]
        assert table.add(pieces_of(part)).tolist() == expected
    assert table.find(pieces_of(strings)).tolist() == [known.get(s, -1) for s in strings]
    assert table.strings() == list(known)
    assert len(StringTable()) == 0
    assert StringTable().find(pieces_of(["a"])).tolist() == [-1]


def test_the_table_is_laid_out_as_documented():
    """Slots filled in plain Python, as kernels/text/strings.py describes them."""
    texts = list(dict.fromkeys("".join(Random(i).choices("ab:é中", k=i % 23)) for i in range(3000)))
    table = StringTable(texts)
    n, mask = len(texts), len(table._slots) - 1
    slots = np.zeros(mask + 1, np.uint64)
    for number, text in enumerate(texts):
        encoded = text.encode()
        assert table._pool[table._first[number] : table._first[number + 1]].tobytes() == encoded
        hashed = plain_hash(encoded)
        place = hashed & mask
        while slots[place]:
            place = (place + 1) & mask
        slots[place] = hashed >> 32 << 32 | number + 1
    assert len(table) == n
    np.testing.assert_array_equal(table._slots, slots)


def plain_hash(text):
    whole = 2**64 - 1
    state = len(text) * 0xC2B2AE3D27D4EB4F & whole
    for at in range(0, len(text) // 8 * 8 + 1, 8):
        state = (state ^ int.from_bytes(text[at : at + 8], "little")) * 0x9E3779B97F4A7C15 & whole
        state ^= state >> 32
    state = state * 0xC2B2AE3D27D4EB4F & whole
    return state ^ state >> 32
