"""Start-up seen from inside a fresh process: ``python -m suite.startup_worker WHAT …``; prints seconds as JSON.

No module of the suite is imported here: what the process has loaded is chainfield's doing.
"""

from __future__ import annotations

import json
import sys
import time

HEAVY = ("numba", "llvmlite", "torch", "sklearn", "scipy", "numpy")


def imported() -> dict[str, object]:
    """``import chainfield`` alone."""
    started = time.perf_counter()
    import chainfield  # noqa: F401

    seconds = time.perf_counter() - started
    return {"seconds": seconds, "heavy": [name for name in HEAVY if name in sys.modules]}


def train(model: str) -> dict[str, object]:
    """The first training of a process, on a few sentences, with the defaults."""
    sentences = [[("the", "DT"), ("old", "JJ"), ("dog", "NN"), ("barks", "VBZ")][: 2 + i % 3] for i in range(700)]
    labels = [["B", "I", "I", "O"][: len(sentence)] for sentence in sentences]
    started = time.perf_counter()
    from chainfield import LinearCRF

    crf = LinearCRF().fit(sentences, labels)
    found = crf.predict(sentences[:3])
    seconds = time.perf_counter() - started
    crf.save(model)
    return {"seconds": seconds, "right": found == labels[:3]}


def tag(model: str) -> dict[str, object]:
    """The first tagging of a process: load a model, tag a sentence."""
    started = time.perf_counter()
    from chainfield import load

    found = load(model).predict([[("the", "DT"), ("dog", "NN")]])
    return {"seconds": time.perf_counter() - started, "right": found == [["B", "I"]]}


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(imported() if what == "imported" else {"train": train, "tag": tag}[what](*arguments)))
