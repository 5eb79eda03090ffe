"""One sentence at a time, in all styles of input, python-crfsuite beside it."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chainfield import load

from .measure import Measurements, Options, Table
from .peers import installed, missing_notes
from .styles import Style, styles
from .tasks import conll2000

REPEATS = 3  # rounds over the sentences
SENTENCES = 500
WARM = 50


def run(options: Options) -> Measurements:
    """In every round each contestant labels all sentences, one by one."""
    task = conll2000(options.sample)
    result = Measurements("latency", notes=missing_notes("crfsuite"))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for style in styles(task, Path(name)):
            _measure(style, options.repeats or REPEATS, result)
            rows.append([style.name, *(_figure(result, style, who) for who in ("tag", "predict", "crfsuite"))])
            theirs, ours = (result.figures.get(f"{style.name}_{who}_us") for who in ("crfsuite", "tag"))
            if theirs and ours:
                result.figures[f"latency_{style.name}_ratio_crfsuite"] = ours / theirs
    result.tables.append(Table("Microseconds for one sentence, median", ["input", "tag", "predict", "crfsuite"], rows))
    result.notes.append(
        "tag: tag(sentence); predict: predict([sentence])[0]. columns: python-crfsuite's strings are built in Python "
        "while the clock runs, as its users do; elsewhere the input is ready. tutorial: the dicts of "
        "sklearn-crfsuite's tutorial. Sentences of the CoNLL-2000 test set, one thread; contestants take turns."
    )
    return result


def _figure(result: Measurements, style: Style, who: str) -> float | None:
    seconds = result.middle(f"{style.name}_{who}")
    if seconds is None:
        return None
    result.tabled.append(f"{style.name}_{who}_us")
    result.figures[f"{style.name}_{who}_us"] = 1e6 * seconds
    return 1e6 * seconds


def _measure(style: Style, repeats: int, result: Measurements) -> None:
    model = load(style.model, n_jobs=1)
    contestants: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        "tag": (model.tag, style.own),
        "predict": (lambda sentence: model.predict([sentence])[0], style.own),
    }
    if installed("crfsuite"):
        from .peers import crfsuite

        tagger, make = crfsuite.open_model(str(style.peer)), style.make
        answer = tagger.tag if make is None else lambda rows: tagger.tag(make([rows])[0])
        contestants["crfsuite"] = (answer, style.theirs)
    for function, sentences in contestants.values():
        for sentence in sentences[:WARM]:
            function(sentence)
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for who, (function, sentences) in contestants.items():
                for sentence in sentences[:SENTENCES]:
                    started = time.perf_counter()
                    function(sentence)
                    result.add(f"{style.name}_{who}", time.perf_counter() - started)
    finally:
        gc.enable()
