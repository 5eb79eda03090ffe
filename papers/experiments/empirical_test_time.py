"""The test time problem (sections 4.2 and 4.3): three maximum-likelihood estimates of standard training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import chainfield
from chainfield.inference import viterbi
from chainfield.objectives import Targets, objective_named
from chainfield.potentials import Potentials, clamp_labels
from chainfield.states import one_per_label
from experiments._empirical import PAPER, PUBLISHED
from harness.experiment import Context, Experiment, Row

X = [["a", "b", "c", "d"]] * 5
Y = [[0, 0, 0, 0]] * 4 + [[0, 1, 1, 0]]
OBJECTIVE = 2.50202
SPACE = one_per_label(2)
NOTHING = {"label_strength": 0.0, "word_strength": 0.0, "pair_strength": 0.0}
PAIRS = "U:x=%x[0,0]\nB:xx=%x[-1,0]|%x[0,0]\n"  # ψ(y, x) and φ(y, y', x, x'), and nothing else


def judged(setting: str, node: np.ndarray, edge: np.ndarray, predicted: list[int], right: float) -> Iterator[Row]:
    """Objective and gradient of standard training at some scores of [a b c d], and what becomes of [b c]."""
    scores = Potentials(np.tile(node, (5, 1)), np.tile(edge, (5, 1)), np.arange(6) * 4)
    targets = Targets(clamp_labels(SPACE, np.array(Y).ravel()), np.ones(5))
    loss, d = objective_named("likelihood")(SPACE, scores, targets)
    slope = max(abs(d.node.reshape(5, 4, 2).sum(0)).max(), abs(d.edge.reshape(5, 4, 4).sum(0)).max())
    yield Row(setting, "objective of standard training", OBJECTIVE, loss, source=PUBLISHED)
    yield Row(setting, "largest gradient (0: an optimum)", None, float(slope))
    note = f"[b, c] is labelled {predicted}"
    yield Row(setting, "right labels of [b, c], of 2", right, float(predicted.count(0)), None, note, PUBLISHED)


def run(context: Context) -> Iterator[Row]:
    """The empirical estimate, the paper's other one, and what an optimiser finds from zero."""
    for oov, name in (("empirical", "EP1"), ("exponential", "EP2")):
        model = chainfield.EmpiricalCRF(oov=oov, **NOTHING).fit(X, Y)
        scores = model.tagger_.potentials(model.tagger_.features.encode(X[:1]))
        yield from judged(f"{name} (ep)", scores.node, scores.edge, model.predict([["b", "c"]])[0], 2.0)
    with np.errstate(divide="ignore"):
        edge = np.log([[1, 1, 1, 1], [0.8, 0.2, 0, 0], [0.8 / 0.64, 0, 0, 0.2 / 0.04], [0.8, 0, 0.2, 0]])
    test = Potentials(np.zeros((2, 2)), edge[[0, 2]], np.array([0, 2]))
    yield from judged("tp", np.zeros((4, 2)), edge, viterbi(SPACE, test).states.tolist(), 0.0)
    crf = chainfield.LinearCRF(template=PAIRS, l2=0.0, trainer="lbfgs", tol=1e-6, boundary=False, all_features=True)
    crf.fit(X, Y)
    scores = crf.tagger_.potentials(crf.tagger_.features.encode(X[:1]))
    yield from judged("standard training from zero", scores.node, scores.edge, crf.predict([["b", "c"]])[0], 0.0)


EXPERIMENT = Experiment(
    name="empirical-test-time",
    title="The test time problem of standard training (sections 4.2 and 4.3)",
    paper=PAPER,
    protocol="Training data: [a b c d] four times as [0 0 0 0] and once as [0 1 1 0]; [b c] is to be labelled, and "
    "should "
    "be [0 0]. Parameters for each label with its word, and for each pair of labels with its pair of words, without a "
    "penalty. A gradient of 0 says that an estimate is a maximum-likelihood estimate of standard training.",
    differences=(
        "The paper runs CRF++ with almost no penalty from given start values and checks whether it moves; here "
        "the gradient is computed at the estimates themselves.",
        "The paper's objective 2.50202 is CRF++'s; the exact value is 4 log(5/4) + log 5 = 2.50201.",
        "From zero the optimum that is found depends on the optimiser; L-BFGS here, with a relative tolerance of 1e-6.",
    ),
    subset="nothing",
    run=run,
    quick_time="seconds",
    full_time="seconds",
)
