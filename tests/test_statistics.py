"""Co-occurrence rates and pointwise mutual information, and their picture."""

from __future__ import annotations

import math
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainfield.errors import ConfigError, DataError
from chainfield.features import parse_template
from chainfield.plots.heat_map import heat_map
from chainfield.statistics import Pair, features_with_labels, label_pairs, word_pairs, words_with_labels
from chainfield.statistics.association import associate

events = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=40)


@given(events, st.sampled_from([0.0, 0.5, 2.0]))
def test_rates_are_those_of_their_definition(pairs, strength):
    found = associate(pairs, strength)
    n, both = len(pairs), Counter(pairs)
    firsts, seconds = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    for i, a in enumerate(found.firsts):
        for j, b in enumerate(found.seconds):
            expected = firsts[a] * seconds[b] / n
            wanted = (both[a, b] + strength) / (expected + strength)
            assert found.rates[i, j] == pytest.approx(wanted)
            assert found.rate(a, b) == pytest.approx(wanted)
            bits = found.information()[i, j]
            assert bits == pytest.approx(math.log2(wanted)) if wanted else bits == -math.inf


@given(events)
def test_rates_average_to_one(pairs):
    """The sum over all pairs of P(a) P(b) CR(a; b) is 1, and the mutual information is not negative."""
    found = associate(pairs)
    p, q = found.first_counts / found.total, found.second_counts / found.total
    assert p @ found.rates @ q == pytest.approx(1.0)
    joint = np.outer(p, q) * found.rates
    bits = np.where(joint > 0, found.information(), 0.0)
    assert (joint * bits).sum() >= -1e-12


def test_who_attracts_and_who_repels():
    labels = [["D", "N", "V", "D", "N"]] * 10
    found = label_pairs(labels)
    assert found.pair("D", "N") == Pair("D", "N", 20.0, 10.0, 2.0)
    assert {(p.first, p.second) for p in found.attracting()} == {("D", "N"), ("N", "V"), ("V", "D")}
    assert found.repelling(1)[0].rate == 0.0
    assert all(p.rate < 1 for p in found.repelling())
    assert "D · N" in str(found)
    assert str(found).index("attract") < str(found).index("repel")


def test_what_is_counted():
    X, Y = [["the", "cat"], ["the", "dog"]], [["D", "N"], ["D", None]]
    assert words_with_labels(X, Y).pair("the", "D").count == 2
    assert words_with_labels(X, Y).total == 3
    assert word_pairs(X).pair("the", "dog").count == 1
    assert label_pairs(Y).total == 1
    rows = [[(word, word[0]) for word in x] for x in X]
    assert words_with_labels(rows, Y, column=1).pair("t", "D").count == 2
    found = features_with_labels(
        rows, Y, parse_template("U:first=%x[0,1]\nU:before=%x[-1,0]\nB\n", dialect="chainfield")
    )
    assert found.pair("first=t", "D").count == 2
    assert found.pair("before=the", "N").count == 1
    found = features_with_labels([[{"w": word, "zero": 0} for word in x] for x in X], Y)
    assert found.firsts == ("w:cat", "w:the")
    assert sum(map(len, map(list, map(pairwise, X)))) == 2


@pytest.mark.parametrize(
    ("error", "words", "act"),
    [
        (DataError, "nothing to count", lambda: label_pairs([["A"], [], ["B", None]])),
        (DataError, "labels for 2", lambda: words_with_labels([["a"]], [["x"], ["y"]])),
        (DataError, "Sequence 0 has 1 positions but 2 labels", lambda: words_with_labels([["a"]], [["x", "y"]])),
        (DataError, "no column 2", lambda: word_pairs([[("a", "b"), ("c", "d")]], column=2)),
        (DataError, "'Q' was never counted", lambda: label_pairs([["A", "B"]]).rate("Q", "B")),
        (ConfigError, "strength is -1", lambda: label_pairs([["A", "B"]], strength=-1)),
        (ConfigError, "n is 0", lambda: heat_map(label_pairs([["A", "B"]]), n=0)),
        (ConfigError, "limit is 0", lambda: heat_map(label_pairs([["A", "B"]]), limit=0)),
    ],
)
def test_bad_input(error, words, act):
    with pytest.raises(error, match=words):
        act()


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"pip install 'chainfield\[plot\]'"):
        heat_map(label_pairs([["A", "B"]]))


def test_the_heat_map_shows_what_was_counted(tmp_path):
    pytest.importorskip("matplotlib")
    found = label_pairs([["D", "N", "V", "D", "N"], ["N", "N"]])
    figure = heat_map(found, tmp_path / "map.png", title="labels")
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["D", "N", "V"]
    image = axes.images[0].get_array()
    met = found.rates > 0
    np.testing.assert_allclose(image[met], np.clip(found.information(), -4, 4)[met])
    assert (image[~met] < 0).all()
    assert len(axes.lines[0].get_xdata()) == (found.rates == 0).sum()
    assert (tmp_path / "map.png").stat().st_size > 1000
