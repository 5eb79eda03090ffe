"""Objects that show themselves in notebooks: escaped, offline, whole."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from chainfield import LatentCRF, LinearCRF, TextTagger, evaluate
from chainfield.pages.fragments import bar, marked
from chainfield.states import one_per_label, partitioned
from chainfield.text import Document
from chainfield.text.document import TextSpan

X = [["<b>a</b>", "b"], ["b", "<b>a</b>", "b"]]
Y = [["B-x", "O"], ["O", "B-x", "O"]]


class Tags(HTMLParser):
    """Which elements there are, and whether all are closed."""

    VOID = ("br", "input", "link", "meta", "img", "rect", "path", "use")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.said = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.open += [] if tag in self.VOID else [tag]
        for name, value in attrs:
            assert name not in ("src", "href") or not str(value).startswith("http"), value

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


@pytest.fixture(scope="module")
def crf() -> LinearCRF:
    return LinearCRF(scheme="bio", max_iter=5).fit(X, Y, X_dev=X, y_dev=Y)


def shown(value: Any) -> Tags:
    found = Tags(value._repr_html_())
    assert not found.open
    return found


def test_objects_show_themselves(crf: LinearCRF) -> None:
    confident = shown(crf.predict_confidence(X[:1])[0])
    assert "x" in confident.said
    explained = shown(crf.explain(X[0]))
    assert "0: B-x" in explained.said
    assert "word=<b>a</b>" in explained.said  # as text
    assert "b" not in shown(crf.explain(X[0])[0]).seen
    scores = shown(evaluate(Y, crf.predict(X)))
    assert "all100.0100.0100.022" in scores.said
    latent = LatentCRF(n_states=2, max_iter=2).fit(X, Y)
    assert "states fire" in shown(latent.hidden_states(X)).said
    assert "<b>a</b>" in shown(latent.state_path(X[0])).said


def test_a_fitted_model_tells_its_training(crf: LinearCRF) -> None:
    page = crf._repr_html_()
    assert "best development score" in page
    assert "2 sequences, 5 positions" in page
    assert "class='chainfield'" not in LinearCRF()._repr_html_()


def test_texts_with_spans() -> None:
    found = shown(Document("see <i>Rome</i> & Oslo", (TextSpan(4, 15, "city"), TextSpan(18, 22, "<x>"))))
    assert "see <i>Rome</i>city & Oslo<x>" in found.said
    assert "i" not in found.seen
    inside = marked("abcd", [(0, 3, "a", 0.5), (1, 2, "b", None), (3, 3, "c", None)])
    assert inside == "<div class='t'><mark style='--h:var(--cf0)'>abc<b>a 50 %</b></mark>d</div>"


def test_state_spaces() -> None:
    small = shown(one_per_label(2))
    assert "2 states, 2 labels, 4 transitions" in small.said
    assert "table" in small.seen
    assert "table" not in shown(partitioned([30, 30])).seen


def test_bars_have_a_side() -> None:
    assert "class='b o'" in bar(-1.0, 2.0)
    assert "width:60px" in bar(1.0, 2.0)


def test_a_tagger_of_texts_shows_itself() -> None:
    tagger = TextTagger(model=LinearCRF(max_iter=2)).fit(["in Rome"], [[(3, 7, "city")]])
    assert "TextTagger" in tagger._repr_html_()
