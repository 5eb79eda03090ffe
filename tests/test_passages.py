"""Bytes that are cut and written by compiled code say what sentences read one by one would say."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield.data import read_columns
from chainfield.data.passages import Passage, read_passages
from chainfield.errors import DataError

LINES = st.sampled_from(
    [
        "a b",
        "# b",
        "ä  c",
        "#x",
        "# a comment of words",
        "",
        "",
        "",
        " ",
        "d e ",
        "a\tb",
        "-DOCSTART- O",
        "f g\r",
        " h i",
    ]
)


def written(parts, separator):
    """The text with a cell L in every row, as ``chainfield tag`` writes it."""
    out = b""
    for part in parts:
        if isinstance(part, Passage):
            out += part.with_cells(np.zeros(len(part.row_ends), np.int32), ["L"])
            continue
        for sentence in part:
            between = separator or ("\t" if "\t" in sentence.lines[0] or " " not in sentence.lines[0] else " ")
            end = sentence.newline
            rows = end.join(f"{line}{between}L" for line in sentence.lines)
            out += ("".join(line + end for line in sentence.leading) + rows + end + end).encode()
    return out


def by_passages(whole, cuts, separator=None):
    bounds = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    chunks = [whole[a:b] for a, b in pairwise(bounds)]
    return list(read_passages(chunks, "input", separator, True, True))


def answer(read):
    """What is written, or what is said of a mistake."""
    try:
        return written(read(), None)
    except DataError as error:
        return str(error).encode()


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=12), st.lists(st.integers(0, 80), max_size=4), st.booleans())
def test_passages_are_what_sentences_are(lines, cuts, ended):
    whole = ("a b\n\n" + "\n".join(lines) + ("\n" if ended else "")).encode()
    expected = answer(lambda: [list(read_columns(whole.decode().split("\n"), comments=True))])
    found = answer(lambda: by_passages(whole, cuts))
    # Comments and blank lines behind the last sentence are kept where nobody had to look closely.
    assert found.startswith(expected)
    assert not [line for line in found[len(expected) :].split(b"\n") if line and not line.startswith((b"#", b"-DOC"))]


def test_plain_text_is_never_made_into_sentences_but_for_the_first():
    whole = b"a\tb\n\n" + 3 * b"c\td\ne\tf\n\n"
    first, rest = by_passages(whole, [])
    assert len(first) == 1
    assert isinstance(rest, Passage)
    assert rest.line == 3
    assert rest.with_cells(np.array([0, 1] * 3, np.int32), ["X", "Longer"]) == 3 * b"c\td\tX\ne\tf\tLonger\n\n"


def test_an_end_without_a_newline_is_completed():
    parts = by_passages(b"a b\n\nc d", [])
    assert written(parts, None) == b"a b L\n\nc d L\n\n"


def test_wrong_bytes_are_named_with_their_line():
    with pytest.raises(DataError, match=r"input, line 4: the bytes are not valid utf-8"):
        by_passages(b"a b\n\nc d\n\xff e\n", [])
