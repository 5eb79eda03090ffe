"""Raw text: tokenising, and tagging with a model of CoNLL-2003; beside spaCy and Hugging Face's tokenizers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from chainfield import TextTagger, load
from chainfield.formats import read_documents
from chainfield.text import Rules

from .measure import Measurements, Options, alternate

REPEATS = 7
THREADS = (1, 2)


def run(options: Options) -> Measurements:
    """Train on eng.train, tag the sentences of eng.testa and eng.testb as strings."""
    folder = Path(os.environ.get("CHAINFIELD_DATA", "")) / "conll2003"
    if not (folder / "eng.train").is_file():
        raise click.ClickException("The corpus conll2003 is missing: set CHAINFIELD_DATA to a folder that holds it.")
    train = list(read_documents(folder / "eng.train", "columns"))[: options.sample]
    held_out = [d for part in ("eng.testa", "eng.testb") for d in read_documents(folder / part, "columns")]
    texts = [document.text for document in held_out][: options.sample]
    result = Measurements("text")
    with tempfile.TemporaryDirectory() as name:
        model, raw = Path(name) / "text.cf", Path(name) / "raw.txt"
        TextTagger().fit([document.text for document in train], [document.spans for document in train]).save(model)
        raw.write_text("\n".join(texts) + "\n", encoding="utf-8")
        contestants = _contestants(texts, model, raw, result)
        for function in contestants.values():
            function()
        result.samples = alternate(contestants, options.repeats or REPEATS)
    tokens = Rules().cut(texts)
    result.figures["tokens"] = float(len(tokens))
    result.figures["offsets_wrong"] = float(_wrong(texts, tokens.places()))
    for own in contestants:
        result.figures[f"{own}_tokens_per_second"] = len(tokens) / (result.middle(own) or 1.0)
    for peer, own in (
        ("spacy_tokenise", "tokenise"),
        ("bert_tokenise", "tokenise"),
        ("spacy_ner", "tag_1"),
        ("spacy_ner", "tag_2"),
    ):
        result.speedup(f"{own}_speedup_{peer}", peer, own)
    result.notes.append(
        "The sentences of eng.testa and eng.testb as strings. Tokens per second are those of our tokeniser for all, so "
        "that ratios are those of time. tokenise: one thread, offsets as arrays. tag: TextTagger.predict with exact "
        "probabilities, tag_labels without them, on 1 and 2 threads; command: the whole process of chainfield tag "
        "--text, from its start to JSON lines. spacy_tokenise: nlp.tokenizer of spacy.blank('en'); bert_tokenise: "
        "BertPreTokenizer, string by string; spacy_ner: a blank English pipeline with a new ner component of four "
        "labels, by nlp.pipe (its weights are not trained, which does not change its speed much)."
    )
    return result


def _contestants(texts: list[str], model: Path, raw: Path, result: Measurements) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {"tokenise": lambda: Rules().cut(texts)}
    for threads in THREADS:
        tagger = load(model, n_jobs=threads)
        found[f"tag_{threads}"] = lambda t=tagger: t.predict(texts)
        found[f"tag_labels_{threads}"] = lambda t=tagger: t.predict(texts, probabilities=False)
    program = [
        sys.executable,
        "-m",
        "chainfield",
        "tag",
        str(model),
        str(raw),
        "--text",
        "--to",
        "jsonl",
        "-o",
        os.devnull,
    ]
    found["command"] = lambda: subprocess.run(program, check=True, capture_output=True)
    if find_spec("spacy"):
        import spacy

        nlp = spacy.blank("en")
        found["spacy_tokenise"] = lambda: [doc for doc in nlp.tokenizer.pipe(texts)]
        ner = spacy.blank("en")
        component = ner.add_pipe("ner")
        for label in ("LOC", "MISC", "ORG", "PER"):
            component.add_label(label)
        ner.initialize()
        found["spacy_ner"] = lambda: [doc.ents for doc in ner.pipe(texts)]
    else:
        result.notes.append("spaCy is not installed, so it did not take part.")
    if find_spec("tokenizers"):
        from tokenizers.pre_tokenizers import BertPreTokenizer

        before = BertPreTokenizer()
        found["bert_tokenise"] = lambda: [before.pre_tokenize_str(text) for text in texts]
    else:
        result.notes.append("tokenizers is not installed, so it did not take part.")
    return found


def _wrong(texts: list[str], places: list[list[tuple[int, int]]]) -> int:
    """Tokens that hold spaces or are empty, and characters other than spaces that no token holds."""
    wrong = 0
    for text, own in zip(texts, places, strict=True):
        words = [text[a:b] for a, b in own]
        wrong += sum(not word or any(map(str.isspace, word)) for word in words)
        wrong += "".join(words) != "".join(text.split())
    return wrong
