"""python-crfsuite's module and ours side by side, on CoNLL-2000: the same program trains, tags and loads."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .measure import Measurements, Options, alternate, timed
from .peers import installed
from .tasks import conll2000, feature_dicts, feature_strings
from .trajectory import TOLERANCE

REPEATS = 5
PATIENCE = 120.0  # seconds, for python-crfsuite's training
PARAMETERS = {"c1": 0.0, "c2": 1.0, "feature.possible_transitions": 1}


def run(options: Options) -> Measurements:
    """Training to the objective that ours ends at; then both tag with the model that ours wrote."""
    if not installed("crfsuite"):
        raise click.ClickException("python-crfsuite is not installed: pip install python-crfsuite.")
    import pycrfsuite

    from chainfield.compat import pycrfsuite as compat

    from .peers import crfsuite

    task = conll2000(options.sample)
    strings, labels = feature_strings(task.templates, task.train.rows), task.train.labels
    lists = feature_strings(task.templates, task.test.rows)
    result = Measurements("dropin-crfsuite")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        trainer = compat.Trainer("lbfgs", PARAMETERS, verbose=False)
        result.add("chainfield_append", timed(lambda: _append(trainer, strings, labels))[0])
        result.add("chainfield_train", timed(lambda: trainer.train(path))[0])
        last = trainer.logparser.last_iteration
        assert last is not None
        objective = last["loss"]
        theirs = crfsuite.train(strings, labels, optimum=objective / (1.0 + TOLERANCE), patience=PATIENCE, c2=1.0)
        reached = [s for s, o in zip(theirs.seconds, theirs.objective, strict=True) if o <= objective]
        result.add("crfsuite_train", reached[0] if reached else theirs.seconds[-1])
        if not reached:
            result.notes.append(
                f"python-crfsuite ended after {theirs.seconds[-1]:.0f} s at {theirs.best:,.2f}, above our "
                f"{objective:,.2f}: train_speedup_crfsuite is a lower bound."
            )
        peer = pycrfsuite.Trainer("lbfgs", PARAMETERS, verbose=False)
        result.add("crfsuite_append", timed(lambda: _append(peer, strings, labels))[0])
        result.figures |= {"objective": objective, "crfsuite_objective": theirs.best}
        _tag_and_load(result, path, lists, options.repeats or REPEATS)
    for what in ("train", "append", "lists", "dicts", "many", "load"):
        result.speedup(f"{what}_speedup_crfsuite", f"crfsuite_{what}", f"chainfield_{what}")
    result.notes += [
        "train: Trainer.train with c2 = 1 until chainfield stops by itself (delta = 1e-5), writing its model included, "
        "against python-crfsuite until it has the same objective, which writes none. append: Trainer.append of all "
        "sentences, as lists of ready strings.",
        "lists, dicts: Tagger.tag of the test sentences, one after the other on one thread; many: Tagger.tag_many of "
        "the lists on all threads against tag one after the other. load: Tagger.open. Both read the same file.",
    ]
    return result


def _append(trainer: Any, strings: list[Any], labels: Any) -> None:
    for x, y in zip(strings, labels, strict=True):
        trainer.append(x, y)


def _tag_and_load(result: Measurements, path: str, lists: list[Any], repeats: int) -> None:
    import pycrfsuite

    from chainfield.compat import pycrfsuite as compat

    dicts = feature_dicts(lists)
    theirs, ours = pycrfsuite.Tagger(), compat.Tagger()
    theirs.open(path)
    ours.open(path)
    if not [theirs.tag(x) for x in lists] == [ours.tag(x) for x in lists] == ours.tag_many(lists):
        raise click.ClickException("Answers differ.")
    contestants: dict[str, Callable[[], Any]] = {
        "chainfield_lists": lambda: [ours.tag(x) for x in lists],
        "crfsuite_lists": lambda: [theirs.tag(x) for x in lists],
        "chainfield_dicts": lambda: [ours.tag(x) for x in dicts],
        "crfsuite_dicts": lambda: [theirs.tag(x) for x in dicts],
        "chainfield_many": lambda: ours.tag_many(lists),
        "chainfield_load": lambda: compat.Tagger().open(path),
        "crfsuite_load": lambda: pycrfsuite.Tagger().open(path),
    }
    result.samples |= alternate(contestants, repeats)
    result.samples["crfsuite_many"] = result.samples["crfsuite_lists"]
