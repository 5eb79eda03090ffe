"""Tagging schemes: rules, detection and conversion."""

from __future__ import annotations

from itertools import chain, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainfield.errors import ConfigError, DataError
from chainfield.metrics import spans
from chainfield.states.schemes import SchemeRules, convert, detect_scheme, scheme_rules

PREFIXES = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}
WRITTEN = {
    "io": "I-X I-X I-X O I-Y I-X I-X O I-Y",
    "iob1": "I-X I-X B-X O I-Y I-X I-X O I-Y",
    "iob2": "B-X I-X B-X O B-Y B-X I-X O B-Y",
    "bioes": "B-X E-X S-X O S-Y B-X E-X O S-Y",
    "bilou": "B-X L-X U-X O U-Y B-X L-X O U-Y",
}


def labels_of(scheme: str, types: str = "XY") -> list[str]:
    return ["O"] + [f"{prefix}-{kind}" for kind in types for prefix in PREFIXES[scheme]]


def obeys(labels: list[str], rules: SchemeRules) -> bool:
    path = [rules.labels.index(label) for label in labels]
    if not path:
        return True
    steps = all(rules.edge[a, b] for a, b in pairwise(path))
    return bool(rules.start[path[0]] and steps and rules.end[path[-1]])


def rewrite(labels: list[str], scheme: str) -> list[str]:
    """What the scheme writes for the spans that its strict reading finds (independent of ``convert``)."""
    out = ["O"] * len(labels)
    found = spans(labels, scheme)
    for kind, start, end in found:
        for i in range(start, end):
            first, last = i == start, i == end - 1
            if scheme == "iob1":
                touches = any(other.end == start and other.type == kind for other in found)
                prefix = "B" if first and touches else "I"
            elif scheme == "iob2":
                prefix = "B" if first else "I"
            else:
                prefix = {(1, 1): "S", (1, 0): "B", (0, 0): "I", (0, 1): "E"}[first, last]
                if scheme == "bilou":
                    prefix = {"S": "U", "E": "L"}.get(prefix, prefix)
            out[i] = f"{prefix}-{kind}"
    return out


def span_lists(max_gap: int = 2) -> st.SearchStrategy[list[str]]:
    """Well-formed IOB2 sequences."""
    piece = st.one_of(
        st.just(["O"]),
        st.builds(
            lambda kind, n: [f"B-{kind}"] + [f"I-{kind}"] * n,
            st.sampled_from(["X", "Y", "a-b"]),
            st.integers(0, max_gap),
        ),
    )
    return st.lists(piece, max_size=8).map(lambda pieces: list(chain.from_iterable(pieces)))


@pytest.mark.parametrize("scheme", PREFIXES)
def test_rules_allow_exactly_what_the_strict_reading_explains(scheme):
    rules = scheme_rules(labels_of(scheme), scheme)
    n_allowed = 0
    for length in range(4):
        for path in product(rules.labels, repeat=length):
            allowed = obeys(list(path), rules)
            n_allowed += allowed
            assert allowed == (rewrite(list(path), scheme) == list(path)), path
    assert n_allowed > 50


@pytest.mark.parametrize("scheme", PREFIXES)
@given(data=st.data())
def test_rules_and_strict_reading_agree_on_long_sequences(scheme, data):
    rules = scheme_rules(labels_of(scheme), scheme)
    labels = data.draw(st.lists(st.sampled_from(rules.labels), max_size=12))
    assert obeys(labels, rules) == (rewrite(labels, scheme) == labels)
    # Random labels seldom obey; half-repaired ones do more often.
    mended = rewrite(labels, scheme)
    assert obeys(mended, rules) == (rewrite(mended, scheme) == mended)


def test_rules_by_hand():
    rules = scheme_rules(["I-X", "O", "B-X", "I-Y"], "iob2")
    assert rules.labels == ("I-X", "O", "B-X", "I-Y")
    assert rules.start.tolist() == [False, True, True, False]
    assert rules.end.tolist() == [True] * 4
    assert rules.edge.tolist() == [
        [True, True, True, False],
        [False, True, True, False],
        [True, True, True, False],
        [False, True, True, True],
    ]
    assert rules.edge.dtype == rules.start.dtype == np.bool_


def test_iob1_b_needs_its_type_directly_before():
    rules = scheme_rules(["O", "B-X", "I-X", "I-Y"], "iob1")
    assert rules.start.tolist() == [True, False, True, True]
    assert rules.edge[:, 1].tolist() == [False, True, True, False]
    assert rules.edge[:, [0, 2, 3]].all()


def test_bioes_ends():
    rules = scheme_rules(["O", "B-X", "I-X", "E-X", "S-X"], "bioes")
    assert rules.start.tolist() == [True, True, False, False, True]
    assert rules.end.tolist() == [True, False, False, True, True]


@pytest.mark.parametrize(("alias", "scheme"), [("bio", "iob2"), ("iobes", "bioes")])
def test_aliases(alias, scheme):
    labels = labels_of(scheme)
    ours, meant = scheme_rules(labels, alias), scheme_rules(labels, scheme)
    assert ours.scheme == scheme
    np.testing.assert_array_equal(ours.edge, meant.edge)
    assert convert(["S-X"], "bioes", alias) == convert(["S-X"], "bioes", scheme)


def test_rules_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        scheme_rules(["O"], "iob2").edge[0, 0] = False


@pytest.mark.parametrize(
    ("label", "scheme", "accepted"),
    [
        ("B", "iob2", "B-type, I-type and O"),
        ("B-", "iob2", "B-type"),
        ("X", "iob1", "B-type"),
        ("E-X", "iob2", "B-type"),
        ("S-X", "bilou", "B-type, I-type, L-type, U-type and O"),
        ("O-X", "bioes", "B-type, I-type, E-type, S-type and O"),
        ("", "bioes", "B-type"),
        ("-X", "bioes", "B-type"),
        ("BI-X", "bioes", "B-type"),
    ],
)
def test_foreign_labels_are_refused_by_name(label, scheme, accepted):
    with pytest.raises(ConfigError, match=f"Label '{label}' does not belong .* {accepted}"):
        scheme_rules(["O", label], scheme)


@pytest.mark.parametrize("scheme", ["io", "conlleval", "BIO"])
def test_schemes_without_rules_are_refused(scheme):
    with pytest.raises(ConfigError, match=rf"'{scheme}': use one of iob1, iob2, bioes, bilou, bio, iobes"):
        scheme_rules(["O"], scheme)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("O B-X I-X", "iob2"),
        ("O B-X", "iob2"),
        ("O I-X", "iob1"),
        ("O B-X I-X E-X S-X", "bioes"),
        ("S-X O", "bioes"),
        ("B-X E-X", "bioes"),
        ("O B-X L-X U-X", "bilou"),
        ("U-X", "bilou"),
        ("B-X E-X U-X", None),
        ("NN VB", None),
        ("NN-TL B-X", None),
        ("B I O", None),
        ("B-X I O", None),
        ("O", None),
        ("", None),
    ],
)
def test_detection_from_names(labels, expected):
    assert detect_scheme(labels.split()) == expected


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        (["B-X I-X", "O B-X B-X"], "iob2"),
        (["B-X", "I-X B-X I-X"], None),
        (["I-X B-X I-X", "O I-X"], "iob1"),
        (["I-X I-Y", "I-X B-X"], "iob1"),
        ([], "iob2"),
    ],
)
def test_detection_from_sequences(sequences, expected):
    assert detect_scheme(["O", "B-X", "I-X"], [text.split() for text in sequences]) == expected


@pytest.mark.parametrize("source", [scheme for scheme in WRITTEN if scheme != "io"])
@pytest.mark.parametrize("target", WRITTEN)
def test_conversion_by_hand(source, target):
    assert convert(WRITTEN[source].split(), source, target) == WRITTEN[target].split()


@pytest.mark.parametrize("via", PREFIXES)
@given(labels=span_lists())
def test_conversion_round_trips(via, labels):
    there = convert(labels, "iob2", via)
    assert convert(there, via, "iob2") == labels
    assert spans(there, via) == spans(labels, "iob2") == spans(there)


@given(labels=span_lists())
def test_io_keeps_types_and_joins_neighbours(labels):
    assert [label.partition("-")[2] for label in convert(labels, "iob2", "io")] == [
        label.partition("-")[2] for label in labels
    ]
    assert convert(convert(labels, "iob2", "io"), "io", "io") == convert(labels, "iob2", "io")


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y"]), max_size=10))
def test_lenient_source_reads_anything(labels):
    assert spans(convert(labels, "conlleval", "bioes"), "bioes") == spans(labels)


def test_labels_without_a_type_stay_without():
    assert convert(["B", "I", "O", "B"], "iob2", "bioes") == ["B", "E", "O", "S"]


@pytest.mark.parametrize(
    ("labels", "source", "position"),
    [("O I-X", "iob2", 1), ("B-X I-X", "iob1", 0), ("S-X B-X", "bioes", 1), ("B-X NN", "iob2", 1)],
)
def test_ill_formed_sources_are_refused_by_place(labels, source, position):
    bad = labels.split()[position]
    with pytest.raises(DataError, match=f"Label '{bad}' at position {position} does not fit .*{source}.*conlleval"):
        convert(labels.split(), source, "iob2")


def test_unknown_conversion_is_refused():
    with pytest.raises(ConfigError, match="Unknown scheme 'bmes': use one of io, iob1"):
        convert(["O"], "iob2", "bmes")
    with pytest.raises(ConfigError, match="Unknown scheme 'bmes'"):
        convert(["O"], "bmes", "iob2")
