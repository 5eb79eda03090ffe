"""Reading dicts and lists of strings: tagging on one and two threads, encoding for training; beside python-crfsuite."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chainfield import load
from chainfield.features.named import NamedFeatures

from .measure import Measurements, Options, alternate
from .peers import installed, missing_notes
from .styles import styles, tutorial_dicts
from .tasks import conll2000, feature_dicts, feature_strings

REPEATS = 7
THREADS = (1, 2)


def run(options: Options) -> Measurements:
    """CoNLL-2000: tagging the test set, and encoding the training set."""
    task = conll2000(options.sample)
    result = Measurements("encode", notes=missing_notes("crfsuite"))
    strings = feature_strings(task.templates, task.train.rows)
    training = {"lists": strings, "dicts": feature_dicts(strings), "tutorial": tutorial_dicts(task.train.rows)}
    contestants: dict[str, Callable[[], Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        for style in styles(task, Path(name)):
            if style.make is not None:
                continue
            for threads in THREADS:
                model = load(style.model, n_jobs=threads)
                contestants[f"tag_{style.name}_{threads}"] = lambda m=model, s=style: m.predict(s.own)
            contestants[f"encode_{style.name}"] = lambda s=style: NamedFeatures().learn(training[s.name])
            if installed("crfsuite"):
                from .peers import crfsuite

                tagger = crfsuite.open_model(str(style.peer))
                contestants[f"crfsuite_tag_{style.name}"] = lambda t=tagger, s=style: crfsuite.tag(t, s.theirs)
                contestants[f"crfsuite_encode_{style.name}"] = lambda s=style: _append(
                    training[s.name], task.train.labels
                )
        for function in contestants.values():
            function()
        result.samples = alternate(contestants, options.repeats or REPEATS)
    tokens = sum(map(len, task.test.rows))
    for kind in training:
        for threads in THREADS:
            own = f"tag_{kind}_{threads}"
            result.figures[f"{own}_tokens_per_second"] = tokens / (result.middle(own) or 1.0)
            result.speedup(f"{own}_speedup_crfsuite", f"crfsuite_tag_{kind}", own)
        result.figures[f"encode_{kind}_seconds"] = result.middle(f"encode_{kind}") or 0.0
        result.speedup(f"encode_{kind}_speedup_crfsuite", f"crfsuite_encode_{kind}", f"encode_{kind}")
    result.notes.append(
        "tag: the test set from ready dicts and lists, on one and two threads; python-crfsuite has one. encode: the "
        "training set, from ready dicts and lists to numbers; python-crfsuite: Trainer.append of every sentence."
    )
    return result


def _append(sequences: list[Any], labels: Any) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(sequences, labels, strict=True):
        trainer.append(x, y)
