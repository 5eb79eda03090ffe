"""The component for spaCy's pipelines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomllib

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, Span  # noqa: E402
from spacy.training import Example  # noqa: E402

import chainfield.spacy  # noqa: E402
from chainfield import LinearCRF, TextTagger  # noqa: E402
from chainfield.errors import ConfigError, DataError  # noqa: E402
from support.texts import corpus  # noqa: E402

TEXTS = ["Bob lives in Rome.", "Is Zoë O'Neil in São Paulo?", "", "."]
FOUND = [[("Bob", "PER"), ("Rome", "LOC")], [("Zoë O'Neil", "PER"), ("São Paulo", "LOC")], [], []]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spacy") / "text.cf"
    TextTagger(model=LinearCRF(n_jobs=2)).fit(*corpus(80)).save(path)
    return path


def ents(docs: Any) -> list[list[tuple[str, str]]]:
    return [[(e.text, e.label_) for e in doc.ents] for doc in docs]


def test_the_entry_point_leads_to_the_factory() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["chainfield"].partition(":")
    assert module == "chainfield.spacy"
    assert callable(getattr(chainfield.spacy, name))


@pytest.mark.parametrize("tokens", ["model", "spacy"])
def test_entities(model: Path, tokens: str) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("chainfield", config={"model": str(model), "tokens": tokens})
    assert pipe.labels == ("LOC", "PER")
    docs = list(nlp.pipe(TEXTS * 40, batch_size=7))
    assert ents(docs) == FOUND * 40
    assert [doc.text for doc in docs] == TEXTS * 40
    direct = TextTagger.predict(pipe.tagger, TEXTS[:1])[0]
    if tokens == "model":
        assert [e._.probability for e in docs[0].ents] == [s.probability for s in direct]
    assert all(0 < e._.probability <= 1 for doc in docs for e in doc.ents)
    assert ents([nlp(TEXTS[1])]) == FOUND[1:2]


@pytest.mark.parametrize("way", ["disk", "bytes"])
def test_it_is_saved_with_the_pipeline(model: Path, tmp_path: Path, way: str) -> None:
    copy = tmp_path / "copy.cf"
    copy.write_bytes(model.read_bytes())
    nlp = spacy.blank("en")
    nlp.add_pipe("chainfield", config={"model": str(copy), "spans_key": "found"})
    if way == "disk":
        nlp.to_disk(tmp_path / "pipeline")
        copy.unlink()  # the pipeline holds its own
        again = spacy.load(tmp_path / "pipeline")
    else:
        data = nlp.to_bytes()
        copy.unlink()
        again = spacy.blank("en")
        again.add_pipe("chainfield")
        again.from_bytes(data)
    doc = again(TEXTS[1])
    assert [(s.text, s.label_) for s in doc.spans["found"]] == FOUND[1]
    assert not doc.ents


def test_entities_that_are_there_stay(model: Path) -> None:
    nlp = spacy.blank("en")
    pipe = chainfield.spacy.SpanTagger(model=model)
    doc = nlp.make_doc("Bob lives in Rome.")
    doc.ents = [Span(doc, 3, 4, label="CITY")]
    assert ents([pipe(doc)]) == [[("Bob", "PER"), ("Rome", "CITY")]]
    pipe.overwrite = True
    assert ents([pipe(doc)]) == FOUND[:1]


@pytest.mark.parametrize("tokens", ["model", "spacy"])
def test_initialize_trains(tokens: str, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("chainfield", config={"tokens": tokens})
    examples = []
    for text, spans in zip(*corpus(80), strict=True):
        reference = nlp.make_doc(text)
        reference.ents = [reference.char_span(a, b, label=y, alignment_mode="expand") for a, b, y in spans]
        examples.append(
            Example(Doc(nlp.vocab, [t.text for t in reference], [bool(t.whitespace_) for t in reference]), reference)
        )
    nlp.initialize(lambda: examples)
    assert ents([nlp(TEXTS[0])]) == FOUND[:1]
    assert nlp.evaluate(examples)["ents_f"] > 0.95
    nlp.to_disk(tmp_path / "trained")
    assert ents([spacy.load(tmp_path / "trained")(TEXTS[0])]) == FOUND[:1]


def test_bad_input(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("chainfield")
    with pytest.raises(ConfigError, match="has no model"):
        nlp("Bob")
    with pytest.raises(DataError, match="no entities"):
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a b"), {})])
    with pytest.raises(ConfigError, match="tokens is 'other'"):
        chainfield.spacy.SpanTagger(tokens="other")
    with pytest.raises(DataError, match="not those of a chainfield component"):
        pipe.from_bytes(spacy.util.srsly.msgpack_dumps({"x": b""}))
    with pytest.raises(FileNotFoundError, match=r"missing\.cf"):
        chainfield.spacy.SpanTagger(model=tmp_path / "missing.cf")(nlp.make_doc("Bob"))
