"""Hidden states: passes of the latent perceptron, its bare max-products, and the DPLVM that it competes with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import numpy as np

from chainfield import LatentCRF
from chainfield.data import load_corpus
from chainfield.inference import viterbi
from chainfield.metrics import span_f1

from .measure import Measurements, Options, timed
from .peers import installed
from .tasks import conll2000, feature_strings, first

REPEATS = 2
PASSES = 4
SENTENCES = 400  # of JNLPBA, for the second-order chain of 44 states
ENTITIES = "\n".join(
    [f"U:w{i}=%x[{i},0]" for i in range(-2, 3)]
    + ["U:ww=%x[-1,0]/%x[0,0]", "U:wx=%x[0,0]/%x[1,0]"]
    + [f"U:{kind}{n}=%x[0,0,{kind}:{n}]" for kind in ("prefix", "suffix") for n in (2, 3, 4)]
    + [f"U:s{i}=%x[{i},0,short-shape]" for i in range(-2, 3)]
    + ["U:lower=%x[0,0,lower]", "U:shape=%x[0,0,shape]", "U:bias", "B", ""]
)


def run(options: Options) -> Measurements:
    """All three, in one run."""
    result = Measurements("latent")
    folder = Path(os.environ["CHAINFIELD_DATA"]) / "jnlpba"
    if not folder.is_dir():
        raise click.ClickException(f"The corpus jnlpba is missing: {folder} should hold train, devel and test.iob2.")
    for round_number in range(options.repeats or REPEATS):
        _chunking(options.sample, result, warm=round_number == 0)
        _second_order(folder, result)
    _entities(folder, options.sample, result)
    result.speedup("first_order_pass_speedup_crfsuite", "crfsuite_perceptron", "latent_perceptron_5_states")
    bare, whole = result.middle("bare_max_products"), result.middle("second_order_pass")
    if bare and whole:
        result.figures["second_order_pass_over_max_products"] = whole / bare
    result.figures["training_speedup_dplvm_lbfgs"] = (
        result.samples["dplvm_lbfgs"][0] / result.samples["latent_perceptron_entities"][0]
    )
    result.notes += [
        "First order: noun phrases of CoNLL-2000 (B-NP, I-NP, O), 19 templates, a pass of the latent perceptron with 5 "
        "states a label on one thread, against a pass of python-crfsuite's averaged perceptron without hidden states.",
        f"Second order: 11 labels with 4 states each, 44 states, {SENTENCES} sentences of JNLPBA; a pass against the "
        "best paths of the same sentences with all scores ready (one max-product of 44 · 44 · 44 a position).",
        "Entities: JNLPBA, features that occur 15 times or more, 2 states a label. The latent perceptron makes 12 "
        "passes; L-BFGS minimises the DPLVM's objective for 100 iterations. Both on all processors, as in "
        "the paper without the extraction of features, which both share; F1 on test data.",
    ]
    return result


def _chunking(sample: int | None, result: Measurements, *, warm: bool) -> None:
    task = conll2000(sample)
    labels = [[y if y.endswith("-NP") else "O" for y in sentence] for sentence in task.train.labels]
    settings: dict[str, Any] = {"states_per_label": 5, "objective": "perceptron", "n_init": 1, "n_jobs": 1}
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
    model = LatentCRF(4, order=2, objective="perceptron", template=ENTITIES, n_init=1, n_jobs=1, max_iter=PASSES)
    model.fit(corpus.rows, corpus.labels)
    result.add("second_order_pass", _per_pass(model))
    tagger = model.tagger_
    potentials = tagger.potentials(tagger.features.encode(corpus.rows))
    result.add("bare_max_products", timed(lambda: viterbi(tagger.chain.space, potentials))[0])


def _entities(folder: Path, sample: int | None, result: Measurements) -> None:
    train, test = (first(load_corpus(folder / f"{part}.iob2"), sample) for part in ("train", "test"))
    common = {"template": ENTITIES, "min_count": 15, "n_init": 1, "scheme": "bio"}
    for name, settings in (
        ("latent_perceptron_entities", {"objective": "perceptron", "max_iter": 12}),
        ("dplvm_lbfgs", {"trainer": "lbfgs", "max_iter": 100}),
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
