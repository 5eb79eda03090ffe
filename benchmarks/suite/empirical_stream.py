"""Empirical training from a stream: time and memory against the size of a made-up corpus, up to 100 million tokens."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click
import numpy as np

from . import made_up
from .children import ask
from .measure import Measurements, Options, Table

TOKENS = 1_000_000  # a file
FILES = (1, 10, 100)
LABELS = 50


def run(options: Options) -> Measurements:
    """A process for each size; a sample is a number of sentences a file, in three files at most."""
    result = Measurements("empirical-stream")
    size = TOKENS if options.sample is None else 20 * options.sample
    sizes = FILES if options.sample is None else FILES[:2]
    rows: list[list[str | float | None]] = []
    with tempfile.TemporaryDirectory() as folder:
        paths: list[Path] = []
        for n in sizes:
            while len(paths) < n:
                paths.append(Path(folder) / f"{len(paths)}.txt")
                made_up.write_columns(paths[-1], size, LABELS, seed=len(paths))
            click.echo(f"{n * size:,} tokens …", err=True)
            found = ask("suite.empirical_stream_worker", *map(str, paths))
            name = f"{n * size}"
            bytes_ = found["peak"] - found["before"]
            result.add(f"seconds_{name}", found["seconds"])
            result.add(f"peak_{name}", found["peak"])
            result.figures |= {
                f"stream_seconds_{name}": found["seconds"],
                f"stream_peak_bytes_{name}": found["peak"],
            }
            result.tabled += [f"stream_seconds_{name}", f"stream_peak_bytes_{name}"]
            rows.append(
                [f"{n * size:,}", found["words"], found["pairs"], found["seconds"],
                 1e9 * found["seconds"] / (n * size), found["peak"] / 1e6, bytes_ / found["pairs"],
                 1e6 * found["tagging"]]
            )  # fmt: skip
    head = ["tokens", "distinct words", "distinct pairs", "seconds", "ns per token", "MB at the peak",
            "bytes per distinct pair", "tagging, µs per token"]  # fmt: skip
    result.tables.append(Table(f"{LABELS} labels, 1 thread, one process each", head, rows))
    last, first = rows[-1], rows[0]
    tokens = [size * n for n in (sizes[0], sizes[-1])]
    slope = np.log(float(last[3] or 1) / float(first[3] or 1)) / np.log(tokens[1] / tokens[0])
    result.figures |= {
        "stream_tokens": float(tokens[1]),
        "stream_seconds": float(last[3] or 0),
        "stream_peak_bytes": 1e6 * float(last[5] or 0),
        "stream_size_exponent": float(slope),
    }
    result.notes += [
        "A million words, with frequencies by Zipf's law; two in three are one of the 30 usual followers of the word "
        f"before. A word has {made_up.LIKELY} usual labels, and any other one time in a hundred. Files of a million "
        "tokens, read one after the other; spelling features, all defaults. Seconds are processor time of the one "
        "thread.",
        "bytes per distinct pair: the peak less that of the process with libraries and kernels, divided by the "
        "distinct "
        "pairs; words, their features and blocks of the file are in it. size_exponent: time grows as tokens to this "
        "power from the smallest size to the largest; 1 is linear.",
    ]
    return result
