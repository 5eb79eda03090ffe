"""Long sequences: online trainers take a step per window, cut where labels allow it."""

from itertools import chain

import numpy as np
import pytest

from chainfield import HiddenCRF, HiddenUnitCRF, LinearCRF
from chainfield.models.constraints import label_rules, restricted
from chainfield.potentials import clamp_labels
from chainfield.problem.windows import LONG, WINDOW, window_offsets
from chainfield.states import one_per_label

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
