"""Tokenisers: the compiled rules do what their definition says, offsets are exact, bad ones are refused."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chainfield.text.rules
from chainfield.errors import ConfigError, DataError
from chainfield.kernels.text.tokens import LONGEST
from chainfield.text import Function, Pattern, Rules, find_words
from chainfield.text.properties import CODES, describe_character, table, unicode_version
from chainfield.text.tokeniser import as_tokeniser, check_texts, restore_tokeniser
from support.tokens import tokens

PIECES = [
    *"aBcé1٣_ .,;:!?'’\"()[]<>@-+/%#$=。！北きカกั\u0301\u200d\ufe0f\u200b\u200e\xa0\n\r\t\0",
    "👩", "🇩", "🏽", "http://", "www.", "x@y.zz", "U.S.", "e.g", "\ud800", "\U0001faff", "\n\n", "ing", "…",
]  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=40))


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=4))
@example(["https://a.b/c).", "a'b", "ab'cd'ef", "x@y.", "x@y.z-", "x@.y", "a.b.com", "www.x", "a://", "w.w.w.1"])
@example(["a" * (LONGEST + 3) + "'s", "'" * (LONGEST + 1), "a." * LONGEST, ":" * 9000, "a@" * 5000])
def test_the_compiled_rules_are_their_definition(texts: list[str]) -> None:
    assert Rules().cut(texts).places() == [tokens(text) for text in texts]


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, max_size=3), st.integers(0, 3))
def test_results_do_not_depend_on_the_room_for_them(texts: list[str], room: int) -> None:
    whole = Rules().cut(texts, sentences=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chainfield.text.rules, "ROOM", room)
        parts = Rules().cut(texts * 40, sentences=True)
    n = len(whole)
    assert parts.places()[: len(texts)] == parts.places()[-len(texts) or None :] == whole.places() or not texts
    assert np.array_equal(parts.sequences.lengths, np.tile(whole.sequences.lengths, 40))
    assert np.array_equal(parts.starts[:n], whole.starts)


@given(TEXTS)
def test_nothing_is_lost_but_spaces(text: str) -> None:
    found = Rules()(text)
    assert all(a < b for a, b in found)
    inside = {i for a, b in found for i in range(a, b)}
    assert len(inside) == sum(b - a for a, b in found)
    assert all(describe_character(ord(text[i])) & 7 == 0 for i in range(len(text)) if i not in inside)


def test_the_table_is_its_definition() -> None:
    if unicodedata.unidata_version != unicode_version():
        pytest.skip(f"this Python knows Unicode {unicodedata.unidata_version}, the table is of {unicode_version()}")
    stage, blocks = table()
    codes = np.arange(CODES)
    found = blocks[256 * stage[codes >> 8].astype(int) + (codes & 255)]
    assert found.tolist() == [describe_character(code) for code in range(CODES)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I live in New York.", "I|live|in|New|York|."),
        ("Peter's dog, we'll see; don't!", "Peter|'s|dog|,|we|'ll|see|;|don|'t|!"),
        ("l’homme d'Italie, aujourd'hui", "l’|homme|d'|Italie|,|aujourd'hui"),
        ("(see https://a.org/b_(c)).", "(|see|https://a.org/b_(c)|)|."),
        ("mail a.b+c@d-e.co.uk, now", "mail|a.b+c@d-e.co.uk|,|now"),
        ("U.S. 1,000.50 3rd 10:30 C++", "U.S.|1,000.50|3rd|10|:|30|C|++"),
        ("北京。Tokyoは", "北|京|。|Tokyo|は"),
        ("👩‍👩‍👧🇩🇪🇫🇷👍🏽", "👩‍👩‍👧|🇩🇪|🇫🇷|👍🏽"),
        ("नमस्ते שָׁלוֹם", "नमस्ते|שָׁלוֹם"),
    ],
)
def test_examples(text: str, words: str) -> None:
    assert Rules().words(text) == words.split("|")


def test_sentences() -> None:
    text = 'J. Smith came. He left at 3.15 p.m. today. "Yes!" She said.\n\nand so on. 今天。明天。'
    found = Rules().cut([text, "", "One. Two"], sentences=True)
    first = [found.starts[a] for a in found.sequences.firsts.tolist()][:6]
    assert [text[a : a + 6] for a in first] == ["J. Smi", "He lef", '"Yes!"', "She sa", "and so", "今天。明天。"]
    assert found.sequences.n_sequences == 7 + 1 + 2
    assert found.documents.n_sequences == 3
    spaced = Pattern(r"\S+").cut([text, "", "One. Two"], sentences=True)
    assert spaced.sequences.n_sequences == found.sequences.n_sequences - 1  # 今天。明天。 is one token


def test_a_pattern_and_a_function() -> None:
    assert Pattern(r"\S+").words("one, two") == ["one,", "two"]
    assert Pattern(r"x*").words("axxb") == ["xx"]
    whole = as_tokeniser(lambda text: find_words(text, text.split()))
    assert whole.words(" one  two ") == ["one", "two"]
    with pytest.raises(ConfigError, match="not a regular expression"):
        Pattern("(")
    with pytest.raises(DataError, match="Word 1, 'x', is not in the text behind character 3"):
        find_words("one two", ["one", "x"])
    with pytest.raises(DataError, match="Text 0: token 1 is at 1–3; tokens have to follow each other"):
        Function(lambda text: [(0, 2), (1, 3)]).words("abc")
    with pytest.raises(DataError, match=r"Text 0: token 0 is 'abc' \(str\)"):
        Function(str.split).words("abc")
    with pytest.raises(DataError, match=r"Text 0: the tokens are 3 \(int\); a list is expected"):
        Function(len).words("abc")
    with pytest.raises(ConfigError, match="give a regular expression"):
        as_tokeniser(3)


def test_tokenisers_are_stored() -> None:
    for tokeniser in (Rules(), Pattern(r"\w+")):
        assert restore_tokeniser(tokeniser.describe()) == tokeniser
    named = restore_tokeniser(Function(find_words).describe())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="trained with the tokeniser 'find_words', a function"):
        named.words("x")
    for hostile in (None, {}, {"kind": "pattern"}, {"kind": "rules", "version": 99}, {"kind": "rules"}):
        with pytest.raises((ValueError, KeyError)):
            restore_tokeniser(hostile)


def test_texts_are_checked() -> None:
    with pytest.raises(DataError, match="The texts are one string"):
        check_texts("abc")
    with pytest.raises(DataError, match="Text 1 is missing"):
        check_texts(["a", None])
    with pytest.raises(DataError, match="Text 0 is missing"):
        check_texts([float("nan")])
    with pytest.raises(DataError, match="Text 0 is 3"):
        check_texts([3])
