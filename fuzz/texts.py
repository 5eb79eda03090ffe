"""Readers of text: column files, compressed files, templates in all three dialects, regular expressions."""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import lzma
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import zstandard
from choices import Choices

from chainfield.data.column_blocks import blocks_of
from chainfield.data.corpus import take_labels
from chainfield.data.opening import _reader
from chainfield.data.sentences import SentenceReader
from chainfield.errors import ChainfieldError
from chainfield.features import TemplateFeatures, parse_template
from chainfield.features.wapiti_regex import first_matches
from chainfield.limits import raised

BLANKS = re.compile(rb"(?:[ \t\r]*(?:\n|\Z)|-DOCSTART-[^\n]*(?:\n|\Z)){3}")
SEPARATORS = (None, "\t", " ", ",", "é")
LINES = (
    b"a b\n",
    b"a\tb\n",
    b"\n",
    b"# c\n",
    b"-DOCSTART- O\n",
    b" \n",
    b"a  b \n",
    b"\xc3\xa9 \xe4\xb8\xad\n",
    b"a b\r\n",
)


def columns(data: bytes) -> None:
    """A column file, cut by compiled code and line by line: the same rows, or the same refusal."""
    choices = Choices(data)
    options = (choices.among(SEPARATORS), choices.chance(2), choices.among(("skip", "keep")))
    size, limited = choices.among((1, 7, 64, 1 << 16)), choices.chance(4)
    text = choices.rest()
    limited = limited and not BLANKS.search(text)  # only reading line by line counts blank lines between sentences
    with raised(**({"line_bytes": 40, "sentence_lines": 6, "columns": 4} if limited else {})):
        found = _answer(lambda: _by_blocks(text, size, options))
        expected = _answer(lambda: _by_lines(text, options))
    assert found == expected, (found, expected)


def _by_blocks(text: bytes, size: int, options: Any) -> list[Any]:
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    rows: list[Any] = []
    for block in blocks_of(chunks, SentenceReader(*options, source="f")):
        rows += block.rows
        block.line_of(0)
        if block.rows.n_columns > 1:
            take_labels(block, unknown="")
    return rows


def _by_lines(text: bytes, options: Any) -> list[Any]:
    decoded = text.decode("utf-8-sig")
    lines = decoded.removesuffix("\n").split("\n") if decoded else []
    reader = SentenceReader(*options, source="f")
    runs = [[line] for line in lines]
    return [list(sentence.rows) for sentence in reader.sentences(runs)]


def _answer(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ChainfieldError, UnicodeDecodeError):  # that something is wrong, not in which words
        return "refused"


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda text: gzip.compress(text, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda text: zstandard.ZstdCompressor().compress(text),
}


def compressed(data: bytes) -> None:
    """Compressed bytes: as they are, or packed here and then damaged."""
    choices = Choices(data)
    suffix, ours = choices.among(list(PACKERS)), choices.chance(2)
    bites = [choices.below(1 << 16) for _ in range(choices.below(4))] if ours else []
    text = choices.rest()
    packed = bytearray(PACKERS[suffix](text * 50) if ours else text)
    for bite in bites if packed else []:
        packed[bite % len(packed)] ^= 1 + bite % 255
    read = _reader(io.BytesIO(bytes(packed)), f"f{suffix}")
    try:
        with raised(unpacked_bytes=1 << 22):
            whole = b"".join(iter(read, b""))
    except ChainfieldError:
        return
    assert not ours or bites or whole == text * 50


ROWS = [[("The", "DT"), ("a/b", "x y"), ("", "é")], [("2x", "")], []]
DIALECTS = (None, "crfpp", "wapiti", "chainfield")


def templates(data: bytes) -> None:
    """A template: what compiled code makes of it is what it says."""
    choices = Choices(data)
    dialect = choices.among(DIALECTS)
    text = choices.rest().decode("utf-8", "replace")
    try:
        found = parse_template(text, dialect=dialect)
    except ChainfieldError:
        return
    assert parse_template(found.text, dialect=found.dialect) == found
    if found.n_columns_needed > 2:
        return
    features = TemplateFeatures(found)
    features.learn(ROWS)
    batch, names = features.encode(ROWS), features.feature_names()
    expected = [set(strings) for rows in ROWS for strings in found.expand(rows)[0]]
    assert batch.sparse is not None
    bounds = pairwise(batch.sparse.indptr.tolist())
    strings = [{names[i] for i in batch.sparse.indices[a:b].tolist() if i >= 0} for a, b in bounds]
    assert strings == expected, (strings, expected)


def expressions(data: bytes) -> None:
    """A regular expression: what Python's own expressions find, where those take no time."""
    choices = Choices(data)
    items = [
        (choices.among((*"ab.", "\\d", "\\L", "\\.")), choices.among(("", "", "*", "?")))
        for _ in range(choices.below(7))
    ]
    start, end = choices.among(("", "^")), choices.among(("", "$"))
    value = choices.rest().decode("latin-1")[:12]
    expression = start + "".join(item + repeat for item, repeat in items) + end
    plain = {"\\d": "[0-9]", "\\L": "[^a-z]"}
    python = "".join(plain.get(item, item) + {"*": "*?"}.get(repeat, repeat) for item, repeat in items)
    python = ("\\A" if start else "") + python + ("\\Z" if end else "")
    match = re.search(python.encode(), value.encode(), re.DOTALL)
    expected = match[0].decode("utf-8", "backslashreplace") if match else ""
    assert first_matches(expression, [value]) == [expected], (expression, value)


@functools.cache
def _files() -> list[bytes]:
    return [b"\0\0\0" + line * 3 + b"\n" + other + b"\n" for line in LINES for other in LINES]


TEMPLATES = [
    b"U00:%x[-1,0]/%x[0,0]\nU01:%x[0,1]\nB\n", b"u:%m[0,0,\"^.?.*$\"]\n*:%T[-1,1,\"\\u\"]\nb\n",
    b"U:s=%x[0,0,suffix:2]\nB:x=%x[1,1]\n",
    b"u:%X[@-1,0]\n", b"U:a=%x[0,0,has:a*b?]\nU:b=%x[0,0,shape]\n# c\n",
]  # fmt: skip
TARGETS: dict[str, Callable[[bytes], None]] = {
    "columns": columns,
    "compressed": compressed,
    "templates": templates,
    "expressions": expressions,
}
SEEDS: dict[str, Callable[[], list[bytes]]] = {
    "columns": _files,
    "compressed": lambda: (
        [bytes([i, 1, 0]) + b"a b\n\n" for i in range(4)]
        + [bytes([i, 0]) + pack(b"a b\n\n") for i, pack in enumerate(PACKERS.values())]
    ),
    "templates": lambda: [bytes([i]) + text for i in range(4) for text in TEMPLATES],
}
