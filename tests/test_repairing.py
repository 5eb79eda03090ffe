"""Training labels that break their scheme: told with their places, repaired on request; conversion in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainfield import EmpiricalCRF, LinearCRF
from chainfield.errors import ConfigError, DataWarning, NoPathError
from chainfield.formats import convert
from chainfield.models.repairing import repair_labels
from chainfield.spans import spans, violations, write_labels
from chainfield.states.schemes import nearest_scheme
from test_commands import run

X = [["the", "New", "York", "Times"], ["in", "Rome"], ["Rome", "and", "Oslo"], *[["Rome"]] * 5]
GOOD = [["O", "B-ORG", "I-ORG", "I-ORG"], ["O", "B-LOC"], ["B-LOC", "O", "B-LOC"], *[["B-LOC"]] * 5]
BAD = [["O", "I-ORG", "I-ORG", "I-ORG"], ["O", "B-LOC"], ["B-LOC", "O", "I-LOC"], *[["B-LOC"]] * 5]
NAMES = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(NAMES), max_size=9), st.sampled_from(["iob1", "iob2", "bioes"]))
def test_repaired_labels_obey_the_scheme(labels: list[str], scheme: str) -> None:
    mended, repairs = repair_labels([labels], scheme, "conlleval")
    assert violations(mended[0], scheme) == []
    assert spans(mended[0], scheme) == spans(labels)
    opened, places = repair_labels([labels], scheme, "open")
    assert [place.position for place in places] == violations(labels, scheme)
    assert [b for b in opened[0] if b is not None] == [a for a, b in zip(labels, opened[0], strict=True) if b]
    assert bool(repairs) == bool(places)


def test_refused_with_its_place_and_their_number() -> None:
    with pytest.raises(
        NoPathError,
        match=r"^Sequence 0 .*at position 1, 'I-ORG' cannot follow 'O' \(2 such places in all\); .*repair=",
    ):
        LinearCRF(scheme="bio").fit(X, BAD)


@pytest.mark.parametrize("model", [LinearCRF(max_iter=30), EmpiricalCRF()])
@pytest.mark.parametrize("scheme", ["bio", "auto", "BIO"])
def test_repaired_by_reading(model: LinearCRF, scheme: str) -> None:
    model.set_params(scheme=scheme, repair="conlleval").fit(X, BAD)
    assert [tuple(repair) for repair in model.repairs_] == [(0, 1, "I-ORG", "B-ORG"), (2, 2, "I-LOC", "B-LOC")]
    assert str(model.repairs_[0]) == "sequence 0, position 1: I-ORG → B-ORG"
    assert list(model.predict(X)) == GOOD
    model.set_params(repair=None).fit(X, GOOD)
    assert model.repairs_ == []


def test_left_open() -> None:
    model = LinearCRF(scheme="bio", repair="open", max_iter=30).fit(X, [*BAD[:2], *GOOD[2:]])
    assert [(r.sequence, r.position, r.repaired) for r in model.repairs_] == [(0, t, None) for t in (1, 2, 3)]
    assert model.predict(X)[1:] == GOOD[1:]
    assert "left open" in str(model.repairs_[0])


def test_auto_says_when_it_applies_no_rules() -> None:
    with pytest.warns(
        DataWarning,
        match=r'^scheme="auto" applies no rules: of the nearest scheme, iob2, 4 labels break the rules \(sequence 0, '
        r"position 1: I-ORG; .*, and 1 more\); correct",
    ):
        model = LinearCRF(scheme="auto", max_iter=2).fit(X, BAD)
    assert model.scheme_ is None
    with pytest.warns(DataWarning, match="of no single scheme"):
        LinearCRF(scheme="auto", max_iter=2).fit([["a", "b", "c"]], [["B-X", "E-X", "U-X"]])
    assert LinearCRF(scheme="auto", max_iter=2).fit([["a", "b"]], [["NN", "VB"]]).scheme_ is None  # nothing to say


def test_the_nearest_scheme() -> None:
    assert nearest_scheme(["O", "B-X", "I-X"], [["I-X", "I-X"], ["O", "I-X"], ["B-X"]]) == "iob1"
    assert nearest_scheme(["O", "B-X", "I-X"], [["I-X"], ["B-X", "I-X"], ["B-X"]]) == "iob2"
    assert nearest_scheme(["NN"], [["NN"]]) is None


def test_bad_requests() -> None:
    with pytest.raises(ConfigError, match=r'^repair="open" needs a scheme; give scheme="bio"'):
        LinearCRF(repair="open").fit(X, GOOD)
    with pytest.raises(ConfigError, match=r"^repair is 'guess'"):
        LinearCRF(scheme="bio", repair="guess").fit(X, GOOD)
    with pytest.raises(ConfigError, match=r"the labels belong to no scheme; give its name\.$"):
        LinearCRF(scheme="auto", repair="open").fit([["a"]], [["NN"]])
    with pytest.raises(ConfigError, match=r"needs sequences in memory; repair the files: chainfield convert\.$"):
        EmpiricalCRF(scheme="bio", repair="open").fit_stream(zip(X, GOOD, strict=True))
    with pytest.raises(ConfigError, match="Unknown scheme 'bmes'"):
        write_labels([], 1, "bmes")


def test_command_line(tmp_path: Path) -> None:
    lines = ["".join(f"{w} {label}\n" for w, label in zip(x, y, strict=True)) for x, y in zip(X, BAD, strict=True)]
    file = tmp_path / "train.conll"
    file.write_text("\n".join(lines), encoding="utf-8")
    done = run("train", file, tmp_path / "m.cf", "--scheme", "bio", "--repair", "conlleval", "--max-iter", "2")
    assert done.code == 0, done.stderr
    assert "2 broken labels repaired (sequence 0, position 1: I-ORG → B-ORG; " in done.stderr
    done = run("convert", file, tmp_path / "bioes.conll", "--scheme", "bioes")
    assert done.code == 0, done.stderr
    assert "label that breaks its scheme, read as conlleval does (first: " in done.stderr
    assert "New\tB-ORG\nYork\tI-ORG\nTimes\tE-ORG\n" in (tmp_path / "bioes.conll").read_text(encoding="utf-8")
    assert run("convert", file, tmp_path / "x.conll", "--scheme", "bmes").code == 2


def test_schemes_of_converted_files(tmp_path: Path) -> None:
    source = tmp_path / "a.conll"
    source.write_text("Rome B-LOC\nOslo B-LOC\nin O\n\n", encoding="utf-8")
    for scheme, first in {"iob1": "I-LOC B-LOC", "bilou": "U-LOC U-LOC", "io": "I-LOC I-LOC"}.items():
        for name in ("b.conll", "b.conllu", "b.csv"):
            convert(source, tmp_path / name, scheme=scheme)
            text = (tmp_path / name).read_text(encoding="utf-8")
            assert all(label in text for label in first.split()), (scheme, name, text)
    with pytest.raises(ConfigError, match="Unknown scheme 'bmes'"):
        convert(source, tmp_path / "b.conll", scheme="bmes")
