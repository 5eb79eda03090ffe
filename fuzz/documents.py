"""Annotated documents in every format, the tokeniser, and files of word vectors.

What a reader takes is written again in some other format: whatever one format holds must not break another.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from choices import Choices
from scratch import folder

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from chainfield.errors import ChainfieldError
from chainfield.formats import FORMATS, read_documents, write_documents
from chainfield.models.neural.vectors import read_vectors
from chainfield.text import Rules
from chainfield.text.document import Document, TextSpan, Token
from support.tokens import tokens as expected_tokens

ENDINGS = {"parquet": (".parquet", ".arrow"), "token-csv": (".csv", ".tsv")}
CHEAP = ("columns", "conllu", "jsonl", "label-studio", "doccano", "prodigy", "token-csv", "text")
NAMES = [name for name, kind in FORMATS.items() if name != "columns" and (not kind.needs or find_spec(kind.needs[0]))]
OPTIONS = ({}, {}, {}, {"text_field": "x"}, {"word_column": "LEMMA", "label_column": "UPOS"}, {"label_column": "9"})


def documents(name: str, data: bytes) -> None:
    """A file of one format: documents whose spans and tokens lie inside of their texts, or a refusal."""
    choices = Choices(data)
    options, other = choices.among(OPTIONS), choices.among(CHEAP)
    path = Path(folder()) / f"d{choices.among(ENDINGS.get(name, FORMATS[name].extensions or ('.txt',)))}"
    content = choices.rest()
    if name == "brat":
        path = Path(folder()) / "d.ann"
        text, _, content = content.partition(b"\0")
        path.with_suffix(".txt").write_bytes(text)
    path.write_bytes(content)
    try:
        found = list(read_documents(path, name, **options))
    except ChainfieldError:
        return
    for document in found:
        _check(document)
    try:
        write_documents(found, Path(folder()) / "o", other)
    except ChainfieldError:  # a lone surrogate
        return
    if other == "jsonl":
        assert list(read_documents(Path(folder()) / "o", "jsonl")) == found


def _check(document: Document) -> None:
    n, last = len(document.text), 0
    assert all(0 <= a < b <= n and isinstance(label, str) and label for a, b, label in document.spans), document
    for a, b in document.tokens or ():
        assert last <= a < b <= n, document
        last = b
    assert all(len(column) == len(document.tokens or ()) for column in document.columns.values()), document


def tokeniser(data: bytes) -> None:
    """A text: compiled code cuts it as the definition of the rules does."""
    text = data.decode("utf-8", "surrogateescape" if data[:1] == b"s" else "replace")
    assert Rules()(text) == expected_tokens(text), text


def vectors(data: bytes) -> None:
    """A file of word vectors: finite numbers, one row per word, or a refusal."""
    path = Path(folder()) / "vectors"
    path.write_bytes(data)
    try:
        words, table = read_vectors(path)
    except ChainfieldError:
        return
    assert table.shape[0] == len(words) == len(set(words))
    assert np.isfinite(table).all()


@functools.cache
def _written(name: str) -> list[bytes]:
    """Some documents in a format, with the bytes of the choices in front."""
    some = [
        Document("In New York, ok.", (TextSpan(3, 11, "place"),), (Token(0, 2), Token(3, 6), Token(7, 11))),
        Document("é\U0001f600 \"x\"\t1", (TextSpan(0, 2, "a"), TextSpan(1, 2, "b-c"))),
        Document("a b", (), (Token(0, 1), Token(2, 3)), {"UPOS": ("N", "V")}, {"id": 3, "name": "n"}),
    ]  # fmt: skip
    found = []
    for i, ending in enumerate(ENDINGS.get(name, FORMATS[name].extensions or (".txt",))):
        path = Path(folder()) / ("brat" if name == "brat" else f"s{ending}")
        write_documents(some, path, name)
        if name == "brat":
            pairs = [path / stem for stem in ("000000", "000001", "n")]
            found += [
                b"\0\0\0" + p.with_suffix(".txt").read_bytes() + b"\0" + p.with_suffix(".ann").read_bytes()
                for p in pairs
            ]
            return found
        found += [bytes([option, other, i]) + path.read_bytes() for option in (0, 4) for other in (2, 0, 1, 6)]
    return found


TEXTS = [
    "Dr. Smith's U.S. mail: a.b@c.org, http://x.y/z?q=1!",
    "3.14 -- 1,000€ don't 中文。\u200b\ud800",
    "A\r\n\r\nB…",
]
TARGETS: dict[str, Callable[[bytes], None]] = {
    **{name.replace("-", "_"): partial(documents, name) for name in NAMES},
    "tokeniser": tokeniser,
    "vectors": vectors,
}
SEEDS: dict[str, Callable[[], list[bytes]]] = {
    **{name.replace("-", "_"): partial(_written, name) for name in NAMES},
    "tokeniser": lambda: [sign + text.encode("utf-8", "surrogatepass") for sign in (b"", b"s") for text in TEXTS],
    "vectors": lambda: [b"2 3\na 1 2 3\nb -1 .5 1e3\n", b"a 1\nb 2\na 3\n\n"],
}
