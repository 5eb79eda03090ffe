"""A large hidden-unit CRF, a process of its own: ``python -m suite.hidden_unit_large_worker N FEATURES UNITS``"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from scipy import sparse

from chainfield import HiddenUnitCRF

from .children import peak_bytes

LENGTH, ACTIVE, LABELS, PASSES = 22, 12, 43, 4


def sentences(n: int, n_features: int) -> tuple[list[sparse.csr_array], list[list[str]]]:
    """Features as Zipf saw them, after each has occurred once; labels depend on the first feature of a word."""
    rng = np.random.default_rng(0)
    shape = (n * LENGTH, ACTIVE)
    drawn = np.exp(rng.random(shape) * np.log(n_features)).astype(np.int32) - 1
    some = rng.permutation(n_features)[: drawn.size // 2]
    drawn.reshape(-1)[1::2][: len(some)] = some
    labels = (drawn[:, 0] * 7919 + rng.integers(0, 3, len(drawn))) % LABELS
    X, y = [], []
    for at in range(0, len(drawn), LENGTH):
        own = drawn[at : at + LENGTH]
        indptr = np.arange(LENGTH + 1) * ACTIVE
        x = sparse.csr_array((np.ones(own.size), own.ravel(), indptr), shape=(LENGTH, n_features))
        x.sum_duplicates()
        X.append(x)
        y.append([f"L{k}" for k in labels[at : at + LENGTH].tolist()])
    return X, y


if __name__ == "__main__":
    n, n_features, n_units = map(int, sys.argv[1:])
    X, y = sentences(n, n_features)
    ends: list[float] = []
    model = HiddenUnitCRF(hidden_units=n_units, dtype="float32", max_iter=PASSES, average_from=0, n_jobs=1)
    model.fit(X, y, callback=lambda _: ends.append(time.process_time()))
    print(
        json.dumps(
            {
                "seconds": np.diff(ends).tolist(),
                "peak": peak_bytes(),
                "parameters": len(model.tagger_.theta),
                "length": LENGTH,
                "features": ACTIVE,
                "labels": LABELS,
            }
        )
    )
