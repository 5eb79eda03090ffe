"""Looking into hidden states: tokens, transitions, one sequence; for every kind of model that has them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from chainfield import LinearCRF
from chainfield.errors import ConfigError
from chainfield.inspection.ordering import block_order
from chainfield.inspection.states import hidden_states, state_path
from chainfield.models import ChainClassifier, ChainTagger
from chainfield.models.compose import linear_emissions, transitions
from chainfield.scorers import Chain, low_rank
from chainfield.states import class_blocks, left_to_right, partitioned, second_order
from test_commands import run

WORDS = [["a", "b", "c", "a"], ["c", "b"], ["a", "a", "b", "c", "b"], ["b", "a"]] * 5
LABELS = [["Y" if w == "c" else "X" for w in s] for s in WORDS]


class Settings:
    objective, trainer, margin, l1, l2 = "likelihood", "lbfgs", 1.0, 0.0, 0.1
    tol = learning_rate = batch_size = average_from = patience = template = class_weight = n_jobs = None
    min_count, all_features, warm_start, verbose, random_state = 1, False, False, False, 0
    max_iter = 20


class Latent(Settings, ChainTagger):
    rank = None

    def _space(self, labels, targets):
        return partitioned([2, 1])

    def _chain(self, material, space):
        moves = transitions(material, space, all_transitions=True)
        moves = moves if self.rank is None else [low_rank(space, self.rank)]
        return Chain(space, tuple(linear_emissions(material, space, boundary=True)), tuple(moves), start_scale=0.5)


class Factored(Latent):
    rank = 2


class Pairs(Latent):
    def _space(self, labels, targets):
        return second_order(partitioned([2, 1]))


class Whole(Settings, ChainClassifier):
    def _space(self, labels, targets):
        return class_blocks([left_to_right(2) for _ in labels])

    def _chain(self, material, space):
        moves = transitions(material, space, all_transitions=True)
        return Chain(space, tuple(linear_emissions(material, space, boundary=False)), tuple(moves), start_scale=0.5)


@pytest.mark.parametrize("kind", [Latent, Factored, Pairs])
def test_tokens_counts_and_moves_are_those_of_the_best_paths(kind):
    model = kind().fit(WORDS, LABELS)
    found = model.hidden_states(WORDS, n=2)
    space = model.tagger_.chain.space
    rows = [space.row_of[states].tolist() for states in model.tagger_.states(WORDS)]
    assert [state.count for state in found.states] == [sum(r.count(k) for r in rows) for k in range(3)]
    for state in found.states:
        own = [w for words, path in zip(WORDS, rows, strict=True) for w, k in zip(words, path, strict=True)
               if k == state.number]  # fmt: skip
        assert all(own.count(token) == n for token, n in state.tokens)
        assert len(state.tokens) == min(2, len(set(own)))
        assert state.label == ("Y" if state.number == 2 else "X")
    assert found.moves.sum() == sum(len(s) - 1 for s in WORDS)
    assert found.moves[rows[0][0], rows[0][1]] > 0
    assert str(found.of("Y")[0]).startswith(f"Y ({found.states[2].count})")
    assert 1 <= found.perplexity <= 3
    assert f"{len(found.used())} of 3 states fire" in str(found)


def test_scores_are_those_of_the_chain():
    model = Latent().fit(WORDS, LABELS)
    scores = model.hidden_states(WORDS).scores
    for (a, b), weight in model.transition_weights_.items():
        names = [str(state.name) for state in model.hidden_states(WORDS[:1]).states]
        assert scores[names.index(str(a)), names.index(str(b))] == weight


def test_the_states_along_a_sequence():
    model = Latent().fit(WORDS, LABELS)
    path = model.state_path(WORDS[0])
    assert [at.token for at in path.positions] == WORDS[0]
    assert [at.label for at in path.positions] == model.predict(WORDS[:1])[0]
    shares = model.tagger_.occupancies(WORDS[:1])[0]
    assert all(at.probability in share for at, share in zip(path.positions, shares, strict=True))
    forced = model.state_path(WORDS[0], ["Y"] * 4)
    assert {at.label for at in forced.positions} == {"Y"}
    assert "Y  1.000" in str(forced)


def test_whole_sequences_and_numbers_have_states_too():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 4, 5, 2)]
    model = Whole().fit(X, ["p", "q", "p", "q"])
    found = model.hidden_states(X)
    assert sum(state.count for state in found.states) == 14
    assert all(state.tokens == () for state in found.states)
    assert np.isinf(found.scores[0, 3])
    assert [at.token for at in model.state_path(X[0]).positions] == ["0", "1", "2"]
    found_again = hidden_states(model.fitted_, X, name=lambda row: "up" if row[0] > 0 else "down")
    assert {token for state in found_again.states for token, _ in state.tokens} == {"up", "down"}


def test_a_model_without_hidden_states_has_one_a_label():
    model = LinearCRF(max_iter=5).fit([[{"w": w} for w in s] for s in WORDS], LABELS)
    found = hidden_states(model.fitted_, [[{"w": w} for w in s] for s in WORDS])
    assert [str(state.name) for state in found.states] == ["X", "Y"]
    assert found.of("Y")[0].tokens == (("c", 15),)
    assert state_path(model.fitted_, [{"w": "c"}]).positions[0].token == "c"


def test_the_order_brings_blocks_together():
    rng = np.random.default_rng(0)
    blocks = np.arange(12) % 3
    scores = np.where(blocks[:, None] == blocks, 3.0, -3.0) + 0.1 * rng.normal(size=(12, 12))
    scores[0, 3] = -np.inf
    found = blocks[block_order(scores, [None] * 12)].tolist()
    assert sum(a != b for a, b in pairwise(found)) == 2
    grouped = block_order(scores, ["p", "q"] * 6)
    assert grouped[:6].tolist() != grouped[6:].tolist()
    assert sorted(grouped[:6].tolist()) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
def test_pictures_are_written(suffix, tmp_path):
    if suffix != "html":
        pytest.importorskip("matplotlib")
    model = Latent().fit(WORDS, LABELS)
    states = model.hidden_states([*WORDS, ["<b>"]])
    states.save(tmp_path / f"states.{suffix}")
    model.state_path(["<b>", "a"]).save(tmp_path / f"path.{suffix}")
    for name in ("states", "path"):
        data = (tmp_path / f"{name}.{suffix}").read_bytes()
        start = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!DOCTYPE html>"}[suffix]
        assert data.startswith(start)
        assert b"<b>" not in data
    if suffix == "html":
        assert "X#0" in (tmp_path / "states.html").read_text(encoding="utf-8")


def test_many_states_are_named_by_their_labels(tmp_path):
    pytest.importorskip("matplotlib")

    class Many(Latent):
        def _space(self, labels, targets):
            return partitioned([60, 60])

    model = Many().fit(WORDS, LABELS)
    model.hidden_states(WORDS).save(tmp_path / "m.png", min_count=0)
    model.hidden_states(WORDS).save(tmp_path / "m.html", by_label=False, min_count=0)
    assert (tmp_path / "m.png").stat().st_size > 1000


def test_bad_requests_are_refused(tmp_path):
    model = Latent().fit(WORDS, LABELS)
    states = model.hidden_states(WORDS)
    with pytest.raises(ConfigError, match=r"must end in \.png, \.svg, \.pdf or \.html"):
        states.save(tmp_path / "states.gif")
    with pytest.raises(ConfigError, match="No state fires 1000 times"):
        states.save(tmp_path / "states.html", min_count=1000)
    with pytest.raises(ConfigError, match="no label 'Z'; it knows X, Y"):
        states.of("Z")
    with pytest.raises(ConfigError, match="n is 0"):
        model.hidden_states(WORDS, n=0)


def test_show_states_on_the_command_line(tmp_path):
    data, model = tmp_path / "d.txt", tmp_path / "m.cf"
    lines = ["\n".join(f"{w} {y}" for w, y in zip(*pair, strict=True)) for pair in zip(WORDS, LABELS, strict=True)]
    data.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    assert run("train", str(data), str(model), "--max-iter", "3", "--quiet").code == 0
    shown = run("show", str(model), "--states", str(data), "--top", "2")
    assert shown.code == 0
    assert "2 of 2 states fire" in shown.stdout
    assert "X" in shown.stdout
    one = run("show", str(model), "--states", str(data), "--sentence", "1", "--label", "Y")
    assert one.code == 0
    assert "c" in one.stdout
    page = tmp_path / "s.html"
    assert run("show", str(model), "--states", str(data), "--output", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert run("show", str(model), "--states", str(data), "--sentence", "1", "--output", str(page)).code == 0
    assert "States along a sequence" in page.read_text(encoding="utf-8")
    found = run("show", str(model), "--states", str(data), "--json")
    assert '"tokens"' in found.stdout
    for options, message in (
        (["--sentence", "1"], "--sentence needs --states"),
        (["--output", "x.png"], "--output needs --states"),
        (["--states", str(data), "--sentence", "99"], "has 20 sentences"),
        (["--states", str(data), "--output", str(tmp_path / "x.gif")], "must end in"),
    ):
        result = run("show", str(model), *options)
        assert result.code != 0
        assert message in result.stderr
