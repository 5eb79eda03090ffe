"""Long sequences: online trainers take a step per window, cut where labels allow it."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from chainfield import HiddenCRF, HiddenUnitCRF, LinearCRF
from chainfield.models.constraints import label_rules, restricted
from chainfield.objectives import Targets
from chainfield.potentials import Clamp, clamp_labels
from chainfield.problem import Steps
from chainfield.problem.windows import LONG, WINDOW, window_offsets
from chainfield.states import one_per_label
from support.catalogue import compose, draw_theta
from test_lattice import SPACES as LATTICE_SPACES
from test_lattice import compose as compose_lattice

RNG = np.random.default_rng(3)
LABELS = ("O", "B-X", "I-X")
BIO = restricted(one_per_label(3), label_rules(LABELS, "bio", None))
AFTER = {"O": ["O", "O", "B-X"], "B-X": ["I-X", "O"], "I-X": ["I-X", "O"]}


def drawn(n):
    labels = ["O"]
    while len(labels) < n:
        labels.append(str(RNG.choice(AFTER[labels[-1]])))
    noisy = [label if RNG.random() < 0.8 else str(RNG.choice(LABELS)) for label in labels]
    return [{"w": f"{label}{RNG.integers(40)}", "c": label} for label in noisy], labels


def document(n):
    """As many sentences as it takes."""
    x, y = zip(*[drawn(25) for _ in range(n // 25)], strict=True)
    return list(chain.from_iterable(x)), list(chain.from_iterable(y))


DOCUMENTS = tuple(zip(*[document(3000) for _ in range(2)], strict=True))
TEST = tuple(zip(*[drawn(25) for _ in range(60)], strict=True))


def sentences(documents, n=25):
    X, y = [], []
    for x, labels in zip(*documents, strict=True):
        X += [x[at : at + n] for at in range(0, len(x), n)]
        y += [labels[at : at + n] for at in range(0, len(x), n)]
    return X, y


def test_cuts_fall_between_entities_and_leave_short_sequences_alone():
    numbers = np.array([LABELS.index(label) for label in DOCUMENTS[1][0]])
    lengths = [0, 40, 2600, 0, LONG, 3000 - 2640 - LONG]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    cut = window_offsets(BIO, clamp_labels(BIO, numbers), offsets)
    assert set(offsets) <= set(cut)
    assert [np.count_nonzero(cut == at) for at in (0, 2640)] == [2, 2]  # empty sequences are still there
    inside = np.setdiff1d(cut, offsets)
    assert ((inside > 40) & (inside < 2640)).all()
    assert len(inside) == pytest.approx(2600 / WINDOW, abs=3)
    assert all(numbers[at] != LABELS.index("I-X") for at in inside)
    short = np.array([0, LONG])
    assert window_offsets(BIO, clamp_labels(BIO, numbers[:LONG]), short) is short


def test_no_cut_where_no_label_is_known_to_allow_it():
    numbers = np.full(1000, -1)
    numbers[500:502] = 0
    cut = window_offsets(BIO, clamp_labels(BIO, numbers), np.array([0, 1000]))
    assert cut.tolist() == [0, 500, 501, 1000]


LENGTHS = (300, 3, 0, 280)


def cuttable(space, objective, emission="all pairs + boundary", transition="free"):
    return replace(compose(space, emission, transition, objective, lengths=LENGTHS), cuttable=True)


@pytest.mark.parametrize("objective", ["likelihood", "softmax_margin", "perceptron"])
@pytest.mark.parametrize("space", ["one per label", "bio", "second order", "second order bio"])
def test_a_window_is_its_part_of_the_sequence_given_all_other_labels(space, objective):
    problem = cuttable(space, objective)
    theta, windows, targets = draw_theta(problem), problem.windows, problem.targets
    reach, n_sets = 2 if space.startswith("second") else 1, len(targets.clamp.table)
    cut = window_offsets(problem.chain.space, targets.clamp, problem.batch.offsets, reach)
    cost = None if targets.cost is None else np.concatenate([targets.cost, 0 * targets.cost])
    assert windows.n_sequences == len(cut) - 1 > 15
    ties = 0
    for w, (lo, hi) in enumerate(zip(cut[:-1].tolist(), cut[1:].tolist(), strict=True)):
        if lo == hi:
            continue
        value, d, _ = windows.differentiate(theta, slice(w, w + 1))
        s, _ = problem.batch.ragged.place(lo)
        at = problem.batch.ragged.slice_of(s, s + 1)
        outside = (np.arange(at.start, at.stop) < lo) | (np.arange(at.start, at.stop) >= hi)
        table = np.concatenate([targets.clamp.table, targets.clamp.table])
        clamp = Clamp((targets.clamp.index[at] + n_sets * outside).astype(np.int32), table)
        around = Targets(clamp, targets.weight[s : s + 1], cost, given=np.arange(2 * n_sets) >= n_sets)
        scores = problem.scores(theta, slice(s, s + 1))
        scores = replace(scores, node=scores.node + problem.offset)
        expected, d_all = problem.objective(problem.chain.space, scores, around)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)
        beside = min(lo - at.start, reach)
        own = d.node[beside : beside + hi - lo]
        assert np.abs(d.node).sum() == pytest.approx(np.abs(own).sum(), abs=1e-9)  # nothing is learned beside it
        if problem.objective.how == "max" and not np.allclose(own, d_all.node[~outside], atol=1e-9):
            ties += 1  # two best paths
            continue
        np.testing.assert_allclose(own, d_all.node[~outside], atol=1e-9)
        np.testing.assert_allclose(d.edge, d_all.edge, atol=1e-9)
    assert ties <= 1


@pytest.mark.parametrize("space", ["bio", "restricted latent", "second order bio"])
@pytest.mark.parametrize("objective", ["likelihood", "large_margin", "perceptron"])
def test_kernels_take_the_same_steps_on_windows(space, objective):
    windows = cuttable(space, objective).windows
    slow = replace(windows)
    slow.__dict__["fast"] = None
    assert windows.fast is not None
    theta, order = draw_theta(windows), np.random.default_rng(1).permutation(windows.n_sequences)
    for problem, own in ((windows, theta), (slow, other := theta.copy())):
        problem.walk(Steps(own, order, np.full(len(order), 0.1)))
    np.testing.assert_allclose(theta, other, atol=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_lattices_have_windows_too(order):
    problem = compose_lattice(5, LATTICE_SPACES["bio"](), order, "likelihood", "full", lengths=LENGTHS)
    windows = replace(problem, cuttable=True).windows
    plain = replace(problem, lattice=None, cuttable=True).windows if order == 1 else None
    assert windows.n_sequences > 15
    theta = np.random.default_rng(2).normal(size=problem.n_parameters)
    slow = replace(windows)
    slow.__dict__["fast"] = None
    if plain is not None:  # the same windows, whatever rows are left
        np.testing.assert_array_equal(windows.batch.offsets, plain.batch.offsets)
        assert windows.evaluate(theta)[0] == pytest.approx(slow.evaluate(theta)[0], rel=1e-9)
    beside = windows.targets.given[windows.targets.clamp.index]
    assert (np.diff(windows.lattice.first)[beside] == 1).all()


@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "perceptron"},
        {"objective": "large_margin", "scheme": "bio"},
        {"objective": "perceptron", "trainer": "mira"},
        {"trainer": "sgd", "max_iter": 3},
        {"trainer": "sdca", "max_iter": 3},
        {"trainer": "adam", "max_iter": 3},
        {"order": 2, "objective": "perceptron"},
        {},
    ],
)
def test_documents_train_as_their_sentences_do(settings):
    whole = LinearCRF(n_jobs=1, **settings).fit(*DOCUMENTS)
    parts = LinearCRF(n_jobs=1, **settings).fit(*sentences(DOCUMENTS))
    assert whole.score(*TEST) >= parts.score(*TEST) - 0.025


def test_hidden_units_take_steps_for_windows():
    settings = {"hidden_units": 10, "max_iter": 4, "n_jobs": 1}
    whole = HiddenUnitCRF(**settings).fit(*DOCUMENTS)
    parts = HiddenUnitCRF(**settings).fit(*sentences(DOCUMENTS))
    assert whole.score(*TEST) >= parts.score(*TEST) - 0.02


def test_networks_read_windows():
    pytest.importorskip("torch")
    from chainfield import NeuralCRF

    X = [[item["w"] for item in x] for x in DOCUMENTS[0]]
    settings = {"word_dim": 8, "chars": "none", "context_hidden": 8, "max_iter": 3, "n_jobs": 1}
    model = NeuralCRF(**settings, learning_rate=0.02).fit(X, DOCUMENTS[1])
    assert model.score(X, DOCUMENTS[1]) > 0.75


def test_windows_weigh_as_much_as_their_sequences():
    weights = [1.0, 0.0]
    one = LinearCRF(n_jobs=1, objective="perceptron", max_iter=3).fit(*DOCUMENTS, sample_weight=weights)
    assert one.history_[0]["updates"] > 10
    alone = LinearCRF(n_jobs=1, objective="perceptron", max_iter=3, min_count=0)
    alone.fit([DOCUMENTS[0][0]], [DOCUMENTS[1][0]])
    assert one.score(*TEST) == pytest.approx(alone.score(*TEST), abs=0.02)


def test_a_sequence_with_one_label_is_never_cut():
    X = [RNG.normal(size=(LONG + 50, 1)) + k % 2 for k in range(6)]
    model = HiddenCRF(n_jobs=1, max_iter=1, start="random").fit(X, ["a", "b"] * 3)
    assert len(model.predict(X)) == 6
