"""Training on few sentences: where starting costs more than computing. python-crfsuite beside it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from chainfield import LinearCRF

from .measure import Measurements, Options, Table, alternate
from .peers import installed, missing_notes
from .tasks import conll2000, feature_strings

SIZES = (1, 2, 5, 10, 20, 50, 100, 300, 1000)
REPEATS = 15
OTHERS = {"c1": 0.0, "c2": 0.15}  # CRFsuite's L-BFGS with our penalty


def run(options: Options) -> Measurements:
    """From lists of strings to a model that can tag, on one thread."""
    task = conll2000(options.sample or max(SIZES))
    result = Measurements("train-few", notes=missing_notes("crfsuite"))
    X, y = feature_strings(task.templates, task.train.rows), [list(map(str, labels)) for labels in task.train.labels]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            contestants = {f"{n}_ours": lambda n=n: LinearCRF(n_jobs=1).fit(X[:n], y[:n])}
            if installed("crfsuite"):
                contestants[f"{n}_crfsuite"] = lambda n=n: _theirs(X[:n], y[:n], Path(folder))
            for function in contestants.values():
                function()
            result.samples |= alternate(contestants, options.repeats or REPEATS)
            result.speedup(f"train_{n}_speedup_crfsuite", f"{n}_crfsuite", f"{n}_ours")
            times = (result.middle(f"{n}_{who}") for who in ("ours", "crfsuite"))
            milliseconds = [None if seconds is None else 1e3 * seconds for seconds in times]
            rows.append([float(n), *milliseconds, result.figures.get(f"train_{n}_speedup_crfsuite")])
    head = ["sentences", "chainfield", "python-crfsuite", "times as fast"]
    result.tables = [Table("Milliseconds from lists of strings to a trained model, median", head, rows)]
    result.tabled = list(result.figures)
    result.notes.append(
        "The first sentences of CoNLL-2000's training data with the 19 templates of `train-conll2000`. chainfield: "
        "LinearCRF() with all defaults (until the objective is proved to be within 0.1 % of its optimum). "
        "python-crfsuite: L-BFGS with the same penalty, else its defaults (until 10 iterations change less than 1e-5); "
        "its model is written to a file, as it must be."
    )
    return result


def _theirs(X: list[list[list[str]]], y: list[list[str]], folder: Path) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params(OTHERS)
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    trainer.train(str(folder / "model.crfsuite"))
