"""Column files: what is a row, what is not, and what is said about files that cannot be read."""

import bz2
import codecs
import gzip
import io
import itertools
import lzma
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield.data.corpus import load_corpus, split_label, stream_corpus
from chainfield.data.opening import open_text
from chainfield.data.sentences import SentenceReader, read_columns
from chainfield.errors import ConfigError, DataError

TEXT = "He PRP B-NP\nsaw VBD B-VP\n\nÉric NNP B-NP\n"
ROWS = [(("He", "PRP", "B-NP"), ("saw", "VBD", "B-VP")), (("Éric", "NNP", "B-NP"),)]
COMPRESS = {
    ".txt": bytes,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


def rows_of(text, **options):
    return [sentence.rows for sentence in read_columns(io.StringIO(text, newline="\n"), **options)]


def write(folder, data, name="data.txt"):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("suffix", COMPRESS)
def test_every_compression_reads_the_same(tmp_path, suffix):
    path = write(tmp_path, COMPRESS[suffix](TEXT.encode()), "data" + suffix)
    assert [sentence.rows for sentence in read_columns(path)] == ROWS
    assert [sentence.rows for sentence in read_columns(str(path))] == ROWS


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2", ".zst"])
def test_truncated_and_corrupt_files_are_named(tmp_path, suffix):
    whole = COMPRESS[suffix](TEXT.encode() * 50)
    for name, data in [("cut", whole[:-6]), ("wrong", b"this is no compressed data at all")]:
        path = write(tmp_path, data, name + suffix)
        with pytest.raises(DataError, match=f"{name}{suffix}: the compressed file is damaged or cut short"):
            list(read_columns(path))


def test_zstandard_frames_one_after_another(tmp_path):
    data = COMPRESS[".zst"](TEXT[:20].encode()) + COMPRESS[".zst"](TEXT[20:].encode())
    assert [sentence.rows for sentence in read_columns(write(tmp_path, data, "a.zst"))] == ROWS
    assert list(read_columns(write(tmp_path, b"", "empty.zst"))) == []


def test_a_large_compressed_file_is_read_whole(tmp_path):
    text = "".join(f"word{i} tag{i % 7}\n" + "\n" * (i % 10 == 9) for i in range(50_000))
    path = write(tmp_path, COMPRESS[".zst"](text.encode()), "a.zst")
    rows = [row for sentence in read_columns(path) for row in sentence.rows]
    assert rows == [(f"word{i}", f"tag{i % 7}") for i in range(50_000)]


def test_byte_order_mark_and_crlf(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    sentences = list(read_columns(path))
    assert [sentence.rows for sentence in sentences] == ROWS
    assert sentences[0].lines == ("He PRP B-NP", "saw VBD B-VP")
    assert [sentence.newline for sentence in sentences] == ["\r\n", "\r\n"]


def test_every_sentence_knows_its_line_ends():
    sentences = list(read_columns(["# a note\r\n", "a X\r\n", "b Y\r\n", "\r\n", "c Z\n", "\n", "d Z"]))
    assert [sentence.newline for sentence in sentences] == ["\r\n", "\n", "\n"]
    assert sentences[0].leading == ("# a note",)
    assert next(read_columns(io.BytesIO(b"a X\r\n"))).newline == "\r\n"


def test_lone_carriage_return_and_unicode_line_ends_stay_inside(tmp_path):
    cells = ["a\rb", "c\u2028d", "e\x0bf", "g\x85h", "i\x1cj", "k\u00a0l", "\u3000"]
    path = write(tmp_path, "".join(f"{cell} X\n" for cell in cells))
    (sentence,) = read_columns(path)
    assert sentence.rows == tuple((cell, "X") for cell in cells)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    (first, second) = read_columns("-")
    assert (first.rows, second.rows) == tuple(ROWS)
    assert first.source == "standard input"


def test_a_pipe_is_not_waited_for():
    code = "from chainfield.data.sentences import read_columns\nprint(next(read_columns('-')).rows, flush=True)"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        # A reader that waits would wait for ever: end it, so that the test fails instead of hanging.
        limit = threading.Timer(20, child.kill)
        limit.start()
        child.stdin.write(b"a b\n\n")
        child.stdin.flush()
        answer = child.stdout.readline()
        limit.cancel()
    assert answer.decode().strip() == "(('a', 'b'),)"


def test_open_files_of_bytes_and_of_text_and_lists_of_lines(tmp_path):
    path = write(tmp_path, TEXT)
    with path.open("rb") as file:
        assert [sentence.rows for sentence in read_columns(file)] == ROWS
    with path.open(encoding="utf-8") as file:
        sentences = list(read_columns(file))
    assert [sentence.rows for sentence in sentences] == ROWS
    assert sentences[0].source == str(path)
    assert [sentence.rows for sentence in read_columns(TEXT.split("\n"))] == ROWS


@pytest.mark.parametrize("line", [1, 2, 40_000])
def test_invalid_bytes_name_the_line(tmp_path, line):
    path = write(tmp_path, b"a\xc3\xa9 O\n" * (line - 1) + b"caf\xe9 O\n" + b"b O\n" * 3)
    with pytest.raises(DataError, match=rf"data\.txt, line {line}: .*utf-8.*encoding=.*latin-1"):
        list(read_columns(path))
    last = list(read_columns(path, encoding="latin-1"))[-1]
    assert last.rows[line - 1] == ("café", "O")


def test_a_character_cut_by_the_end_of_the_file(tmp_path):
    with pytest.raises(DataError, match="line 2"):
        list(read_columns(write(tmp_path, b"a O\nb\xc3")))


def test_utf16(tmp_path):
    path = write(tmp_path, TEXT.encode("utf-16"))
    assert [sentence.rows for sentence in read_columns(path, encoding="utf-16")] == ROWS
    with pytest.raises(DataError, match="line 1"):
        list(read_columns(path))


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(DataError, match="directory"), open_text(tmp_path):
        pass
    with (
        pytest.raises(FileNotFoundError, match=r"There is no file .*absent\.txt"),
        open_text(tmp_path / "absent.txt"),
    ):
        pass
    with pytest.raises(ConfigError, match="no encoding 'klingon'"), open_text("-", "klingon"):
        pass


def test_a_very_long_line(tmp_path):
    path = write(tmp_path, "x" * 1_000_000 + " O")
    with open_text(path) as lines:
        assert [len(line) for line in lines] == [1_000_002]


def test_the_first_row_decides_the_separator():
    assert rows_of("New York\tNNP\nis\tVBZ\n") == [(("New York", "NNP"), ("is", "VBZ"))]
    assert rows_of(" a   b  c \nd e\tf\n") == [(("a", "b", "c"), ("d", "e", "f"))]
    assert rows_of("a\t\tc\n") == [(("a", "", "c"),)]
    assert rows_of("a  c\n", separator=" ") == [(("a", "", "c"),)]
    assert rows_of("a,b c\n", separator=",") == [(("a", "b c"),)]


def test_blank_lines_are_those_of_spaces_and_tabs():
    assert rows_of("a b\n \t \nc d\n\n\n\ne f") == [(("a", "b"),), (("c", "d"),), (("e", "f"),)]
    assert rows_of("\u00a0\n\na\n") == [(("\u00a0",),), (("a",),)]


def test_leading_lines_and_numbers():
    text = "\n# one\n-DOCSTART- -X- O\n\na b c\n\n\n# two\nd e f\ng h i\n\n"
    first, second = read_columns(io.StringIO(text))
    assert (first.line, first.leading) == (5, ("", "# one", "-DOCSTART- -X- O", ""))
    assert (second.line, second.leading) == (9, ("", "# two"))
    assert second.lines == ("d e f", "g h i")


def test_hash_may_be_a_token():
    assert rows_of("# NN O\n1 CD O\n") == [(("#", "NN", "O"), ("1", "CD", "O"))]
    assert rows_of("# a comment line\n# NN O\n1 CD O\n") == [(("#", "NN", "O"), ("1", "CD", "O"))]
    assert rows_of("a b\n# O\n\n# O\nb c\n") == [(("a", "b"), ("#", "O")), (("#", "O"), ("b", "c"))]
    assert rows_of("a b\n\n# O\n\nc d\n") == [(("a", "b"),), (("#", "O"),), (("c", "d"),)]
    assert rows_of("# id\n\n# more text\na b\n") == [(("a", "b"),)]


def test_comments_can_be_switched_off():
    assert rows_of("# x\na b\n", comments=False) == [(("#", "x"), ("a", "b"))]
    with pytest.raises(DataError, match="line 2: 2 columns, but 1 expected, as in line 1"):
        rows_of("#comment\na b\n", comments=False)


def test_a_comment_inside_a_sentence_is_refused():
    with pytest.raises(DataError, match="input, line 2: 3 columns, but 2 expected, as in line 1"):
        rows_of("a b\n# some comment\n")


def test_docstart_never_joins_a_sentence():
    assert rows_of("a b\n-DOCSTART- O\nc d\n") == [(("a", "b"),), (("c", "d"),)]
    assert rows_of("-DOCSTART-\n\nc d\n") == [(("c", "d"),)]
    assert rows_of("-DOCSTART-\t-X-\nc\td e\n") == [(("c", "d e"),)]
    assert rows_of("-DOCSTART- O\nc d\n", docstart="keep") == [(("-DOCSTART-", "O"), ("c", "d"))]
    assert rows_of("-DOCSTART-s O\n") == [(("-DOCSTART-s", "O"),)]
    assert rows_of("x -DOCSTART-\n") == [(("x", "-DOCSTART-"),)]


def test_ragged_rows_are_refused(tmp_path):
    path = write(tmp_path, "a b\n\nc\n")
    with pytest.raises(DataError, match=r"data\.txt, line 3: 1 column, but 2 expected, as in line 1"):
        list(read_columns(path))


def test_options_are_checked_at_once():
    with pytest.raises(ConfigError, match="separator"):
        read_columns("absent", separator="")
    with pytest.raises(ConfigError, match="docstart"):
        read_columns("absent", docstart="drop")


def test_reading_streams():
    taken = 0

    def endless():
        nonlocal taken
        for number in itertools.count():
            taken += 1
            yield f"word{number} O\n" if number % 3 else "\n"

    sentences = read_columns(endless())
    assert [len(sentence.rows) for sentence in itertools.islice(sentences, 10)] == [2] * 10
    assert taken < 50


@given(
    st.lists(st.lists(st.tuples(*[st.text(st.characters(exclude_characters=" \t\n\r"), min_size=1)] * 2), min_size=1)),
    st.sampled_from([" ", "\t"]),
)
def test_what_is_written_is_read(sentences, separator):
    text = "\n\n".join("\n".join(separator.join(row) for row in rows) for rows in sentences)
    read = rows_of(text, separator=separator, comments=False, docstart="keep")
    assert read == [tuple(rows) for rows in sentences]


def test_split_label():
    (sentence,) = read_columns(["B a x", "? b y"])
    assert split_label(sentence) == ((("B", "a"), ("?", "b")), ("x", "y"))
    assert split_label(sentence, 0) == ((("a", "x"), ("b", "y")), ("B", "?"))
    assert split_label(sentence, -3, unknown="?") == ((("a", "x"), ("b", "y")), ("B", None))
    for column in (3, -4):
        with pytest.raises(DataError, match=f"line 1: there is no column {column}"):
            split_label(sentence, column)


def test_an_empty_label_is_refused_unless_it_means_unknown():
    (sentence,) = read_columns(["# text", "a\tX", "b\t"])
    with pytest.raises(DataError, match="line 3: the label is empty"):
        split_label(sentence)
    assert split_label(sentence, unknown="")[1] == ("X", None)


def test_load_corpus(tmp_path):
    corpus = load_corpus(write(tmp_path, TEXT), unknown="B-VP")
    assert corpus.rows == [[("He", "PRP"), ("saw", "VBD")], [("Éric", "NNP")]]
    assert corpus.labels == [["B-NP", None], ["B-NP"]]
    assert corpus.source.endswith("data.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no sentence"),
        ("\n# only\n\n", "holds no sentence"),
        ("a\nb\n", "line 1: there is only one column"),
    ],
)
def test_corpora_that_cannot_be_used(tmp_path, text, message):
    with pytest.raises(DataError, match=rf"data\.txt.*{message}"):
        load_corpus(write(tmp_path, text))


def test_importing_is_light():
    heavy = ("numba", "sklearn", "scipy", "zstandard")
    code = (
        "import sys, chainfield.data.corpus, chainfield.features.text, chainfield.features.attributes\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


LINES = st.lists(
    st.lists(
        st.sampled_from(["a", "é", "#", "# x", " ", "\t", "  ", "a b", "-DOCSTART-", "\u00a0", "\r"]), max_size=4
    ).map("".join),
    max_size=8,
)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(["", "a b\n\n", "a\tb\n\n", "a\n\n"]),
    LINES,
    st.sampled_from([None, "\t", "|"]),
    st.booleans(),
    st.sampled_from([-1, 0, 1]),
    st.sampled_from([None, "a"]),
)
def test_whole_files_are_read_like_sentence_by_sentence(first, lines, separator, comments, column, unknown):
    def outcome():
        try:
            corpus = load_corpus(path, separator=separator, comments=comments, label_column=column, unknown=unknown)
        except DataError as error:
            return str(error)
        return list(corpus.rows), corpus.labels, corpus.separator

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.txt"
        path.write_bytes((first + "\n".join(lines)).encode())
        quick = outcome()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("chainfield.data.column_blocks.cut_block", lambda *_: None)
            assert quick == outcome()


def test_zeros_may_separate_cells(tmp_path):
    assert load_corpus(write(tmp_path, "a b\0X\n\nc d\0Y\n"), separator="\0").rows == [[("a b",)], [("c d",)]]


def test_plain_files_take_the_quick_way(tmp_path, monkeypatch):
    (tmp_path / "y").write_text("a x\n\n# a comment of several words\n# y\nb y", encoding="utf-8")
    slowly, read = [], SentenceReader.read
    monkeypatch.setattr(SentenceReader, "read", lambda reader, run: [slowly.append(run), *read(reader, run)][1:])
    corpus = load_corpus(tmp_path / "y")
    assert slowly == [["a x", ""]]  # the first sentence, which tells how many columns there are
    assert corpus.rows == [[("a",)], [("#",), ("b",)]]
    assert corpus.labels == [["x"], ["y", "y"]]
    assert corpus.rows[-1] == [("#",), ("b",)]
    assert corpus.rows[1:] == [[("#",), ("b",)]]
    assert corpus.rows[1:].values == [["#", "b"]]
    assert corpus.rows[::-1] == [[("#",), ("b",)], [("a",)]]
    with pytest.raises(IndexError, match="There is no sequence 2"):
        corpus.rows[2]


PIECES = ["a X", "b\tY", "é Z", "# note", "# N", "-DOCSTART- O", "-DOCSTART-", "", "", "", " ", "c  X ", "d X Y"]


def told(sentences):
    """What a reader finds, or that it refuses."""
    try:
        return list(sentences)
    except DataError as error:
        return type(error)


@pytest.mark.parametrize("seed", range(60))
def test_blocks_of_a_stream_hold_the_sentences_that_are_read_one_by_one(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    path = tmp_path / "x.txt"
    for _ in range(20):
        monkeypatch.setattr("chainfield.data.column_blocks.BYTES", int(rng.choice([4, 7, 40, 1000])))
        monkeypatch.setattr("chainfield.data.opening._CHUNK", int(rng.choice([1, 5, 64])))
        weights = np.array([9, 1, 5, 1, 1, 1, 1, 5, 5, 5, 1, 0.5, 0.1])
        lines = rng.choice(PIECES, size=rng.integers(0, 25), p=weights / weights.sum()).tolist()
        newline = "\n" if rng.random() < 0.8 else "\r\n"
        data = (newline.join(lines) + str(rng.choice(["", newline]))).encode()
        data = data.replace(b"\t", b" ") if rng.random() < 0.5 else data
        data = codecs.BOM_UTF8 + data if rng.random() < 0.1 else data
        path.write_bytes(data + (b"\xff" if rng.random() < 0.05 else b""))
        options = {
            "comments": bool(rng.random() < 0.7),
            "docstart": str(rng.choice(["skip", "keep"])),
            "separator": [None, None, " ", "\t"][rng.integers(4)],
            "unknown": [None, "X", ""][rng.integers(3)],
        }
        stream = stream_corpus(path, **options)
        one_by_one = told((list(rows), list(labels)) for rows, labels in stream)
        if not one_by_one:
            continue
        pairs = (pair for block in stream.blocks() for pair in zip(block.rows, block.labels, strict=True))
        assert told((rows, [label for (label,) in labels]) for rows, labels in pairs) == one_by_one, data


def test_streams_tell_where_a_file_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr("chainfield.data.column_blocks.BYTES", 16)
    path = write(tmp_path, b"a\tX\n\n" * 20 + b"b\t\n", "a.txt")
    with pytest.raises(DataError, match="line 41: the label is empty"):
        list(stream_corpus(path).blocks())
    path = write(tmp_path, b"a X\n\n" * 20 + b"b X Y\n", "b.txt")
    with pytest.raises(DataError, match="line 41: 3 columns, but 2 expected"):
        list(stream_corpus(path).blocks())
    path = write(tmp_path, b"a X\n\n" * 20 + b"\xe9 X\n", "c.txt")
    with pytest.raises(DataError, match="line 41: the bytes are not valid utf-8"):
        list(stream_corpus(path).blocks())
    (block,) = stream_corpus(path, encoding="latin-1").blocks()
    assert list(block.rows)[-1] == [("é",)]
    with pytest.raises(DataError, match=r"d\.txt: there is no sentence"):
        list(stream_corpus(write(tmp_path, b"# nothing\n\n", "d.txt")).blocks())
    with pytest.raises(ConfigError, match="separator is empty"):
        list(stream_corpus(path, separator="").blocks())


def test_a_name_that_is_too_long_for_a_file() -> None:
    with pytest.raises(DataError, match=r"^x{80}… cannot be opened: file name too long\.$"):
        load_corpus("x" * 5000)
