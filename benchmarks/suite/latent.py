"""Hidden states: passes of the latent perceptron, the bare products behind it, the DPLVM that it competes with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import numpy as np
from threadpoolctl import threadpool_limits

from chainfield import LatentCRF
from chainfield.data import load_corpus
from chainfield.inference import add_posteriors, viterbi
from chainfield.metrics import span_f1
from chainfield.potentials import Potentials
from chainfield.states import one_per_label

from .measure import Measurements, Options, timed
from .peers import installed
from .tasks import conll2000, feature_strings, first

REPEATS = 2
PASSES = 4
ENTITY_PASSES, ITERATIONS = 12, 300
STATES, SEQUENCES, ROUNDS = 512, 100, 5  # of the chain of many states
SENTENCES = 400  # of JNLPBA, for the second-order chain of 44 states
ENTITIES = "\n".join(
    [f"U:w{i}=%x[{i},0]" for i in range(-2, 3)]
    + ["U:ww=%x[-1,0]/%x[0,0]", "U:wx=%x[0,0]/%x[1,0]"]
    + [f"U:{kind}{n}=%x[0,0,{kind}:{n}]" for kind in ("prefix", "suffix") for n in (2, 3, 4)]
    + [f"U:s{i}=%x[{i},0,short-shape]" for i in range(-2, 3)]
    + ["U:lower=%x[0,0,lower]", "U:shape=%x[0,0,shape]", "U:bias", "B", ""]
)


def run(options: Options) -> Measurements:
    """All of it, in one run."""
    result = Measurements("latent")
    folder = Path(os.environ["CHAINFIELD_DATA"]) / "jnlpba"
    if not folder.is_dir():
        raise click.ClickException(f"The corpus jnlpba is missing: {folder} should hold train, devel and test.iob2.")
    for round_number in range(options.repeats or REPEATS):
        _chunking(options.sample, result, warm=round_number == 0)
        _second_order(folder, result)
    _many_states(result)
    _entities(folder, options.sample, result)
    result.speedup("first_order_pass_speedup_crfsuite", "crfsuite_perceptron", "latent_perceptron_5_states")
    bare, whole = result.middle("bare_max_products"), result.middle("second_order_pass")
    if bare and whole:
        result.figures["second_order_pass_over_max_products"] = whole / bare
    bare, whole = result.middle("bare_products_512"), result.middle("forward_backward_512")
    if bare and whole:
        result.figures["states512_products_ratio"] = whole / bare
    result.figures["training_speedup_dplvm_lbfgs"] = (
        result.samples["dplvm_lbfgs"][0] / result.samples["latent_perceptron_entities"][0]
    )
    result.notes += [
        "First order: noun phrases of CoNLL-2000 (B-NP, I-NP, O), 19 templates, a pass of the latent perceptron "
        "with 5 states per label on one thread, against a pass of python-crfsuite's averaged perceptron without "
        "hidden states.",
        f"Second order: 11 labels with 4 states each, 44 states, {SENTENCES} sentences of JNLPBA; a pass against the "
        "best paths of the same sentences with all scores ready (one max-product of 44 · 44 · 44 per position).",
        f"Many states: forward-backward of {SEQUENCES} sequences of 10 to 40 positions over {STATES} states that all "
        "follow each other, with the expectations of all edges, against the matrix products that it needs (NumPy, "
        "the same BLAS and shapes, double precision); both on one thread.",
        "Entities: JNLPBA, features that occur 15 times or more, 2 states per label. The latent perceptron makes "
        f"{ENTITY_PASSES} passes on one processor, since its steps depend on each other; L-BFGS minimises the "
        f"DPLVM's objective on all processors for {ITERATIONS} iterations as in the paper, and has not converged then "
        "(the library's own limit is 500). As in the paper without the extraction of features, which both share; F1 "
        "on test data.",
    ]
    return result


def _chunking(sample: int | None, result: Measurements, *, warm: bool) -> None:
    task = conll2000(sample)
    labels = [[y if y.endswith("-NP") else "O" for y in sentence] for sentence in task.train.labels]
    settings: dict[str, Any] = {"n_states": 5, "objective": "perceptron", "n_init": 1, "n_jobs": 1}
    model = LatentCRF(template=task.templates, max_iter=PASSES, **settings)
    if warm:
        model.fit(task.train.rows[:50], labels[:50])
    model.fit(task.train.rows, labels)
    result.add("latent_perceptron_5_states", _per_pass(model))
    if installed("crfsuite"):
        from .peers import crfsuite

        strings = feature_strings(task.templates, task.train.rows)
        passes = crfsuite.train(strings, labels, "ap", max_iterations=PASSES)
        result.add("crfsuite_perceptron", passes.per_evaluation(1))


def _second_order(folder: Path, result: Measurements) -> None:
    corpus = first(load_corpus(folder / "train.iob2"), SENTENCES)
    model = LatentCRF(
        n_states=4, order=2, objective="perceptron", template=ENTITIES, n_init=1, n_jobs=1, max_iter=PASSES
    )
    model.fit(corpus.rows, corpus.labels)
    result.add("second_order_pass", _per_pass(model))
    tagger = model.tagger_
    potentials = tagger.potentials(tagger.features.encode(corpus.rows))
    result.add("bare_max_products", timed(lambda: viterbi(tagger.chain.space, potentials))[0])


def _many_states(result: Measurements) -> None:
    rng = np.random.default_rng(0)
    lengths = np.sort(rng.integers(10, 41, SEQUENCES))[::-1]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    space = one_per_label(STATES)
    potentials = Potentials(rng.normal(size=(offsets[-1], STATES)), rng.normal(size=(1, space.n_edges)), offsets)
    running = [int((lengths > t).sum()) for t in range(lengths[0])]
    weights, values = rng.random((STATES, STATES)), rng.random((offsets[-1], STATES))
    back = np.ascontiguousarray(weights.T)

    def products() -> None:
        for n in running[1:]:
            values[:n] @ weights  # forward
            values[:n] @ back  # backward
        values[SEQUENCES:].T @ values[:-SEQUENCES]  # expectations of edges

    def whole() -> None:
        add_posteriors(space, potentials, np.ones(SEQUENCES), potentials.zeros())

    with threadpool_limits(1):
        whole()
        for _ in range(ROUNDS):
            result.add("bare_products_512", timed(products)[0])
            result.add("forward_backward_512", timed(whole)[0])


def _entities(folder: Path, sample: int | None, result: Measurements) -> None:
    train, test = (first(load_corpus(folder / f"{part}.iob2"), sample) for part in ("train", "test"))
    common = {"template": ENTITIES, "min_count": 15, "n_init": 1, "scheme": "bio"}
    for name, settings in (
        ("latent_perceptron_entities", {"objective": "perceptron", "max_iter": ENTITY_PASSES}),
        ("dplvm_lbfgs", {"trainer": "lbfgs", "max_iter": ITERATIONS}),
    ):
        LatentCRF(**common | settings | {"max_iter": 1}).fit(train.rows[:50], train.labels[:50])
        model = LatentCRF(**common, **settings)
        model.fit(train.rows, train.labels)
        result.add(name, model.history_[-1]["seconds"])
        result.figures[f"{name}_f1"] = 100 * span_f1(test.labels, model.predict(test.rows))
        result.figures[f"{name}_iterations"] = float(model.n_iter_)


def _per_pass(model: LatentCRF) -> float:
    """The median time of a pass, the first left out."""
    seconds = np.diff([record["seconds"] for record in model.history_])
    return float(np.median(seconds))
