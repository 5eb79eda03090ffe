"""Transforms, and Wapiti's small regular expressions."""

import pickle
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainfield.errors import ConfigError
from chainfield.features.transform import TRANSFORM_NAMES, Transform, parse_transform
from chainfield.features.wapiti_regex import first_matches, matched

EXAMPLES = [
    ("identity", "McDonald", "McDonald"),
    ("lower", "ÉCOLE", "école"),
    ("prefix:2", "abc", "ab"),
    ("prefix:3", "abc", "abc"),
    ("prefix:4", "abc", None),
    ("suffix:2", "abc", "bc"),
    ("suffix:3", "abc", "abc"),
    ("suffix:4", "abc", None),
    ("suffix:1", "", None),
    ("shape", "McDonald-2x", "XxXxxxxx-0x"),
    ("shape", "Été٣東", "Xxx0東"),
    ("short-shape", "McDonald-2x", "XxXx-0x"),
    ("short-shape", "1,000.00...", "0,0.0."),
    ("short-shape", "", ""),
    ("digits", "a1b23²", "a0b00²"),
    ("has-digit", "a1", "1"),
    ("has-digit", "ab", None),
    ("has-hyphen", "a-b", "1"),
    ("has-hyphen", "ab", None),
    ("has-upper", "aB", "1"),
    ("has-upper", "ab", None),
    ("is-upper", "U.S.", "1"),
    ("is-upper", "Us", None),
    ("is-upper", "12", None),
    ("is-title", "John", "1"),
    ("is-title", "john", None),
    ("is-title", "JOHN", None),
    ("is-digits", "1998", "1"),
    ("is-digits", "1,998", None),
    ("is-digits", "", None),
    ("is-punctuation", "...", "1"),
    ("is-punctuation", "$%«", "1"),
    ("is-punctuation", "a.", None),
    ("is-punctuation", "", None),
    ("test:^\\u\\l*$", "John", "true"),
    ("test:^\\u\\l*$", "john", "false"),
    ("match:\\d\\d", "a1998", "19"),
    ("match:\\d", "abc", ""),
    ("match::", "a:b", ":"),
    ("has:^\\d", "2nd", "1"),
    ("has:ing$", "string", "1"),
    ("has:ing$", "strings", None),
]


@pytest.mark.parametrize(("text", "value", "expected"), EXAMPLES)
def test_examples(text, value, expected):
    assert parse_transform(text)(value) == expected


def test_every_transform_has_an_example():
    assert {parse_transform(text).name for text, _, _ in EXAMPLES} == set(TRANSFORM_NAMES)


def test_text_round_trip_equality_and_pickling():
    for text, _, _ in EXAMPLES:
        transform = parse_transform(text)
        assert transform.text == text
        assert pickle.loads(pickle.dumps(transform)) == transform
    assert parse_transform(" suffix:3 ") == Transform("suffix", "3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lowercase", "no transform 'lowercase'; known are identity, lower,.*match"),
        ("", "no transform ''"),
        ("lower:2", "takes no argument"),
        ("suffix", "length of 1 or more, such as suffix:3"),
        ("suffix:0", "length of 1 or more"),
        ("prefix:-1", "length of 1 or more"),
        ("prefix:²", "length of 1 or more"),
        ("test:*a", "nothing before it"),
        ("test:^?a", "nothing before it"),
        ("match:a**", "nothing before it"),
        ("match:a\\", "backslash"),
    ],
)
def test_faults(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_transform(text)


@given(st.text(), st.integers(1, 6))
def test_affixes(value, n):
    prefix, suffix = parse_transform(f"prefix:{n}")(value), parse_transform(f"suffix:{n}")(value)
    assert (prefix is None) == (suffix is None) == (len(value) < n)
    if prefix is not None:
        assert len(prefix) == len(suffix) == n
        assert value.startswith(prefix)
        assert value.endswith(suffix)


@given(st.text(), st.sampled_from(["shape", "short-shape", "digits"]))
def test_abstractions_keep_the_length_or_collapse_runs(value, name):
    result = parse_transform(name)(value)
    assert result is not None
    if name in ("shape", "digits"):
        assert len(result) == len(value)
    if name == "short-shape":
        assert all(a != b for a, b in pairwise(result))


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("a*", "aaa", ""),
        ("a*$", "baaa", "aaa"),
        ("a?", "aaa", "a"),
        ("^a", "ba", None),
        ("a^", "a^", "a^"),
        ("a$b", "a$b", "a$b"),
        ("a\\$", "a$", "a$"),
        ("[a]+(b|c){2}", "x[a]+(b|c){2}", "[a]+(b|c){2}"),
        ("\\.", "a.", "."),
        ("\\n", "n", "n"),
        ("\\p\\P", "-a", "-a"),
        ("\\A\\A", "é", "é"),
        ("\\l", "é", None),
        ("é", "café", "é"),
        (".", "é", "\\xc3"),
        ("a?ab", "abc", "ab"),
        ("", "abc", ""),
        ("^$", "a", None),
        ("\\s", "a\u00a0", None),
        ("a.b", "a\nb", "a\nb"),
    ],
)
def test_wapiti_expressions(expression, value, expected):
    assert matched(expression, [value]) == [expected is not None]
    assert first_matches(expression, [value]) == [expected or ""]


ITEMS = st.tuples(st.sampled_from(["a", "b", ".", "\\d", "\\L", "\\u", "é"]), st.sampled_from(["", "", "*", "?"]))
CLASSES = {".": ".", "\\d": "[0-9]", "\\L": "[^a-z]", "\\u": "[A-Z]"}
REPEATS = {"": "", "*": "*?", "?": "?"}


@given(
    st.sampled_from(["", "^"]), st.lists(ITEMS, max_size=6), st.sampled_from(["", "$"]),
    st.lists(st.text(st.sampled_from("aabbé1A"), max_size=9), min_size=1, max_size=5),
)  # fmt: skip
def test_expressions_find_what_a_search_that_goes_back_finds(start, pattern, end, values):
    """Python's own expressions are slower than any bound, but right."""
    expression = start + "".join(item + repeat for item, repeat in pattern) + end
    translated = b"\\A" if start else b""
    for item, repeat in pattern:
        *loose, last = [bytes([byte]) for byte in item.encode()] if item not in CLASSES else [CLASSES[item].encode()]
        translated += b"".join(map(re.escape, loose))
        translated += (last if item in CLASSES else re.escape(last)) + REPEATS[repeat].encode()
    translated += b"\\Z" if end else b""
    found = [re.search(translated, value.encode(), re.DOTALL) for value in values]
    assert matched(expression, values) == [match is not None for match in found]
    expected = [match[0].decode("utf-8", "backslashreplace") if match else "" for match in found]
    assert first_matches(expression, values) == expected
