"""One sequence at a time: the same answers as many at once, by few steps of Python, from what was worked out once."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest

import chainfield
from chainfield import HiddenCRF, LinearCRF
from chainfield.errors import DataError, NotTrainedError
from chainfield.fitted import Tagger as Fitted
from chainfield.fitted.scoring import Scoring
from chainfield.inference import decoder_named
from chainfield.kernels.jit import NATIVE
from chainfield.tasks import Tagging
from support.catalogue import SPACES, compose, draw_theta

SENTENCES = [["the", "old", "dog", "barks"], ["a", "dog"], [], ["old", "dogs", "bark", "a", "lot"], ["the", "unheard"]]
LABELS = [["D", "A", "N", "V"], ["D", "N"], [], ["A", "N", "V", "D", "N"], ["D", "N"]]


def tutorial(words):
    """Dicts as tutorials write them: other keys at the ends."""
    found = []
    for t, word in enumerate(words):
        item = {"bias": 1.0, "word": word, "upper": word.isupper(), "size": len(word)}
        item |= {"-1": words[t - 1]} if t else {"BOS": True}
        found.append(item | ({"+1": words[t + 1]} if t + 1 < len(words) else {"EOS": True}))
    return found


STYLES = {
    "dicts": tutorial,
    "lists": lambda words: [[f"w={word}", f"s={word[-1]}"] for word in words],
    "columns": lambda words: [(word, word[:1]) for word in words],
    "numbers": lambda words: np.array([[len(word), word.count("o")] for word in words], float).reshape(-1, 2),
}


@pytest.fixture(scope="module", params=STYLES)
def model(request):
    sequences = [STYLES[request.param](words) for words in SENTENCES]
    return LinearCRF(max_iter=20, n_jobs=1).fit(sequences, LABELS), sequences


# ---- the same answers --------------------------------------------------------------------------------------------


def test_one_sequence_is_labelled_as_among_others(model):
    crf, sequences = model
    assert [crf.tag(x) for x in sequences] == crf.predict(sequences)
    assert all(type(crf.tag(x)) is list for x in sequences)


def test_labels_of_one_sequence_may_be_given(model):
    crf, sequences = model
    given = ["N", None, {"V", "A"}, None]
    assert crf.tag(sequences[0], given) == crf.predict(sequences[:1], [given])[0]
    assert crf.tag(sequences[0], given)[0] == "N"


def test_one_sequence_is_classified_as_among_others():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) + (n % 2) for n in (3, 4, 5, 6, 7, 8)]
    model = HiddenCRF(n_states=2, max_iter=5, n_jobs=1).fit(X, [n % 2 for n in range(6)])
    found = [model.classify(x) for x in X]
    assert found == model.predict(X).tolist()
    assert all(type(label) is int for label in found)


def test_what_is_no_sequence_is_refused(model):
    crf, _ = model
    with pytest.raises(DataError, match="one entry per position"):
        crf.tag("the dog barks")
    with pytest.raises(DataError, match="one entry per position"):
        crf.tag({"word": "dog"})
    with pytest.raises(NotTrainedError, match="call fit"):
        LinearCRF().tag([{"word": "dog"}])


# ---- what is worked out once -------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["sum", "max"])
@pytest.mark.parametrize("transition", ["tied", "free", "some + edge features", "low rank"])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("normalised", [False, True])
def test_scores_are_those_of_the_chain(space, transition, how, normalised):
    problem = compose(space, "all pairs + dense + boundary", transition, "likelihood")
    chain = replace(problem.chain, normalised=normalised)
    params = chain.views(draw_theta(problem))
    scoring = Scoring(chain, params, how)
    for batch in (problem.batch, problem.batch.window(0, 1), problem.batch):
        found, expected = scoring.potentials(batch), chain.potentials(params, batch, how)[0]
        assert found.node.tobytes() == expected.node.tobytes()
        assert found.edge.tobytes() == expected.edge.tobytes()
    edge = scoring.edges(problem.batch, scoring.nodes(problem.batch))
    assert edge.flags.writeable == chain.own_edges


def test_the_short_way_gives_the_labels_of_the_long_one(model):
    crf, sequences = model
    tagger = crf.tagger_
    batch = tagger.features.encode(sequences * 400)
    if batch.sparse is None:
        assert tagger.straight is None
        return
    long = tagger.map(decoder_named("viterbi"), batch)
    for jobs in (1, 3):
        assert tagger.straight.labels(batch, jobs).tolist() == np.concatenate(long).tolist()


@pytest.mark.parametrize("emission", ["all pairs", "seen pairs + boundary", "all pairs + dense + boundary"])
@pytest.mark.parametrize("transition", ["tied", "free", "some + edge features"])
@pytest.mark.parametrize("space", SPACES)
def test_every_chain_with_a_short_way(space, transition, emission):
    """Scores with values, ends, ties, hidden states and rules; chains with anything else have none."""
    problem = compose(space, emission, transition, "likelihood")
    chain = problem.chain
    labels = tuple(range(chain.space.n_labels))
    tagger = Fitted(features=None, task=Tagging(labels), chain=chain, theta=draw_theta(problem))
    linear = "dense" not in emission and transition != "some + edge features"
    assert (tagger.straight is not None) == linear
    if linear:
        expected = np.concatenate(tagger.map(decoder_named("viterbi"), problem.batch))
        assert tagger.straight.labels(problem.batch).tolist() == expected.tolist()


def test_scores_that_are_no_numbers_are_left_to_the_long_way():
    crf = LinearCRF(max_iter=5, n_jobs=1).fit([[{"a": 1.0}, {"b": 1.0}]], [["A", "B"]])
    assert crf.tag([{"a": 1e300}, {"b": 1.0}])[0] == "A"
    huge = [[{"a": 1.7e308, "b": 1.7e308}] * 2]
    tagger = crf.tagger_
    doubled = replace(tagger, theta=tagger.theta * 100)
    assert doubled.straight.labels(tagger.features.encode(huge)) is None
    with pytest.raises(DataError, match="NaN or"):
        doubled.predict(huge)


def test_parameters_cannot_change_under_what_follows_from_them(model):
    crf, _ = model
    with pytest.raises(ValueError, match="read-only"):
        crf.tagger_.theta[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        crf.tagger_.params["transition.weight"][:] = 1.0


def test_what_follows_from_the_parameters_is_not_pickled(model):
    crf, sequences = model
    fresh = pickle.loads(pickle.dumps(crf))
    before = len(pickle.dumps(fresh.tagger_))
    assert fresh.predict(sequences) == crf.predict(sequences)
    assert len(pickle.dumps(fresh.tagger_)) == before


@pytest.mark.skipif(NATIVE is None, reason="Numba's way into a kernel has steps of its own")
def test_few_steps_of_python_lead_to_an_answer(model):
    """A call of Python costs as much as scoring a position: their number must not grow by accident."""
    crf, sequences = model
    calls = []
    crf.tag(sequences[0])
    try:
        sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
        crf.tag(sequences[0])
    finally:
        sys.setprofile(None)
    most = 125 if isinstance(sequences[0][0], tuple) else 95
    assert len(calls) <= most, calls


def test_a_saved_model_answers_with_the_same_bits(model, tmp_path):
    crf, sequences = model
    crf.save(tmp_path / "model.cf")
    loaded = chainfield.load(tmp_path / "model.cf", n_jobs=1)
    assert [loaded.tag(x) for x in sequences] == crf.predict(sequences)
    for a, b in zip(loaded.predict_marginals(sequences), crf.predict_marginals(sequences), strict=True):
        assert a.tobytes() == b.tobytes()
