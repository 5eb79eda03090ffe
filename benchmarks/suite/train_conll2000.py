"""Training on CoNLL-2000: encoding, time to within 0.1 % of the optimum, time a gradient, a pass of the perceptron."""

from __future__ import annotations

import time
from typing import Any

import pycrfsuite
from threadpoolctl import threadpool_limits

from chainfield import LinearCRF
from chainfield.data import load_corpus

from .conll2000 import OPTIMUM, feature_strings, load_task
from .measure import Measurements, middle, timed

NAME = "train-conll2000"
ABOUT = "reading, encoding and training on CoNLL-2000 with 19 templates, against python-crfsuite"
REPEATS = 2
TARGET = 1.001 * OPTIMUM


def run() -> Measurements:
    """Alternate chainfield and python-crfsuite."""
    task = load_task()
    result = Measurements(NAME)
    strings = feature_strings(task.templates, task.train)
    small = 60
    for trainer in ("auto", "lbfgs"):  # compilation is no part of training
        _model(task, trainer, max_iter=8).fit(task.train.rows[:small], task.train.labels[:small])
    LinearCRF(objective="perceptron", template=task.templates, max_iter=1).fit(
        task.train.rows[:small], task.train.labels[:small]
    )

    names = ("chainfield", "chainfield_lbfgs_2", "chainfield_lbfgs_1", "crfsuite", "chainfield_ap", "crfsuite_ap")
    samples: dict[str, list[float]] = {name: [] for name in (*names, "chainfield_encode", "crfsuite_encode")}
    objective = 0.0
    for _ in range(REPEATS):
        samples["chainfield_encode"].append(timed(lambda: _encode(task))[0])
        samples["crfsuite_encode"].append(timed(lambda: _append(task))[0])
        seconds, objective = _train(task, "auto", None)
        samples["chainfield"].append(seconds)
        samples["chainfield_lbfgs_2"].append(_per_iteration(task, 2))
        samples["chainfield_lbfgs_1"].append(_per_iteration(task, 1))
        to_target, each = _crfsuite(strings, task.train.labels)
        samples["crfsuite"].append(to_target)
        samples.setdefault("crfsuite_iteration", []).append(each)
        samples["chainfield_ap"].append(_perceptron(task))
        samples["crfsuite_ap"].append(_crfsuite_perceptron(strings, task.train.labels))
    result.samples = samples
    m = {name: middle(values) for name, values in samples.items()}
    result.figures = {
        "objective": objective,
        "gap": objective / OPTIMUM - 1.0,
        "train_seconds": m["chainfield"],
        "train_speedup_crfsuite": m["crfsuite"] / m["chainfield"],
        "lbfgs_2_threads_speedup_crfsuite": m["crfsuite_iteration"] / m["chainfield_lbfgs_2"],
        "lbfgs_1_thread_speedup_crfsuite": m["crfsuite_iteration"] / m["chainfield_lbfgs_1"],
        "encode_speedup_crfsuite": m["crfsuite_encode"] / m["chainfield_encode"],
        "perceptron_pass_speedup_crfsuite": m["crfsuite_ap"] / m["chainfield_ap"],
    }
    result.notes = [
        "train: from encoded data to an objective within 0.1 % of the optimum, stopping rule included; python-crfsuite "
        "is given the moment at which its L-BFGS passes that mark.",
        "lbfgs: seconds an iteration. encode: from the file to encoded data, against feature strings and append.",
    ]
    return result


def _model(task: Any, trainer: str, **settings: Any) -> LinearCRF:
    return LinearCRF(trainer=trainer, l2=1.0, boundary=False, template=task.templates, **settings)


def _train(task: Any, trainer: str, jobs: int | None) -> tuple[float, float]:
    """Seconds from encoded data to the end of training, and the objective that was reached."""
    model = _model(task, trainer, n_jobs=jobs)
    ends: list[float] = []
    model.fit(task.train.rows, task.train.labels, callback=lambda _: ends.append(time.perf_counter()))
    return ends[-1] - ends[0] + model.history_[0]["seconds"], model.history_[-1]["objective"]


def _per_iteration(task: Any, jobs: int) -> float:
    model = _model(task, "lbfgs", n_jobs=jobs, max_iter=12)
    with threadpool_limits(1, "blas"):
        model.fit(task.train.rows, task.train.labels)
    seconds = [record["seconds"] for record in model.history_]
    evaluations = sum(record["evaluations"] for record in model.history_[2:])
    return (seconds[-1] - seconds[1]) / evaluations


def _encode(task: Any) -> None:
    from chainfield.features import TemplateFeatures

    corpus = load_corpus(task.train_path)
    TemplateFeatures(task.templates).learn(corpus.rows)


def _append(task: Any) -> None:
    corpus = load_corpus(task.train_path)
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(feature_strings(task.templates, corpus), corpus.labels, strict=True):
        trainer.append(x, y)


def _trainer(strings: Any, labels: Any, algorithm: str, params: dict[str, Any]) -> pycrfsuite.Trainer:
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    trainer.set_params(params)
    for x, y in zip(strings, labels, strict=True):
        trainer.append(x, y)
    return trainer


def _crfsuite(strings: Any, labels: Any) -> tuple[float, float]:
    """Seconds until L-BFGS is within 0.1 % of the optimum, and seconds an iteration."""
    params = {"c1": 0.0, "c2": 1.0, "feature.possible_transitions": 1, "max_iterations": 130}
    trainer = _trainer(strings, labels, "lbfgs", params)
    trainer.train("")
    spent, to_target = 0.0, float("inf")
    for record in trainer.logparser.iterations:
        spent += record["time"]
        if record["loss"] <= TARGET:
            to_target = min(to_target, spent)
    times = [record["time"] for record in trainer.logparser.iterations[2:]]
    return to_target, middle(times)


def _perceptron(task: Any) -> float:
    model = LinearCRF(objective="perceptron", template=task.templates, boundary=False, max_iter=4)
    model.fit(task.train.rows, task.train.labels)
    seconds = [record["seconds"] for record in model.history_]
    return (seconds[-1] - seconds[0]) / (len(seconds) - 1)


def _crfsuite_perceptron(strings: Any, labels: Any) -> float:
    params = {"max_iterations": 4, "feature.possible_transitions": 1}
    trainer = _trainer(strings, labels, "ap", params)
    trainer.train("")
    return middle([record["time"] for record in trainer.logparser.iterations[1:]])
