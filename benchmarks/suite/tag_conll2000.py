"""Tagging the CoNLL-2000 test set: from columns, from ready strings, loading, file size."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pycrfsuite

from chainfield import LinearCRF, load

from .conll2000 import feature_strings, load_task
from .measure import Measurements, alternate, middle

NAME = "tag-conll2000"
ABOUT = "tagging the CoNLL-2000 test set from columns and from ready feature strings, against python-crfsuite"
REPEATS = 7


def run() -> Measurements:
    """Both programs tag with models of the same features, trained for 60 iterations."""
    task = load_task()
    strings, tests = feature_strings(task.templates, task.train), feature_strings(task.templates, task.test)
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c2": 1.0, "feature.possible_transitions": 1, "max_iterations": 60})
    for x, y in zip(strings, task.train.labels, strict=True):
        trainer.append(x, y)
    columns = LinearCRF(l2=1.0, boundary=False, template=task.templates).fit(task.train.rows, task.train.labels)
    names = LinearCRF(l2=1.0, boundary=False).fit(strings, task.train.labels)
    result = Measurements(NAME)
    with tempfile.TemporaryDirectory() as folder:
        peer, own = Path(folder) / "peer.crfsuite", Path(folder) / "own.cf"
        trainer.train(str(peer))
        columns.save(own)
        tagger = pycrfsuite.Tagger()
        tagger.open(str(peer))
        contestants = {
            "chainfield_columns": lambda: columns.predict(task.test.rows),
            "crfsuite_columns": lambda: [tagger.tag(x) for x in feature_strings(task.templates, task.test)],
            "chainfield_strings": lambda: names.predict(tests),
            "crfsuite_strings": lambda: [tagger.tag(x) for x in tests],
            "chainfield_load": lambda: load(own),
        }
        for function in contestants.values():
            function()  # once before, for compilation and caches
        result.samples = alternate(contestants, REPEATS)
        sizes = os.path.getsize(own), os.path.getsize(peer)
    m = {name: middle(values) for name, values in result.samples.items()}
    tokens = sum(map(len, task.test.rows))
    result.figures = {
        "tag_columns_tokens_per_second": tokens / m["chainfield_columns"],
        "tag_columns_speedup_crfsuite": m["crfsuite_columns"] / m["chainfield_columns"],
        "tag_dicts_speedup_crfsuite": m["crfsuite_strings"] / m["chainfield_strings"],
        "load_seconds": m["chainfield_load"],
        "file_bytes": float(sizes[0]),
        "file_ratio": sizes[0] / sizes[1],
    }
    result.notes = ["columns: templates included; python-crfsuite's strings are built in Python, as its users do."]
    return result
