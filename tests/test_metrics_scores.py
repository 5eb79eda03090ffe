"""Scores by hand, against seqeval and scikit-learn, and as properties."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as seqeval_scores
from seqeval.scheme import IOB2, IOBES
from sklearn.metrics import precision_recall_fscore_support

from chainfield.errors import ConfigError, DataError
from chainfield.metrics import (
    Score,
    bootstrap_interval,
    conlleval_text,
    evaluate,
    find_mistakes,
    has_spans,
    paired_bootstrap,
    score_intervals,
    sequence_accuracy,
    span_f1,
    token_accuracy,
)
from chainfield.tasks import ordered_labels

GOLD = [
    ["B-NP", "I-NP", "O", "B-VP"],
    ["B-NP", "B-NP", "I-NP", "O"],
    ["O", "O"],
]
GUESS = [
    ["B-NP", "I-NP", "O", "O"],
    ["B-NP", "I-NP", "I-NP", "B-PP"],
    ["O", "O"],
]

IOB = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def pairs(names: list[str], min_size: int = 0) -> st.SearchStrategy[list[list[tuple[str, str]]]]:
    label = st.sampled_from(names)
    return st.lists(st.lists(st.tuples(label, label), min_size=1, max_size=8), min_size=min_size, max_size=5)


def unzip(rows: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [[a for a, _ in row] for row in rows], [[b for _, b in row] for row in rows]


def test_a_report_can_be_read_as_it_is():
    report = evaluate([["B-X", "I-X", "O"], ["B-Y", "O"]], [["B-X", "I-X", "O"], ["O", "O"]])
    lines = str(report).splitlines()
    assert repr(report) == str(report)
    assert [line.split()[0] for line in lines] == ["type", "X", "Y", "all", "token"]
    assert lines[3].split() == ["all", "100.00", "50.00", "66.67", "2", "1"]
    assert len({len(line) for line in lines[:-1]}) == 1
    assert str(evaluate([["N", "V"]], [["N", "N"]])).splitlines()[1].split()[:2] == ["N", "50.00"]


def test_report_by_hand():
    report = evaluate(GOLD, GUESS)
    assert (report.n_sequences, report.n_tokens, report.n_correct_tokens) == (3, 10, 7)
    assert report.token_accuracy == 0.7
    assert report.inside_accuracy == pytest.approx(4 / 6, rel=1e-15)
    assert report.sequence_accuracy == pytest.approx(1 / 3, rel=1e-15)
    assert report.spans is not None
    assert dict(report.spans.types) == {
        "NP": Score(correct=1, predicted=2, support=3),
        "PP": Score(correct=0, predicted=1, support=0),
        "VP": Score(correct=0, predicted=0, support=1),
    }
    assert report.spans.micro == Score(correct=1, predicted=3, support=4)
    assert report.spans.micro.f1 == pytest.approx(2 / 7, rel=1e-15)
    assert report.spans.macro.precision == pytest.approx(0.5 / 3, rel=1e-15)
    assert report.spans.macro.recall == pytest.approx(1 / 9, rel=1e-15)
    assert report.spans.macro.f1 == pytest.approx(0.4 / 3, rel=1e-15)
    assert report.labels["B-NP"] == Score(correct=2, predicted=2, support=3)
    assert report.labels["O"] == Score(correct=3, predicted=4, support=4)
    assert report.unknown_labels == ()


def test_inside_accuracy_is_over_gold_tokens_outside_of_o():
    report = evaluate([["O", "B-X", "O"]], [["B-X", "B-X", "O"]])
    assert report.inside_accuracy == 1.0
    assert report.token_accuracy == pytest.approx(2 / 3, rel=1e-15)


def test_the_scheme_decides_what_is_a_span():
    gold, guess = [["I-X", "O"]], [["I-X", "O"]]
    assert span_f1(gold, guess) == 1.0
    assert span_f1(gold, guess, "iob2") == 0.0
    report = evaluate(gold, guess, "iob2")
    assert report.scheme == "iob2"
    assert report.spans is not None
    assert report.spans.micro == Score(0, 0, 0)


def test_text_is_that_of_conlleval():
    # Printed by the script itself for these labels.
    assert conlleval_text(evaluate(GOLD, GUESS)) == (
        "processed 10 tokens with 4 phrases; found: 3 phrases; correct: 1.\n"
        "accuracy:  70.00%; precision:  33.33%; recall:  25.00%; FB1:  28.57\n"
        "               NP: precision:  50.00%; recall:  33.33%; FB1:  40.00  2\n"
        "               PP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "               VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
    )


def test_text_of_plain_tags_and_of_nothing():
    assert conlleval_text(evaluate([["NN", "VB"]], [["NN", "NN"]])) == (
        "processed 2 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
        "accuracy:  50.00%; precision:   0.00%; recall:   0.00%; FB1:   0.00\n"
    )
    assert conlleval_text(evaluate([], [])) == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"


@given(pairs(IOB, min_size=1))
def test_micro_and_macro_are_those_of_seqeval(rows):
    gold, guess = unzip(rows)
    report = evaluate(gold, guess)
    assert report.spans is None or report.spans.micro.f1 == span_f1(gold, guess)
    if report.spans is None:
        return
    for average in ("micro", "macro"):
        theirs = seqeval_scores(gold, guess, average=average, zero_division=0)
        ours = getattr(report.spans, average)
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(theirs[:3], rel=1e-12, abs=0)


@pytest.mark.parametrize(("scheme", "theirs", "prefixes"), [("iob2", IOB2, "BI"), ("bioes", IOBES, "BIES")])
@given(data=st.data())
def test_strict_f1_is_that_of_seqeval(scheme, theirs, prefixes, data):
    names = ["O"] + [f"{prefix}-{kind}" for prefix in prefixes for kind in "XY"]
    gold, guess = unzip(data.draw(pairs(names, min_size=1)))
    expected = f1_score(gold, guess, mode="strict", scheme=theirs, zero_division=0)
    assert span_f1(gold, guess, scheme) == pytest.approx(expected, rel=1e-12, abs=0)


@given(pairs(["NN", "VB", "DT"], min_size=1))
def test_plain_tags_have_labels_but_no_spans(rows):
    gold, guess = unzip(rows)
    report = evaluate(gold, guess)
    assert report.spans is None
    flat_gold, flat_guess = list(chain.from_iterable(gold)), list(chain.from_iterable(guess))
    names = list(report.confusion.labels)
    assert names == sorted({*flat_gold, *flat_guess})
    cells = Counter(zip(flat_gold, flat_guess, strict=True))
    assert report.confusion.matrix.tolist() == [[cells[row, column] for column in names] for row in names]
    scores = precision_recall_fscore_support(flat_gold, flat_guess, labels=names, zero_division=0)
    for i, name in enumerate(names):
        ours = report.labels[name]
        expected = [float(column[i]) for column in scores]
        assert [ours.precision, ours.recall, ours.f1, ours.support] == pytest.approx(expected, rel=1e-12)


@given(pairs(IOB))
def test_functions_agree_with_the_report_and_stay_in_the_unit_interval(rows):
    gold, guess = unzip(rows)
    report = evaluate(gold, guess)
    assert token_accuracy(gold, guess) == report.token_accuracy
    assert sequence_accuracy(gold, guess) == report.sequence_accuracy
    assert report.sequence_accuracy == (np.mean([a == b for a, b in zip(gold, guess, strict=True)]) if gold else 0)
    assert all(0 <= value <= 1 for value in (report.token_accuracy, report.inside_accuracy))
    assert report.confusion.matrix.sum() == report.n_tokens == sum(map(len, gold))


@given(pairs(IOB, min_size=1))
def test_perfect_prediction(rows):
    gold, _ = unzip(rows)
    report = evaluate(gold, [list(labels) for labels in gold])
    assert report.token_accuracy == report.sequence_accuracy == 1.0
    assert (report.spans is None) == all(label == "O" for labels in gold for label in labels)
    if report.spans is not None:
        assert report.inside_accuracy == report.spans.micro.f1 == 1.0
        assert report.spans.macro.f1 == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("O B-NP", True),
        ("O U-X L-X", True),
        ("O I-X", True),
        ("B I O", True),
        ("B I E S", True),
        ("NN-TL NP-HL -LRB- O", False),
        ("O", False),
        ("B C I", False),
        ("B O", False),
        ("B- I- O", False),
    ],
)
def test_has_spans(names, expected):
    assert has_spans(names.split()) is expected


def test_spans_in_the_prediction_alone_are_scored():
    report = evaluate([["O"]], [["B-X"]])
    assert report.spans is not None
    assert report.spans.micro == Score(correct=0, predicted=1, support=0)
    assert report.inside_accuracy == 0.0


def test_zero_division_is_zero():
    empty = Score(0, 0, 0)
    assert (empty.precision, empty.recall, empty.f1) == (0.0, 0.0, 0.0)
    assert token_accuracy([], []) == sequence_accuracy([], []) == span_f1([], []) == 0.0
    assert token_accuracy([[]], [[]]) == 0.0
    assert sequence_accuracy([[]], [[]]) == 1.0


def test_unknown_gold_labels_are_listed_and_stay_errors():
    report = evaluate([["A", "Q", "P"]], [["A", "A", "Z"]], known_labels=["A", "Z"])
    assert report.unknown_labels == ("P", "Q")
    assert report.token_accuracy == pytest.approx(1 / 3, rel=1e-15)
    assert evaluate([["A", "Q", "P"]], [["A", "A", "Z"]]).unknown_labels == ()
    # A label that only the prediction has is not the business of this list.
    assert evaluate([["A"]], [["Q"]], known_labels={"A"}).unknown_labels == ()


def test_to_dict_survives_json():
    data = json.loads(json.dumps(evaluate(GOLD, GUESS).to_dict()))
    assert data["spans"]["types"]["NP"] == {
        "precision": 0.5,
        "recall": pytest.approx(1 / 3, rel=1e-15),
        "f1": pytest.approx(0.4, rel=1e-15),
        "support": 3,
        "predicted": 2,
        "correct": 1,
    }
    assert data["confusion"]["labels"] == ["B-NP", "B-PP", "B-VP", "I-NP", "O"]
    assert data["confusion"]["matrix"][0] == [2, 0, 0, 1, 0]
    assert data["spans"]["micro"]["support"] == 4
    assert json.loads(json.dumps(evaluate([["NN"]], [["NN"]]).to_dict()))["spans"] is None


def test_numpy_labels_are_labels():
    gold, guess = [np.array(labels) for labels in GOLD], [np.array(labels) for labels in GUESS]
    assert evaluate(gold, guess).to_dict() == evaluate(GOLD, GUESS).to_dict()
    json.dumps(evaluate(gold, guess).to_dict())


def test_confusion_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        evaluate(GOLD, GUESS).confusion.matrix[0, 0] = 1


@pytest.mark.parametrize("score", [evaluate, token_accuracy, sequence_accuracy, span_f1])
def test_misaligned_data_are_refused_by_name(score):
    with pytest.raises(DataError, match=r"Sequence 1 has 2 labels in y_true but 1 in y_pred"):
        score([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(DataError, match=r"y_true has 2 sequences but y_pred has 1"):
        score([["O"], ["O"]], [["O"]])
    with pytest.raises(DataError, match=r"y_pred\[0\] is the string 'B-X'"):
        score([["B", "-", "X"]], ["B-X"])


NO_SPANS = {
    "folds of proteins": ([list("HHHCCCEEE"), list("CCHHCC")], [list("CCCHHHEEE"), list("HHCCHH")]),
    "parts of speech": ([["D", "N"], ["V", "N"]], [["D", "N"], ["N", "N"]]),
    "hyphens": ([["NN-TL", "VB"], ["VB"]], [["NN-TL", "VB"], ["B-X"]]),
    "types alone": ([["PER", "O"], ["O"]], [["PER", "O"], ["O"]]),
}


def paired(y_true, y_pred):
    return paired_bootstrap(y_true, y_pred, y_pred)


SPAN_SCORES = [span_f1, bootstrap_interval, find_mistakes, paired]


@pytest.mark.parametrize("score", SPAN_SCORES)
@pytest.mark.parametrize("case", NO_SPANS)
def test_labels_that_mark_no_spans_have_no_span_scores(score, case):
    with pytest.raises(DataError, match=r"The labels of y_true \(.*\) mark no spans, .*; use token_accuracy"):
        score(*NO_SPANS[case])


@pytest.mark.parametrize("score", SPAN_SCORES)
@pytest.mark.parametrize("gold", ["O", "B", "BO", "EO", "."])
def test_parts_of_data_need_not_hold_all_labels_of_a_scheme(score, gold):
    score([list(gold), ["O"]], [["B-X"] * len(gold), ["O"]])


def test_gold_labels_without_spans_score_zero():
    assert span_f1([["O", "O"]], [["O", "O"]]) == span_f1([["O", "O"]], [["B-X", "O"]]) == 0.0


@pytest.mark.parametrize("score", SPAN_SCORES)
def test_labels_that_are_no_strings_have_no_span_scores(score):
    with pytest.raises(DataError, match=r"y_true\[1\]\[0\] is 1, but spans are read from strings"):
        score([["B-X"], [1, 0]], [["O"], ["O", "O"]])
    with pytest.raises(DataError, match=r"(y_pred|a)\[0\]\[1\] is None, but spans are read from strings"):
        score([["B-X", "O"], ["O"]], [["O", None], ["O"]])


def test_unknown_scheme_is_refused_even_without_spans():
    with pytest.raises(ConfigError, match="'bmes'"):
        evaluate([["NN"]], [["NN"]], "bmes")


def test_importing_metrics_loads_only_numpy():
    code = "import sys, chainfield.metrics; print({'scipy', 'sklearn', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_labels_of_several_types_are_scored_in_the_order_of_tasks():
    gold, guess = [["b", 1, "a"], [0]], [["b", "a", "a"], ["1"]]
    report = evaluate(gold, guess, known_labels=["b", 1, "a"])
    assert ordered_labels(["b", 1, "a", 0, "1"]) == ("b", 1, "a", 0, "1")
    assert report.confusion.labels == ("b", "1", "a", "0", "'1'")
    assert report.labels["1"] == Score(correct=0, predicted=0, support=1)
    assert report.labels["'1'"] == Score(correct=0, predicted=1, support=0)
    assert (report.n_correct_tokens, report.unknown_labels) == (2, ("0",))
    str(report)
    assert evaluate([["B-X", 1]], [["B-X", 1]]).spans is None
    assert not score_intervals([["B-X", 1]] * 2, [["B-X", 1]] * 2, n_resamples=5).of_spans


def test_known_labels_may_be_numbers():
    assert evaluate([[0, 1, 2]], [[0, 1, 1]], known_labels=[0, 1]).unknown_labels == ("2",)


@pytest.mark.parametrize("label", [None, {"a"}, frozenset({"a", "b"})])
def test_a_report_needs_one_label_for_each_position(label):
    with pytest.raises(DataError, match=r"y_true\[1\]\[1\] is .*, but every position needs one label here"):
        evaluate([["a"], ["a", label]], [["a"], ["a", "b"]])
    with pytest.raises(DataError, match=r"y_pred\[0\]\[0\] is .*, but every position needs one label here"):
        evaluate([["a"]], [[label]])
