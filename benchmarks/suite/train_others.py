"""Training with other penalties and on another corpus, against python-crfsuite."""

from __future__ import annotations

from collections.abc import Callable

from . import engine
from .measure import Measurements, Options
from .tasks import Task, conll2000, dutch_ner
from .training import HOW, Race, Setting

REPEATS = 2


def run_weak(options: Options) -> Measurements:
    """CoNLL-2000 with a weak penalty: c2 = 0.1."""
    return _run("train-conll2000-weak", conll2000, Setting(l2=0.1, prefix="c2_0.1_", others=False), options)


def run_l1(options: Options) -> Measurements:
    """CoNLL-2000 with c1 = 1 alone: OWL-QN on both sides."""
    return _run("train-conll2000-l1", conll2000, Setting(l1=1.0, prefix="l1_", others=False), options)


def run_dutch(options: Options) -> Measurements:
    """Dutch names with c2 = 1 and the features of ner.template."""
    return _run("train-dutch-ner", dutch_ner, Setting(l2=1.0, others=False), options)


def _run(name: str, load: Callable[[int | None], Task], setting: Setting, options: Options) -> Measurements:
    task = load(options.sample)
    result = Measurements(name, notes=[HOW])
    engine.warm_up(task, [{"l1": setting.l1, "l2": setting.l2}])
    race = Race(task, setting, options, result)
    for _ in range(options.repeats or REPEATS):
        race.round()
    race.finish()
    return result
