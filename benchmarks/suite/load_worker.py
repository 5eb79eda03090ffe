"""A process that loads a model and tags: ``python -m suite.load_worker WHOSE MODEL SENTENCE``; prints its peak memory.

SENTENCE is JSON. With a fourth argument it then waits until standard input ends, so that its memory can be looked at.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from .children import peak_bytes


def own(path: str, sentence: list[Any]) -> None:
    """chainfield: rows of columns are tuples."""
    from chainfield import load

    rows = [tuple(item) if isinstance(item, list) and path.endswith("columns.cf") else item for item in sentence]
    load(path, n_jobs=1).predict([rows])


def crfsuite(path: str, sentence: list[Any]) -> None:
    """python-crfsuite."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    tagger.tag(sentence)
    KEPT.append(tagger)


KEPT: list[Any] = []  # alive while the process waits

if __name__ == "__main__":
    whose, path, sentence, *waits = sys.argv[1:]
    started = time.perf_counter()
    {"own": own, "crfsuite": crfsuite}[whose](path, json.loads(sentence))
    print(json.dumps({"seconds": time.perf_counter() - started, "peak": peak_bytes()}), flush=True)
    if waits:
        sys.stdin.read()
