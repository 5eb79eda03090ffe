"""Mistakes of spans: by hand, against a brute-force pairing, and counts that must add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainfield.errors import DataError
from chainfield.metrics import Span, align_spans, count_mistakes, find_mistakes, span_confusion, span_f1, spans

LABELS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=12)


def kinds(gold, found):
    return [(m.kind, m.gold, m.found) for m in align_spans(gold, found).mistakes]


@pytest.mark.parametrize(
    ("gold", "found", "expected"),
    [
        ([("X", 0, 2)], [("X", 0, 2)], []),
        ([("X", 0, 2)], [], ["missed"]),
        ([], [("X", 0, 2)], ["spurious"]),
        ([("X", 0, 2)], [("X", 1, 3)], ["boundary"]),
        ([("X", 0, 2)], [("Y", 0, 2)], ["type"]),
        ([("X", 0, 2)], [("Y", 0, 3)], ["both"]),
        ([("X", 0, 2)], [("X", 2, 3)], ["missed", "spurious"]),  # neighbours do not overlap
        ([("X", 0, 4)], [("X", 0, 1), ("X", 1, 4)], ["spurious", "boundary"]),  # the larger part is the partner
        ([("X", 0, 4)], [("Y", 0, 3), ("X", 3, 4)], ["spurious", "boundary"]),  # the same type comes before size
        ([("X", 0, 1), ("Y", 1, 3)], [("Y", 0, 3)], ["missed", "boundary"]),
    ],
)
def test_kinds_by_hand(gold, found, expected):
    assert [m[0] for m in kinds([Span(*s) for s in gold], [Span(*s) for s in found])] == expected


def test_a_mistake_covers_both_spans():
    (mistake,) = align_spans([Span("X", 2, 4)], [Span("X", 1, 3)]).mistakes
    assert (mistake.start, mistake.end) == (1, 4)


@given(LABELS, st.data())
def test_every_span_is_used_once(gold, data):
    guess = data.draw(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y"]), min_size=len(gold), max_size=len(gold)))
    a, b = spans(gold), spans(guess)
    found = align_spans(a, b)
    assert sorted([*found.correct, *(m.gold for m in found.mistakes if m.gold)]) == sorted(a)
    assert sorted([*found.correct, *(m.found for m in found.mistakes if m.found)]) == sorted(b)
    assert set(found.correct) == set(a) & set(b)
    for m in found.mistakes:
        if m.gold and m.found:
            assert m.gold.start < m.found.end
            assert m.found.start < m.gold.end
            same, kind = m.gold[1:] == m.found[1:], m.gold.type == m.found.type
            assert m.kind == {(True, False): "type", (False, True): "boundary", (False, False): "both"}[same, kind]
    # Nothing that overlaps is left over on both sides.
    lost, extra = (
        [getattr(m, side) for m in found.mistakes if m.kind == k]
        for k, side in (("missed", "gold"), ("spurious", "found"))
    )
    assert not any(x.start < y.end and y.start < x.end for x in lost for y in extra)
    # Whichever side is called gold, the same spans are partners.
    back = align_spans(b, a)
    assert {(m.gold, m.found) for m in found.mistakes} == {(m.found, m.gold) for m in back.mistakes}


def test_counts_and_confusion_add_up():
    rng = np.random.default_rng(3)
    names = ["O", "B-X", "I-X", "B-Y", "I-Y", "B-Z"]
    gold = [rng.choice(names, n).tolist() for n in rng.integers(1, 15, 50)]
    guess = [[str(rng.choice(names)) if rng.random() < 0.3 else y for y in labels] for labels in gold]
    alignments = find_mistakes(gold, guess)
    confusion, counts = span_confusion(alignments), count_mistakes(alignments)
    n_gold, n_found = (sum(len(spans(labels)) for labels in side) for side in (gold, guess))
    n_right = sum(len(a.correct) for a in alignments)
    assert span_f1(gold, guess) == pytest.approx(2 * n_right / (n_gold + n_found), rel=1e-12)
    matrix = confusion.matrix
    assert confusion.types == ("X", "Y", "Z")
    assert matrix[:-1].sum() == n_gold
    assert matrix[:, :-1].sum() == n_found
    assert matrix[:-1, -1].sum() == counts["missed"]
    assert matrix[-1, :-1].sum() == counts["spurious"]
    assert matrix[-1, -1] == 0
    assert confusion.boundary.sum() == counts["boundary"]
    inner = matrix[:-1, :-1]
    assert inner.trace() == n_right + counts["boundary"]
    assert inner.sum() - inner.trace() == counts["type"] + counts["both"]


def test_no_spans_at_all():
    assert align_spans([], []).mistakes == ()
    confusion = span_confusion(find_mistakes([["O"]], [["O"]]))
    assert (confusion.types, confusion.matrix.tolist()) == ((), [[0]])


def test_sequences_must_be_aligned():
    with pytest.raises(DataError, match="Sequence 0 has 2 labels"):
        find_mistakes([["O", "O"]], [["O"]])
