"""Bytes that are cut and written by compiled code say what sentences read one by one would say."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield.data import read_columns
from chainfield.data.column_blocks import blocks_of
from chainfield.data.sentences import SentenceReader
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


def written(blocks, separator):
    """The text with a cell L in every row, as ``chainfield tag`` writes it."""
    out = b""
    for block in blocks:
        if not block.sentences:
            out += block.with_cells(np.zeros(len(block.row_ends), np.int32), ["L"])
        out += by_sentences(block.sentences, separator)
    return out


def by_sentences(sentences, separator):
    out = b""
    for sentence in sentences:
        between = separator or ("\t" if "\t" in sentence.lines[0] or " " not in sentence.lines[0] else " ")
        end = sentence.newline
        rows = end.join(f"{line}{between}L" for line in sentence.lines)
        out += ("".join(line + end for line in sentence.leading) + rows + end + end).encode()
    return out


def blocks(whole, cuts, separator=None):
    bounds = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    chunks = [whole[a:b] for a, b in pairwise(bounds)]
    return list(blocks_of(chunks, SentenceReader(separator, True, "skip"), verbatim=True))


def answer(read):
    """What is written, or what is said of a mistake."""
    try:
        return read()
    except DataError as error:
        return str(error).encode()


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=12), st.lists(st.integers(0, 80), max_size=4), st.booleans())
def test_passages_are_what_sentences_are(lines, cuts, ended):
    whole = ("a b\n\n" + "\n".join(lines) + ("\n" if ended else "")).encode()
    expected = answer(lambda: by_sentences(read_columns(whole.decode().split("\n"), comments=True), None))
    found = answer(lambda: written(blocks(whole, cuts), None))
    # Comments and blank lines behind the last sentence are kept where nobody had to look closely; in a file of mixed
    # line ends, those before a sentence may end as it does, or as they did.
    expected, found = (re.sub(rb"(?m)^((?:#|-DOC).*| *)\r$", rb"\1", text) for text in (expected, found))
    assert found.startswith(expected)
    assert not [line for line in found[len(expected) :].split(b"\n") if line and not line.startswith((b"#", b"-DOC"))]


def test_lines_before_a_sentence_stay_as_they_are_where_the_text_is_cut():
    """Those that were read sentence by sentence go with the sentence that follows, in the next block."""
    whole = b"a b\n\n\n# a note\nc d\n\n\n# no more\n\ne f\n"
    for cut in range(len(whole)):
        found = blocks(whole, [5, cut])
        assert written(found, None) == b"a b L\n\n\n# a note\nc d L\n\n\n# no more\n\ne f L\n\n"
        assert [block.line_of(row) for block in found for row in range(len(block.rows.flat()))] == [1, 5, 10]
    assert written(blocks(b"a\n\n# some words\nb\n\n", [3, 16], "\t"), "\t") == b"a\tL\n\n# some words\nb\tL\n\n"


def test_lines_of_documents_do_not_stop_compiled_code():
    first, rest = blocks(b"-DOCSTART- O\n\na b\n\n-DOCSTART- O\n\nc d\n\n", [])
    assert [len(block.sentences) for block in (first, rest)] == [1, 0]
    assert written([first, rest], None) == b"-DOCSTART- O\n\na b L\n\n-DOCSTART- O\n\nc d L\n\n"


def test_what_precedes_a_mistake_comes_first():
    found = []
    with pytest.raises(DataError, match="line 5: 1 column"):
        found.extend(blocks_of([b"a b\n\nc d\n\ne\n\n"], SentenceReader(None, True, "skip")))
    assert [rows for block in found for rows in block.rows] == [[("a", "b")], [("c", "d")]]


def test_plain_text_is_never_made_into_sentences_but_for_the_first():
    whole = b"a\tb\n\n" + 3 * b"c\td\ne\tf\n\n"
    first, rest = blocks(whole, [])
    assert len(first.sentences) == 1
    assert not rest.sentences
    assert [rest.line_of(row) for row in range(6)] == [3, 4, 6, 7, 9, 10]
    assert rest.with_cells(np.array([0, 1] * 3, np.int32), ["X", "Longer"]) == 3 * b"c\td\tX\ne\tf\tLonger\n\n"


def test_an_end_without_a_newline_is_completed():
    parts = blocks(b"a b\n\nc d", [])
    assert written(parts, None) == b"a b L\n\nc d L\n\n"


def test_wrong_bytes_are_named_with_their_line():
    with pytest.raises(DataError, match=r"input, line 4: the bytes are not valid utf-8"):
        blocks(b"a b\n\nc d\n\xff e\n", [])
