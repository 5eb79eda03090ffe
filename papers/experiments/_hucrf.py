"""What the experiments on handwritten words share (van der Maaten, Welling and Saul 2011)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import chainfield
from harness.corpora import OCR
from harness.experiment import Context, Experiment, Row

PAPER = "van der Maaten et al. 2011"
# A file that keeps what is finished, so that an experiment can be interrupted and go on.
PARTS = "CHAINFIELD_PARTS"
# setting, published error, model, hyper-parameters
Settings = tuple[tuple[str, float | None, str, dict[str, Any]], ...]


def read(path: Path) -> tuple[list[np.ndarray], list[list[str]], np.ndarray]:
    """Words as arrays of pixels (-1 or 1), their letters, and their folds."""
    X, y, folds = [], [], []
    rows: list[list[float]] = []
    labels: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        rows.append([2.0 * float(value) - 1.0 for value in fields[6:134]])
        labels.append(fields[1])
        if fields[2] == "-1":
            X.append(np.array(rows))
            y.append(labels)
            folds.append(int(fields[5]))
            rows, labels = [], []
    return X, y, np.array(folds)


def errors_of(table: Settings) -> Callable[[Context], Iterator[Row]]:
    """An experiment's ``run``: a row a setting."""
    return lambda context: run(table, context)


def run(table: Settings, context: Context) -> Iterator[Row]:
    """A row a setting; folds that are finished are kept in a file, if the environment names one."""
    X, y, folds = read(context.data["ocr"] / "letter.data")
    parts = Path(os.environ[PARTS]) if os.environ.get(PARTS) else None
    known: dict[tuple[str, int], tuple[float, float]] = {}
    if parts is not None and parts.exists():
        for line in parts.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            known[entry["setting"], entry["fold"]] = entry["error"], entry["seconds"]
    chosen = [0] if context.quick else sorted(set(folds.tolist()))
    for setting, published, kind, options in table[:2] if context.quick else table:
        small = {"max_iter": 6} | ({"hidden_units": 50} if "hidden_units" in options else {})
        settings = options | (small if context.quick else {})
        errors, seconds = [], 0.0
        for fold in chosen:
            if context.quick or (setting, fold) not in known:
                model = getattr(chainfield, kind)(random_state=fold, n_jobs=context.jobs, **settings)
                inside = np.flatnonzero(folds != fold)[: 600 if context.quick else None]
                outside = np.flatnonzero(folds == fold)
                started = time.process_time()
                model.fit([X[i] for i in inside], [y[i] for i in inside])
                taken = time.process_time() - started
                error = 100.0 * (1.0 - model.score([X[i] for i in outside], [y[i] for i in outside]))
                known[setting, fold] = error, taken
                if parts is not None:
                    entry = {"setting": setting, "fold": fold, "error": error, "seconds": taken}
                    with parts.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(entry) + "\n")
            error, taken = known[setting, fold]
            errors.append(error)
            seconds += taken
            context.log(f"{setting}, fold {fold}: {error:.2f} %")
        note = ", ".join(f"{name}={value}" for name, value in options.items())
        spread = f"; folds {min(errors):.2f} to {max(errors):.2f}" if len(errors) > 1 else ""
        source = PAPER if published is not None else ""
        yield Row(setting, "letter error %", published, float(np.mean(errors)), seconds, note + spread, source)


def experiment(name: str, title: str, table: Settings, full_time: str, default: Any = "full") -> Experiment:
    """An experiment on the ten folds."""
    return Experiment(
        name=name,
        title=title,
        paper=PAPER,
        protocol="Ten folds as they come with the data, 9 for training and 1 for testing, mean error of letters; "
        "pixels are -1 or 1. The step was chosen on fold 1 with folds 2 to 9 for training; seeds are the folds.",
        differences=(
            "The paper draws its folds at random; all 55 words occur in every fold either way, so that a second-order "
            "chain nearly knows the lexicon.",
            "30 passes (20 in second order), averaged from a third of them on; the paper makes 100, averaged from the "
            "tenth.",
            "Fold 1, on which the step was chosen, is also one of the ten test folds.",
            "Before that choice, ten folds had been run once with half the step (first order 3.80 %) and with pixels 0 "
            "or 1 (second order 0.62 %).",
        ),
        subset="600 training words, fold 0, 50 units, 6 passes, two settings",
        run=errors_of(table),
        corpora=(OCR,),
        quick_time="a minute",
        full_time=full_time,
        default=default,
    )
