"""The life of a model as a state machine: trained, resumed, trained on, saved, loaded, copied, asked; in any order.

Whatever happens, the answers are those of a model that never left memory, and bad input leaves it as it was.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import chainfield
from chainfield import EmpiricalCRF, LinearCRF
from chainfield.errors import ChainfieldError

NIGHTLY = bool(os.environ.get("CHAINFIELD_NIGHTLY"))
WORDS = ["the", "cat", "sat", "Oslo", "Bonn", "12"]
LABEL = {"Oslo": "B-L", "Bonn": "B-L", "12": "B-N"}


def sentences(seed):
    rng = np.random.default_rng(seed)
    x = [[WORDS[i] for i in rng.integers(0, len(WORDS), rng.integers(1, 5))] for _ in range(6)]
    return [*x, WORDS], [[LABEL.get(word, "O") for word in sentence] for sentence in [*x, WORDS]]


QUESTIONS = [["the", "Oslo", "unheard"], [], ["12"]]
BAD = [[["a", 1]], [3], None, [np.array(1.0)], "text", [{"a": 1}]]


class Life(RuleBasedStateMachine):
    """One model, and the same model as it would be without files, copies and failures."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.model = self.twin = None
        self.saved = None  # the answers that were saved

    def teardown(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(kind=st.sampled_from(["linear", "perceptron", "empirical"]))
    def make(self, kind):
        def one():
            if kind == "empirical":
                return EmpiricalCRF(n_jobs=1)
            return LinearCRF(
                max_iter=3, n_jobs=1, **({"objective": "perceptron", "trainer": "sgd"} if kind == "perceptron" else {})
            )

        self.model, self.twin, self.kind, self.trained = one(), one(), kind, False

    def both(self, do):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            do(self.model)
            do(self.twin)

    def answers(self, model):
        marginals = np.concatenate([m.ravel() for m in model.predict_marginals(QUESTIONS)])
        return [*map(list, model.predict(QUESTIONS))], marginals.tobytes()

    @rule(seed=st.integers(0, 3))
    def fit(self, seed):
        self.both(lambda model: model.fit(*sentences(seed)))
        self.trained = True

    @precondition(lambda self: self.trained and self.kind == "empirical")
    @rule(seed=st.integers(0, 3))
    def train_on(self, seed):
        self.both(lambda model: model.partial_fit(*sentences(seed)))

    @precondition(lambda self: self.kind == "linear")
    @rule(seed=st.integers(0, 3), stop=st.integers(1, 2))
    def interrupt_and_resume(self, seed, stop):
        """A training that is cut off and resumed gives what an uninterrupted one gives."""
        path = self.folder / "training.cf.checkpoint"
        path.unlink(missing_ok=True)

        class Enough(Exception):
            pass

        def watch(record):
            if record.iteration >= stop:
                raise Enough

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.model.fit(*sentences(seed), checkpoint=path, callback=watch)
            except Enough:
                self.model.fit(*sentences(seed), checkpoint=path, resume=path.exists())
            self.twin.fit(*sentences(seed))
        self.trained = True

    @precondition(lambda self: self.trained)
    @rule()
    def save(self):
        self.model.save(self.folder / "m.cf")
        self.saved = self.answers(self.model)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def load_beside(self):
        assert self.answers(chainfield.load(self.folder / "m.cf", n_jobs=1)) == self.saved

    @precondition(lambda self: self.trained)
    @rule()
    def save_and_go_on_with_the_file(self):
        self.save()
        if self.kind != "empirical":  # counts for partial_fit stay in memory
            self.model = chainfield.load(self.folder / "m.cf", n_jobs=1)

    @precondition(lambda self: self.trained)
    @rule()
    def go_on_with_a_copy(self):
        self.model = pickle.loads(pickle.dumps(self.model))

    @precondition(lambda self: self.trained)
    @rule(bad=st.sampled_from(BAD))
    def bad_input(self, bad):
        for call in (self.model.predict, self.model.predict_marginals):
            try:
                call(bad)
            except ChainfieldError:
                continue

    @rule(bad=st.sampled_from(BAD))
    def bad_training(self, bad):
        """A training that is refused leaves the model as it was."""
        with pytest.raises(ChainfieldError):
            self.model.fit(bad, [["O"]])

    @rule()
    def save_to_nowhere(self):
        with pytest.raises((ChainfieldError, OSError)):
            self.model.save(self.folder / "none" / "m.cf")

    @invariant()
    def answers_agree(self):
        if self.model is not None and self.trained:
            assert self.answers(self.model) == self.answers(self.twin)


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=300 if NIGHTLY else 6,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
