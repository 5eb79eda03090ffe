"""One made-up corpus, in a process of its own for its memory: ``python -m suite.scaling_worker TOKENS LABELS``."""

from __future__ import annotations

import json
import sys
from typing import Any

from chainfield import LinearCRF

from . import engine, made_up
from .children import peak_bytes
from .measure import timed


def measure(data: made_up.Data, threads: int, order: int = 1, repeats: int = 3) -> tuple[dict[str, Any], engine.Fit]:
    """Seconds of encoding, of an evaluation (loss and gradient) and of Viterbi from encoded data."""
    template = made_up.TEMPLATE if isinstance(data.rows[0], list) else None
    model = LinearCRF(order=order, trainer="sgd", max_iter=1, l2=1.0, template=template, n_jobs=threads)
    found = engine.fit(model, data.rows, data.labels)
    seconds = {
        "encode": [found.encode_seconds],
        "evaluate": engine.evaluation_seconds(found.problem, threads, repeats + 1)[1:],
        "decode": [timed(lambda: model.tagger_.decode(found.problem.batch))[0] for _ in range(repeats)],
    }
    return seconds, found


if __name__ == "__main__":
    tokens, labels = map(int, sys.argv[1:])
    corpus = made_up.make(tokens, labels)
    before = peak_bytes()
    measured, _ = measure(corpus, threads=1)
    print(json.dumps({**measured, "tokens": corpus.n_tokens, "before": before, "peak": peak_bytes()}))
