"""The neural CRF: learning, files, checkpoints, gradients of its network, vectors, and bad input."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import chainfield  # noqa: E402
from chainfield import NeuralCRF  # noqa: E402
from chainfield.errors import ConfigError, DataError, ModelFileError  # noqa: E402
from chainfield.inference import log_partition  # noqa: E402
from chainfield.models.neural import char_lstm as spelling  # noqa: E402
from chainfield.models.neural.row_adam import RowAdam  # noqa: E402
from chainfield.models.neural.scorer import Neural  # noqa: E402
from chainfield.models.neural.training import of_similar_length  # noqa: E402
from chainfield.models.neural.vectors import read_vectors  # noqa: E402
from chainfield.models.neural.word_features import WordFeatures  # noqa: E402
from chainfield.objectives import Targets, objective_named  # noqa: E402
from chainfield.problem import Problem  # noqa: E402
from chainfield.scorers import Boundary, Chain, Transition, low_rank  # noqa: E402
from chainfield.states import partitioned  # noqa: E402
from chainfield.tasks import Tagging  # noqa: E402
from test_commands import run  # noqa: E402

SMALL = {
    "context": "none",
    "word_dim": 6,
    "char_dim": 4,
    "char_hidden": 3,
    "hidden": 8,
    "context_hidden": 5,
    "n_jobs": 1,
}
NAMES = ["Anna", "Bert", "Cleo", "Dora", "Emil"]
PLACES = ["Rome", "Oslo", "Bonn", "Lima", "Cairo"]
REST = ["went", "to", "saw", "the", "in", "and"]


def sentences(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = [str(rng.choice([*NAMES, *PLACES, *REST])) for _ in range(rng.integers(1, 7))]
        X.append(words)
        y.append(["I-PER" if w in NAMES else "I-LOC" if w in PLACES else "O" for w in words])
    return X, y


X, Y = sentences()
NEW, NEW_Y = sentences(30, seed=1)
KINDS = {
    "crf": {},
    "ldcrf": {"n_states": 2},
    "elcrf": {"n_states": 3, "rank": 2},
    "cnn": {"chars": "cnn", "min_count": 2},
    "no characters": {"chars": "none"},
    "context": {"context": "lstm"},
    "second order": {"order": 2, "rank": 2},
    "rules": {"forbidden": [("I-PER", "I-LOC")], "n_states": 2},
    "shared states": {"n_states": 4, "share_states": True, "forbidden": [("I-PER", "I-LOC")]},
    "shared states of low rank": {"n_states": 4, "share_states": True, "rank": 2},
}


def model(**settings):
    return NeuralCRF(**{**SMALL, "max_iter": 2, "dropout": 0.1, "learning_rate": 0.02, **settings})


def clean(X, Y, forbidden):
    pairs = [(x, y) for x, y in zip(X, Y, strict=True) if not set(pairwise(y)) & set(forbidden)]
    return [x for x, _ in pairs], [y for _, y in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_learns_predicts_and_is_saved(kind, tmp_path):
    x, y = clean(X, Y, KINDS[kind].get("forbidden", []))
    fitted = model(**KINDS[kind], max_iter=12, patience=None).fit(x, y)
    first, last = fitted.history_[0]["objective"], fitted.history_[-1]["objective"]
    assert last < 0.5 * first
    assert fitted.score(x, y) > 0.9
    fitted.save(tmp_path / "m.cf")
    again = chainfield.load(tmp_path / "m.cf")
    assert isinstance(again, NeuralCRF)
    assert again.predict(NEW) == fitted.predict(NEW)
    for a, b in zip(again.predict_marginals(NEW), fitted.predict_marginals(NEW), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)  # torch rounds by how memory is aligned
    assert again.n_states == fitted.n_states
    again.save(tmp_path / "n.cf")
    assert (tmp_path / "m.cf").read_bytes() == (tmp_path / "n.cf").read_bytes()
    given = [[None, *y_[1:]] for y_ in NEW_Y[:3]]
    assert [p[1:] for p in fitted.predict(NEW[:3], given)] == [y_[1:] for y_ in NEW_Y[:3]]
    assert fitted.explain(NEW[0]) is not None
    assert len(fitted.predict_n_best(NEW[:1], 3)[0]) >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_training_and_prediction_see_the_same_scores(kind):
    """The layer in torch and the chain of the fitted model are the same function."""
    x, y = clean(X, Y, KINDS[kind].get("forbidden", []))
    seen = {}
    fitted = model(**KINDS[kind], dropout=0.0, patience=None)
    start = fitted._start

    def watched(*args):
        seen["problem"], theta = start(*args)
        return seen["problem"], theta

    fitted._start = watched
    fitted.fit(x, y)
    problem = seen["problem"]
    problem.network.eval()
    with torch.no_grad():
        loss = float(problem.loss(np.arange(len(x)), problem.words(np.arange(len(x)), 0.0))) * len(x)
    assert loss == pytest.approx(-fitted.log_likelihood(x, y).sum(), rel=1e-5)


@pytest.mark.parametrize("rank", [None, 2])
def test_shared_states_by_enumeration(rank):
    """Thai et al. 2017, eqns 1 and 2: P(y | x) ∝ Σ_z exp Σ_t ψ(f_t, z_t) + ψ(z_t, y_t) + ψ(z_t, z_t+1)."""
    n = 3
    fitted = model(n_states=n, share_states=True, rank=rank, context="none").fit(X, Y)
    tagger, words, gold = fitted.tagger_, NEW[0][:3], NEW_Y[0][:3]
    views, labels = tagger.chain.views(tagger.theta), tagger.task.labels
    bonus = views["network.labels"]
    assert bonus.shape == (len(labels), n)
    network = tagger.chain.emissions[0]
    own, batch = np.zeros((len(words), len(labels) * n)), tagger.features.encode([words])
    network.forward(tagger.own(network), batch, "sum", own)
    states = own[:, :n] - bonus[0]  # ψ(f, z): what the rows of any label have in common
    for y in range(len(labels)):
        np.testing.assert_allclose(own[:, y * n : (y + 1) * n], states + bonus[y], rtol=0, atol=1e-5)
    if rank is None:
        move = np.zeros((n, n))
        space, tie = tagger.chain.space, tagger.chain.transitions[0].tie
        move[space.src % n, space.dst % n] = views["transition.weight"][tie]
        assert len(views["transition.weight"]) == n * n
    else:
        assert views["low_rank.U"].shape == (n, rank)
        move = views["low_rank.U"] @ views["low_rank.V"].T
    total = dict.fromkeys(product(range(len(labels)), repeat=len(words)), -np.inf)
    for y in total:
        for z in product(range(n), repeat=len(words)):
            rows = [a * n + b for a, b in zip(y, z, strict=True)]
            energy = views["boundary.start"][rows[0]] + views["boundary.end"][rows[-1]]
            energy += sum(states[t, k] + bonus[y[t], k] for t, k in enumerate(z)) + sum(move[p] for p in pairwise(z))
            total[y] = np.logaddexp(total[y], energy)
    wanted = total[tuple(labels.index(label) for label in gold)] - np.logaddexp.reduce(list(total.values()))
    assert fitted.log_likelihood([words], [gold])[0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("how", ["likelihood", "perceptron"])
@pytest.mark.parametrize("chars", ["lstm", "cnn"])
@pytest.mark.parametrize("context", ["none", "lstm"])
def test_gradient_of_the_scorer(context, chars, how):
    """A network is a scorer like any other: finite differences, with any objective."""
    features = WordFeatures()
    batch = features.learn(X[:6])
    features.others = ["Paris"]
    space = partitioned([2, 1, 1])
    shape = (space.n_rows, features.n_learned, 1, 3, len(features.chars), chars, 2, 2, context, 2, 4)
    chain = Chain(space, (Neural(*shape), Boundary(space.n_rows)), (low_rank(space, 2),))
    task = Tagging(("I-LOC", "I-PER", "O"))
    targets = Targets(task.clamp(space, Y[:6], batch.offsets), np.ones(6))
    problem = Problem(chain, objective_named(how), batch, targets, l2=0.1)
    rng = np.random.default_rng(0)
    theta = chain.start(rng)
    _, gradient = problem.evaluate(theta)
    for _ in range(3):
        direction = rng.normal(size=len(theta))
        chain.views(direction)["network.fixed"][...] = 0.0
        up, down = (problem.evaluate(theta + sign * 1e-6 * direction)[0] for sign in (1, -1))
        assert (up - down) / 2e-6 == pytest.approx(gradient @ direction, rel=1e-4, abs=1e-5)


def test_the_same_seed_gives_the_same_model_and_another_one_does_not():
    one, two, other = (model(random_state=seed).fit(X, Y).tagger_.theta for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("kind", ["crf", "ldcrf", "elcrf", "cnn", "no characters"])
def test_initialisation_is_a_setting(kind):
    """Steps of nothing show where training starts."""
    starts = {}
    for name in ("auto", "glorot", "normal"):
        fitted = model(**KINDS[kind], initialisation=name, max_iter=1, learning_rate=1e-12).fit(X, Y).tagger_
        starts[name] = fitted.chain.views(fitted.theta)
    moves = next(n for n in starts["auto"] if n.startswith(("transition.", "low_rank.U")))
    hidden = next(n for n in starts["auto"] if n.endswith("hidden.weight"))
    k = len(fitted.task.labels) * KINDS[kind].get("n_states", 1)
    bound = np.sqrt(6 / (k + KINDS[kind].get("rank", k)))
    largest = {name: np.abs(start[moves]).max() for name, start in starts.items()}
    assert 0.6 * bound < largest["glorot"] < bound
    assert largest["auto"] < (bound if "rank" in KINDS[kind] else 0.1)
    for name in ("auto", "glorot"):
        rows, columns = starts[name][hidden].shape
        assert np.abs(starts[name][hidden]).max() < np.sqrt(6 / (rows + columns))
    assert starts["normal"][hidden].std() == pytest.approx(0.1, rel=0.3)
    for name in ("glorot", "normal"):
        words = next(n for n in starts["auto"] if n.endswith("network.words"))
        np.testing.assert_allclose(starts[name][words], starts["auto"][words], atol=1e-9)


@pytest.mark.parametrize("device", ["gpu", "meta:x", "cuda:99"])
def test_a_device_that_is_not_there(device):
    with pytest.raises(ConfigError, match=rf"device='{device}' cannot be used here \(.*\); leave it out, or say cpu"):
        model(device=device).fit(X, Y)


def test_networks_start_from_no_other_model():
    plain = chainfield.LinearCRF(max_iter=2).fit(X, Y)
    with pytest.raises(
        ConfigError, match="start_from has features of the kind templates, these data are read as words"
    ):
        model().fit(X, Y, start_from=plain)
    with pytest.raises(ConfigError, match="start from a model that was fitted on the same kind of input"):
        plain.fit(X, Y, start_from=model(max_iter=1).fit(X, Y))


def test_epsilon_makes_steps_shorter():
    """Far above all gradients, Adam's steps are gradients over epsilon."""
    far, near = ([], [])
    for found, epsilon in ((far, 1e-6), (near, 1e3)):
        start, end = (
            model(max_iter=1, epsilon=epsilon, learning_rate=rate).fit(X, Y).tagger_ for rate in (1e-12, 0.01)
        )
        found.append(np.abs(end.theta - start.theta).max())
    assert near[0] < 1e-3 * far[0]


def test_resumed_training_is_the_same_to_the_last_bit(tmp_path):
    whole = model(max_iter=4, n_states=2, rank=2).fit(X, Y, X_dev=NEW, y_dev=NEW_Y)
    half = model(max_iter=2, n_states=2, rank=2)
    half.fit(X, Y, X_dev=NEW, y_dev=NEW_Y, checkpoint=tmp_path / "c")
    rest = model(max_iter=4, n_states=2, rank=2)
    rest.fit(X, Y, X_dev=NEW, y_dev=NEW_Y, checkpoint=tmp_path / "c", resume=True)
    assert [h["objective"] for h in rest.history_] == [h["objective"] for h in whole.history_]
    np.testing.assert_array_equal(rest.tagger_.theta, whole.tagger_.theta)
    with pytest.raises(ModelFileError, match="other data or settings"):
        model(max_iter=4).fit(X, Y, checkpoint=tmp_path / "c", resume=True)


def test_early_stopping_keeps_the_best(tmp_path):
    fitted = model(max_iter=30, patience=2).fit(X, Y, X_dev=NEW, y_dev=NEW_Y)
    scores = [h["dev_score"] for h in fitted.history_]
    assert fitted.best_iteration_ == 1 + int(np.argmax(scores))
    assert fitted.n_iter_ == min(30, fitted.best_iteration_ + 2)
    assert "has not risen for 2" in fitted.stop_reason_
    assert chainfield.metrics.span_f1(NEW_Y, fitted.predict(NEW)) == pytest.approx(max(scores))


def test_an_interruption_leaves_the_best_model():
    fitted = model(max_iter=5)

    def stop(progress):
        if progress.iteration == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, Y, callback=stop)
    assert fitted.n_iter_ == 2
    assert fitted.stop_reason_ == "interrupted"
    assert len(fitted.predict(NEW)) == len(NEW)


def test_unknown_and_partial_labels_and_weights():
    y = [[None if t % 2 else {label, "O"} if t == 2 else label for t, label in enumerate(s)] for s in Y]
    fitted = model(max_iter=8, patience=None).fit(X, y, sample_weight=np.linspace(0.5, 2, len(X)))
    assert fitted.score(X, Y) > 0.8


def test_rows_of_columns_and_empty_sentences():
    rows = [[("x", w, "y") for w in s] for s in X]
    fitted = model(word_column=1).fit([*rows, []], [*Y, []])
    assert fitted.predict([rows[0], []])[1] == []
    with pytest.raises(DataError, match=r"Sequence 0, position 0 is \('x',\) \(tuple\); a word is expected"):
        fitted.predict([[("x",)]])


def test_potentials_are_plain_numbers_for_unknown_words():
    fitted = model().fit(X, Y)
    batch = fitted.tagger_.features.encode([["Ωmega", "", "anna", "ROME"]])
    assert batch.tokens.word.tolist()[:2] == [0, 0]
    assert batch.tokens.word[2] == fitted.tagger_.features.words["anna"]
    assert np.isfinite(log_partition(fitted.tagger_.chain.space, fitted.tagger_.potentials(batch))).all()


# ---- how it is trained ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("compiled", [True, False])
def test_words_are_read_as_torch_reads_them(monkeypatch, compiled, dtype):
    """Values and gradients of torch's own LSTM, for words of any length in any order."""
    if not compiled:
        monkeypatch.setattr(spelling._Compiled, "apply", spelling._by_steps)
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(3, 5, batch_first=True, bidirectional=True).to(dtype)
    letters = torch.randn(7, 3, dtype=dtype, requires_grad=True)
    lengths, chars = torch.tensor([3, 1, 6, 6, 2, 1]), torch.randint(7, (6, 6))
    weight = torch.randn(6, 10, dtype=dtype)
    leaves = [letters, *lstm.parameters()]
    packed = torch.nn.utils.rnn.pack_padded_sequence(letters[chars], lengths, batch_first=True, enforce_sorted=False)
    wanted = lstm(packed)[1][0].transpose(0, 1).reshape(6, -1)
    found = spelling.last_states(lstm, letters, chars, lengths)
    tolerance = {"rtol": 1e-10, "atol": 1e-12} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(found, wanted, **tolerance)
    both = [torch.autograd.grad((x * weight).sum(), leaves) for x in (found, wanted)]
    for own, theirs in zip(*both, strict=True):
        torch.testing.assert_close(own, theirs, **tolerance)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_rows_that_wait_come_to_where_adam_takes_them(decay):
    torch.manual_seed(0)
    theirs = torch.nn.Parameter(torch.randn(30, 4, dtype=torch.float64))
    ours = torch.nn.Parameter(theirs.detach().clone())
    adam = torch.optim.AdamW([theirs], lr=0.01, eps=1e-9, weight_decay=decay)
    rows = RowAdam(ours, 0.01, 1e-9, decay)
    begin = ours.detach().clone()
    for step in range(1, 200):
        chosen = torch.unique(torch.randint(30, (2,)))
        gradient = torch.randn(len(chosen), 4, dtype=torch.float64)
        theirs.grad = torch.zeros_like(theirs)
        theirs.grad[chosen] = gradient
        adam.step()
        rows.catch_up(step - 1, chosen)
        torch.testing.assert_close(rows.first[chosen] * 0.9 + 0.1 * gradient, adam.state[theirs]["exp_avg"][chosen])
        rows.step(step, chosen, gradient)
    rows.catch_up(199)
    assert float((theirs.detach() - begin).abs().max()) > 0.1
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
    torch.testing.assert_close(rows.second, adam.state[theirs]["exp_avg_sq"])


def test_batches_have_sequences_of_similar_length():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 60, 1003)
    batches = of_similar_length(rng.permutation(1003), lengths, 20)
    assert sorted(np.concatenate(batches).tolist()) == list(range(1003))
    assert max(len(b) for b in batches) == 20
    assert np.mean([np.ptp(lengths[b]) for b in batches]) < 5


# ---- word vectors ------------------------------------------------------------------------------------------------


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_vectors_are_where_training_starts(tmp_path):
    path = write(tmp_path / "v.txt", "3 2\nanna 1 2\nparis 3 4.5\nanna 9 9\n\n")
    words, table = read_vectors(path)
    assert list(words) == ["anna", "paris"]
    assert table.tolist() == [[1, 2], [3, 4.5]]
    fitted = model(vectors=path, word_dim=None, learning_rate=1e-9).fit(X, Y)
    views = fitted.tagger_.params
    features = fitted.tagger_.features
    np.testing.assert_allclose(views["network.words"][features.words["anna"]], [1, 2], atol=1e-5)
    np.testing.assert_array_equal(views["network.fixed"], [[3, 4.5]])
    assert features.words["paris"] >= features.n_learned
    pair = model(
        vectors=(["anna", "paris", "anna"], np.array([[1, 2], [3, 4.5], [9, 9]])), word_dim=2, learning_rate=1e-9
    )
    np.testing.assert_array_equal(pair.fit(X, Y).tagger_.theta, fitted.tagger_.theta)


def test_fixed_vectors_stay_and_unseen_words_use_them():
    table = np.array([[5.0] * 6, [-5.0] * 6])
    fitted = model(vectors=(["zagreb", "quito"], table)).fit(X, Y)
    np.testing.assert_array_equal(fitted.tagger_.params["network.fixed"], table)
    a, b = (fitted.predict_marginals([[w]])[0] for w in ("zagreb", "quito"))
    assert not np.allclose(a, b)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anna 1 2\nbert 1\n", "line 2: the vector has 1 numbers, those before it have 2"),
        ("anna 1 x\n", "line 1: 'anna 1 x' holds something that is no number"),
        ("anna 1 nan\n", "line 1: the vector of 'anna' has NaN"),
        ("anna\n", "line 1: a word and its numbers are expected"),
        ("", "holds no vectors"),
    ],
)
def test_bad_vector_files_are_refused_with_their_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        model(vectors=write(tmp_path / "v.txt", text)).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vectors": (["a"], np.zeros((1, 3)))}, "vectors of 3 dimensions, but word_dim is 6"),
        ({"vectors": (["a"], np.zeros((2, 6)))}, r"1 words and an array of the shape \(2, 6\)"),
        ({"vectors": (["a"], np.full((1, 6), np.nan))}, "NaN or infinite"),
        ({"vectors": 5}, "the name of a file, or a pair"),
        ({"n_states": 0}, "n_states is 0; a whole number of at least 1"),
        ({"rank": 0}, "rank is 0"),
        ({"share_states": True}, "several states"),
        ({"share_states": True, "n_states": 2, "order": 2}, "needs order=1"),
        ({"order": 3}, "order is 3; choose one of 1, 2"),
        ({"chars": "gru"}, "chars is 'gru'; choose one of lstm, cnn, none"),
        ({"context": "both"}, "context is 'both'"),
        ({"dropout": 1.0}, "dropout is 1.0; a number of at least 0 and below 1"),
        ({"learning_rate": 0}, "learning_rate is 0; a number above 0"),
        ({"learning_rate": 0.1, "l2": 1.0}, r"learning_rate · l2 is 0.1; weights would lose more than 0.05"),
        ({"max_iter": 1.5}, "max_iter is 1.5; a whole number"),
        ({"decoder": "best"}, "decoder is 'best'"),
        ({"word_column": 3}, "with the word in column 3"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    x = [[(w,) for w in s] for s in X] if "word_column" in settings else X
    with pytest.raises((ConfigError, DataError), match=message):
        model(**settings).fit(x, Y)


def test_bad_data_are_refused():
    with pytest.raises(DataError, match="y holds no label at all"):
        model().fit([[]], [[]])
    with pytest.raises(DataError, match=r"Sequence 0, position 0 is \{'w': 1\} \(dict\); a word is expected"):
        model().fit([[{"w": 1}]], [["O"]])


def test_a_network_of_another_space_is_refused(tmp_path):
    """A model file whose parts do not belong together."""
    fitted = model().fit(X, Y)
    tagger = fitted.tagger_
    network = tagger.chain.emissions[0]
    space = partitioned([2, 1, 1])
    object.__setattr__(
        tagger, "chain", Chain(space, (network, Boundary(4)), (Transition(np.arange(16, dtype=np.int32)),))
    )
    object.__setattr__(tagger, "theta", np.zeros(tagger.chain.n_parameters))
    fitted.save(tmp_path / "m.cf")
    with pytest.raises(ModelFileError, match="n_rows has 3 where R is 4"):
        chainfield.load(tmp_path / "m.cf")


# ---- command line ------------------------------------------------------------------------------------------------


def test_trained_and_used_on_the_command_line(tmp_path):
    data = write(
        tmp_path / "d.txt",
        "\n\n".join(
            "\n".join(f"{w} x {label}" for w, label in zip(words, labels, strict=True))
            for words, labels in zip(X, Y, strict=True)
        )
        + "\n",
    )
    vectors = write(tmp_path / "v.txt", "anna 1 2\nparis 3 4\n")
    options = ["--model", "neural", "--states", "2", "--rank", "2", "--vectors", str(vectors), "--max-iter", "2"]
    path = tmp_path / "m.cf"
    result = run("train", str(data), str(path), *options, "--dev", str(data), "--patience", "3", "--chars", "cnn")
    assert result.code == 0, result.stderr
    assert "best development score" in result.stderr
    loaded = chainfield.load(path)
    assert (loaded.n_states, loaded.rank, loaded.chars) == (2, 2, "cnn")
    assert run("tag", str(path), str(data), "--marginals").code == 0
    assert run("evaluate", str(path), str(data)).code == 0
    assert "NeuralCRF" in run("show", str(path)).stdout
    assert run("show", str(path), "--states", str(data)).code == 0
    for extra, message in (
        (["--objective", "perceptron"], "--objective has no effect with --model neural"),
        (["--template", "t"], "--template has no effect with --model neural"),
        (["--states", "0"], "n_states is 0"),
        (["--vectors", str(tmp_path / "none.txt")], "none.txt"),
    ):
        refused = run("train", str(data), str(tmp_path / "n.cf"), "--model", "neural", *extra)
        assert refused.code != 0
        assert message in refused.stderr
    assert "no effect with --model linear" in run("train", str(data), str(tmp_path / "n.cf"), "--chars", "cnn").stderr


def test_a_context_pads_nothing():
    """Sequences of very different lengths, one of them empty, as one by one."""
    import torch

    from chainfield.models.neural.network import Network, Shape

    network = Network(Shape(2, 5, 0, 3, 4, chars="none", context="lstm", context_hidden=2)).double().eval()
    lengths = [2, 0, 40, 1, 3, 40]
    offsets = np.append(0, np.cumsum(lengths))
    own = torch.from_numpy(np.random.default_rng(0).normal(size=(offsets[-1], 3)))
    with torch.no_grad():
        found = network._in_context(own, offsets)
        parts = [network.context(own[a:b][None])[0][0] for a, b in pairwise(offsets.tolist()) if b > a]
    np.testing.assert_allclose(found.numpy(), torch.cat(parts).numpy(), atol=1e-12)


def test_a_word_without_end():
    """Memory is not that of the longest word, times the number of words."""
    fitted = model(max_iter=1).fit(X, Y)
    endless = [[(f"w{i}",) for i in range(300)], [("x" * 300_000,)]]
    assert [len(labels) for labels in fitted.predict(endless)] == [300, 1]
    batch = fitted.tagger_.features.encode(endless)
    assert np.diff(batch.tokens.bounds).max() == 256
