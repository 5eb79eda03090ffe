"""Tagging the CoNLL-2000 test set: from columns, lists, dicts and standard input; loading a model; file sizes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chainfield import LinearCRF, load

from .children import environment
from .measure import Measurements, Options, alternate
from .peers import installed, missing_notes
from .tasks import Task, column_text, conll2000, feature_dicts, feature_strings

REPEATS = 7
ITERATIONS = 40  # of the peers' training: models of full size, not quite optimal, as quick to use
SPARSE: dict[str, Any] = {"l1": 0.5, "l2": 5e-5}  # Wapiti's default penalty
COPIES = 9  # of the test set, on standard input

Contestants = dict[str, Callable[[], Any]]


def run(options: Options) -> Measurements:
    """All programs tag with models of the same templates and the same penalty, c2 = 1."""
    task = conll2000(options.sample)
    result = Measurements("tag-conll2000", notes=missing_notes("crfsuite", "wapiti", "chaine"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contestants = _own(task, folder)
        if installed("crfsuite"):
            contestants |= _crfsuite(task, folder)
            if installed("chaine"):
                contestants |= _chaine(task, folder)
        if installed("wapiti"):
            contestants |= _wapiti(task, folder)
        for function in contestants.values():
            function()  # once before, for compilation and caches
        result.samples = alternate(contestants, options.repeats or REPEATS)
        sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    _figures(result, sizes, sum(map(len, task.test.rows)))
    return result


def _own(task: Task, folder: Path) -> Contestants:
    settings: dict[str, Any] = {"l2": 1.0, "boundary": False}
    train, test = task.train, task.test
    columns = LinearCRF(template=task.templates, **settings).fit(train.rows, train.labels)
    columns.save(folder / "own.cf")
    small = LinearCRF(template=task.templates, boundary=False, **SPARSE).fit(train.rows, train.labels)
    small.save(folder / "small.cf")
    names = LinearCRF(**settings).fit(feature_strings(task.templates, train.rows), train.labels)
    names.save(folder / "names.cf")
    lists = feature_strings(task.templates, test.rows)
    dicts = feature_dicts(lists)
    text = column_text(test.rows)
    for copies in (1, COPIES):
        (folder / f"{copies}.txt").write_text(copies * text, encoding="utf-8")
    program = [sys.executable, "-m", "chainfield", "tag", str(folder / "own.cf")]
    return {
        "chainfield_columns": lambda: columns.predict(test.rows),
        "chainfield_lists": lambda: names.predict(lists),
        "chainfield_dicts": lambda: names.predict(dicts),
        "chainfield_load": lambda: load(folder / "own.cf"),
        "chainfield_load_small": lambda: load(folder / "small.cf"),
        "chainfield_load_names": lambda: load(folder / "names.cf"),
        **_from_standard_input("chainfield", program, folder),
    }


def _from_standard_input(name: str, program: list[str], folder: Path) -> Contestants:
    """The same program with little and with much to do: the difference is free of start-up and loading."""

    def call(copies: int) -> Callable[[], Any]:
        def tag() -> None:
            with (folder / f"{copies}.txt").open("rb") as data:
                subprocess.run(
                    program,
                    stdin=data,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment(),
                    check=True,
                )

        return tag

    return {f"{name}_stdin_{copies}": call(copies) for copies in (1, COPIES)}


def _crfsuite(task: Task, folder: Path) -> Contestants:
    from .peers import crfsuite

    path = str(folder / "peer.crfsuite")
    strings = feature_strings(task.templates, task.train.rows)
    crfsuite.train(strings, task.train.labels, model=path, c2=1.0, max_iterations=ITERATIONS)
    tagger = crfsuite.open_model(path)
    lists = feature_strings(task.templates, task.test.rows)
    dicts = feature_dicts(lists)
    return {
        "crfsuite_columns": lambda: crfsuite.tag(tagger, feature_strings(task.templates, task.test.rows)),
        "crfsuite_lists": lambda: crfsuite.tag(tagger, lists),
        "crfsuite_dicts": lambda: crfsuite.tag(tagger, dicts),
        "crfsuite_load": lambda: crfsuite.open_model(path),
    }


def _chaine(task: Task, folder: Path) -> Contestants:
    """chaine reads CRFsuite's file: the same model."""
    from .peers import chaine

    path = str(folder / "peer.crfsuite")
    model = chaine.open_model(path)
    dicts = feature_dicts(feature_strings(task.templates, task.test.rows))
    return {
        "chaine_columns": lambda: model.predict(feature_dicts(feature_strings(task.templates, task.test.rows))),
        "chaine_dicts": lambda: model.predict(dicts),
        "chaine_load": lambda: chaine.open_model(path),
    }


def _wapiti(task: Task, folder: Path) -> Contestants:
    """Two models, as ours: with c2 = 1; and with Wapiti's default penalty (l1) and compacted, hence small."""
    from wapiti import Model

    from .peers import wapiti

    data, full, small = folder / "train.txt", folder / "peer.wapiti", folder / "small.wapiti"
    data.write_text(column_text(task.train.rows, task.train.labels), encoding="utf-8")
    wapiti.train(data, task.template_path, model=full, l2=1.0, iterations=ITERATIONS)
    wapiti.train(data, task.template_path, model=small, iterations=ITERATIONS, compact=True, **SPARSE)
    return {
        "wapiti_load": lambda: Model(model=str(full)),
        "wapiti_load_small": lambda: Model(model=str(small)),
        **_from_standard_input("wapiti", [*wapiti.PROGRAM, "label", "-m", str(small)], folder),
    }


def _figures(result: Measurements, sizes: dict[str, int], tokens: int) -> None:
    own = result.middle("chainfield_columns")
    assert own is not None
    result.figures["tag_columns_tokens_per_second"] = tokens / own
    for peer in ("crfsuite", "chaine"):
        for kind in ("columns", "lists", "dicts"):
            result.speedup(f"tag_{kind}_speedup_{peer}", f"{peer}_{kind}", f"chainfield_{kind}")
    for program in ("chainfield", "wapiti"):
        much, little = (result.samples.get(f"{program}_stdin_{copies}") for copies in (COPIES, 1))
        if much is not None and little is not None:
            each = [(a - b) / (COPIES - 1) for a, b in zip(much, little, strict=True)]
            result.samples[f"{program}_stdin"] = each
            seconds = result.middle(f"{program}_stdin")
            assert seconds is not None
            result.figures[f"tag_stdin_tokens_per_second_{program}"] = tokens / seconds
    result.speedup("tag_stdin_speedup_wapiti", "wapiti_stdin", "chainfield_stdin")
    seconds = result.middle("chainfield_load")
    assert seconds is not None
    result.figures["load_seconds"] = seconds
    result.speedup("load_speedup_wapiti", "wapiti_load", "chainfield_load")
    result.speedup("load_l1_speedup_wapiti", "wapiti_load_small", "chainfield_load_small")
    for peer in ("crfsuite", "chaine"):
        result.speedup(f"load_speedup_{peer}", f"{peer}_load", "chainfield_load_names")
    result.figures |= {"file_bytes": float(sizes["own.cf"]), "file_l1_bytes": float(sizes["small.cf"])}
    for figure, name, own_name in (
        ("crfsuite", "peer.crfsuite", "own.cf"),
        ("wapiti", "peer.wapiti", "own.cf"),
        ("l1_wapiti", "small.wapiti", "small.cf"),
    ):
        if name in sizes:
            result.figures[f"file_ratio_{figure}"] = sizes[own_name] / sizes[name]
    result.notes += [
        "columns: templates included; python-crfsuite's strings are built in Python, as its users do. dicts: a string "
        'value a template ({"U00": "He"}), lists: ready strings; both without the time to build them.',
        f"stdin: `chainfield tag` and `wapiti label` as programs; the time for {COPIES} copies of the test set less "
        "that for one, so that start-up and loading do not count. Wapiti labels with one thread, and here with its "
        f"small model (l1); chainfield with {os.cpu_count()}, and its full one.",
        "load: in a running process. Against Wapiti with c2 = 1 on both sides, which for Wapiti means a weight for "
        "every feature with every label; l1: with Wapiti's default penalty on both sides, Wapiti's model compacted. "
        "Against python-crfsuite, which reads its file and parses nothing, a model of feature names, as its own.",
    ]
