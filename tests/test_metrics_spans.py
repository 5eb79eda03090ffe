"""Spans against an independent state machine, against seqeval, and against the table in the docstring."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB2, IOBES, Entities

from chainfield.errors import ConfigError
from chainfield.metrics import Span, spans, split_label

STRICT = {"iob2": ("BI", IOB2), "bioes": ("BIES", IOBES), "bilou": ("BILU", BILOU)}


def label_lists(prefixes: str, types: tuple[str, ...] = ("X", "Y", "a-b")) -> st.SearchStrategy[list[str]]:
    names = ["O"] + [f"{prefix}-{kind}" for prefix in prefixes for kind in types]
    return st.lists(st.sampled_from(names), max_size=12)


def read_by_machine(labels: list[str]) -> list[tuple[str, int, int]]:
    """The lenient reading told as a machine that holds at most one open span."""
    finished: list[tuple[str, int, int]] = []
    held: tuple[str, int] | None = None

    def put_down(end: int) -> None:
        nonlocal held
        if held is not None:
            finished.append((held[0], held[1], end))
        held = None

    for at, label in enumerate(labels):
        prefix, _, kind = label.partition("-")
        fits = held is not None and held[0] == kind
        if prefix == "O" or prefix in "BSU" or not fits:
            put_down(at)
        if prefix != "O" and held is None:
            held = (kind, at)
        if prefix in "ESLU":
            put_down(at + 1)
    put_down(len(labels))
    return finished


@given(label_lists("BIESLU"))
def test_conlleval_is_the_machine(labels):
    assert spans(labels) == read_by_machine(labels)


@given(st.lists(st.sampled_from(["O", "B", "I", "E", "S", "B-X", "I-X", "E-X"]), max_size=12))
def test_conlleval_is_the_machine_on_labels_without_a_type(labels):
    assert spans(labels) == read_by_machine(labels)


@given(label_lists("BI") | label_lists("IE"))
def test_the_script_and_its_completion_agree_on_iob_and_ioe(labels):
    assert spans(labels, "conlleval.pl") == spans(labels, "conlleval")


@given(label_lists("BIES"))
def test_conlleval_is_the_default_mode_of_seqeval(labels):
    theirs = [(kind, start, last + 1) for kind, start, last in get_entities(labels)]
    assert spans(labels) == theirs


@pytest.mark.parametrize("scheme", STRICT)
@given(data=st.data())
def test_strict_is_the_strict_mode_of_seqeval(scheme, data):
    prefixes, theirs = STRICT[scheme]
    labels = data.draw(label_lists(prefixes))
    entities = Entities([labels], scheme=theirs).entities[0]
    assert spans(labels, scheme) == [(e.tag, e.start, e.end) for e in entities]


def documented_rows() -> list[tuple[str, str, str]]:
    assert spans.__doc__ is not None
    lines = [line.strip() for line in spans.__doc__.splitlines()]
    edges = [i for i, line in enumerate(lines) if line.startswith("====")]
    header = lines[edges[0] + 1].split()[1:]
    cells = []
    for line in lines[edges[1] + 1 : edges[2]]:
        label_text, *columns = re.split(r"``\s*|\s{2,}", line.removeprefix("``"))
        assert len(columns) == len(header)
        cells += [(label_text, scheme, cell) for scheme, cell in zip(header, columns, strict=True)]
    return cells


@pytest.mark.parametrize(("label_text", "scheme", "cell"), documented_rows())
def test_documented_table(label_text, scheme, cell):
    written = [f"{kind}{start}:{end}" for kind, start, end in spans(label_text.split(), scheme)]
    assert " ".join(written) == cell.replace("none", "")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", []),
        ("O O", []),
        # IOB1: I opens a span after O, after another type and at the start; B only parts neighbours.
        ("I-X I-X B-X O I-Y", [("X", 0, 2), ("X", 2, 3), ("Y", 4, 5)]),
        # Types keep their later hyphens.
        ("B-a-b I-a-b I-a", [("a-b", 0, 2), ("a", 2, 3)]),
        # Plain tags have the empty type, which never changes: no spans.
        ("NN VB NN", []),
        # ... but beside a typed label the type changes. It closes at O, where the script would not close it.
        ("B-X NN O B-X", [("X", 0, 1), ("", 1, 2), ("X", 3, 4)]),
        # S is a span by itself; a prefix of no scheme does not open another span of its type.
        ("S-X M-X O", [("X", 0, 1)]),
        # Every bracket is a span of one token; the dot is the outside of bracket labels.
        ("[-X ]-X . [-X [-X", [("X", 0, 1), ("X", 1, 2), ("X", 3, 4), ("X", 4, 5)]),
    ],
)
def test_conlleval_by_hand(labels, expected):
    assert spans(labels.split()) == expected


def test_the_script_reads_brackets_too():
    labels = ["[-X", "]-X", ".", "[-X", "[-X"]
    assert spans(labels, "conlleval.pl") == spans(labels)


@pytest.mark.parametrize(
    ("labels", "ours", "theirs"),
    [
        # seqeval takes the first letter for the prefix; conlleval needs the hyphen, so B_X is a plain tag.
        ("B_X O", [], [("_X", 0, 1)]),
        # seqeval writes "_" for the type of a bare prefix, conlleval the empty string.
        ("B I", [("", 0, 2)], [("_", 0, 2)]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*seems not to be NE tag")
def test_where_seqeval_differs_from_conlleval(labels, ours, theirs):
    assert spans(labels.split()) == ours
    assert [(kind, start, last + 1) for kind, start, last in get_entities(labels.split())] == theirs


@pytest.mark.parametrize("labels", ["S-X S-X", "B-X E-X B-X E-X", "E-X B-X", "S-X I-X"])
def test_where_seqeval_differs_from_the_script(labels):
    # The script has no rule for S, and none for B after E, so it reads on through both; seqeval's default
    # mode added rules for them.
    assert spans(labels.split(), "conlleval.pl") == [("X", 0, len(labels.split()))]
    assert len(get_entities(labels.split())) == 2


def test_strict_iob1_drops_what_a_misplaced_b_began():
    # seqeval's IOB1 drops B alone and keeps the rest as X1:2, a span that nobody wrote.
    assert spans(["B-X", "I-X", "O", "I-X"], "iob1") == [("X", 3, 4)]


def test_strict_bioes_needs_both_ends():
    assert spans(["B-X", "I-X", "O", "I-X", "E-X", "B-X", "B-X", "E-X", "S-X"], "bioes") == [
        ("X", 6, 8),
        ("X", 8, 9),
    ]


def test_io_joins_neighbours():
    assert spans(["I-X", "I-X", "I-Y", "O", "I-Y"], "io") == [("X", 0, 2), ("Y", 2, 3), ("Y", 4, 5)]


@pytest.mark.parametrize(("alias", "scheme"), [("bio", "iob2"), ("iobes", "bioes")])
@given(labels=label_lists("BIES"))
def test_aliases(alias, scheme, labels):
    assert spans(labels, alias) == spans(labels, scheme)


def test_span_slices_its_labels():
    (span,) = spans(["O", "B-X", "I-X"])
    assert span == Span(type="X", start=1, end=3)


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("B-NP", ("B", "NP")),
        ("I-a-b", ("I", "a-b")),
        ("O", ("O", "")),
        ("-LRB-", ("", "LRB-")),
        ("B-", ("B", "")),
    ],
)
def test_split_label(label, parts):
    assert split_label(label) == parts


def test_unknown_reading_is_refused_with_the_names():
    with pytest.raises(ConfigError, match=r"'bmes'.*conlleval, .*bilou"):
        spans(["O"], "bmes")
