"""Every format: text and spans go in and come out the same, what does not fit is reported, bad files are refused."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from chainfield import limits
from chainfield.errors import ConfigError, DataError
from chainfield.formats import FORMATS, Report, convert, format_of, read_documents, write_documents
from chainfield.formats.endings import annotated
from chainfield.text import Document, TextSpan, Token, make_document
from support.texts import corpus

EXTENSIONS = {
    "columns": "d.conll", "conllu": "d.conllu", "jsonl": "d.jsonl", "label-studio": "d.json",
    "doccano": "d.doccano.jsonl", "prodigy": "d.prodigy.jsonl", "brat": "d/", "docbin": "d.spacy",
    "parquet": "d.parquet", "token-csv": "d.csv",
}  # fmt: skip
ALL = sorted(EXTENSIONS)
NIGHTLY = bool(os.environ.get("CHAINFIELD_NIGHTLY"))  # then more than 10,000 documents go through every format
# What holds any spans; the others hold what labels of tokens can.
OFFSETS = {"jsonl", "label-studio", "doccano", "prodigy", "brat", "docbin", "parquet"}
NEEDS = {"docbin": "spacy", "parquet": "pyarrow"}
CHARACTERS = st.one_of(
    st.sampled_from([*"aB1 .,'\"\\#|\t\n\r-_", "é", "e\u0301", "👩‍👧", "🇩🇪", "שלום", "\u200f", "\u200b", "\u2028",
                     "\ufeff", "\x85", "\0", "北", "\xa0", "=", ";", "  ", "\r\n", "O", "B-X"]),
    st.characters(exclude_categories=["Cs"]),
)  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = "".join(draw(st.lists(CHARACTERS, max_size=20)))
    spans = []
    for _ in range(draw(st.integers(0, 3)) if text else 0):
        a = draw(st.integers(0, len(text) - 1))
        spans.append((a, draw(st.integers(a + 1, len(text))), draw(st.sampled_from(["LOC", "a-b", "北"]))))
    return make_document(text, list(dict.fromkeys(spans)))


def available(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])


def round_trip(found: list[Document], name: str, folder: Path) -> tuple[list[Document], Report]:
    path = f"{folder}/{EXTENSIONS[name]}"
    if name == "brat":
        path = f"{folder}/d{len(list(folder.iterdir()))}/"
    report = write_documents(found, path, name)
    return list(read_documents(path, name)), report


def held(document: Document, name: str) -> Document | None:
    """What a format can hold of a document: labels hold spans without spaces at their ends, none overlapping."""
    from chainfield.formats.token_view import view

    spans = tuple(sorted(document.spans))
    if name in OFFSETS:
        return Document(document.text, spans)
    report = Report()
    found = view(document, 0, report)
    if not found.words and name != "token-csv":
        return None
    from chainfield.formats.token_view import from_words

    return Document(document.text, from_words(found.words, found.labels, where="", gaps=found.gaps).spans)


@pytest.mark.parametrize("name", ALL)
@settings(
    max_examples=4000 if NIGHTLY else 25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(found=st.lists(documents(), max_size=5))
def test_round_trips(name: str, tmp_path: Path, found: list[Document]) -> None:
    available(name)
    assume(found or name != "brat")  # an empty folder is refused
    again, report = round_trip(found, name, tmp_path)
    expected = [kept for document in found if (kept := held(document, name)) is not None]
    assert [d.text for d in again] == [d.text for d in expected]
    assert [sorted(d.spans) for d in again] == [sorted(d.spans) for d in expected]
    if name in OFFSETS:
        assert not report
    else:
        lost = sum(len(d.spans) for d in found) - sum(len(d.spans) for d in again)
        counted = sum(n for what, n in report.counts.items() if what.startswith("span "))
        assert lost == counted


@pytest.mark.parametrize("name", ALL)
def test_ordinary_texts_lose_nothing(name: str, tmp_path: Path) -> None:
    available(name)
    texts, spans = corpus(60)
    found = [make_document(text, own) for text, own in zip(texts, spans, strict=True)]
    again, report = round_trip(found, name, tmp_path)
    assert not report
    assert [(d.text, d.spans) for d in again] == [(d.text, d.spans) for d in found]


def test_spans_that_end_in_spaces_are_kept_by_docbin(tmp_path: Path) -> None:
    available("docbin")
    found = [make_document("a b  c", spans) for spans in ([(0, 2, "X")], [(1, 3, "X")], [(0, 4, "X"), (4, 6, "Y")])]
    again, report = round_trip(found, "docbin", tmp_path)
    assert not report
    assert [d.spans for d in again] == [d.spans for d in found]


@pytest.mark.parametrize("texts", [["#"], ["#", "a"], ["##"], ["# a"], ["a", "#"], ["#\n#", "b"]])
def test_words_that_look_like_comments_are_kept_by_columns(texts: list[str], tmp_path: Path) -> None:
    again, report = round_trip([make_document(text, []) for text in texts], "columns", tmp_path)
    assert not report
    assert [d.text for d in again] == texts


@pytest.mark.parametrize("source", ALL)
def test_conversions(source: str, tmp_path: Path) -> None:
    available(source)
    texts, spans = corpus(8)
    found = [make_document(text, own) for text, own in zip(texts, spans, strict=True)]
    write_documents(found, tmp_path / EXTENSIONS[source].strip("/"), source)
    for target in ("columns", "label-studio", "jsonl", "token-csv"):
        path = tmp_path / f"to-{EXTENSIONS[target]}"
        convert(tmp_path / EXTENSIONS[source].strip("/"), path, source, target)
        again = list(read_documents(path, target))
        assert [(d.text, d.spans) for d in again] == [(d.text, d.spans) for d in found]


def test_everything_of_a_document_is_in_jsonl(tmp_path: Path) -> None:
    full = Document(
        "New York!",
        (TextSpan(0, 8, "LOC"),),
        (Token(0, 3), Token(4, 8), Token(8, 9)),
        {"pos": ("A", "B", "C")},
        {"id": 7},
    )
    assert list(read_documents(_written(tmp_path, full, "d.jsonl"))) == [full]


def _written(folder: Path, document: Document, name: str) -> Path:
    write_documents([document], folder / name)
    return folder / name


CONLLU = """# sent_id = 1
# text = Vámonos al mar.
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tgone\tgo\tVERB\t_\t_\t_\t_\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def test_conllu_has_words_not_row_numbers(tmp_path: Path) -> None:
    path = tmp_path / "d.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    report = Report()
    found = list(read_documents(path, report=report, label_column="UPOS"))
    assert found[0].words() == ["Vamos", "nos", "a", "el", "mar", "."]
    assert [s.label for s in found[0].spans] == ["VERB", "PRON", "ADP", "DET", "NOUN", "PUNCT"]
    assert found[0].text == "Vamos nos a el mar."
    assert report.counts == {"multiword token, read as its words": 2, "empty node": 1}
    assert found[0].columns["LEMMA"][0] == "ir"
    lemmas = list(read_documents(path, word_column="lemma", label_column="3"))
    assert lemmas[0].words()[0] == "ir"
    with pytest.raises(ConfigError, match="CoNLL-U has no column 'NER'; it has ID, FORM"):
        list(read_documents(path, label_column="NER"))
    again = tmp_path / "again.conllu"
    write_documents(found, again)
    assert next(iter(read_documents(again, label_column="UPOS"))).columns == found[0].columns


def test_kaggle_csv(tmp_path: Path) -> None:
    path = tmp_path / "ner.csv"
    path.write_text(
        'Sentence #,Word,POS,Tag\nSentence: 1,"He, ",PRP,O\n,Paris,NNP,B-geo\nSentence: 2,Hi,UH,O\n', "latin-1"
    )
    found = list(read_documents(path, encoding="latin-1"))
    assert [d.spans for d in found] == [(TextSpan(5, 10, "geo"),), ()]
    assert found[0].columns["POS"] == ("PRP", "NNP")


def test_label_studio_counts_as_browsers_do(tmp_path: Path) -> None:
    text = "💩This is an annotation."
    task = {"data": {"text": text}, "annotations": [{"result": [{"type": "labels", "value": {
        "start": 13, "end": 23, "text": "annotation", "labels": ["X"]}}]}]}  # fmt: skip
    path = tmp_path / "d.json"
    path.write_text(json.dumps([task]), encoding="utf-8")
    assert next(iter(read_documents(path))).spans == (TextSpan(12, 22, "X"),)
    task["annotations"][0]["result"][0]["value"] |= {"start": 12, "end": 22}  # characters: the text tells
    path.write_text(json.dumps([task]), encoding="utf-8")
    assert next(iter(read_documents(path))).spans == (TextSpan(12, 22, "X"),)
    task["annotations"][0]["result"][0]["value"] |= {"start": 3, "end": 9}
    path.write_text(json.dumps([task]), encoding="utf-8")
    with pytest.raises(DataError, match=r"d\.json, task 0: the span 3–9 says 'annotation', but there stands"):
        list(read_documents(path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.jsonl", "{", r"d\.jsonl, line 1: this is not JSON"),
        ("d.jsonl", "3", "line 1: there is 3; a JSON object is expected"),
        ("d.jsonl", '{"txt": "a"}', "the field 'text' is missing: what the document says; it has 'txt'"),
        ("d.jsonl", '{"text": 3}', r"the text is 3 \(int\); a string is expected"),
        ("d.jsonl", '\n{"text": "a", "spans": 3}', "line 2: the spans are 3; a list is expected"),
        ("d.jsonl", '{"text": "a", "spans": [3]}', "3 is not a span"),
        ("d.jsonl", '{"text": "a", "spans": [{"start": 0}]}', "the field 'end' or 'end_offset' is missing"),
        ("d.jsonl", '{"text": "a", "spans": [[0, 9, "X"]]}', r"the span 0–9 \(X\) is not inside of the text"),
        ("d.jsonl", '{"text": "a", "spans": [["0", 1, "X"]]}', "is not a span"),
        ("d.jsonl", '{"text": "a", "tokens": [[0, 1], [0, 1]]}', "token 1 is at 0–1"),
        ("d.jsonl", '{"text": "a", "columns": {"p": ["x"]}}', "column 'p' has 1 values, but there are no tokens"),
        ("d.jsonl", "[" * 100000, "this is not JSON"),
        ("d.doccano.jsonl", '{"text": "a"}', "the field 'spans' or 'entities' or 'label' or 'labels' is missing"),
        ("d.prodigy.jsonl", '{"text": "a", "tokens": [1]}', "a token is 1"),
        ("d.json", "nonsense", "this is not JSON"),
        ("d.json", '[{"data": {"a": "x", "b": "y"}}]', "there is no field 'text'; say which one it is: --text-field a"),
        ("d.json", '[{"data": {"text": "x"}, "annotations": 3}]', "'annotations' is 3; a list is expected"),
        ("d.json", '[{"data": {"text": "x"}, "annotations": [{"result": [{"value": {"labels": ["X"]}}]}]}]', "'start'"),
        ("d.conllu", "1\tword\n", r"d\.conllu, line 1: 2 columns, but CoNLL-U has 10"),
        ("d.conllu", "\t".join("abcdefghij"), "the first column is 'a'; the number of the word is expected"),
        ("d.conllu", "1\t" + "\t".join("_________").replace("_", "", 1), "line 1: word 1 is empty; fill it in"),
        ("d.csv", "a,b\n1,2\n", "no column is called word, token, form, text"),
        ("d.csv", "word,tag\nx,O\n", "no column says where a sentence ends"),
        ("d.csv", "sentence,word,tag\n1,x\n", "line 2: 2 columns, but the header has 3"),
        ("d.csv", "sentence,word,tag\n1,,O\n", "the word in row 1 of the sentence is empty"),
        ("d.csv", "sentence,word,tag\n1,x,\n", "the label of row 1 of the sentence is empty"),
        ("d.conll", "a b\nc\n", "1 column, but 2 expected"),
        ("d.conll", "# text = xyz\na\tO\n", "the words are not those of the text"),
    ],
)  # fmt: skip
def test_bad_files(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        list(read_documents(tmp_path / name))


def test_endless_files(tmp_path: Path) -> None:
    row = "1" + "\tx" * 9 + "\n"
    for name, content in (("d.conllu", row * 9), ("d.csv", "sentence,word\n" + "1,x\n" * 9)):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with limits.raised(sentence_lines=5), pytest.raises(DataError, match="the sentence does not end; the limit is"):
            list(read_documents(tmp_path / name))
    (tmp_path / "d.json").write_text("[\n" * 90, encoding="utf-8")
    (tmp_path / "d.txt").write_text("a" * 90, encoding="utf-8")
    (tmp_path / "d.ann").write_text("", encoding="utf-8")
    for name in ("d.json", "d.ann"):
        with limits.raised(annotation_bytes=50), pytest.raises(DataError, match="too large to be read as a whole"):
            list(read_documents(tmp_path / name))


def test_brat_offsets_of_thousands_of_digits(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("a", encoding="utf-8")
    (tmp_path / "d.ann").write_text("T1\tX 0 " + "9" * 5000 + "\ta\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: 'T1"):
        list(read_documents(tmp_path / "d.ann"))


def test_arrow_offsets_that_lead_nowhere(tmp_path: Path) -> None:
    available("parquet")
    write_documents([Document("abc", (), (Token(0, 3),))] * 3, tmp_path / "d.arrow")
    whole = bytearray((tmp_path / "d.arrow").read_bytes())
    offsets = b"".join(n.to_bytes(4, "little") for n in (0, 3, 6, 9))
    at = whole.index(offsets)
    whole[at + 4 : at + 8] = (2**31 - 1).to_bytes(4, "little")
    (tmp_path / "d.arrow").write_bytes(whole)
    with pytest.raises(DataError, match="cannot be read as Parquet or Arrow"):
        list(read_documents(tmp_path / "d.arrow"))


def test_writing_through_links_and_to_devices(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write_documents([Document("a")], tmp_path / "link.jsonl")
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text(encoding="utf-8").startswith('{"text": "a"')
    with pytest.raises(DataError, match="is a device or a pipe"):
        write_documents([Document("a")], "/dev/null", "jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.jsonl", "real.jsonl"]


def test_bad_bytes_and_long_lines(tmp_path: Path) -> None:
    for name in ("d.jsonl", "d.conll", "d.conllu", "d.csv", "d.json"):
        (tmp_path / name).write_bytes(b"ok\n\xff\xfe")
        with pytest.raises(DataError, match="not valid utf-8"):
            list(read_documents(tmp_path / name))
    (tmp_path / "long.jsonl").write_text("\n" + "x" * (1 << 18), encoding="utf-8")
    with (
        limits.raised(document_bytes=1 << 17),
        pytest.raises(
            DataError,
            match=r"long\.jsonl, line 2: the line is too long; the limit is 131,072 .* set CHAINFIELD_DOCUMENT_BYTES",
        ),
    ):
        list(read_documents(tmp_path / "long.jsonl"))


@pytest.mark.parametrize("name", ["columns", "jsonl", "brat", "token-csv", "label-studio", "parquet"])
def test_lone_surrogates_are_no_text(name: str, tmp_path: Path) -> None:
    available(name)
    with pytest.raises(DataError, match=r"the character '\\ud800' cannot be written"):
        round_trip([Document("a \ud800")], name, tmp_path)
    assert not any(path.is_file() for path in tmp_path.iterdir())


def test_brat(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("New\nYork, Rome", encoding="utf-8")
    (tmp_path / "a.ann").write_text(
        "T1\tLOC 0 8\tNew York\nT2\tLOC 0 3;10 14\tNew Rome\nR1\tx Arg1:T1 Arg2:T2\n", encoding="utf-8"
    )
    report = Report()
    found = list(read_documents(tmp_path, report=report))
    assert found[0].spans == (TextSpan(0, 8, "LOC"),)
    assert len(report.lines()) == 2
    assert str(tmp_path / "a.ann") in report.lines()[0]
    (tmp_path / "a.ann").write_text("T1\tLOC 0 3\tOld", encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.ann, line 1: the annotation says 'Old', but the text there is 'New'"):
        list(read_documents(tmp_path / "a.ann"))
    (tmp_path / "a.ann").write_text("T1 LOC 0 3", encoding="utf-8")
    with pytest.raises(DataError, match="is not 'T1<TAB>label start end<TAB>text'"):
        list(read_documents(tmp_path))


def test_small_files_of_brat_take_little_memory(tmp_path: Path) -> None:
    """Whatever the limit is: it was set aside for every file."""
    (tmp_path / "a.txt").write_text("New York", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tLOC 0 8\tNew York\n", encoding="utf-8")
    tracemalloc.start()
    try:
        assert len(list(read_documents(tmp_path))) == 1
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_prodigy_counts_what_was_rejected(tmp_path: Path) -> None:
    path = tmp_path / "d.prodigy.jsonl"
    path.write_text('{"text": "a", "answer": "reject"}\n{"text": "b", "spans": []}\n', encoding="utf-8")
    report = Report()
    assert [d.text for d in read_documents(path, report=report)] == ["b"]
    assert report.lines() == [f"1 × example with the answer 'reject' left out (first: {path}, line 1)"]


def test_formats_are_found() -> None:
    assert format_of("a/b.conllu.gz").name == "conllu"
    assert format_of("x.DOCCANO.JSONL").name == "doccano"
    assert format_of("x.jsonl").name == "jsonl"
    with pytest.raises(ConfigError, match=r"The format of x\.dat cannot be told from its name; say which one"):
        format_of("x.dat")
    with pytest.raises(ConfigError, match="There is no format 'xml'; choose one of columns"):
        format_of("x", "xml")
    with pytest.raises(ConfigError, match="There is no option 'codec' of formats"):
        list(read_documents("x.jsonl", codec="x"))
    assert set(EXTENSIONS) | {"text"} == set(FORMATS)


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_a_missing_package_is_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, NEEDS[name], None)
    with pytest.raises(ConfigError, match=rf"The format {name} needs the package {NEEDS[name]}; install it with: pip"):
        list(read_documents("x", name))


def test_parquet_as_datasets_writes_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    tags = datasets.ClassLabel(names=["O", "B-X", "I-X"])
    features = datasets.Features(
        {"tokens": datasets.Sequence(datasets.Value("string")), "ner_tags": datasets.Sequence(tags)}
    )
    made = datasets.Dataset.from_dict({"tokens": [["a", "b", "c"]], "ner_tags": [[0, 1, 2]]}, features=features)
    made.to_parquet(str(tmp_path / "d.parquet"))
    found = list(read_documents(tmp_path / "d.parquet"))
    assert found[0].spans == (TextSpan(2, 5, "X"),)
    write_documents(found, tmp_path / "again.parquet")
    again = datasets.Dataset.from_parquet(str(tmp_path / "again.parquet"), cache_dir=str(tmp_path / "cache"))
    assert again.features["ner_tags"].feature.names == ["O", "B-X", "I-X"]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1nonsense")
    with pytest.raises(DataError, match="cannot be read as Parquet or Arrow"):
        list(read_documents(tmp_path / "bad.parquet"))


def test_names_of_columns_may_be_written_in_any_way(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("SENTENCE ID,TOKEN,NER-Tag\nSentence: 1,Ann,B-PER\nSentence: 1,is,O\n", encoding="utf-8")
    assert annotated(str(path)) == "token-csv"
    assert [(d.text, d.spans) for d in read_documents(path)] == [("Ann is", (TextSpan(0, 3, "PER"),))]


@pytest.mark.parametrize(
    ("content", "first"),
    [
        ("Sentence: 1,Ann,NNP,B-PER\nSentence: 1,is,VBZ,O\n", "'Sentence: 1', 'Ann', 'NNP', 'B-PER'"),
        ("Sentence: 1,Ann,NNP,B-PER\nSentence: 1,,,,,O\n", "'Sentence: 1', 'Ann', 'NNP', 'B-PER'"),
        ('"Sentence: 1",Ann,B-PER\n', "'Sentence: 1', 'Ann', 'B-PER'"),
        ("doc,tok,entity\n1,Ann,B-PER\n", "'doc', 'tok', 'entity'"),
        ("my doc;tok;entity\n1;Ann;B-PER\n", "'my doc', 'tok', 'entity'"),
    ],
)
def test_a_csv_whose_columns_say_nothing_is_no_column_file(content: str, first: str, tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=rf"its columns \({first}\) do not say .* if there are no names"):
        annotated(str(path))
    path.write_text("1,000 O\nAnn B-PER\n, O\nran O\n\nBob B-PER\n", encoding="utf-8")
    assert annotated(str(path)) is None


def test_sentences_that_come_again_are_refused_by_csv(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("sentence,word,label\n1,Ann,B-PER\n2,Bob,B-PER\n1,is,O\n2,ran,O\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 4: the sentence '1' comes again after others \(it began in line 2\)"):
        list(read_documents(path))
    path.write_text("doc_id,sentence_id,word,label\na,1,Ann,O\nb,1,Bob,O\n,,ran,O\nb,2,Hi,O\n", encoding="utf-8")
    assert [d.text for d in read_documents(path)] == ["Ann", "Bob ran", "Hi"]  # counted anew in every document


def test_brat_projects_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("Rome", encoding="utf-8")
    with pytest.raises(DataError, match=r"holds files of brat already, such as old\.txt; give a new folder"):
        write_documents([make_document("Oslo")], tmp_path, "brat")
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]


def test_brat_counts_annotations_without_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Rome", encoding="utf-8")
    for name in ("a.ann", "b.ann"):
        (tmp_path / name).write_text("T1\tLOC 0 4\tRome\n", encoding="utf-8")
    report = Report()
    assert len(list(read_documents(tmp_path, report=report))) == 1
    assert report.lines() == [f"1 × annotations without their .txt file left out (first: {tmp_path / 'b.ann'})"]


def test_brat_with_the_line_ends_of_windows(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Hi\r\nAnn")
    (tmp_path / "a.ann").write_bytes(b"T1\tPER 4 7\tAnn\r\nT2\tX 0 2\r\n\r\n")
    assert next(iter(read_documents(tmp_path))).spans == (TextSpan(4, 7, "PER"), TextSpan(0, 2, "X"))


@pytest.mark.parametrize("name", ["columns", "conllu"])
@pytest.mark.parametrize("label", ["a\tplace", "a\nplace", "place\r"])
def test_labels_that_would_break_a_line_are_counted(name: str, label: str, tmp_path: Path) -> None:
    found = make_document("in Rome, Italy", [(3, 7, label), (9, 14, "a place")])
    again, report = round_trip([found], name, tmp_path)
    assert again[0].spans == (TextSpan(9, 14, "a place"),)
    what = f"span whose label has a tab or a line end left out (first: document 0, {label!r})"
    assert report.lines() == [f"1 × {what}"]


def test_open_tasks_of_label_studio_are_no_gold(tmp_path: Path) -> None:
    span = {"type": "labels", "value": {"start": 0, "end": 4, "text": "Rome", "labels": ["LOC"]}}
    guess, none = {"predictions": [{"result": [span]}]}, {"annotations": []}
    tasks = [
        {"annotations": [{"result": [span]}]},
        {"annotations": [{"result": []}]},  # somebody found nothing
        none,
        {"annotations": [{"result": [], "was_cancelled": True}]},
        {"annotations": [{"result": [], "was_cancelled": True}], **guess},
        {**none, **guess},
    ]
    path = tmp_path / "d.json"
    path.write_text(json.dumps([{"data": {"text": "Rome"}, **task} for task in tasks]), encoding="utf-8")
    assert [len(d.spans) for d in read_documents(path)] == [1, 0, 0, 0, 1, 1]
    report = Report()
    assert [len(d.spans) for d in read_documents(path, report=report, gold=True)] == [1, 0, 1]
    assert report.lines() == [f"3 × task without a finished annotation left out (first: {path}, task 2)"]


@pytest.mark.parametrize("separator", ["tab", "", "\n", '"'])
def test_separators_that_separate_nothing(separator: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("sentence,word\n1,in\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="give the one character that separates columns"):
        list(read_documents(tmp_path / "d.csv", separator=separator))


def test_bytes_that_an_encoding_does_not_begin_with(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_bytes('{"text": "a"}'.encode("utf-16-le"))
    with pytest.raises(DataError, match=r"d\.jsonl.*: the bytes are not .* give the file's encoding"):
        list(read_documents(tmp_path / "d.jsonl", encoding="utf-16"))
    with pytest.raises(ConfigError, match="'base64' is no encoding of texts"):
        read_documents(tmp_path / "d.jsonl", encoding="base64")
