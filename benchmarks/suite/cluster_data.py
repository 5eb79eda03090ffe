"""Made-up column files for the benchmarks of clusters: words drawn as Zipf saw them, in sentences of eight."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WORDS, LABELS, LENGTH = 50_000, 12, 8
BLOCK = 250_000  # sentences that are made at a time: one file
TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%x[-1,0]/%x[0,0]\nB\n"


def write_files(folder: Path, n_sentences: int) -> list[Path]:
    """As many files as it takes; the label of a word depends on it and on the word before it."""
    folder.mkdir(parents=True, exist_ok=True)
    names = np.array([f"w{i}\tL".encode() for i in range(WORDS + 1)], object)
    ends = np.array([f"{i}\n".encode() for i in range(LABELS)], object)
    paths = []
    for number, first in enumerate(range(0, n_sentences, BLOCK)):
        n = min(BLOCK, n_sentences - first)
        rng = np.random.default_rng(number)
        words = np.exp(rng.random((n, LENGTH)) * np.log(WORDS)).astype(np.int64)
        before = np.concatenate([np.zeros((n, 1), np.int64), words[:, :-1]], axis=1)
        labels = (words * 7 + (before % 3)) % LABELS
        odd = rng.random((n, LENGTH)) < 0.05
        labels[odd] = rng.integers(0, LABELS, int(odd.sum()))
        cells = np.empty((n, 2 * LENGTH + 1), object)
        cells[:, 0 : 2 * LENGTH : 2] = names[words]
        cells[:, 1 : 2 * LENGTH : 2] = ends[labels]
        cells[:, -1] = b"\n"
        path = folder / f"made-up-{number:03}.txt"
        path.write_bytes(b"".join(cells.ravel().tolist()))
        paths.append(path)
    return paths
