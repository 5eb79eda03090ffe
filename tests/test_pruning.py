"""Many labels: a pruner leaves a few at each position, in training and in prediction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chainfield import LinearCRF, load
from chainfield.errors import ConfigError, DataError, ModelFileError
from chainfield.features import parse_template
from chainfield.files.container import read_container, write_container
from chainfield.fitted.pruning import plausible
from chainfield.models.constraints import label_space
from chainfield.models.pruning import LITTLE_DATA
from chainfield.scorers import Pruner
from chainfield.scorers.pruner import MOST_ROWS
from test_commands import run

Data = tuple[list[list[tuple[str]]], list[list[str]]]
N_TAGS = 30


def draw(n: int, seed: int = 0, n_tags: int = N_TAGS) -> Data:
    """Sentences of a hidden Markov chain with ambiguous words: three tags follow a tag, words belong to two tags."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tags = [int(rng.integers(n_tags))]
        while len(tags) < 3 + rng.integers(8):
            tags.append((tags[-1] * 7 + int(rng.choice([0, 0, 0, 1, 1, 2]))) % n_tags)
        words = [f"w{(tag + int(rng.random() < 0.3)) % n_tags}_{rng.integers(4)}" for tag in tags]
        X.append([(word,) for word in words])
        y.append([f"T{tag}" for tag in tags])
    return X, y


@pytest.fixture(scope="module")
def data() -> tuple[Data, Data]:
    return draw(400), draw(80, seed=1)


@pytest.fixture(scope="module")
def second(data: tuple[Data, Data]) -> LinearCRF:
    return LinearCRF(order=2).fit(*data[0])


def test_auto_prunes_by_the_number_of_edges(data: tuple[Data, Data], second: LinearCRF) -> None:
    first = LinearCRF(max_iter=2).fit(*data[0])
    assert first.tagger_.chain.pruner is None  # 900 edges
    assert second.tagger_.chain.pruner is not None  # 27,000
    assert second.tagger_.chain.pruner.threshold == LITTLE_DATA  # few positions
    assert LinearCRF(order=2, max_iter=2, prune=None).fit(*data[0]).tagger_.chain.pruner is None


def test_as_good_as_exact_training(data: tuple[Data, Data], second: LinearCRF) -> None:
    train, test = data
    exact = {order: LinearCRF(order=order, prune=None).fit(*train).score(*test) for order in (1, 2)}
    assert LinearCRF(prune=1e-3).fit(*train).score(*test) > exact[1] - 0.01
    assert second.score(*test) > exact[2] - 0.01
    assert second.score(*test) > 0.8


def test_words_without_features_have_frequent_labels() -> None:
    """Without how frequent labels are, any fifty of them would do."""
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 181)
    names = rng.permutation(180)
    y = [[f"T{names[k]}" for k in rng.choice(180, 8, p=share / share.sum())] for _ in range(800)]
    X = [[(f"w{label}_{rng.integers(3)}",) for label in labels] for labels in y]
    template = parse_template("U:%x[0,0]\nB\n")
    pruned = LinearCRF(template=template, max_iter=3).fit(X, y)
    pruner = pruned.tagger_.chain.pruner
    assert pruner is not None
    counts = np.array([sum(labels.count(name) for labels in y) for name in pruned.classes_])
    assert np.corrcoef(np.exp(pruner.prior), counts)[0, 1] > 0.999
    batch = pruned.tagger_.encode([[("unseen",)]])
    lattice = plausible(pruned.tagger_.chain, batch)
    assert len(lattice.rows) <= MOST_ROWS
    assert set(np.argsort(-counts)[:10]) <= set(lattice.rows.tolist())


def test_pruners_of_earlier_versions_know_no_frequencies(second: LinearCRF, tmp_path: Path) -> None:
    path = tmp_path / "model.cf"
    second.save(path)
    config, arrays, _ = read_container(path, "model", 99)
    assert len(arrays["pruner.prior"]) == N_TAGS
    del arrays["pruner.prior"]
    write_container(path, "model", 6, config, arrays)
    assert load(path).tagger_.chain.pruner.prior.shape == (0,)
    assert len(load(path).predict([[("w1_1",)]])[0]) == 1


def test_a_threshold_of_zero_is_exact(data: tuple[Data, Data]) -> None:
    (X, y), (Z, _) = data
    models = [LinearCRF(prune=p, trainer="lbfgs", tol=1e-7).fit(X[:60], y[:60]) for p in (0.0, None)]
    values = [model.history_[-1]["objective"] for model in models]
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    for a, b in zip(*(model.predict_marginals(Z[:10]) for model in models), strict=True):
        np.testing.assert_allclose(a, b, atol=2e-3)
    assert models[0].predict(Z) == models[1].predict(Z)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("objective", ["perceptron", "large_margin", "softmax_margin"])
def test_other_objectives(data: tuple[Data, Data], order: int, objective: str) -> None:
    train, test = data
    model = LinearCRF(order=order, prune=1e-3, objective=objective, max_iter=5).fit(*train)
    assert model.score(*test) > 0.75


@pytest.mark.parametrize("trainer", ["lbfgs", "owlqn", "sgd", "adam", "rprop"])
def test_every_trainer_that_makes_sense(data: tuple[Data, Data], trainer: str) -> None:
    train, test = data
    l1 = {"l1": 0.1} if trainer == "owlqn" else {}
    model = LinearCRF(order=2, prune=1e-3, trainer=trainer, max_iter=4, **l1).fit(train[0][:150], train[1][:150])
    assert model.score(*test) > 0.6


def test_sdca_is_refused(data: tuple[Data, Data]) -> None:
    with pytest.raises(ConfigError, match=r"where rows are pruned; use another trainer\.$"):
        LinearCRF(prune=1e-3, trainer="sdca").fit(*data[0])


def test_threads_do_not_matter(data: tuple[Data, Data]) -> None:
    a, b = (LinearCRF(order=2, n_jobs=n, trainer="lbfgs", max_iter=3).fit(*data[0]).tagger_.theta for n in (1, 3))
    np.testing.assert_array_equal(a, b)


# ---- what a pruned model answers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_answers_are_those_of_the_support(data: tuple[Data, Data], second: LinearCRF, order: int) -> None:
    train, (Z, _) = data
    model = second if order == 2 else LinearCRF(prune=1e-2).fit(*train)
    tagger, Z = model.tagger_, Z[:12]
    left = plausible(tagger.chain, tagger.encode(Z)).mask(tagger.chain.space.n_rows)
    shares = np.concatenate(model.predict_marginals(Z))
    np.testing.assert_allclose(shares.sum(1), 1.0, rtol=1e-9)
    assert not shares[~left].any()
    assert (shares[left] > 0).all()
    best = model.predict(Z)
    ranked = model.predict_n_best(Z, 3)
    assert [paths[0][0] for paths in ranked] == best
    sure = model.predict_confidence(Z)
    for x, paths, confidence in zip(Z, ranked, sure, strict=True):
        assert confidence.sequence == pytest.approx(paths[0][1], rel=1e-8)
        for labels, p in paths:
            assert np.exp(model.log_likelihood([x], [labels])[0]) == pytest.approx(p, rel=1e-8)
    model.decoder = "posterior"
    places = np.concatenate([[model.classes_.index(label) for label in labels] for labels in model.predict(Z)])
    model.decoder = "viterbi"
    np.testing.assert_array_equal(places, shares.argmax(1))


def test_a_label_outside_has_no_probability(data: tuple[Data, Data], second: LinearCRF) -> None:
    x = data[1][0][0]
    share = second.predict_marginals([x])[0]
    outside = second.classes_[int(np.flatnonzero(share[1] == 0)[0])]
    wrong = list(second.predict([x])[0])
    wrong[1] = outside
    assert second.log_likelihood([x], [wrong])[0] == -np.inf
    # Known labels are facts: the pruner does not argue with them.
    known = [None, outside] + [None] * (len(x) - 2)
    assert second.predict([x], [known])[0][1] == outside
    assert second.predict_marginals([x], [known])[0][1, second.classes_.index(outside)] == pytest.approx(1.0)


def test_looking_inside(data: tuple[Data, Data], second: LinearCRF) -> None:
    X, y = data[0]
    weights = second.transition_weights_
    assert (y[0][0], y[0][1]) in weights
    assert (None, y[0][0], y[0][1]) in weights
    assert (y[0][0], y[0][1], y[0][2]) in weights
    explained = second.explain(X[0])
    assert [position.label for position in explained] == second.predict(X[:1])[0]
    assert any("transition" in part.feature or "after" in part.feature for part in explained[1].contributions)
    assert [second.states_[k] for k in second.predict_states(X[:1])[0]] == second.predict(X[:1])[0]
    assert second.hidden_states(X[:5]).moves.sum() == sum(len(x) - 1 for x in X[:5])


def test_rules_always_leave_a_path() -> None:
    rng = np.random.default_rng(3)
    kinds = [f"K{i}" for i in range(12)]
    X, y = [], []
    for _ in range(150):
        kind, n = kinds[rng.integers(12)], int(rng.integers(1, 4))
        X.append([(f"the{rng.integers(3)}",), *((f"{kind}{i}",) for i in range(n)), ("end",)])
        y.append(["O", f"B-{kind}", *[f"I-{kind}"] * (n - 1), "O"])
    for order in (1, 2):
        model = LinearCRF(order=order, prune=0.5, scheme="bio", max_iter=3).fit(X, y)
        strange = [[("K01",), ("K12",), ("K20",), ("the1",), ("K31",)], [("K42",)], [], [("K42",), ("K43",)]]
        for labels in model.predict(strange):
            before = "O"
            for label in labels:
                assert not label.startswith("I-") or before[2:] == label[2:]
                before = label


# ---- thresholds --------------------------------------------------------------------------------------------------


def test_the_threshold_may_rise_but_not_fall(data: tuple[Data, Data]) -> None:
    train, (Z, _) = data
    model = LinearCRF(prune=0.01, max_iter=2).fit(*train)
    model.prune = 0.5
    assert all(((p > 0).sum(1) == 1).all() for p in model.predict_marginals(Z[:5]))
    model.prune = 0.001
    with pytest.raises(
        ConfigError,
        match=r"^prune is 0\.001, but the model was trained with 0\.01; give at least that",
    ):
        model.predict(Z)
    model.prune = None
    with pytest.raises(ConfigError, match=r"^prune is 0, but the model was trained with 0\.01"):
        model.predict(Z)
    model.prune = "auto"
    assert model.predict(Z[:1])
    exact = LinearCRF(max_iter=2).fit(*train)
    exact.prune = 0.1
    with pytest.raises(ConfigError, match=r"^prune is 0\.1, but the model was trained without pruning; fit again\.$"):
        exact.predict(Z)


@pytest.mark.parametrize("value", [0.7, -0.1, "often", True])
def test_impossible_thresholds(value: object) -> None:
    with pytest.raises(
        ConfigError, match=r'^prune is .*a number of at least 0 and at most 0\.5, or "auto", is expected, or None'
    ):
        LinearCRF(prune=value).fit([[("a",)]], [["x"]])


def test_the_truth_cannot_be_pruned(data: tuple[Data, Data]) -> None:
    X, y = data[0]
    model = LinearCRF(prune=0.5, max_iter=3).fit(X, y)
    tagger = model.tagger_
    batch = tagger.encode(X)
    clamp = tagger.task.clamp(tagger.chain.space, y, batch.offsets)
    lattice = plausible(tagger.chain, batch, clamp, keep_known=True)
    truth = np.array([model.classes_.index(label) for labels in y for label in labels])
    assert lattice.mask(len(model.classes_))[np.arange(len(truth)), truth].all()


def test_what_is_lost_is_told(data: tuple[Data, Data], second: LinearCRF, capsys: pytest.CaptureFixture[str]) -> None:
    assert {"width", "lost"} <= set(second.history_[0])
    harder = LinearCRF(order=2, prune=0.001).fit(*data[0])
    pruner = harder.tagger_.chain.pruner
    assert pruner is not None
    assert second.tagger_.chain.pruner is not None
    assert 1.0 < pruner.width < second.tagger_.chain.pruner.width
    assert 0.0 < pruner.lost < 0.2
    # Honest: on new sentences, about as much is lost.
    Z, t = data[1]
    batch = harder.tagger_.encode(Z)
    kept = plausible(harder.tagger_.chain, batch).mask(len(harder.classes_))
    truth = [harder.classes_.index(label) for labels in t for label in labels]
    assert 1 - kept[np.arange(len(truth)), truth].mean() == pytest.approx(pruner.lost, abs=0.03)
    LinearCRF(prune=0.01, max_iter=1, verbose=True).fit(*data[0])
    assert "labels, " in capsys.readouterr().out


def test_what_a_position_costs_has_a_bound() -> None:
    """A word without a known feature: all labels are alike, and the best of them stay."""
    y = [[f"T{i}"] for i in range(80)]
    model = LinearCRF(prune=1e-4, max_iter=1).fit([[(f"{chr(200 + i)}",)] for i in range(80)], y)
    assert (model.predict_marginals([[("?",)]])[0] > 0).sum() == MOST_ROWS
    model = LinearCRF(prune=0.0, max_iter=1).fit([[(f"{chr(200 + i)}",)] for i in range(80)], y)
    assert (model.predict_marginals([[("?",)]])[0] > 0).sum() == 80


def test_triples_that_do_not_fit_into_memory_are_refused() -> None:
    X, y = draw(3000, n_tags=2000)
    with pytest.raises(ConfigError, match=r"^Second order over [\d,]+ states .* would need about"):
        LinearCRF(order=2, prune=None).fit(X, y)


# ---- what cannot be pruned ---------------------------------------------------------------------------------------


def test_what_cannot_be_pruned() -> None:
    numbers = [np.random.default_rng(0).normal(size=(4, 3)) for _ in range(3)]
    y = [["a", "b", "a", "b"]] * 3
    with pytest.raises(ConfigError, match=r"^prune=0\.01 is not possible here: it needs sparse features"):
        LinearCRF(prune=0.01).fit(numbers, y)
    with pytest.raises(ConfigError, match="the objective does not compare whole paths"):
        LinearCRF(prune=0.01, objective="piecewise").fit([[("a",)] * 4] * 3, y)
    template = "U00:%x[0,0]\nB01:%x[0,0]\n"
    with pytest.raises(ConfigError, match="features of transitions need all labels"):
        LinearCRF(prune=0.01, template=template).fit([[("a",)] * 4] * 3, y)


@pytest.mark.parametrize("y", [[["x", "x"]], [[None, None]], [[{"x", "z"}, "z"]]])
def test_little_is_known(y: list[list[object]]) -> None:
    """A single class, no label at all, and sets."""
    model = LinearCRF(prune=0.01, max_iter=2)
    if y[0][0] is None:
        with pytest.raises(DataError, match="no label at all"):
            model.partial_fit([[("a",), ("b",)]], y, classes=["x", "z"])
        return
    model.fit([[("a",), ("b",)]], y)
    assert len(model.predict([[("a",), ("q",)]])[0]) == 2


# ---- going on, and files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_training_goes_on(data: tuple[Data, Data], order: int) -> None:
    (X, y), test = data
    model = LinearCRF(order=order, prune=1e-3, max_iter=3)
    for part in np.array_split(np.arange(len(X)), 3):
        model.partial_fit([X[i] for i in part], [y[i] for i in part])
    assert model.score(*test) > 0.7
    before = model.transition_weights_
    model.partial_fit([[("new",), X[0][0]]], [["NEW", y[0][0]]])
    assert "NEW" in model.classes_
    assert set(before) <= set(model.transition_weights_)
    assert model.predict([[("new",)]]) == [["NEW"]]


@pytest.mark.parametrize("order", [1, 2])
def test_model_files(data: tuple[Data, Data], second: LinearCRF, tmp_path: Path, order: int) -> None:
    (X, y), (Z, _) = data
    model = second if order == 2 else LinearCRF(prune=0.01, max_iter=2).fit(X, y)
    model.save(tmp_path / "m.cf")
    again = load(tmp_path / "m.cf")
    assert again.predict(Z) == model.predict(Z)
    for a, b in zip(again.predict_marginals(Z[:5]), model.predict_marginals(Z[:5]), strict=True):
        np.testing.assert_array_equal(a, b)
    again.prune = 1e-9
    with pytest.raises(ConfigError, match="give at least that"):
        again.predict(Z)


def test_hostile_files(second: LinearCRF, tmp_path: Path) -> None:
    path = tmp_path / "m.cf"
    second.save(path)
    config, arrays, _ = read_container(path, "model", 99)

    def refused(what: str, change: object, **more: object) -> None:
        changed = {**config, "chain": {**config["chain"], **(change if isinstance(change, dict) else {})}}
        write_container(path, "model", 6, changed, {**arrays, **more})
        with pytest.raises(ModelFileError, match=what):
            load(path)

    pruner = config["chain"]["pruner"]
    code = arrays["scorer.transition2.code"]
    refused("threshold is 7", {"pruner": {**pruner, "threshold": 7.0}})
    refused("the threshold of the pruner", {"pruner": {**pruner, "threshold": pruner["trained"] / 2}})
    refused("trained is nan", {"pruner": {**pruner, "trained": float("nan")}})
    refused("lost is missing", {"pruner": {k: v for k, v in pruner.items() if k != "lost"}})
    refused("the number of the pruner's weights", {}, **{"pruner.weight": arrays["pruner.weight"][:-1]})
    refused(
        "pruner.weight has a number that is not", {}, **{"pruner.weight": arrays["pruner.weight"] * np.float32(np.nan)}
    )
    refused("pruner.weight has the type", {}, **{"pruner.weight": arrays["pruner.weight"].astype(np.float64)})
    refused("the frequencies of the pruner", {}, **{"pruner.prior": arrays["pruner.prior"][1:]})
    refused(
        "pruner.prior has a number that is not", {}, **{"pruner.prior": arrays["pruner.prior"] * np.float32(np.inf)}
    )
    refused("code is not in order", {}, **{"scorer.transition2.code": code[::-1].copy()})
    refused("the list of triples", {}, **{"scorer.transition2.code": code + 10**9})
    without = {k: v for k, v in config["chain"].items() if k != "pruner"}
    config["chain"] = without
    refused("scores of triples need a pruner", {})


def test_pruners_refuse_lower_thresholds() -> None:
    pruner = Pruner(np.zeros(1), 0.1, 0.1)
    assert pruner.at(0.2).threshold == 0.2
    with pytest.raises(ConfigError):
        replace(pruner, trained=0.3).at(0.2)


def test_command_line(data: tuple[Data, Data], tmp_path: Path) -> None:
    X, y = data[0]
    text = "\n".join("".join(f"{w} {t}\n" for (w,), t in zip(*pair, strict=True)) for pair in zip(X, y, strict=True))
    file = tmp_path / "train.txt"
    file.write_text(text, encoding="utf-8")
    done = run("train", file, tmp_path / "m.cf", "--prune", "0.01", "--max-iter", "2")
    assert done.code == 0, done.stderr
    assert "pruned to " in done.stderr
    shown = run("show", tmp_path / "m.cf")
    assert "Labels below a probability of 0.01 are left out: " in shown.stdout
    assert "and at most 0.5" in run("train", file, tmp_path / "m.cf", "--prune", "often").stderr


def test_more_labels_than_memory() -> None:
    n = 2_000_000
    with pytest.raises(
        ConfigError, match=r"^2,000,000 labels \(4,000,000,000,000 transitions\) would need about .* GB"
    ):
        label_space(n)


# ---- dictionaries and counts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["dictionary", "counts"])
def test_counts_tell_the_labels_of_words(data: tuple[Data, Data], kind: str, order: int) -> None:
    (X, y), (Z, t) = data
    model = LinearCRF(prune=0.01, prune_by=kind, order=order).fit(X, y)
    assert model.score(Z, t) > 0.75
    pruner = model.tagger_.chain.pruner
    assert pruner is not None
    assert 1.0 < pruner.width < 30.0
    had: dict[str, list[str]] = {}
    for words, labels in zip(X, y, strict=True):
        for (word,), label in zip(words, labels, strict=True):
            had.setdefault(word, []).append(label)
    word = max(had, key=lambda w: len(had[w]))
    shares = model.predict_marginals([[(word,)]])[0][0]
    left = {model.classes_[i] for i in np.flatnonzero(shares)}
    assert left <= set(had[word])
    if kind == "dictionary":
        assert left == set(had[word])
        open_rows = model.predict_marginals([[("never-seen",)]])[0][0] > 0
        np.testing.assert_array_equal(open_rows, pruner.open_rows)
    known = [[None] * (len(Z[0]) - 1) + [model.classes_[0]]]
    assert model.predict(Z[:1], known)[0][-1] == model.classes_[0]


def test_counting_pruners_in_files(data: tuple[Data, Data], tmp_path: Path) -> None:
    (X, y), (Z, _) = data
    path = tmp_path / "m.cf"
    model = LinearCRF(prune=0.01, prune_by="dictionary", max_iter=2).fit(X, y)
    model.save(path)
    assert load(path).predict(Z) == model.predict(Z)
    config, arrays, _ = read_container(path, "model", 99)
    for name, what in {"pruner.word": "the words of the pruner", "pruner.open": "the open labels"}.items():
        write_container(path, "model", 6, config, {**arrays, name: arrays[name][:-1]})
        with pytest.raises(ModelFileError, match=what):
            load(path)
    config["chain"]["pruner"]["kind"] = "magic"
    write_container(path, "model", 6, config, arrays)
    with pytest.raises(ModelFileError, match="kind is 'magic'"):
        load(path)


def test_dictionaries_need_words(data: tuple[Data, Data]) -> None:
    X, y = data[0]
    attributes = [[{"w": word} for (word,) in words] for words in X[:20]]
    with pytest.raises(ConfigError, match=r'^prune_by="dictionary" needs words: .*; use prune_by="softmax"\.$'):
        LinearCRF(prune=0.01, prune_by="dictionary").fit(attributes, y[:20])
    with pytest.raises(ConfigError, match=r'^prune_by="counts" needs words'):
        LinearCRF(prune=0.01, prune_by="counts", template="U00:%x[-1,0]\n").fit(X[:20], y[:20])
    model = LinearCRF(prune=0.01, prune_by="counts", max_iter=1).fit(X[:50], y[:50])
    with pytest.raises(ConfigError, match=r'cannot go on; use "softmax"\.$'):
        model.partial_fit(X[50:60], y[50:60])
