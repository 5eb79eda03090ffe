"""From texts to spans: exact offsets, exact probabilities, nothing repaired or dropped unless it was asked for."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainfield
from chainfield import Document, EmpiricalCRF, LatentCRF, LinearCRF, TextTagger
from chainfield.errors import ConfigError, DataError, ModelFileError, NotTrainedError
from chainfield.fitted.label_spans import span_table
from chainfield.spans import spans
from chainfield.text import Pattern, Rules, TextSpan, find_words
from chainfield.text.alignment import SCHEMES, Repairs, labels_of, token_spans
from support.texts import corpus

TEXTS, SPANS = corpus(80)


@pytest.fixture(scope="module")
def tagger() -> TextTagger:
    return TextTagger().fit(TEXTS, SPANS)


def test_texts_in_spans_out(tagger: TextTagger) -> None:
    found = tagger.predict(TEXTS)
    assert [[tuple(span.span) for span in own] for own in found] == SPANS
    assert all(s.text == text[s.start : s.end] for text, own in zip(TEXTS, found, strict=True) for s in own)
    assert all(0.5 < s.probability <= 1 for own in found for s in own)
    assert tagger.score(TEXTS, SPANS) == 1.0
    assert tagger.classes_ == ["LOC", "PER"]


def test_answers_with_alternatives_and_without_probabilities(tagger: TextTagger) -> None:
    quick = tagger.predict(TEXTS[:5], probabilities=False)
    slow = tagger.predict(TEXTS[:5], alternatives=2)
    for a, b in zip(quick, slow, strict=True):
        assert [s.span for s in a] == [s.span for s in b]
        assert all(s.probability is None and not s.alternatives for s in a)
        for s in b:
            assert {label for label, _ in s.alternatives} == {"LOC", "PER", "O"} - {s.label}
            assert s.probability + sum(p for _, p in s.alternatives) <= 1 + 1e-9
            assert s.alternatives[0][1] >= s.alternatives[1][1]
    described = slow[0][0].to_dict()
    assert set(described) == {"start", "end", "label", "text", "probability", "alternatives"}


@pytest.mark.parametrize("model", [LinearCRF(l2=5.0), LatentCRF(n_states=2, max_iter=10), LinearCRF(order=2)], ids=repr)
@pytest.mark.parametrize("scheme", ["bio", "bioes", "io"])
def test_probabilities_are_exact(model: chainfield.LinearCRF, scheme: str) -> None:
    """Of all label sequences, those in which this very span is read add up to its probability."""
    texts, gold = [text[:14] for text in TEXTS[:30]], [[s for s in own if s[1] <= 14] for own in SPANS[:30]]
    tagger = TextTagger(model=model, scheme=scheme, misaligned="expand").fit(texts, gold)
    for text, own in zip(texts, tagger.predict(texts, alternatives=3), strict=True):
        words = tagger.tokens([text]).rows()
        n = len(words[0])
        best = tagger.model_.predict_n_best(words, min(4000, len(tagger.model_.classes_) ** n))[0]
        for s in own:
            first = int(np.searchsorted(tagger.tokens([text]).starts, s.start))
            last = int(np.searchsorted(tagger.tokens([text]).ends, s.end)) + 1
            reading = scheme if scheme != "bio" else "iob2"
            whole = sum(p for labels, p in best if (s.label, first, last) in spans(labels, reading))
            assert s.probability == pytest.approx(whole, abs=1e-5)
            nothing = sum(p for labels, p in best if set(labels[first:last]) == {"O"})
            assert dict(s.alternatives)["O"] == pytest.approx(nothing, abs=1e-5)


def test_a_stream_is_read_as_it_is_needed_and_keeps_its_order(tagger: TextTagger, monkeypatch) -> None:
    monkeypatch.setattr("chainfield.text.tagging.inputs.TEXTS", 4)
    tagger.model_.n_jobs = 2
    read = []

    def endless():
        for i in range(10**9):
            read.append(i)
            yield TEXTS[i % len(TEXTS)]

    stream = tagger.pipe(endless())
    first = [next(stream) for _ in range(20)]
    stream.close()
    assert [[tuple(s.span) for s in own] for own in first] == SPANS[:20]
    assert len(read) < 100


def test_documents_and_huggingface(tagger: TextTagger) -> None:
    documents = tagger.predict_documents(TEXTS[:3])
    assert [[tuple(s) for s in d.spans] for d in documents] == SPANS[:3]
    assert documents[0].words() == Rules().words(TEXTS[0])
    assert TextTagger().fit(documents * 5).score(documents) == 1.0
    answer = tagger.predict_huggingface(TEXTS[:1])[0][0]
    assert list(answer) == ["entity_group", "score", "word", "start", "end"]


@pytest.mark.parametrize("settings", [{}, {"sentences": True}, {"tokeniser": r"\w+|\S", "scheme": "bioes"}], ids=repr)
def test_saved_in_one_file(settings: dict, tmp_path) -> None:
    tagger = TextTagger(model=LinearCRF(max_iter=20), misaligned="expand", **settings).fit(TEXTS, SPANS)
    tagger.save(tmp_path / "text.cf", notes={"a": 1})
    again = chainfield.load(tmp_path / "text.cf")
    assert isinstance(again, TextTagger)
    assert again.predict(TEXTS) == tagger.predict(TEXTS)
    assert again.reader_.describe() == tagger.reader_.describe()
    again.save(tmp_path / "again.cf", notes={"a": 1})
    assert (tmp_path / "again.cf").read_bytes() == (tmp_path / "text.cf").read_bytes()
    # What reads columns reads it too: it is a model file like others.
    assert chainfield.files.model.load_tagger(tmp_path / "text.cf")[0].predict([["New", "York"]])


def test_a_function_is_given_again(tmp_path) -> None:
    def spaces(text: str) -> list[tuple[int, int]]:
        return find_words(text, text.split())

    tagger = TextTagger(tokeniser=spaces, misaligned="expand").fit(TEXTS, SPANS)
    tagger.save(tmp_path / "text.cf")
    alone = chainfield.load(tmp_path / "text.cf")
    with pytest.raises(ConfigError, match=r"a function, which its file cannot hold; give it again: chainfield\.load"):
        alone.predict(TEXTS)
    again = chainfield.load(tmp_path / "text.cf", tokeniser=spaces)
    assert again.predict(TEXTS) == tagger.predict(TEXTS)
    LinearCRF().fit([["a"]], [["b"]]).save(tmp_path / "plain.cf")
    with pytest.raises(ConfigError, match="reads columns, not text"):
        chainfield.load(tmp_path / "plain.cf", tokeniser=spaces)


@pytest.mark.parametrize(
    "wrapper",
    [3, {}, {"kind": "?"}, {"kind": "text"}, {"kind": "text", "tokeniser": {"kind": "rules"}},
     {"kind": "text", "tokeniser": {"kind": "rules", "version": 1}, "sentences": "x", "scheme": "bio"},
     {"kind": "text", "tokeniser": {"kind": "rules", "version": 1}, "sentences": False, "scheme": 4},
     {"kind": "text", "tokeniser": {"kind": "pattern", "regex": "("}, "sentences": False, "scheme": "bio"},
     {"kind": "text", "tokeniser": {"kind": "pattern", "regex": 7}, "sentences": False, "scheme": "bio"}],
)  # fmt: skip
def test_hostile_files(wrapper: object, tmp_path) -> None:
    LinearCRF(max_iter=3).fit([["a", "b"]], [["B-x", "O"]]).save(tmp_path / "m.cf", wrapper=wrapper)
    with pytest.raises(ModelFileError, match=r"m\.cf"):
        chainfield.load(tmp_path / "m.cf")


def test_sentences_are_sequences_and_never_end_inside_of_a_span() -> None:
    text = "We met J. R. Smith. He left. Mr. Black stayed."
    gold = [(7, 18, "PER"), (29, 38, "PER")]
    tagger = TextTagger(sentences=True, model=LinearCRF(l2=0.01)).fit([text], [gold])
    assert tagger.model_.n_sequences_seen_ == 3  # not four: "Mr. Black" is one span
    whole = TextTagger(model=LinearCRF(l2=0.01)).fit([text], [gold])
    assert [tuple(s.span) for s in whole.predict([text])[0]] == gold


@pytest.mark.parametrize("model", [EmpiricalCRF(), LinearCRF(objective="perceptron"), LinearCRF(decoder="posterior")])
def test_other_models(model: object) -> None:
    assert TextTagger(model=model).fit(TEXTS, SPANS).score(TEXTS, SPANS) > 0.9


def test_settings_reach_the_model() -> None:
    tagger = TextTagger(model=LinearCRF(l2=3.0))
    assert tagger.get_params()["model__l2"] == 3.0
    assert tagger.set_params(model__l2=4.0, sentences=True).model.l2 == 4.0
    assert TextTagger().set_params(model__l1=1.0).model.l1 == 1.0
    fitted = tagger.fit(TEXTS, SPANS)
    assert fitted.model_ is not tagger.model
    with pytest.raises(ConfigError, match="a tagger of the library is expected"):
        TextTagger(model=chainfield.HMMClassifier()).fit(TEXTS, SPANS)


def test_development_data() -> None:
    tagger = TextTagger().fit(TEXTS, SPANS, texts_dev=TEXTS[:9], spans_dev=SPANS[:9])
    assert tagger.model_.history_[-1]["dev_score"] == 1.0


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ((0, 99, "LOC"), r"Document 0: the span 0–99 \(LOC\) is not inside of the text, which has 19 characters"),
        ((-1, 3, "LOC"), r"Document 0: the span -1–3 \(LOC\) is not inside"),
        ((6, 2, "LOC"), "ends before it begins"),
        ((2, 2, "LOC"), "is empty"),
        ((0, 2, ""), "the label of the span 0–2 is ''"),
        ((0, 2, None), "the label of the span 0–2 is None"),
        ((0, 2), r"\(0, 2\) \(tuple\) is not a span; \(start, end, label\) is expected"),
        ((0.0, 2, "X"), "is not a span"),
        ((10, 16, "LOC"), r"the span 10–16 \('New Yo', LOC\) cuts the token 'York' \(14–18\) in two; correct it, take"),
        ((1, 4, "LOC"), r"the span 1–4 \(' li', LOC\) cuts the token 'live'"),
        ((9, 13, "LOC"), "has spaces at its ends"),
        ((1, 2, "LOC"), "holds no token"),
    ],
)
def test_bad_spans(span: tuple, message: str) -> None:
    with pytest.raises(DataError, match=message):
        TextTagger().fit(["I live in New York."], [[span]])


def test_bad_texts(tagger: TextTagger) -> None:
    with pytest.raises(DataError, match="There are 80 texts, but spans for 1"):
        TextTagger().fit(TEXTS, [[]])
    with pytest.raises(DataError, match="There are no spans; give one list"):
        TextTagger().fit(TEXTS)
    with pytest.raises(DataError, match="The texts are one string"):
        tagger.predict("New York")
    with pytest.raises(DataError, match="Document 0: the spans are 3"):
        TextTagger().fit(["a"], [3])
    with pytest.raises(DataError, match="no text has a token"):
        TextTagger().fit([" ", ""], [[], []])
    with pytest.raises(NotTrainedError):
        TextTagger().predict(["x"])
    with pytest.raises(DataError, match=r"Text 1 is 3 \(int\)"):
        list(tagger.pipe(["a", 3]))
    assert tagger.predict([]) == []
    assert tagger.predict(["", " \n", "\ud800", "\0"]) == [[], [], [], []]


def test_overlaps_and_repairs() -> None:
    text = "I live in New York."
    overlap = [(10, 18, "LOC"), (14, 18, "X"), (7, 18, "Y")]
    with pytest.raises(DataError, match=r"the span 10–18 \('New York', LOC\) overlaps the span 7–18 \(Y\); labels of"):
        TextTagger().fit([text], [overlap])
    for policy, kept in (("longest", "Y"), ("first", "Y")):
        tagger = TextTagger(overlapping=policy).fit([text], [overlap])
        assert tagger.classes_ == [kept]
        assert str(tagger.repairs_) == "2 spans overlap others: dropped."
        assert [repair.span for repair in tagger.repairs_.list] == [TextSpan(10, 18, "LOC"), TextSpan(14, 18, "X")] or (
            policy == "longest"
        )
    cut = [(11, 16, "LOC"), (1, 7, "V")]
    for policy, expected in (("expand", {(3, 5), (1, 2)}), ("shrink", {(1, 2)}), ("drop", set())):
        repairs = Repairs()
        own = token_spans(
            [text], [[TextSpan(*s) for s in cut]], Rules().cut([text]), misaligned=policy, repairs=repairs
        )
        assert {(a, b) for a, b, _ in own[0]} == expected
        assert len(repairs) == 2


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 8), st.sampled_from(SCHEMES))
def test_labels_hold_spans(data: st.DataObject, n: int, scheme: str) -> None:
    bounds = sorted(data.draw(st.sets(st.integers(0, n), max_size=6)))
    kinds = st.sampled_from(["A", "B-c"])
    found = [(a, b, data.draw(kinds)) for a, b in zip(bounds[::2], bounds[1::2], strict=False)]
    labels = labels_of(found, n, scheme)
    again = [(s.start, s.end, s.type) for s in spans(labels, scheme)]
    apart = scheme != "io" or all(a[1] < b[0] or a[2] != b[2] for a, b in itertools.pairwise(found))
    assert again == found or not apart


LABELS = ("B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "O", "L-X", "U-X", "NN")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.sampled_from(LABELS), max_size=7), max_size=4), st.sampled_from(["conlleval", *SCHEMES]))
def test_spans_of_many_sequences_are_those_of_each(sequences: list[list[str]], scheme: str) -> None:
    from chainfield.arrays import Ragged

    ragged = Ragged.of([len(labels) for labels in sequences])
    flat = np.array([LABELS.index(label) for labels in sequences for label in labels], np.int32)
    starts, ends = span_table(LABELS, scheme).find(flat, ragged)
    expected = [(lo + s.start, lo + s.end) for lo, own in zip(ragged.offsets.tolist(), sequences, strict=False)
                for s in spans(own, scheme)]  # fmt: skip
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == expected


def test_a_pattern_of_ones_own() -> None:
    tagger = TextTagger(tokeniser=Pattern(r"\S+"), misaligned="shrink").fit(TEXTS, SPANS)
    assert len(tagger.repairs_) > 0
    assert isinstance(tagger.predict_documents(TEXTS[:1])[0], Document)


@pytest.mark.parametrize(
    "model",
    [
        LinearCRF(prune=0.01, max_iter=10),
        LinearCRF(prune=0.01, order=2, max_iter=10),
        chainfield.HiddenUnitCRF(hidden_units=10, max_iter=3),
        chainfield.MEMM(max_iter=10),
        LatentCRF(n_states=2, max_iter=10),
        EmpiricalCRF(),
        chainfield.NeuralCRF(max_iter=1),
    ],
    ids=repr,
)
def test_any_tagger_from_several_threads(model: chainfield.LinearCRF, tmp_path) -> None:
    """The same answers from every thread, for one text at a time, from a stream, and from a file."""
    if isinstance(model, chainfield.NeuralCRF):
        pytest.importorskip("torch")
    texts, spans = corpus(40)
    tagger = TextTagger(model=model).fit(texts, spans)
    expected = tagger.predict(texts)
    assert all(0 <= s.probability <= 1 + 1e-9 for own in expected for s in own)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: tagger.predict(texts), range(4)))
    assert all(one == expected for one in found)
    one_by_one = [tagger.predict([text])[0] for text in texts]
    assert [[s.span for s in own] for own in one_by_one] == [[s.span for s in own] for own in expected]
    assert list(tagger.pipe(iter(texts))) == expected
    tagger.save(tmp_path / "model.cf")
    assert chainfield.load(tmp_path / "model.cf").predict(texts) == expected


@pytest.mark.parametrize("scheme", ["bioes", "bilou", "bio"])
def test_a_model_with_rules_of_its_own_keeps_them(scheme, tmp_path):
    texts = ["Anna Berg lives in Oslo.", "Oslo is cold.", "I met Anna Berg."]
    spans = [[(0, 9, "PER"), (19, 23, "LOC")], [(0, 4, "LOC")], [(6, 15, "PER")]]
    tagger = TextTagger(model=LinearCRF(scheme=scheme)).fit(texts, spans)
    assert [[span.span for span in found] for found in tagger.predict(texts)] == [[*map(tuple, own)] for own in spans]
    tagger.save(tmp_path / "m.cf")
    again = chainfield.load(tmp_path / "m.cf")
    assert again.predict(texts) == tagger.predict(texts)
    assert again.score(texts, spans) == 1.0
    if scheme == "bioes":
        assert any(label.startswith("E-") for label in tagger.model_.classes_)
    with pytest.raises(ConfigError, match=r"choose from bio, bioes, bilou, io"):
        TextTagger(model=LinearCRF(scheme="iob1")).fit(texts, spans)
