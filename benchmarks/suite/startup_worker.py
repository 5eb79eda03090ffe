"""Start-up seen from inside a fresh process: ``python -m suite.startup_worker WHAT …``; prints seconds as JSON.

No module of the suite is imported here: what the process has loaded is chainfield's doing.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

HEAVY = ("numba", "llvmlite", "torch", "sklearn", "scipy", "numpy")
SENTENCES = [[("the", "DT"), ("old", "JJ"), ("dog", "NN"), ("barks", "VBZ")][: 2 + i % 3] for i in range(700)]
LABELS = [["B", "I", "I", "O"][: len(sentence)] for sentence in SENTENCES]


def imported() -> dict[str, object]:
    """``import chainfield`` alone."""
    started = time.perf_counter()
    import chainfield  # noqa: F401

    seconds = time.perf_counter() - started
    return {"seconds": seconds, "heavy": [name for name in HEAVY if name in sys.modules]}


def train(model: str) -> dict[str, object]:
    """The first training of a process, on a few sentences, with the defaults."""
    started = time.perf_counter()
    from chainfield import LinearCRF

    crf = LinearCRF().fit(SENTENCES, LABELS)
    found = crf.predict(SENTENCES[:3])
    seconds = time.perf_counter() - started
    crf.save(model)
    heavy = [name for name in HEAVY if name in sys.modules]
    return {"seconds": seconds, "right": found == LABELS[:3], "heavy": heavy}


def fit(name: str) -> dict[str, object]:
    """The first small training of a process by any estimator, with its defaults; the import of torch does not count."""
    data: tuple[Any, Any] = (SENTENCES, LABELS)
    if name in ("HMMClassifier", "HiddenCRF"):
        import numpy as np

        rng = np.random.default_rng(0)
        data = ([rng.normal(size=(5 + i % 4, 3)) + i % 2 for i in range(60)], [i % 2 for i in range(60)])
    if name == "NeuralCRF":
        import torch  # noqa: F401

        data = (SENTENCES[:100], LABELS[:100])
    started = time.perf_counter()
    import chainfield

    getattr(chainfield, name)().fit(*data)
    return {"seconds": time.perf_counter() - started}


def tag(model: str) -> dict[str, object]:
    """The first tagging of a process: load a model, tag a sentence."""
    started = time.perf_counter()
    from chainfield import load

    found = load(model).predict([[("the", "DT"), ("dog", "NN")]])
    heavy = [name for name in HEAVY if name in sys.modules]
    return {"seconds": time.perf_counter() - started, "right": found == [["B", "I"]], "heavy": heavy}


def crfsuite_train(model: str) -> dict[str, object]:
    """The same training by python-crfsuite."""
    started = time.perf_counter()
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, labels in zip(SENTENCES, LABELS, strict=True):
        trainer.append([[f"w={word}", f"p={pos}"] for word, pos in sentence], labels)
    trainer.train(model)
    return {"seconds": time.perf_counter() - started}


def crfsuite_tag(model: str) -> dict[str, object]:
    """The same tagging by python-crfsuite."""
    started = time.perf_counter()
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    found = tagger.tag([["w=the", "p=DT"], ["w=dog", "p=NN"]])
    return {"seconds": time.perf_counter() - started, "right": found == ["B", "I"]}


USES = {use.__name__: use for use in (imported, train, fit, tag, crfsuite_train, crfsuite_tag)}

if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(USES[what](*arguments)))
