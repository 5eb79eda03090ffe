"""LatentCRF: hidden states behind labels, as their users meet them, and as their theory wants them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import chainfield
from chainfield import LatentCRF, LinearCRF
from chainfield.errors import ConfigError
from chainfield.fitted.names import StateName
from chainfield.fitted.scoring import Scoring
from chainfield.inference import best_paths
from chainfield.memory import demand_memory
from chainfield.models.compose import linear_emissions, number_features
from chainfield.models.material import Material
from chainfield.models.transfer import carry_over
from chainfield.objectives import OBJECTIVES
from chainfield.potentials import Potentials
from chainfield.problem import Steps
from chainfield.problem.one_by_one import one_by_one
from chainfield.scorers import Chain, Transition, low_rank
from chainfield.states import Rules, partitioned, restrict, second_order
from chainfield.trainers import SGD, begin, run
from support import enumeration
from support.catalogue import compose, draw_theta
from test_linear_crf import SENTENCES, X_NEW, X, Y

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
FAST = {"max_iter": 6, "n_init": 1, "n_jobs": 1}
TEMPLATE = "*01:%x[0,0]\nu02:%x[-1,0]\nb\n"
ROWS = [[(word,) for word in sentence] for sentence in SENTENCES]


def cycle(n, p, rng, length=7):
    """The synthetic data of Sun et al. 2009: four states in a cycle, two labels, tokens that hardly tell anything."""
    X, y = [], []
    for _ in range(n):
        state, tokens, labels = 0, [], []
        for _ in range(length):
            tokens.append(["x1" if rng.random() < (0.55 if state < 2 else 0.45) else "x2"])
            labels.append("y1" if state < 2 else "y2")
            ahead = (state + 1) % 4
            state = ahead if rng.random() < p else int(rng.choice([k for k in range(4) if k != ahead]))
        X.append(tokens)
        y.append(labels)
    return X, y


# ---- what hidden states are for ----------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["likelihood", "perceptron"])
def test_hidden_states_find_what_labels_do_not_show(objective):
    """The optimum is 83.9 %; without hidden states nothing beyond some 65 % can be had."""
    rng = np.random.default_rng(1)
    (X, y), (X_new, y_new) = cycle(1000, 0.9, rng), cycle(500, 0.9, rng)
    latent = LatentCRF(objective=objective, n_jobs=1).fit(X, y)
    plain = LinearCRF(objective=objective, n_jobs=1).fit(X, y)
    assert latent.score(X_new, y_new) > 0.81
    assert plain.score(X_new, y_new) < 0.68


# ---- special cases -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("objective", ["likelihood", "perceptron", "large_margin", "softmax_margin"])
def test_one_state_a_label_is_the_plain_model(order, objective):
    """The LDCRF is the CRF, and the latent perceptron the perceptron, update for update."""
    settings = {"order": order, "objective": objective, "max_iter": 5, "n_jobs": 1, "restart_every": None}
    plain = LinearCRF(**settings).fit(X, Y)
    latent = LatentCRF(n_states=1, n_init=1, **settings).fit(X, Y)
    assert latent.tagger_.theta.tobytes() == plain.tagger_.theta.tobytes()
    without_time = [[{k: v for k, v in r.items() if k != "seconds"} for r in m.history_] for m in (plain, latent)]
    assert without_time[0] == without_time[1]


@pytest.mark.parametrize("space", [partitioned([2, 3]), second_order(partitioned([2, 1]))], ids=["first", "second"])
def test_full_rank_is_dense(space):
    """Every dense matrix of transitions is a product of full rank, with the same scores and gradients."""
    rng = np.random.default_rng(0)
    scorer = low_rank(space, space.n_rows)
    table = rng.normal(size=scorer.shapes()["U"])
    weight = table[scorer.left, scorer.right]
    own = Transition(np.arange(space.n_edges, dtype=np.int32))
    for_table, for_edges = np.zeros((1, space.n_edges)), np.zeros((1, space.n_edges))
    params = {"U": table, "V": np.eye(space.n_rows)}
    back = scorer.forward(params, None, "sum", for_table)
    own.forward({"weight": weight}, None, "sum", for_edges)
    np.testing.assert_allclose(for_table, for_edges, rtol=1e-12)
    d, into = rng.normal(size=(1, space.n_edges)), {name: np.zeros_like(value) for name, value in params.items()}
    back(d, into, 1.0)
    dense = np.zeros_like(table)
    dense[scorer.left, scorer.right] = d[0]
    np.testing.assert_allclose(into["U"], dense, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(into["V"], dense.T @ table, rtol=1e-12, atol=1e-14)


def test_shared_weights_are_another_way_to_write_the_same_scores():
    """A chain without shared weights that takes over those of one with them has their sums, and scores the same."""
    shared = LatentCRF(n_states=2, share_labels=True, **FAST).fit(X, Y)
    features, space = shared.tagger_.features, shared.tagger_.chain.space
    batch = features.encode(X)
    expected = shared.tagger_.scoring.nodes(batch)
    clamp = shared.tagger_.task.clamp(space, Y, batch.offsets)
    material = Material.of(features, batch, clamp, tuple(shared.classes_), previous=shared.fitted_)
    material = number_features(material, space, all_features=False)
    alone = Chain(space, tuple(linear_emissions(material, space, boundary=True)), ())
    theta = np.zeros(alone.n_parameters)
    carry_over(shared.fitted_, alone, material.origin(space), theta)
    np.testing.assert_allclose(Scoring(alone, alone.views(theta), "sum").nodes(material.batch), expected, **CLOSE)


@pytest.mark.parametrize("share", [True, False])
def test_a_latent_model_starts_from_a_plain_one(share):
    plain = LinearCRF(trainer="lbfgs", max_iter=20).fit(X, Y)
    model = LatentCRF(n_states=3, share_labels=share, start_scale=0.0, trainer="sgd", learning_rate=1e-9, **FAST)
    model.fit(X, Y, start_from=plain)
    assert model.predict(X_NEW) == plain.predict(X_NEW)
    for a, b in zip(model.predict_marginals(X_NEW), plain.predict_marginals(X_NEW), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


# ---- theory ------------------------------------------------------------------------------------------------------

WORDS = {"a": "p", "b": "q", "c": "p", "d": "q"}  # a word has one label: weights ±1 separate
BARE = {"objective": "perceptron", "trainer": "sgd", "share_labels": False, "boundary": False, "all_features": True,
        "n_init": 1, "n_jobs": 1}  # fmt: skip
# U has a weight ±1/sqrt(8) for each of 4 words and 2 labels: a wrong label costs 2/sqrt(8).
DELTA = 2 / np.sqrt(8)


def worded(n, longest, seed=3):
    rng = np.random.default_rng(seed)
    return [[str(w) for w in rng.choice(list(WORDS), rng.integers(1, longest + 1))] for _ in range(n)]


def square_norm(sequences):
    """M²: the largest squared norm of a feature vector, over all labellings."""
    norms = []
    for s in sequences:
        for labels in itertools.product("pq", repeat=len(s)):
            counts: dict = {}
            for key in [*zip(s, labels, strict=True), *(("t", *pair) for pair in itertools.pairwise(labels))]:
                counts[key] = counts.get(key, 0) + 1
            norms.append(sum(c * c for c in counts.values()))
    return max(norms)


def margins(model, X, y):
    """For every sequence the worst right path less the best wrong one, one path after the other."""
    tagger = model.tagger_
    space, names = tagger.chain.space, np.array(tagger.task.labels)
    for x, gold in zip(X, y, strict=True):
        found = enumeration.paths(space, tagger.potentials(tagger.features.encode([x])), 0)
        right = [names[space.label_of[list(path.states)]].tolist() == gold for path in found]
        scores = np.array([path.score for path in found])
        yield float(scores[right].min() - scores[~np.array(right)].max())


@pytest.mark.parametrize("n_states", [1, 2, 3])
def test_separable_data_stay_separable(n_states):
    """Theorem 1 of Sun et al. 2009: with margin δ by a unit vector, latently with δ / T, T² = Σ m_k α_k²."""
    sequences = worded(12, 3)
    X, y = [[[w] for w in s] for s in sequences], [[WORDS[w] for w in s] for s in sequences]
    plain = LinearCRF(
        objective="perceptron", trainer="sgd", learning_rate=1.0, boundary=False, all_features=True, n_jobs=1,
    ).fit(X, y)  # fmt: skip
    latent = LatentCRF(n_states=n_states, start_scale=0.0, learning_rate=1e-12, max_iter=1, **BARE)
    latent.fit(X, y, start_from=plain)
    own, theirs = plain.tagger_.chain.views(plain.tagger_.theta), latent.tagger_.chain.views(latent.tagger_.theta)
    # Every feature of one label has m states, every pair of labels m².
    square = sum((n_states if name.startswith("features") else n_states**2) * (w**2).sum() for name, w in own.items())
    assert sum((w**2).sum() for w in theirs.values()) == pytest.approx(square, rel=1e-6)
    unit = np.sqrt(sum((w**2).sum() for w in own.values()))
    t = np.sqrt(square) / unit
    delta = min(margins(plain, X, y)) / unit
    assert delta > 0
    assert min(margins(latent, X, y)) / np.sqrt(square) == pytest.approx(delta / t, rel=1e-6)


@pytest.mark.parametrize("n_states", [1, 2, 4])
def test_mistakes_stay_under_their_bound(n_states):
    """Theorem 2 of Sun et al. 2009: at most 2 T² M² / δ² updates on data that are separable with margin δ."""
    sequences = worded(60, 5)
    X, y = [[[w] for w in s] for s in sequences], [[WORDS[w] for w in s] for s in sequences]
    model = LatentCRF(n_states=n_states, learning_rate=1.0, start_scale=1e-6, max_iter=100, **BARE).fit(X, y)
    updates = sum(record["updates"] for record in model.history_)
    assert model.stop_reason_ == "every training sequence is right, by its margin"
    assert model.score(X, y) == 1.0
    assert 0 < updates <= 2 * n_states * square_norm(sequences) / DELTA**2


@pytest.mark.parametrize("n_states", [1, 2, 4])
def test_mistakes_on_inseparable_data_stay_under_their_bound(n_states):
    """Theorem 3 of Sun et al. 2009: (√2 M + D)² / δ² mistakes at most, for any unit vector and any δ."""
    sequences = worded(500, 2)
    y = [[WORDS[w] for w in s] for s in sequences]
    for i in (40, 160, 300, 410):
        y[i] = ["q" if label == "p" else "p" for label in y[i]]  # no weights serve these and all the others
    X = [[[w] for w in s] for s in sequences]
    model = LatentCRF(n_states=n_states, learning_rate=1.0, start_scale=1e-6, max_iter=1, **BARE).fit(X, y)
    updates = sum(record["updates"] for record in model.history_)
    # By U of the right words, spread over states: a wrong label costs DELTA / T, a right one that is noise as much.
    step = DELTA / np.sqrt(n_states)
    noisy = [
        sum(WORDS[w] != label for w, label in zip(s, own, strict=True)) for s, own in zip(sequences, y, strict=True)
    ]
    gap = np.array([step if not n else -step * n for n in noisy])
    bounds = []
    for delta in step * np.array([0.25, 0.5, 1.0, 2.0]):
        least = np.sqrt((np.maximum(0.0, delta - gap) ** 2).sum())
        bounds.append((np.sqrt(2 * square_norm(sequences)) + least) ** 2 / delta**2)
    assert 0 < updates <= min(bounds)
    assert min(bounds) < len(X)  # it says something


@pytest.mark.parametrize("space", ["latent", "second order latent", "restricted latent"])
@pytest.mark.parametrize("objective", ["likelihood", "perceptron", "large_margin"])
@pytest.mark.parametrize("labelling", ["full", "unknown"])
@pytest.mark.parametrize("emission", ["shared pairs", "shared dense"])
def test_the_kernel_walks_as_the_parts_do(emission, space, objective, labelling):
    """Steps with shared weights, averages and shrinking: in one kernel, and sequence by sequence."""
    problem = compose(space, f"{emission} + boundary", "tied + triples", objective, labelling)
    order = np.array([1, 0, 3, 2, 0])
    rates, shrink = np.array([0.3, 0.2, 0.1, 0.4, 0.5]), np.array([0.9, 1.0, 0.8, 0.7, 1.0])
    theta, lag = draw_theta(problem), np.zeros(problem.n_parameters)
    other, other_lag = theta.copy(), lag.copy()
    whole = problem.fast.walk(Steps(theta, order, rates, shrink, lag))
    apart = one_by_one(problem, Steps(other, order, rates, shrink, other_lag))
    np.testing.assert_allclose(theta, other, **CLOSE)
    np.testing.assert_allclose(whole.mass * theta - lag, apart.mass * other - other_lag, **CLOSE)
    np.testing.assert_allclose(whole.loss, apart.loss, **CLOSE)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_best_path_with_known_labels_needs_their_states_alone(order, seed):
    """A search along the edges that leave allowed states, against Viterbi with -inf everywhere else; ties included."""
    from chainfield.kernels.chain.clamped_max import best_known_path, make_search
    from chainfield.kernels.jit import NATIVE

    if NATIVE is not None:
        pytest.skip("what kernels call can be called by itself only where Numba compiles it")
    compiled = pytest.importorskip("numba").njit

    @compiled
    def best(graph, index, table, n, node, n_rows, edges, states, path_edges):
        search = make_search(graph, n, n * len(graph.row_of))
        return best_known_path(graph, index, table, 0, n, node, n_rows, edges, search, states, path_edges)

    rng = np.random.default_rng(seed)
    space = partitioned([2, 1, 3, 2])
    if seed:
        ends = np.ones((2, space.n_labels), bool)
        space = restrict(space, Rules(*ends, rng.random((space.n_labels, space.n_labels)) < 0.8))
    space = second_order(space) if order == 2 else space
    table = np.eye(space.n_labels, dtype=bool)[:, space.label_of_row]
    n = 6
    index = rng.integers(0, len(table), n)
    node = rng.integers(0, 3, (n, space.n_rows)).astype(float)  # whole numbers: many paths score the same
    edge = rng.integers(0, 3, (1, space.n_edges)).astype(float)
    masked = np.where(table[index], node, -np.inf)
    states, edges = np.empty(n, np.int32), np.empty(n, np.int32)
    score = best(space.graph, index, table, n, node.ravel(), space.n_rows, edge[0], states, edges)
    known = best_paths(space, Potentials(masked, edge, np.array([0, n])))
    assert score == known.score[0]
    if np.isfinite(score):
        np.testing.assert_array_equal(states, known.states)
        np.testing.assert_array_equal(edges, known.edges)


# ---- decoding ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    return LatentCRF(n_states={"B-LOC": 2, "O": 2}, l2=0.01, **{**FAST, "max_iter": 20}).fit(X, Y)


def masses(model, x):
    """P(labels) and P(state at a position) by enumeration of all state paths."""
    tagger, space = model.tagger_, model.tagger_.chain.space
    potentials = tagger.potentials(tagger.features.encode([x]))
    paths = enumeration.paths(space, potentials, 0)
    log_z = enumeration.log_sum([p.score for p in paths])
    by_labels: dict = {}
    states = np.zeros((len(x), space.n_rows))
    for path in paths:
        p = np.exp(path.score - log_z)
        key = tuple(model.classes_[space.label_of[k]] for k in path.states)
        by_labels[key] = by_labels.get(key, 0.0) + p
        states[np.arange(len(x)), space.row_of[list(path.states)]] += p
    return by_labels, states, max(paths, key=lambda path: path.score)


def test_decoders_are_those_of_enumeration(fitted):
    short = [x for x in X_NEW if len(x) <= 4]
    assert len(short) > 4
    guesses = {}
    for decoder in ("viterbi", "posterior", "latent-dynamic"):
        fitted.decoder = decoder
        guesses[decoder] = fitted.predict(short)
    fitted.decoder = "viterbi"
    marginals, states = fitted.predict_marginals(short), fitted.predict_state_marginals(short)
    paths, n_best = fitted.predict_states(short), fitted.predict_n_best(short, 2)
    for i, x in enumerate(short):
        by_labels, occupied, best = masses(fitted, x)
        ranked = sorted(by_labels, key=by_labels.get, reverse=True)
        assert tuple(guesses["latent-dynamic"][i]) == ranked[0]
        assert [tuple(labels) for labels, _ in n_best[i]] == ranked[:2]
        np.testing.assert_allclose([p for _, p in n_best[i]], [by_labels[r] for r in ranked[:2]], **CLOSE)
        assert paths[i].tolist() == list(best.states)
        assert guesses["viterbi"][i] == [getattr(fitted.states_[k], "label", fitted.states_[k]) for k in paths[i]]
        np.testing.assert_allclose(states[i], occupied, **CLOSE)
        for t, column in itertools.product(range(len(x)), range(len(fitted.classes_))):
            mass = sum(p for labels, p in by_labels.items() if labels[t] == fitted.classes_[column])
            np.testing.assert_allclose(marginals[i][t, column], mass, **CLOSE)
        assert guesses["posterior"][i] == [fitted.classes_[c] for c in marginals[i].argmax(1)]


def test_states_have_names_and_may_be_fixed_by_labels(fitted):
    assert fitted.states_ == [StateName("B-LOC", 0), StateName("B-LOC", 1), "I-LOC", StateName("O", 0), ("O", 1)]
    given = [["O"] * len(x) for x in X_NEW]
    assert all(set(path.tolist()) <= {3, 4} for path in fitted.predict_states(X_NEW, given))
    assert all(p[:, :3].max() == 0 for p in fitted.predict_state_marginals(X_NEW, given))


def test_states_of_second_order_are_those_of_rows():
    model = LatentCRF(n_states=2, order=2, **FAST).fit(X, Y)
    for path, labels in zip(model.predict_states(X_NEW), model.predict(X_NEW), strict=True):
        assert [model.states_[k].label for k in path] == labels


# ---- settings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("trainer", ["lbfgs", "sgd", "averaged", "adam", "rprop"])
def test_every_objective_with_every_trainer(objective, trainer):
    settings = {**FAST, "max_iter": 2}
    if trainer == "lbfgs" and not OBJECTIVES[objective].smooth:
        pytest.skip("L-BFGS needs a smooth objective")
    for extra in ({}, {"rank": 2}, {"order": 2, "share_labels": False}):
        model = LatentCRF(n_states=2, objective=objective, trainer=trainer, **extra, **settings).fit(X[:8], Y[:8])
        assert len(model.predict(X_NEW)) == len(X_NEW)


def test_features_of_steps_are_crossed_with_states():
    model = LatentCRF(n_states=2, order=2, triple_features=True, template=TEMPLATE, **FAST).fit(ROWS, Y)
    names = {scorer.name: scorer for scorer in model.tagger_.chain.transitions}
    assert {"edge_features", "triple_features", "label_edge_features"} <= set(names)
    assert names["label_edge_features"].pairs.n_pairs * 4 == names["edge_features"].pairs.n_pairs
    space = model.tagger_.chain.space
    pairs = names["triple_features"].pairs
    # Only label triples that were seen with a feature have weights, one for each of their state triples.
    seen = {
        (word[t][0], (labels[t - 2] if t > 1 else None, labels[t - 1], labels[t]))
        for word, labels in zip(ROWS, Y, strict=True)
        for t in range(1, len(word))
    }
    counts = [2 ** (3 if triple[0] is not None else 2) for _, triple in seen]
    assert pairs.n_pairs == sum(counts)
    assert pairs.row.max() < space.n_edges
    explained = model.explain(ROWS[0])
    assert explained is not None


def test_partial_labels(fitted):
    hidden = [[None if t % 2 else label for t, label in enumerate(labels)] for labels in Y]
    model = LatentCRF(n_states=2, **FAST).fit(X, hidden)
    assert model.score(X, Y) > 0.6


def test_the_best_of_several_starts_is_kept():
    rng = np.random.default_rng(5)
    X, y = cycle(150, 0.9, rng)
    settings = {"objective": "perceptron", "share_labels": False, "max_iter": 4, "n_jobs": 1}
    seen = []
    several = LatentCRF(n_init=4, **settings).fit(X, y, callback=lambda p: seen.append(p.notes["start"]))
    assert seen == [float(i) for i in (1, 2, 3, 4) for _ in range(4)]
    first = LatentCRF(n_init=1, **settings).fit(X, y)
    assert several.score(X, y) >= first.score(X, y)
    assert len(several.history_) == 4
    X_dev, y_dev = cycle(60, 0.9, rng)
    chosen = LatentCRF(n_init=4, **settings).fit(X, y, X_dev=X_dev, y_dev=y_dev)
    single = LatentCRF(n_init=1, **settings).fit(X, y, X_dev=X_dev, y_dev=y_dev)
    assert chosen.score(X_dev, y_dev) >= single.score(X_dev, y_dev)


def test_likelihood_chooses_starts_by_its_objective():
    rng = np.random.default_rng(5)
    X, y = cycle(100, 0.9, rng)
    settings = {"share_labels": False, "max_iter": 4, "n_jobs": 1, "trainer": "lbfgs"}
    several = LatentCRF(n_init=3, **settings).fit(X, y)
    single = LatentCRF(n_init=1, **settings).fit(X, y)
    assert several.history_[-1]["objective"] <= single.history_[-1]["objective"]


def test_a_checkpoint_of_several_starts_is_that_of_the_best(tmp_path):
    X, y = cycle(60, 0.9, np.random.default_rng(0))
    settings = {"objective": "perceptron", "n_init": 3, "n_jobs": 1}
    model = LatentCRF(max_iter=2, **settings).fit(X, y, checkpoint=tmp_path / "c")
    longer = LatentCRF(max_iter=4, **settings).fit(X, y, checkpoint=tmp_path / "c", resume=True)
    assert longer.n_iter_ == 4
    assert longer.history_[:2] == model.history_


@pytest.mark.parametrize(
    "settings",
    [{}, {"rank": 2}, {"order": 2, "triple_features": True, "template": TEMPLATE}, {"share_labels": False}],
    ids=str,
)
def test_files_keep_everything(settings, tmp_path):
    data = ROWS if "template" in settings else X
    model = LatentCRF(n_states={"O": 2, "B-LOC": 3}, decoder="latent-dynamic", **settings, **FAST).fit(data, Y)
    model.save(tmp_path / "model.cf")
    again = chainfield.load(tmp_path / "model.cf", n_jobs=1)
    assert isinstance(again, LatentCRF)
    assert again.tagger_.theta.tobytes() == model.tagger_.theta.tobytes()
    assert again.predict(data) == model.predict(data)
    assert again.n_states == {"O": 2, "B-LOC": 3}
    assert again.feature_weights_ == model.feature_weights_
    assert again.transition_weights_ == model.transition_weights_


def test_weights_of_labels_are_named_by_labels(fitted):
    weights = fitted.feature_weights_
    names = {name for _, name in weights}
    assert {"O", "B-LOC", "I-LOC", StateName("O", 0), StateName("O", 1)} <= names
    explanation = fitted.explain(X_NEW[0])
    assert explanation is not None


def test_rules_hold_between_states():
    model = LatentCRF(n_states=2, scheme="bio", **FAST).fit(X, Y)
    assert not any(a == "O" and b == "I-LOC" for s in model.predict(X_NEW) for a, b in itertools.pairwise(s))
    assert (model.tagger_.chain.space.n_edges) < 36


def test_numbers_share_labels_too():
    rng = np.random.default_rng(0)
    data = [rng.normal(size=(5, 3)) for _ in range(30)]
    labels = [["ab"[int(abs(row[0]) > 0.7)] for row in x] for x in data]
    model = LatentCRF(n_states=2, max_iter=60, n_jobs=1).fit(data, labels)
    plain = LinearCRF(max_iter=60, n_jobs=1).fit(data, labels)
    assert model.score(data, labels) > plain.score(data, labels) + 0.05


# ---- bad input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_states": 0}, "n_states is 0"),
        ({"n_states": {"O": 0}}, "n_states of 'O' is 0"),
        ({"n_states": {"X": 2}}, "'X', which is not a label"),
        ({"n_states": 1.5}, "n_states is 1.5"),
        ({"rank": 7}, "rank is 7, but there are 6 states"),
        ({"rank": 0}, "rank is 0"),
        ({"order": 3}, "order is 3"),
        ({"restart_every": 0, "objective": "perceptron"}, "restart_every is 0"),
        ({"restart_every": 3, "trainer": "lbfgs"}, "restart_every has no effect"),
        ({"n_init": 0}, "n_init is 0"),
        ({"n_init": "many"}, "n_init is 'many'"),
        ({"start_scale": -1}, "start_scale is -1"),
        ({"decoder": "best"}, "decoder is 'best'"),
        ({"triple_features": True}, "triple_features has no effect with order=1"),
        ({"n_states": 50_000}, r"150,000 states, order 1 would need .*; take fewer states per label\.$"),
        ({"n_states": 400, "order": 2}, "1,200 states, order 2 would need about"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(settings, words):
    with pytest.raises(ConfigError, match=words):
        LatentCRF(**settings).fit(X, Y)


def test_a_model_too_large_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr("chainfield.memory.physical_memory", lambda: 1000)
    with pytest.raises(ConfigError, match=r"would need about .* GB of memory, but this machine has .*; do less\."):
        demand_memory(1001, "This", "do less")
    demand_memory(999, "This", "do less")
    with pytest.raises(ConfigError, match="take fewer states per label"):
        LatentCRF(n_states=2).fit(X, Y)
    monkeypatch.setattr("chainfield.memory.physical_memory", lambda: 6000)
    with pytest.raises(ConfigError, match=r"A model of [\d,]+ weights would need"):
        LatentCRF(n_states=2).fit(X, Y)


def test_a_start_from_other_features_is_refused():
    rows = [[(word, word[:1]) for word in x] for x in (["anna", "ran"], ["bob", "sat"])]
    y = [["N", "V"]] * 2
    plain = LinearCRF(template="U:w=%x[0,0]\nB", max_iter=2).fit(rows, y)
    with pytest.raises(ConfigError, match="start_from has another template, so other features"):
        LinearCRF(max_iter=2).fit(rows, y, start_from=plain)
    LinearCRF(template="U:w=%x[0,0]\nB", max_iter=2).fit(rows, y, start_from=plain)
    dicts = [[{"w": word} for word, _ in row] for row in rows]
    with pytest.raises(
        ConfigError, match="start_from has features of the kind templates, these data are read as attributes"
    ):
        LinearCRF(max_iter=2).fit(dicts, y, start_from=plain)


@pytest.mark.parametrize("objective", ["perceptron", "large_margin"])
@pytest.mark.parametrize(("rank", "states"), [(1, 2), (2, 4)])
def test_transitions_of_low_rank_learn_from_best_paths(objective, rank, states):
    """Steps of 1, which any linear perceptron can take, ran away."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(4, 3))
    X = [rng.normal(size=(6, 4)) for _ in range(40)]
    y = [[str(k) for k in (x @ weights).argmax(axis=1)] for x in X]
    model = LatentCRF(rank=rank, n_states=states, objective=objective, n_init=1, max_iter=10, temperature=1.0)
    assert model.fit(X, y).score(X, y) > 0.9


def test_a_start_from_something_else_is_refused():
    with pytest.raises(ConfigError, match=r"start_from is 'plain\.cf'; a fitted model is expected\."):
        LatentCRF(**FAST).fit(X, Y, start_from="plain.cf")


def test_labels_of_development_data_alone_are_told():
    with pytest.warns(chainfield.errors.DataWarning, match="'B-PER'"):
        LatentCRF(**FAST).fit(X, Y, X_dev=X[:1], y_dev=[["B-PER"] * len(X[0])])


def test_low_rank_trains_online_too():
    problem = compose("latent", "seen pairs + boundary", "low rank", "perceptron", l2=0.0)
    theta = problem.chain.start(np.random.default_rng(0))
    assert theta.any()
    session = run(SGD(rate=0.5, restart_every=2, max_iter=5), problem, begin(SGD(rate=0.5), problem, theta))
    assert not np.array_equal(session.best, theta)
    assert replace(problem, l2=0.1).evaluate(theta)[0] > 0
