"""Raw text and annotation files on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chainfield.formats import read_documents, write_documents
from chainfield.text import make_document
from support.texts import corpus
from test_commands import run
from test_formats import CONLLU

RAW = "Bob lives in Rome.\nIs Zoë O'Neil in São Paulo?\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("texts")
    documents = [make_document(text, own) for text, own in zip(*corpus(80), strict=True)]
    write_documents(documents, place / "export.json", "label-studio")
    write_documents(documents[:20], place / "some.jsonl")
    result = run("train", str(place / "export.json"), str(place / "text.cf"), "--dev", str(place / "some.jsonl"))
    assert result.code == 0, result.stderr
    assert "80 texts, 177 spans" in result.stderr
    return place


def test_raw_text(folder: Path) -> None:
    result = run("tag", str(folder / "text.cf"), "--text", "--n-best", "2", stdin=RAW.encode())
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [[s["text"] for s in one["spans"]] for one in found] == [["Bob", "Rome"], ["Zoë O'Neil", "São Paulo"], []]
    assert all(0 < s["probability"] <= 1 and len(s["alternatives"]) == 1 for one in found for s in one["spans"])
    whole = run("tag", str(folder / "text.cf"), "--text", "--whole", stdin=RAW.encode())
    assert [one["text"] for one in map(json.loads, whole.stdout.splitlines())] == [RAW.rstrip("\n") + "\n"]


def test_annotation_files(folder: Path) -> None:
    out = folder / "out.conll"
    assert run("tag", str(folder / "text.cf"), str(folder / "some.jsonl"), "-o", str(out)).code == 0
    expected = [(d.text, d.spans) for d in read_documents(folder / "some.jsonl")]
    assert [(d.text, d.spans) for d in read_documents(out)] == expected
    # A model of texts reads columns too.
    assert "Rome\tB-LOC" in run("tag", str(folder / "text.cf"), stdin=b"Bob\nlives\nin\nRome\n").stdout


def test_sentences_where_columns_are_expected(folder: Path) -> None:
    (folder / "tabs.txt").write_text("in\tO\nRome\tB-LOC\n\nBob\tB-PER\n", encoding="utf-8")
    assert run("train", str(folder / "tabs.txt"), str(folder / "tabs.cf"), "--quiet").code == 0
    result = run("tag", str(folder / "tabs.cf"), stdin=b"I live in New York\n")
    assert result.code == 1
    assert (
        "line 1: 'I live in New York' looks like a sentence, but one token per line is expected; for raw"
        in result.stderr
    )
    assert run("tag", str(folder / "tabs.cf"), "--separator", "\\t", stdin=b"I live in New York\n").code == 0
    assert '"label": "LOC"' in run("tag", str(folder / "tabs.cf"), "--text", stdin=b"in Rome\n").stdout


def test_conllu(folder: Path) -> None:
    path = folder / "d.conllu"
    path.write_text(CONLLU * 3, encoding="utf-8")
    model = folder / "pos.cf"
    assert run("train", str(path), str(model), "--label-column", "UPOS", "--quiet").code == 0
    found = json.loads(run("tag", str(model), "--text", stdin=b"Vamos nos a el mar.\n").stdout)
    assert [s["label"] for s in found["spans"]] == ["VERB", "PRON", "ADP", "DET", "NOUN", "PUNCT"]
    assert run("tag", str(model), str(path)).stdout.count('"label": "PRON"') == 3
    path.rename(folder / "d.txt")
    refused = run("train", str(folder / "d.txt"), str(model), "--label-column", "3")
    assert "the first column holds the numbers of words, as CoNLL-U does; give --format conllu" in refused.stderr
    assert run("train", str(folder / "d.txt"), str(model), "--label-column", "UPOS").code == 1


def test_convert(folder: Path) -> None:
    result = run("convert", str(folder / "export.json"), str(folder / "c.csv"))
    assert result.stderr.startswith("80 documents, 177 spans: label-studio → token-csv")
    assert "label-studio" in run("convert", "--list").stdout
    assert run("convert", str(folder / "export.json")).code == 2
    same = run("convert", str(folder / "export.json"), str(folder / "export.json"))
    assert "would be written over" in same.stderr
    overlap = [make_document("New York Times", [(0, 14, "ORG"), (0, 8, "LOC")])]
    write_documents(overlap, folder / "o.jsonl")
    told = run("convert", str(folder / "o.jsonl"), str(folder / "o.conll")).stderr
    assert "1 × span that overlaps another left out (first: document 0, 0–8 (LOC))" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tag", "text.cf", "x.dat", "--format", "xml"], "There is no format 'xml'"),
        (["tag", "text.cf", "some.jsonl", "-o", "x.dat"], "cannot be told from its name"),
        (["tag", "text.cf", "some.txt", "--to", "jsonl"], "--whole, --to and --review are for raw text"),
        (["train", "export.json", "m.cf", "--tokeniser", "("], "is not a regular expression"),
        (["train", "export.json", "m.cf", "--separator", ","], "--separator and --unknown are for column files"),
        (["train", "tabs.txt", "m.cf", "--label-column", "UPOS"], "--format token-csv for CSV, --format conllu"),
        (["train", "other.csv", "m.cf"], "('id', 'txt', 'cls') do not say which holds the words"),
        (["tag", "text.cf", "other.csv"], "name them with --word-column, --sentence-column and --label-column"),
        (["train", "plain.csv", "m.cf"], "no span; there is nothing to learn. It was read as token-csv"),
        (["tag", "text.cf", "tabs.txt", "-o", "x.jsonl"], "a column file is answered with one more column"),
        (["evaluate", "text.cf"], "is a model; name the data behind it"),
        (["train", "export.json", "m.cf", "--model", "empirical", "--add", "text.cf"], "--add counts column files"),
        (["train", "some.jsonl", "m.cf", "--tokeniser", r"\S+"], "cuts the token"),
    ],
)
def test_refusals(folder: Path, arguments: list[str], message: str) -> None:
    (folder / "some.txt").write_text("a\n", encoding="utf-8")
    (folder / "tabs.txt").write_text("in\tO\nRome\tB-LOC\n", encoding="utf-8")
    (folder / "other.csv").write_text("id,txt,cls\n0,in,O\n0,Rome,B-LOC\n", encoding="utf-8")
    (folder / "plain.csv").write_text("sentence,word\n0,in\n0,Rome\n", encoding="utf-8")
    known = {path.name for path in folder.iterdir()} | {"m.cf", "x.dat", "x.jsonl"}
    result = run(*(str(folder / word) if word in known else word for word in arguments))
    assert result.code == 1
    assert message in result.stderr


def test_review_points_at_wrong_labels(tmp_path: Path) -> None:
    texts, spans = corpus(60)
    wrong = next(i for i, own in enumerate(spans) if own and own[0][2] == "PER")
    spans[wrong] = [(spans[wrong][0][0], spans[wrong][0][1], "LOC"), *spans[wrong][1:]]
    documents = [make_document(text, own) for text, own in zip(texts, spans, strict=True)]
    write_documents(documents, tmp_path / "export.json", "label-studio")
    result = run("review", str(tmp_path / "export.json"), "--folds", "2", "--json", "--first", "3", "--quiet")
    assert result.code == 0, result.stderr
    first = json.loads(result.stdout.splitlines()[0])
    assert (first["document"], first["kind"], first["gold"]["label"], first["found"]["label"]) == (
        wrong, "type", "LOC", "PER",
    )  # fmt: skip
    assert first["text"] == texts[wrong][first["gold"]["start"] : first["gold"]["end"]]
    assert 0 <= first["p_gold"] < first["p_found"] <= 1
    write_documents(documents, tmp_path / "export.conll")
    columns = run("review", str(tmp_path / "export.conll"), "--folds", "2", "--first", "1", "--l2", "2")
    assert columns.code == 0, columns.stderr
    assert columns.stdout.startswith(f"sentence {wrong}\t")
    assert "gold B-LOC" in columns.stdout
    assert "model 2 of 2" in columns.stderr
    assert "60 sentences" in columns.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--folds", "1"], "n_folds is 1"),
        (["--first", "-1"], "--first -1"),
        (["--nonsense", "3"], "there is no option --nonsense"),
        (["--model", "hmm"], "Invalid value"),
    ],
)
def test_review_refuses(folder: Path, options: list[str], message: str) -> None:
    result = run("review", str(folder / "some.jsonl"), *options)
    assert result.code != 0
    assert message in result.stderr
    assert not result.stdout


def test_halves_of_characters_are_written_as_escapes(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "half.jsonl").write_text('{"text": "Bob \\ud800 in Rome"}\n', encoding="utf-8")
    result = run("tag", str(folder / "text.cf"), str(tmp_path / "half.jsonl"))
    assert result.code == 0, result.stderr
    assert json.loads(result.stdout)["text"] == "Bob \ud800 in Rome"


def test_errors_name_the_file_and_the_option(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text('{"text": "abcd ef", "spans": [[2, 7, "X"]]}\n', encoding="utf-8")
    for command in (
        ["train", str(tmp_path / "cut.jsonl"), str(tmp_path / "x.cf")],
        ["review", str(tmp_path / "cut.jsonl")],
    ):
        result = run(*command)
        assert result.code == 1
        assert f"{tmp_path / 'cut.jsonl'}: Document 0" in result.stderr
        assert "--misaligned 'expand'" in result.stderr
    result = run("tag", str(folder / "text.cf"), str(folder / "some.jsonl"), "-o", str(tmp_path / "answers.out"))
    assert result.code == 1
    assert "--to" in result.stderr


def test_bad_raw_text(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, raw = str(folder / "text.cf"), tmp_path / "raw.txt"
    raw.write_bytes(b"Bob in Rome\nBob \xff in Rome\n")
    result = run("tag", model, "--text", str(raw))
    assert result.code == 1
    assert f"{raw}, line 2: the bytes are not valid utf-8" in result.stderr
    assert "Traceback" not in result.stderr
    found = run("tag", model, "--text", stdin=b"\n  \n")  # nothing is dropped
    assert [json.loads(line)["spans"] for line in found.stdout.splitlines()] == [[], []]
    (tmp_path / "empty.jsonl").write_text('{"text": ""}\n{"text": "  "}\n', encoding="utf-8")
    result = run("train", str(tmp_path / "empty.jsonl"), str(tmp_path / "x.cf"))
    assert "holds 2 documents, but no span; there is nothing to learn" in result.stderr
    monkeypatch.setenv("CHAINFIELD_DOCUMENT_BYTES", "1000")
    raw.write_bytes(b"Bob in Rome\n" + b"Bob in Rome " * 100)
    result = run("tag", model, "--text", str(raw))
    assert result.code == 1
    assert f"{raw}, line 2: the line is too long; the limit is 1,000 characters" in result.stderr


def test_models_of_texts_are_judged_by_annotated_texts(folder: Path, tmp_path: Path) -> None:
    model, data = str(folder / "text.cf"), str(folder / "some.jsonl")
    scores = json.loads(run("evaluate", model, data, "--json").stdout)
    assert scores["spans"]["micro"]["f1"] > 0.99
    (tmp_path / "cut.jsonl").write_text(
        '{"text": "Bob lives in Romeo", "spans": [[0, 3, "PER"], [13, 17, "LOC"]]}\n', encoding="utf-8"
    )
    told = run("evaluate", model, str(tmp_path / "cut.jsonl"))
    assert told.code == 0
    assert "1 span cuts a token" in told.stderr or "expanded" in told.stderr
    made = run("report", model, data, "-o", str(tmp_path / "page.html"), "--quiet")
    assert made.code == 0, made.stderr
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_texts_are_counted(folder: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "counts.cf")
    result = run("train", str(folder / "export.json"), model, "--model", "empirical")
    assert result.code == 0, result.stderr
    assert "Counted in" in result.stderr
    found = [json.loads(line) for line in run("tag", model, str(folder / "some.jsonl")).stdout.splitlines()]
    assert len(found) == 20
    assert any(one["spans"] for one in found)


@pytest.mark.parametrize("between", [",", ";"])
def test_tables_with_names_of_their_own(tmp_path: Path, between: str) -> None:
    rows = [
        "id,txt,cls",
        *(f"{i},{word},{label}" for i in range(6) for word, label in (("in", "O"), ("Rome", "B-LOC"))),
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows).replace(",", between), encoding="utf-8")
    names = ("--sentence-column", "id", "--word-column", "txt")
    data, model = str(tmp_path / "t.csv"), str(tmp_path / "t.cf")
    result = run("train", data, model, *names, "--label-column", "cls", "--quiet")
    assert result.code == 0, result.stderr
    found = run("tag", model, data, *names).stdout.splitlines()
    assert [s["text"] for s in json.loads(found[0])["spans"]] == ["Rome"]
    assert "100.00" in run("evaluate", model, data, *names, "--label-column", "cls").stdout


def test_a_folder_of_plain_files_is_no_brat_project(tmp_path):
    (tmp_path / "train.txt").write_text("Anna\tB-PER\n")
    told = run("train", tmp_path, tmp_path / "m.cf")
    assert told.code != 0
    assert "give the files in it by name" in told.stderr


def test_tables_in_other_encodings(tmp_path: Path) -> None:
    rows = [f"Sentence: {i},Müller,NNP,B-PER\n,sleeps,VBZ,O\n" for i in range(6)]
    (tmp_path / "t.csv").write_text("Sentence #,Word,POS,Tag\n" + "".join(rows), encoding="latin-1")
    data, model, latin = str(tmp_path / "t.csv"), str(tmp_path / "t.cf"), ("--encoding", "latin-1")
    result = run("train", data, model, "--dev", data, "--quiet", *latin)
    assert result.code == 0, result.stderr
    found = run("tag", model, data, *latin).stdout.splitlines()
    assert [s["text"] for s in json.loads(found[0])["spans"]] == ["Müller"]
    assert "100.00" in run("evaluate", model, data, *latin).stdout
    assert run("review", data, "--folds", "2", *latin).code == 0
    assert "--encoding" in run("train", data, model).stderr


def test_tasks_that_nobody_has_annotated(folder: Path, tmp_path: Path) -> None:
    tasks = json.loads((folder / "export.json").read_text(encoding="utf-8"))
    n = len(tasks)
    for task in tasks[5:]:
        task["annotations"] = []
    data = tmp_path / "open.json"
    data.write_text(json.dumps(tasks), encoding="utf-8")
    told = run("train", str(data), str(tmp_path / "m.cf")).stderr
    assert f"{n - 5} × task without a finished annotation left out" in told
    assert "5 texts" in told
    assert f"{n - 5} × task" in run("evaluate", str(folder / "text.cf"), str(data)).stderr
    assert len(run("tag", str(folder / "text.cf"), str(data)).stdout.splitlines()) == n
    data.write_text(json.dumps(tasks[5:]), encoding="utf-8")
    assert "holds no annotated document; 75 × task without" in run("train", str(data), str(tmp_path / "m.cf")).stderr


def test_spans_called_o(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "o.jsonl"
    data.write_text('{"text": "Ann ran", "spans": [[0, 3, "PER"], [4, 7, "O"]]}\n', encoding="utf-8")
    for arguments in (("train", data, tmp_path / "m.cf"), ("evaluate", folder / "text.cf", data)):
        result = run(*map(str, arguments))
        assert result.code == 1
        assert "Document 0: the span 4–7 is called 'O', which stands for words outside of all spans" in result.stderr


@pytest.mark.parametrize("command", ["train", "tag", "convert", "evaluate", "review"])
@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("foo", "There is no encoding 'foo'; try utf-8"),
        ("hex", "'hex' is no encoding of texts; try utf-8"),
        ("rot13", "'rot13' is no encoding of texts"),
        ("a\0b", "There is no encoding 'a\\x00b'"),
    ],
)
def test_encodings_are_checked(folder: Path, command: str, encoding: str, message: str) -> None:
    model, data = str(folder / "text.cf"), str(folder / "some.jsonl")
    files = {"train": (data, "m.cf"), "convert": (data, "x.conll"), "review": (data,)}.get(command, (model, data))
    result = run(command, *files, "--encoding", encoding)
    assert result.code == 1
    assert message in result.stderr


def test_weights_of_models_of_texts(folder: Path, tmp_path: Path) -> None:
    model, patch = str(folder / "text.cf"), tmp_path / "patch.txt"
    lines = run("show", model, "--lines").stdout.splitlines()
    assert len(lines) > 100
    step = next(line for line in lines if line.startswith("b\tO\tB-LOC\t"))
    patch.write_text("\t".join([*step.split("\t")[:3], "-77.5"]) + "\n", encoding="utf-8")
    result = run("update", model, str(patch), "-o", str(tmp_path / "new.cf"))
    assert result.code == 0, result.stderr
    assert "b\tO\tB-LOC\t-77.5" in run("show", str(tmp_path / "new.cf"), "--lines").stdout.splitlines()
    (tmp_path / "raw.txt").write_text(RAW, encoding="utf-8")
    found = run("tag", str(tmp_path / "new.cf"), str(tmp_path / "raw.txt"), "--text").stdout
    assert json.loads(found.splitlines()[0])["text"] == RAW.splitlines()[0]
    told = run("export", model, "--crfsuite", str(tmp_path / "p")).stderr
    assert "The model has rules that forbid label sequences" in told
