"""What a scorer knows of itself, and what the library does with scorers that say nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from chainfield.errors import ConfigError, ModelFileError
from chainfield.features.numbers import DenseFeatures
from chainfield.files.model import load_tagger, save_model
from chainfield.fitted import Tagger
from chainfield.fitted.names import feature_weights, transition_weights
from chainfield.inference import viterbi
from chainfield.inspection.explanation import explain
from chainfield.models.empirical.half_rates import HalfRates
from chainfield.models.empirical.joint_rates import JointRates
from chainfield.models.empirical.known_words import Words
from chainfield.models.empirical.unseen import UnseenAverage, UnseenExponential
from chainfield.models.empirical.word_rates import WordRates
from chainfield.models.hmm.mixture import GaussianMixture
from chainfield.models.neural.scorer import Neural
from chainfield.objectives import Targets, objective_named
from chainfield.problem import Problem
from chainfield.problem.linear_pass import LinearPass
from chainfield.scorers import (
    SCORERS,
    Boundary,
    Chain,
    DenseLinear,
    EdgeFeatures,
    HiddenUnits,
    LowRankTransition,
    Origin,
    Scorer,
    SparseLinear,
    Transition,
    all_pairs,
    arrange,
    register,
)
from chainfield.scorers.model_files import scorer_from_parts, scorer_to_parts
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.scorers.triples import Triples
from chainfield.states import one_per_label
from chainfield.tasks import Tagging
from support.catalogue import compose, draw_theta
from support.explaining import path_score

RNG = np.random.default_rng(0)


def whole(*numbers):
    return np.array(numbers, np.int32)


ENTRIES = (whole(0, 1), whole(1, 0), np.array([2.0, 1.0]))
STEPS = (whole(1, 0), whole(1), np.ones(1), whole(), 3, 2)
SAMPLES = (whole(0, 1), whole(1, 0), whole(2), whole(0, 1), whole(1, 0), np.array([2.0, 1.0]))
PAIRS = arrange(pairs_from_codes(np.array([0, 1, 3, 5, 6, 7, 12, 17]), 3, 6), 6)[0]
OURS = {
    "SparseLinear": SparseLinear(PAIRS, 6),
    "DenseLinear": DenseLinear(2, 3),
    "Boundary": Boundary(4, name="ends"),
    "Transition": Transition(np.array([0, -1, 1, 1], np.int32)),
    "LowRankTransition": LowRankTransition(whole(0, 0, 1, 1), whole(0, 1, 0, 1), 2),
    "EdgeFeatures": EdgeFeatures(all_pairs(2, 2), np.array([0, 0, 1], np.int32)),
    "HiddenUnits": HiddenUnits(2, 3, 2, "sparse", output_pace=0.5),
    "Neural": Neural(2, 5, 1, 4, 6, "cnn", 3, 2, "none", 1, 4),
    "GaussianMixture": GaussianMixture(2, 3, 2, np.zeros(2), np.ones(2)),
    "Words": Words(*ENTRIES, 3, 2),
    "UnseenAverage": UnseenAverage(*SAMPLES, 3, 2, counted="tokens"),
    "UnseenExponential": UnseenExponential(*SAMPLES, 3, 2, pairs=all_pairs(3, 2)),
    "Triples": Triples(np.array([0, 3, 5], np.int64), 3, 2),
    "WordRates": WordRates(*ENTRIES, *STEPS),
    "JointRates": JointRates(*ENTRIES, *STEPS, left=all_pairs(3, 2), right=all_pairs(3, 2)),
    "HalfRates": HalfRates(*ENTRIES, *STEPS, left=all_pairs(3, 2), right=all_pairs(3, 2), power=0.5),
}


@dataclass(frozen=True, eq=False)
class Quiet(Scorer):
    """score(t, r) = (x_t · u) v_r: not linear, and silent about itself."""

    n_columns: int
    n_rows: int
    name: str = field(default="quiet", kw_only=True)
    group = "emissions"

    def shapes(self):
        return {"u": (self.n_columns,), "v": (self.n_rows,)}

    def start(self, rng):
        return {name: rng.normal(size=shape) for name, shape in self.shapes().items()}

    def forward(self, params, batch, how, scores):
        x, u, v = batch.dense, params["u"], params["v"]
        scores += np.outer(x @ u, v)

        def pullback(d, into, scale):
            d_u, d_v = x.T @ (d @ v), (x @ u) @ d
            into["u"][...] += scale * d_u
            into["v"][...] += scale * d_v

        return pullback


@dataclass(frozen=True, eq=False)
class Careful(Quiet):
    """The same, with wishes for its training."""

    def pace(self, parameter):
        return 0.25 if parameter == "u" else 1.0

    def penalised(self, parameter):
        return parameter != "v"


def test_every_scorer_of_the_library_is_here():
    ours = {name: kind for name, kind in SCORERS.items() if kind.__module__.startswith("chainfield.")}
    assert set(ours) == set(OURS)
    assert all("check" in vars(kind) for kind in ours.values())


@pytest.mark.parametrize("kind", OURS)
def test_scorers_survive_being_taken_apart(kind):
    scorer = OURS[kind]
    if kind == "Neural":
        pytest.importorskip("torch")
    given = {"L": 6, "K": 6, "B": 2, "characters": 6}
    given |= {
        size: getattr(scorer, name, 3) for size, name in (("R", "n_rows"), ("D", "n_columns"), ("F", "n_features"))
    }
    edges = [array for array in vars(scorer).values() if isinstance(array, np.ndarray)] or [np.empty(4)]
    again = scorer_from_parts(*scorer_to_parts(scorer), scorer.group, given | {"E": len(edges[0])})
    assert type(again) is type(scorer)
    assert (again.name, again.shapes()) == (scorer.name, scorer.shapes())
    for ours, theirs in zip(scorer.to_parts()[1].values(), again.to_parts()[1].values(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_name_belongs_to_one_scorer():
    with pytest.raises(ConfigError, match="There is a scorer Boundary already"):
        register(type("Boundary", (Scorer,), {"__module__": "elsewhere"}))


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(n, 4)) for n in (3, 5, 2, 4)]
    y = [["ab"[int(v > 0)] for v in x[:, 0]] for x in X]
    features = DenseFeatures()
    return features, features.learn(X), X, y


def make_problem(data, scorer, **options):
    _, batch, _, y = data
    space = one_per_label(2)
    chain = Chain(space, (scorer,), (Transition(np.arange(4, dtype=np.int32)),))
    targets = Targets(Tagging(("a", "b")).clamp(space, y, batch.offsets), np.ones(len(y)))
    return Problem(chain, objective_named("likelihood"), batch, targets, **options)


def make_tagger(data, scorer):
    problem = make_problem(data, scorer)
    return Tagger(data[0], Tagging(("a", "b")), problem.chain, draw_theta(problem))


def test_a_scorer_that_says_nothing_is_explained_as_a_whole(data):
    tagger = make_tagger(data, Quiet(4, 2))
    for x in data[2]:
        explanation = explain(tagger, x)
        added = path_score(explanation)
        score = viterbi(tagger.chain.space, tagger.potentials(tagger.features.encode([x]))).score[0]
        np.testing.assert_allclose(added, score, rtol=1e-9)
        assert all("quiet" in {c.feature for c in p.contributions} for p in explanation.positions)
    assert list(feature_weights(tagger)) == []
    assert len(transition_weights(tagger)) == 4
    assert tagger.n_weights == 4 + 2 + 4


def test_files_hold_scorers_that_are_registered_and_check_themselves(data, tmp_path, monkeypatch):
    tagger, path = make_tagger(data, Quiet(4, 2)), tmp_path / "m.cf"
    with pytest.raises(ModelFileError, match=r"chainfield\.scorers\.register"):
        save_model(path, tagger)
    monkeypatch.setitem(SCORERS, "Quiet", Quiet)
    save_model(path, tagger)
    with pytest.raises(ModelFileError, match="the scorer 'quiet' does not say what fits it"):
        load_tagger(path)
    monkeypatch.setattr(Quiet, "check", lambda self, space, features: None)
    assert load_tagger(path)[0].predict(data[2]) == tagger.predict(data[2])
    monkeypatch.delitem(SCORERS, "Quiet")
    with pytest.raises(ModelFileError, match="'Quiet' that this chainfield does not know"):
        load_tagger(path)


def test_by_default_all_is_carried_where_nothing_moved():
    scorer = Quiet(2, 3)
    theirs = {"u": np.ones(2), "v": np.full(3, 2.0)}
    none = np.empty(0, np.int64)
    for same in (True, False):
        ours = {"u": np.zeros(2), "v": np.zeros(3)}
        scorer.carry(Quiet(2, 3), Origin(none, none, none, none, same), theirs, ours)
        assert ours["u"].all() == ours["v"].all() == same
    bigger = {"u": np.zeros(2), "v": np.zeros(4)}
    Quiet(2, 4).carry(scorer, Origin(none, none, none, none, True), theirs, bigger)
    assert not bigger["v"].any()


def test_pace_and_penalties_are_none_where_they_are_trivial(data):
    problem = make_problem(data, Quiet(4, 2), l2=0.3)
    assert problem.pace is None
    assert problem.penalised is None
    problem = make_problem(data, Careful(4, 2), l1=0.1, l2=0.3)
    assert problem.pace.tolist() == [0.25] * 4 + [1.0] * 2 + [1.0] * 4
    assert problem.penalised.tolist() == [1.0] * 4 + [0.0] * 2 + [1.0] * 4


def test_penalties_leave_out_what_a_scorer_says(data):
    free, bound = make_problem(data, Careful(4, 2)), make_problem(data, Careful(4, 2), l1=0.1, l2=0.3)
    theta = draw_theta(bound)
    counted = theta * bound.penalised
    value, gradient = bound.evaluate(theta)
    plain, slope = free.evaluate(theta)
    np.testing.assert_allclose(value, plain + 0.3 * counted @ counted, rtol=1e-12)
    np.testing.assert_allclose(gradient, slope + 0.6 * counted, rtol=1e-12)
    np.testing.assert_allclose(bound.penalty(theta), 0.1 * np.abs(counted).sum() + 0.3 * counted @ counted, rtol=1e-12)


@pytest.mark.parametrize(
    ("emission", "transition", "kind"),
    [
        ("seen pairs + boundary", "free", LinearPass),
        ("all pairs", "tied + triples", LinearPass),
        ("dense", "free", LinearPass),
        ("seen pairs + dense", "free", type(None)),
        ("seen pairs", "edge features", type(None)),
    ],
)
def test_a_fast_pass_asks_the_scorers(emission, transition, kind):
    problem = compose("one per label", emission, transition, "likelihood")
    assert type(problem.fast) is kind
