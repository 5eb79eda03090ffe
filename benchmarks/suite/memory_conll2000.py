"""Peak memory of training and tagging on the same features, every contestant in a fresh process."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from . import engine
from .children import ask
from .measure import Measurements, Options, Table
from .peers import installed, missing_notes
from .tasks import Task, column_text, conll2000, feature_strings

COPIES = (1, 2, 4)
TAG_COPIES = 9
TRAINERS = {
    "chainfield, columns": ("train_columns", ""),
    "chainfield, ready strings": ("train_lists", ""),
    "python-crfsuite, sentence by sentence": ("train_crfsuite", "crfsuite"),
    "python-crfsuite, ready strings": ("train_crfsuite_lists", "crfsuite"),
    "Wapiti, 2 threads": ("train_wapiti", "wapiti"),
}


def run(options: Options) -> Measurements:
    """Training at 1, 2 and 4 times the corpus, tagging at 1 and 9 times."""
    task = conll2000(options.sample)
    result = Measurements("memory-conll2000", notes=missing_notes("crfsuite", "wapiti"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = column_text(task.train.rows, task.train.labels)
        for copies in COPIES:
            (folder / f"train-{copies}.txt").write_text(copies * text, encoding="utf-8")
        engine.warm_up(task, [{}])  # compiling takes memory as well
        _training(task, folder, options.repeats or 1, result)
        _tagging(task, folder, result)
    result.notes += [
        "Resident memory of the whole process, interpreter and libraries included, at its largest. Ready strings are a "
        "list of all feature strings, held by the user; sentence by sentence, they are built, appended and discarded.",
        "Per added token: the growth from 1 copy of the corpus to 4, divided by the tokens; copies have no new "
        "features.",
    ]
    return result


def _training(task: Task, folder: Path, repeats: int, result: Measurements) -> None:
    tokens = sum(map(len, task.train.rows))
    rows: list[list[str | float | None]] = []
    for _ in range(repeats):
        for title, (worker, peer) in TRAINERS.items():
            if peer and not installed(peer):
                continue
            for copies in COPIES:
                click.echo(f"{title}, {copies} × {tokens:,} tokens …", err=True)
                found = ask("suite.memory_worker", worker, str(folder / f"train-{copies}.txt"), str(task.template_path))
                result.add(f"{worker}_{copies}", found["peak"])
    for title, (worker, _) in TRAINERS.items():
        peaks = [result.middle(f"{worker}_{copies}") for copies in COPIES]
        if any(peak is None for peak in peaks):
            continue
        whole = [float(peak or 0) for peak in peaks]
        more = (whole[-1] - whole[0]) / ((COPIES[-1] - COPIES[0]) * tokens)
        rows.append([title, *(peak / 1e6 for peak in whole), more])
        name = worker.removeprefix("train_")
        kind = "" if name == "columns" else f"_{name}"
        result.figures[f"train_peak_bytes{kind}"] = whole[0]
        result.figures[f"train_bytes_per_token{kind}"] = more
    result.tables.append(
        Table("Training, MB at the peak", ["", *(f"{n} ×" for n in COPIES), "bytes per added token"], rows)
    )
    for kind, own, peer in (
        ("train", "", "crfsuite"),
        ("train_lists", "_lists", "crfsuite_lists"),
        ("train", "", "wapiti"),
    ):
        theirs = result.figures.get(f"train_peak_bytes_{peer}")
        if theirs:
            ratio = result.figures[f"train_peak_bytes{own}"] / theirs
            result.figures[f"{kind}_peak_ratio_{peer.removesuffix('_lists')}"] = ratio


def _tagging(task: Task, folder: Path, result: Measurements) -> None:
    own = folder / "own.cf"
    engine.linear(task, l2=1.0).fit(task.train.rows, task.train.labels).save(own)
    models = {"tag_columns": ("chainfield tag", own)}
    if installed("crfsuite"):
        from .peers import crfsuite

        path = folder / "peer.crfsuite"
        strings = feature_strings(task.templates, task.train.rows)
        crfsuite.train(strings, task.train.labels, model=str(path), c2=1.0, max_iterations=10)
        models["tag_crfsuite"] = ("python-crfsuite", path)
    if installed("wapiti"):
        from .peers import wapiti

        path = folder / "peer.wapiti"
        wapiti.train(folder / "train-1.txt", task.template_path, model=path, l2=1.0, iterations=10)
        models["tag_wapiti"] = ("wapiti label", path)
    text = column_text(task.test.rows)
    rows: list[list[str | float | None]] = []
    for worker, (title, path) in models.items():
        peaks = []
        for copies in (1, TAG_COPIES):
            data = folder / f"{copies}.txt"
            data.write_text(copies * text, encoding="utf-8")
            found = ask("suite.memory_worker", worker, str(path), str(data), str(task.template_path))
            peaks.append(float(found["peak"]))
            result.add(f"{worker}_{copies}", found["peak"])
        kind = worker.removeprefix("tag_")
        result.figures[f"tag_peak_bytes{'' if kind == 'columns' else '_' + kind}"] = peaks[0]
        rows.append([title, *(peak / 1e6 for peak in peaks)])
    result.tables.append(Table("Tagging the test set, MB at the peak", ["", "1 ×", f"{TAG_COPIES} ×"], rows))
    for peer in ("crfsuite", "wapiti"):
        if f"tag_peak_bytes_{peer}" in result.figures:
            ratio = result.figures["tag_peak_bytes"] / result.figures[f"tag_peak_bytes_{peer}"]
            result.figures[f"tag_peak_ratio_{peer}"] = ratio
