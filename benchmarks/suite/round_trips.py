"""Round trips: text and spans to every format and back, for random documents and for real corpora."""

from __future__ import annotations

import os
import random
import tempfile
from importlib.util import find_spec
from pathlib import Path

from chainfield.formats import FORMATS, Report, read_documents, write_documents
from chainfield.formats.token_view import from_words, view
from chainfield.text import Document, make_document

from .addresses import read_addresses
from .measure import Measurements, Options, Table

RANDOM = 10_000
NAMES = {
    "columns": "d.conll", "conllu": "d.conllu", "jsonl": "d.jsonl", "label-studio": "d.json",
    "doccano": "d.doccano.jsonl", "prodigy": "d.prodigy.jsonl", "brat": "d", "docbin": "d.spacy",
    "parquet": "d.parquet", "token-csv": "d.csv",
}  # fmt: skip
LABELS = {"columns", "conllu", "token-csv"}  # formats that hold labels of tokens, not offsets
NEEDS = {"docbin": "spacy", "parquet": "pyarrow"}
PIECES = [
    *"aB1 .,'\"\\#|\t\n\r-_=;O", "é", "e\u0301", "\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "שלום", "مرحبا",
    "\u200f", "\u200b", "\u2028", "\ufeff", "\x85", "\0", "北", "\xa0", "  ", "\r\n", "B-X", "word", "Ärger", "naïve",
]  # fmt: skip


def run(options: Options) -> Measurements:
    """Every format with every source."""
    root, n = Path(os.environ.get("CHAINFIELD_DATA", "")), options.sample or RANDOM
    sources = {f"{n:,} random documents": random_documents(n)}
    for name, file in {
        "wikigold": "wikigold/wikigold.conll.txt",
        "CoNLL-2003": "conll2003/eng.testb",
        "SNIPS": "snips/snips.train.conll",
    }.items():
        if (root / file).is_file():
            sources[name] = list(read_documents(root / file, "columns"))[: options.sample]
    if (root / "usaddress").is_dir():
        sources["US addresses"] = read_addresses(root / "usaddress" / "train_labeled.xml")[: options.sample]
    result, rows = Measurements("round-trips"), []
    for name, documents in sources.items():
        plain = [Document(d.text, tuple(sorted(d.spans))) for d in documents]
        for kind, file in NAMES.items():
            if kind in NEEDS and not find_spec(NEEDS[kind]):
                result.notes.append(f"{kind}: {NEEDS[kind]} is not installed.")
                continue
            same, reported, wrong = compare(plain, kind, file)
            rows.append([name, kind, len(plain), sum(len(d.spans) for d in plain), same, reported, wrong])
    result.figures["documents"] = float(sum(map(len, sources.values())))
    result.figures["documents_wrong"] = float(sum(row[-1] for row in rows))
    head = ("source", "format", "documents", "spans", "identical", "differ as reported", "wrong")
    result.tables = [Table("Text and spans after a round trip", head, rows)]
    result.notes.append(
        "Random documents: emoji, combining marks, right to left, zero width, line ends, tabs, NUL, empty texts, spans "
        "anywhere. Formats of token labels cannot hold spans that overlap, or that end in spaces, and columns hold no "
        "document without a word: these differ, and the report counts them."
    )
    assert set(NAMES) == set(FORMATS) - {"text"}
    return result


def random_documents(n: int) -> list[Document]:
    """Texts of up to 20 pieces with up to 3 spans."""
    rng, found = random.Random(0), []
    for _ in range(n):
        text = "".join(
            rng.choice(PIECES) if rng.random() < 0.8 else _any_character(rng) for _ in range(rng.randrange(21))
        )
        spans = []
        for _ in range(rng.randrange(4) if text else 0):
            start = rng.randrange(len(text))
            spans.append((start, rng.randrange(start + 1, len(text) + 1), rng.choice(["LOC", "a-b", "北"])))
        found.append(make_document(text, sorted(set(spans))))
    return found


def _any_character(rng: random.Random) -> str:
    """Any but the halves of pairs."""
    code = rng.randrange(0x110000 - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)


def compare(documents: list[Document], kind: str, file: str) -> tuple[int, int, int]:
    """Documents that are identical, that differ in what the format cannot hold, and that are wrong."""
    with tempfile.TemporaryDirectory() as folder:
        report = write_documents(documents, f"{folder}/{file}", kind)
        again = list(read_documents(f"{folder}/{file}", kind))
    expected = [(d, held(d) if kind in LABELS else d) for d in documents]
    kept = [(d, e) for d, e in expected if e.tokens != () or kind == "token-csv"]
    pairs = list(zip(kept, again, strict=False))
    right = sum((e.text, sorted(e.spans)) == (b.text, sorted(b.spans)) for (_, e), b in pairs)
    same = sum((d.text, sorted(d.spans)) == (b.text, sorted(b.spans)) for (d, _), b in pairs)
    unreported = 0 if report or right == same == len(documents) else len(documents) - same
    wrong = len(kept) - right + abs(len(kept) - len(again)) + unreported
    return same, len(documents) - same - wrong, wrong


def held(document: Document) -> Document:
    """What labels of tokens can hold of a document."""
    found = view(document, 0, Report())
    kept = from_words(found.words, found.labels, where="", gaps=found.gaps)
    return Document(document.text, kept.spans, kept.tokens)
