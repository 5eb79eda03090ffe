"""Labels with several states: names, what training data tell, weights, warm starts, explanations, files."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from chainfield import LinearCRF
from chainfield.files.model import load_tagger
from chainfield.fitted.names import StateName, edge_names, label_of_name, row_names
from chainfield.inference import viterbi
from chainfield.models.compose import known_pairs, known_steps
from chainfield.models.transfer import edge_origin, unite_pairs
from chainfield.potentials import clamp_labels, clamp_sets
from chainfield.scorers import Boundary, Chain, DenseLinear, SparseLinear, Transition, arrange
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import StateSpace, class_blocks, left_to_right, one_per_label, partitioned, second_order
from chainfield.tasks import Classifying, Tagging
from support.catalogue import SPACES, draw_labels, draw_sparse
from support.explaining import path_score
from support.models import LatentTagger
from test_commands import run
from test_linear_crf import SENTENCES, X_NEW, X, Y

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
LABELS = ("A", "B", "C")


# ---- names -------------------------------------------------------------------------------------------------------


def test_rows_are_named_by_label_or_state():
    assert row_names(one_per_label(3), LABELS) == ["A", "B", "C"]
    names = row_names(partitioned([2, 1, 2]), LABELS)
    assert names == [("A", 0), ("A", 1), "B", ("C", 0), ("C", 1)]
    assert [str(name) for name in names] == ["A#0", "A#1", "B", "C#0", "C#1"]
    assert [label_of_name(name) for name in names] == ["A", "A", "B", "C", "C"]


def test_edges_of_second_order_have_three_names():
    names = edge_names(second_order(partitioned([2, 1])), LABELS)
    assert len(names) == len(set(names)) == 3 * 3 * 4
    assert (None, StateName("A", 1), "B") in names
    assert ("B", "B", StateName("A", 0)) in names


def test_states_that_share_a_row_without_a_reason_are_numbered():
    tied = StateSpace(1, [0, 0], [0, 0], [0, 0, 1], [0, 1, 1], [True, False], [False, True])
    names = edge_names(tied, ("A",))
    assert len(set(names)) == 3
    assert all(label_of_name(end) == "A" for name in names for end in name)


@pytest.mark.parametrize("name", SPACES)
def test_names_of_edges_are_unique(name):
    space = SPACES[name]()
    names = edge_names(space, LABELS)
    assert len(names) == len(set(names)) == space.n_edges


# ---- what training data tell -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPACES)
def test_known_steps_are_the_edges_between_known_labels(name):
    space = SPACES[name]()
    rng = np.random.default_rng(4)
    lengths = [3, 2, 0, 3]
    offsets = np.cumsum([0, *lengths])
    labels = np.array(draw_labels(rng, space, lengths))
    labels[rng.random(len(labels)) < 0.3] = -1
    sets, index = known_steps(clamp_labels(space, labels), offsets, space)
    for t in range(len(labels)):
        known = t not in offsets and labels[t] >= 0 and labels[t - 1] >= 0
        between = {
            int(row)
            for src, dst, row in zip(space.src, space.dst, space.edge_row, strict=True)
            if (space.label_of[src], space.label_of[dst]) == (labels[t - 1], labels[t])
        }
        expected = between if known else set()
        assert (set(sets[index[t]].tolist()) if index[t] >= 0 else set()) == expected


def test_a_step_between_sets_of_labels_is_not_known():
    space = partitioned([2, 1, 1])
    sets, index = known_steps(clamp_sets(space, [{0}, {0, 1}, {2}, None, {2}, {2}]), np.array([0, 6]), space)
    assert index.tolist() == [-1, -1, -1, -1, -1, 0]
    assert [s.tolist() for s in sets] == [[15]]


def test_open_positions_tell_nothing_of_pairs_but_single_labels_do():
    sparse = draw_sparse(np.random.default_rng(0), 4, 5, valued=False)
    space = partitioned([2, 1])
    assert known_pairs(sparse, clamp_labels(space, np.full(4, -1)), space).n_pairs == 0
    seen = known_pairs(sparse, clamp_labels(space, np.zeros(4, int)), space)
    assert set(seen.row.tolist()) == {0, 1}
    # With one label there is nothing to know: its states all count.
    one = partitioned([2])
    assert set(known_pairs(sparse, clamp_labels(one, np.full(4, -1)), one).row.tolist()) == {0, 1}


@pytest.mark.parametrize("space", [one_per_label(3), partitioned([2, 1, 3]), second_order(partitioned([2, 1, 1]))])
def test_labels_are_counted_whatever_their_states(space):
    labels = np.array([0, 0, 1, -1, 2, 2, 2])
    offsets = np.array([0, 4, 7])
    task, clamp = Tagging(LABELS), clamp_labels(space, labels)
    assert task.count(space, clamp, offsets).tolist() == [2, 1, 3]
    weights = np.array([1.0, 2.0, 4.0])
    shift, factor = task.favour(space, clamp, offsets, weights)
    assert factor is None
    np.testing.assert_allclose(shift, -np.log(weights[space.label_of_row]), rtol=1e-15)


def test_sequences_are_counted_in_class_blocks():
    space = class_blocks([left_to_right(2), left_to_right(3)])
    offsets = np.array([0, 4, 7, 12])
    clamp = Classifying(("a", "b")).clamp(space, ["b", "b", None], offsets)
    assert Classifying(("a", "b")).count(space, clamp, offsets).tolist() == [0, 2]


# ---- the start ---------------------------------------------------------------------------------------------------


def filled_pairs():
    """A full feature with a pair that was never seen."""
    pairs, _ = arrange(pairs_from_codes(np.array([0, 1, 3, 5, 6, 7, 12, 17]), 3, 6), 6)
    assert len(pairs.mask)
    assert not pairs.mask.all()
    return pairs


def test_the_start_is_random_where_the_chain_asks_for_it():
    space, pairs = partitioned([3, 3]), filled_pairs()
    own = np.arange(space.n_edges, dtype=np.int32)
    scorers = (SparseLinear(pairs, 6), DenseLinear(2, 6), Boundary(6)), (Transition(own),)
    assert not Chain(space, *scorers).start(np.random.default_rng(0)).any()
    chain = Chain(space, *scorers, start_scale=0.3)
    theta = chain.start(np.random.default_rng(0))
    again, other = (chain.start(np.random.default_rng(seed)) for seed in (0, 1))
    assert theta.tobytes() == again.tobytes() != other.tobytes()
    weight = chain.views(theta)["features.weight"]
    assert ((weight != 0) == pairs.exists()).all()
    assert 0.2 < theta[theta != 0].std() < 0.4


def test_hidden_states_that_start_alike_stay_alike():
    def states_differ(scale):
        model = LatentTagger(start_scale=scale, max_iter=5).fit(X, Y)
        rows = model.tagger_.params["boundary.start"].reshape(-1, 2)
        return not np.allclose(rows[:, 0], rows[:, 1], rtol=0, atol=1e-12)

    assert states_differ(0.1)
    assert not states_differ(0.0)


# ---- a latent tagger ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[1, 2], ids=["first order", "second order"])
def latent(request):
    return LatentTagger(order=request.param, max_iter=15).fit(X, Y)


def test_one_state_a_label_is_the_linear_crf():
    plain = LinearCRF(trainer="lbfgs", l2=0.1, max_iter=15).fit(X, Y)
    latent = LatentTagger(n_states=1, start_scale=0.0, max_iter=15).fit(X, Y)
    assert latent.tagger_.theta.tobytes() == plain.tagger_.theta.tobytes()


def test_n_best_are_label_sequences(latent):
    for x, several in zip(X_NEW, latent.predict_n_best(X_NEW, 4), strict=True):
        labels = [tuple(found) for found, _ in several]
        assert len(set(labels)) == len(labels)
        p = [probability for _, probability in several]
        assert p == sorted(p, reverse=True)
        np.testing.assert_allclose(np.log(p), latent.log_likelihood([x] * len(labels), labels), **CLOSE)
        everything = list(itertools.product(latent.classes_, repeat=len(x))) if len(x) < 5 else []
        if everything:
            best = np.sort(np.exp(latent.log_likelihood([x] * len(everything), everything)))[::-1][:4]
            np.testing.assert_allclose(p, best, rtol=1e-9, atol=1e-12)


def test_decoders_may_be_changed_after_fit(latent):
    best = latent.set_params(decoder="latent-dynamic").predict(X_NEW)
    assert best == [several[0][0] for several in latent.predict_n_best(X_NEW, 1)]
    posterior = latent.set_params(decoder="posterior").predict(X_NEW)
    marginals = latent.predict_marginals(X_NEW)
    assert posterior == [[latent.classes_[i] for i in m.argmax(axis=1)] for m in marginals]
    sure = latent.predict_confidence(X_NEW)
    assert [c.labels for c in sure] == posterior
    latent.set_params(decoder="viterbi")
    assert latent.tagger_.decoder == "posterior"  # until the next prediction
    latent.predict(X_NEW)
    assert latent.tagger_.decoder == "viterbi"


def test_explanations_add_up_to_the_best_path(latent):
    for x in X[:10]:
        explanation, tagger = latent.explain(x), latent.tagger_
        score = viterbi(tagger.chain.space, tagger.potentials(tagger.features.encode([x]))).score[0]
        added = path_score(explanation)
        np.testing.assert_allclose(added, score, rtol=1e-9, atol=1e-9)
        assert [p.label for p in explanation.positions] == latent.predict([x])[0]


def test_weights_have_the_names_of_states(latent):
    names = {name for _, name in latent.feature_weights_}
    assert names == {StateName(label, i) for label in latent.classes_ for i in (0, 1)}
    assert len(latent.transition_weights_) == latent.tagger_.chain.space.n_edges
    assert sum(w != 0 for w in latent.feature_weights_.values()) <= latent.tagger_.n_weights


def test_a_latent_model_in_a_file(latent, tmp_path):
    latent.save(tmp_path / "m.cf")
    tagger, about = load_tagger(tmp_path / "m.cf")
    assert tagger.predict(X_NEW) == latent.predict(X_NEW)
    assert about["settings"]["start_scale"] == 0.1
    states = tagger.states(X_NEW)
    assert [len(s) for s in states] == [len(x) for x in X_NEW]
    assert [[latent.classes_[k] for k in tagger.chain.space.label_of[s]] for s in states] == latent.predict(X_NEW)


def test_a_latent_model_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LatentTagger(max_iter=5, template="U0:%x[0,0]\nB\n").fit(SENTENCES, Y).save("m.cf")
    told = json.loads(run("show", "m.cf", "--json", "--label", "O").stdout)
    assert {tuple(entry["label"]) for entry in told["features"]} == {("O", 0), ("O", 1)}
    assert set(told["boundary"]["start"]) == {f"{label}#{i}" for label in ("B-LOC", "I-LOC", "O") for i in (0, 1)}
    assert "→ O#1" in run("show", "m.cf", "--top", 50, "--label", "O").stdout
    data = "".join(f"{word}\n" for word in SENTENCES[0]).encode()
    for decoder in ("viterbi", "posterior", "latent-dynamic"):
        assert run("tag", "m.cf", "--decoder", decoder, stdin=data).lines[0].startswith(f"{SENTENCES[0][0]}\t")


def test_balanced_weights_favour_rare_labels():
    plain = LatentTagger(max_iter=15).fit(X, Y)
    balanced = LatentTagger(max_iter=15, class_weight="balanced").fit(X, Y)
    rare = plain.classes_.index("I-LOC")
    more = [
        b[:, rare].mean() - a[:, rare].mean()
        for a, b in zip(plain.predict_marginals(X), balanced.predict_marginals(X), strict=True)
    ]
    assert np.mean(more) > 0.01


@pytest.mark.parametrize("all_transitions", [True, False])
def test_seen_transitions_are_those_between_all_states_of_seen_labels(all_transitions):
    model = LatentTagger(all_transitions=all_transitions, template="U0:%x[0,0]\nB\nB0:%x[0,0]\n", max_iter=3)
    model.fit(SENTENCES, Y)
    seen = {pair for labels in Y for pair in itertools.pairwise(labels)}
    space, labels = model.tagger_.chain.space, model.classes_
    transition, features = model.tagger_.chain.transitions
    for e, (a, b) in enumerate(zip(space.src, space.dst, strict=True)):
        pair = labels[space.label_of[a]], labels[space.label_of[b]]
        assert (transition.tie[e] >= 0) == (all_transitions or pair in seen)
        assert (features.edge_row[e] in features.pairs.row) == (pair in seen)


# ---- going on ----------------------------------------------------------------------------------------------------


def carried(before, after):
    """Weights of the old model are those of the new one, by name, after a training that goes nowhere."""
    for old, new in (
        (before.feature_weights_, after.feature_weights_),
        (before.transition_weights_, after.transition_weights_),
    ):
        for name, weight in old.items():
            np.testing.assert_allclose(new[name], weight, rtol=0, atol=1e-4)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("all_features", [False, True])
def test_old_weights_stay_when_labels_and_features_come(order, all_features):
    model = LatentTagger(order=order, max_iter=8, all_features=all_features).fit(X[:20], Y[:20])
    before = LatentTagger(order=order, max_iter=8, all_features=all_features).fit(X[:20], Y[:20])
    model.set_params(trainer="sgd", max_iter=1)
    model.learning_rate = 1e-9
    strange = [[{"word": "zebra", "before": "-", "length": 0.5}, {"word": "the", "before": "zebra", "length": 0.3}]]
    model.partial_fit(strange, [["A-NEW", "O"]])
    assert "A-NEW" in model.classes_
    carried(before, model)


def test_a_latent_model_starts_from_a_plain_one():
    plain = LinearCRF(trainer="lbfgs", l2=0.1, max_iter=15).fit(X, Y)
    model = LatentTagger(trainer="sgd", max_iter=1, start_scale=1e-6, warm_start=True)
    model.learning_rate = 1e-12
    model.fitted_ = plain.fitted_
    model.fit(X, Y)
    weights, transitions = model.feature_weights_, model.transition_weights_
    for (feature, label), weight in plain.feature_weights_.items():
        pair = [weights[feature, StateName(label, i)] for i in (0, 1)]
        np.testing.assert_allclose(pair, weight, rtol=0, atol=1e-5)
        assert pair[0] != pair[1]  # equal states would stay equal
    for (a, b), weight in plain.transition_weights_.items():
        for i, j in itertools.product((0, 1), repeat=2):
            np.testing.assert_allclose(transitions[StateName(a, i), StateName(b, j)], weight, rtol=0, atol=1e-5)


def test_pairs_unite_over_rows_that_split_go_and_come():
    old, new = pairs_from_codes(np.array([0, 1, 5]), 2, 3), pairs_from_codes(np.array([3, 9]), 3, 4)
    # The new rows 0 and 1 were row 0, row 2 was row 2, row 3 is new; the old row 1 is gone.
    united = unite_pairs(old, new, np.array([0, 0, 2, -1]))
    pairs = set(zip(united.feature().tolist(), united.row.tolist(), strict=True))
    assert pairs == {(0, 0), (0, 1), (0, 3), (1, 2), (2, 1)}


@pytest.mark.parametrize("name", SPACES)
def test_edges_are_found_again(name):
    space = SPACES[name]()
    edges = edge_origin(space, space, np.arange(space.n_rows))
    assert edges.tolist() == list(range(space.n_edges))


def test_warm_starts_of_an_equal_model_change_nothing():
    model = LatentTagger(max_iter=8, warm_start=True).fit(X, Y)
    theta = model.fitted_.theta.copy()
    model.trainer, model.max_iter, model.learning_rate = "sgd", 1, 1e-12
    model.fit(X, Y)
    np.testing.assert_allclose(model.fitted_.theta, theta, rtol=0, atol=1e-6)
