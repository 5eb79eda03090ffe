"""Empirical training on a stream of files, a process of its own: ``python -m suite.empirical_stream_worker FILE …``"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice

from chainfield import EmpiricalCRF, stream_corpus

from .children import peak_bytes

if __name__ == "__main__":
    files = sys.argv[1:]
    some = list(islice(stream_corpus(files[0]), 1000))
    X, Y = [list(rows) for rows, _ in some], [list(labels) for _, labels in some]
    EmpiricalCRF(n_jobs=1).fit(X, Y).predict(X)  # loads libraries and kernels
    before = peak_bytes()
    started = time.process_time()
    model = EmpiricalCRF(n_jobs=1).fit_stream(stream_corpus(files))
    seconds = time.process_time() - started
    trained = peak_bytes()
    model.predict(X[:10])  # makes the tables that prediction reads
    started = time.process_time()
    right = model.score(X, Y)
    counts = model.counts_
    print(
        json.dumps(
            {
                "seconds": seconds,
                "before": before,
                "peak": trained,
                "peak_tagging": peak_bytes(),
                "tagging": (time.process_time() - started) / sum(map(len, X)),
                "accuracy": right,
                "tokens": counts.samples.total,
                "words": len(counts.forms),
                "entries": len(counts.entries),
                "pairs": len(counts.pairs),
            }
        )
    )
