"""US addresses: trained from labelled XML, parsed as strings; beside the package usaddress on the same strings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from chainfield import LinearCRF, TextTagger
from chainfield.text import Document, make_document

from .measure import Measurements, Options, alternate

REPEATS = 7
TOKENISERS = {"rules": None, "spaces": r"\S+"}
PENALTIES = (0.1, 0.3, 1.0)


def read_addresses(path: Path) -> list[Document]:
    """Addresses with one span for each row of elements of one label."""
    found = []
    for i, address in enumerate(ElementTree.parse(path).getroot()):
        text, spans = address.text or "", []
        for element in address:
            start = len(text)
            text += element.text or ""
            if spans and spans[-1][2] == element.tag and not text[spans[-1][1] : start].strip():
                spans[-1] = (spans[-1][0], len(text), element.tag)
            else:
                spans.append((start, len(text), element.tag))
            text += element.tail or ""
        found.append(make_document(text, spans, where=f"{path.name}, address {i}"))
    return found


def words(document: Document) -> list[tuple[int, str]]:
    """(place, label) of each word between spaces that a span labels: its first letter or digit."""
    found, at = [], 0
    for word in document.text.split(" "):
        place = next((at + i for i, c in enumerate(word) if c.isalnum()), None)
        label = next((y for a, b, y in document.spans if place is not None and a <= place < b), None)
        if place is not None and label is not None:
            found.append((place, label))
        at += len(word) + 1
    return found


def accuracy(documents: list[Document], answers: list[list[tuple[int, int, str]]]) -> tuple[float, float]:
    """The share of words with the right label, and of addresses whose words all have it."""
    right = total = whole = 0
    for document, own in zip(documents, answers, strict=True):
        hits = [any(a <= at < b and y == label for a, b, y in own) for at, label in words(document)]
        right, total, whole = right + sum(hits), total + len(hits), whole + all(hits)
    return right / total, whole / len(documents)


def run(options: Options) -> Measurements:
    """Choose tokeniser and penalty on a fifth of the training data, train on all of them, parse the test strings."""
    folder = Path(os.environ.get("CHAINFIELD_DATA", "")) / "usaddress"
    if not (folder / "train_labeled.xml").is_file():
        raise click.ClickException("The corpus usaddress is missing: set CHAINFIELD_DATA to a folder that holds it.")
    train = read_addresses(folder / "train_labeled.xml")[: options.sample]
    test = read_addresses(folder / "test_labeled.xml")[: options.sample]
    part, dev = [d for i, d in enumerate(train) if i % 5], train[::5]
    scores = {
        (name, l2): accuracy(dev, _parsed(_tagger(name, l2).fit(part), dev))[1]
        for name in TOKENISERS
        for l2 in PENALTIES
    }
    name, l2 = max(scores, key=lambda choice: scores[choice])
    tagger = _tagger(name, l2).fit(train)
    result = Measurements("addresses")
    strings = [document.text for document in test]
    many = (strings * (1 + 5000 // len(strings)))[:5000]
    result.figures["words_right"], result.figures["addresses_right"] = accuracy(test, _parsed(tagger, test))
    contestants: dict[str, Callable[[], Any]] = {
        "one_by_one": lambda: [tagger.predict([text], probabilities=False) for text in strings],
        "batch": lambda: tagger.predict(many, probabilities=False),
        "batch_probabilities": lambda: tagger.predict(many),
    }
    sizes = {"one_by_one": len(strings), "batch": len(many), "batch_probabilities": len(many)}
    if find_spec("usaddress"):
        import usaddress

        theirs = [_placed(text, usaddress.parse(text)) for text in strings]
        right, whole = accuracy(test, theirs)
        result.figures |= {"usaddress_words_right": right, "usaddress_addresses_right": whole}
        result.figures |= _same_data(part, dev, train, test)
        contestants["usaddress"] = lambda: [usaddress.parse(text) for text in strings]
        sizes["usaddress"] = len(strings)
    else:
        result.notes.append("usaddress is not installed, so it did not take part.")
    for function in contestants.values():
        function()
    result.samples = alternate(contestants, options.repeats or REPEATS)
    for own, n in sizes.items():
        result.figures[f"{own}_addresses_per_second"] = n / (result.middle(own) or 1.0)
    for own in ("one_by_one", "batch", "batch_probabilities"):
        peer = result.figures.get("usaddress_addresses_per_second")
        if peer:
            result.figures[f"{own}_speedup_usaddress"] = result.figures[f"{own}_addresses_per_second"] / peer
    result.notes.append(
        f"{len(train):,} labelled addresses train the model, {len(test)} others test it, as strings. The tokeniser "
        f"({name}) and the penalty (l2 = {l2}) were chosen on a fifth of the training data. A word counts as right if "
        "its first letter or digit has the gold label. The model of usaddress is the one that its package brings, "
        "which learned from these training data and others. same_data: its tokeniser "
        "and features, trained by python-crfsuite on the same addresses, the penalty chosen on the same fifth. "
        "batch: 5,000 strings at once, all threads; usaddress "
        "parses one string at a time, on one thread."
    )
    return result


def _same_data(
    part: list[Document], dev: list[Document], train: list[Document], test: list[Document]
) -> dict[str, float]:
    """What features of usaddress give if they learn from no more than ours: the fair comparison."""
    scores = {l2: accuracy(dev, _featured(_crfsuite(part, l2), dev))[1] for l2 in PENALTIES}
    best = max(scores, key=lambda l2: scores[l2])
    right, whole = accuracy(test, _featured(_crfsuite(train, best), test))
    return {"same_data_words_right": right, "same_data_addresses_right": whole}


def _crfsuite(documents: list[Document], l2: float) -> Any:
    import pycrfsuite
    import usaddress

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c2": l2})
    for document in documents:
        tokens = usaddress.tokenize(document.text)
        labels = []
        for a, b, _ in _placed(document.text, [(token, "") for token in tokens]):
            at = next((i for i in range(a, b) if document.text[i].isalnum()), a)
            labels.append(next((y for lo, hi, y in document.spans if lo <= at < hi), None))
        if tokens and len(tokens) == len(labels) and None not in labels:
            trainer.append(usaddress.tokens2features(tokens), labels)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.crfsuite"
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open_inmemory(Path(path).read_bytes())
    return tagger


def _featured(tagger: Any, documents: list[Document]) -> list[list[tuple[int, int, str]]]:
    import usaddress

    found = []
    for document in documents:
        tokens = usaddress.tokenize(document.text)
        labels = tagger.tag(usaddress.tokens2features(tokens))
        found.append(_placed(document.text, list(zip(tokens, labels, strict=True))))
    return found


def _tagger(name: str, l2: float) -> TextTagger:
    return TextTagger(model=LinearCRF(l2=l2), tokeniser=TOKENISERS[name], misaligned="expand", overlapping="longest")


def _parsed(tagger: TextTagger, documents: list[Document]) -> list[list[tuple[int, int, str]]]:
    found = tagger.predict([document.text for document in documents], probabilities=False)
    return [[(span.start, span.end, span.label) for span in own] for own in found]


def _placed(text: str, parsed: list[tuple[str, str]]) -> list[tuple[int, int, str]]:
    """Tokens of usaddress by character."""
    found, at = [], 0
    for token, label in parsed:
        start = text.find(token, at)
        if start >= 0:
            at = start + len(token)
            found.append((start, at, label))
    return found
