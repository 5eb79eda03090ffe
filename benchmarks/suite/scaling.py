"""What a token costs: against labels, order and kind of input; sequence length; threads; corpus size. Made-up data."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from . import engine, made_up
from .children import ask
from .measure import Measurements, Options, Table
from .scaling_worker import measure

LABELS = (2, 9, 22, 45, 250)
LENGTHS = (2, 5, 20, 100, 1_000, 10_000, 100_000)
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
USUAL = 22
MOST_EDGES = 1_000_000  # a position; 250 labels in second order have 15,625,000
WORK = 4e8  # multiply-adds of an evaluation, about; corpora of many labels are smaller


def run(options: Options) -> Measurements:
    """Times are of one thread, except where threads are compared."""
    result = Measurements("scaling")
    most = options.sample or max(SIZES)
    for n_labels in (2, 3):  # compiles the kernels of both orders, of sparse and of dense input
        for dense in (False, True):
            measure(made_up.make(2000, n_labels, dense=dense), 2, order=n_labels - 1, repeats=1)
    _labels(result, most)
    _lengths(result, most)
    _threads(result, most)
    _sizes(result, most)
    result.notes += [
        "evaluate: loss and gradient. decode: Viterbi from encoded data to labels. encode: from columns to numbers, by "
        f"10 templates. Dense input has {made_up.COLUMNS} columns.",
        "Arithmetic that is needed: an evaluation multiplies and adds 3 times per edge (forward, backward, "
        "expectation) and 2 times per weight of an active feature (score, gradient); decoding does so once each.",
    ]
    return result


def _labels(result: Measurements, most: int) -> None:
    rows: list[list[Any]] = []
    for order in (1, 2):
        for n_labels in LABELS:
            edges = n_labels ** (order + 1)
            if edges > MOST_EDGES:
                result.notes.append(
                    f"{n_labels} labels in order {order} have {edges:,} edges per position, which is too many."
                )
                continue
            n_tokens = min(most, max(2000, 8 * n_labels, min(100_000, int(WORK / (3 * edges)))))
            for dense in (False, True):
                kind = "dense" if dense else "sparse"
                click.echo(f"{n_labels} labels, order {order}, {kind}, {n_tokens:,} tokens …", err=True)
                data = made_up.make(n_tokens, n_labels, dense=dense)
                seconds, found = measure(data, threads=1, order=order)
                weights = made_up.COLUMNS * n_labels if dense else _active_weights(found, data)
                need = {"evaluate": 3 * edges + 2 * weights, "decode": edges + weights}
                row: list[Any] = [order, n_labels, kind, data.n_tokens]
                for what in ("evaluate", "decode"):
                    name = f"{n_labels}_labels_order_{order}_{kind}"
                    result.samples[f"{what}_{name}"] = seconds[what]
                    ns = 1e9 * (result.middle(f"{what}_{name}") or 0.0) / data.n_tokens
                    _tabled(result, f"{what}_ns_{name}", ns)
                    _tabled(result, f"{what}_madds_{name}", need[what])
                    row += [ns, need[what], need[what] / ns]
                rows.append(row)
    head = ["order", "labels", "input", "tokens", "evaluate, ns per token", "multiply-adds", "per ns"]
    result.tables.append(
        Table("Labels, order, input: 1 thread", [*head, "decode, ns per token", "multiply-adds", "per ns"], rows)
    )


def _active_weights(found: engine.Fit, data: made_up.Data) -> float:
    """Weights of (feature, label) pairs seen in training that a position's features have, on average."""
    sparse = found.problem.batch.sparse
    assert sparse is not None
    number = {label: i for i, label in enumerate(found.model.classes_)}
    labels = np.array([number[label] for sequence in data.labels for label in sequence])
    label = np.repeat(labels, np.diff(sparse.indptr))
    pairs = np.unique(sparse.indices.astype(np.int64) * len(number) + label)
    seen = np.bincount(pairs // len(number), minlength=sparse.n_features)
    return float(seen[sparse.indices].sum() / data.n_tokens)


def _lengths(result: Measurements, most: int) -> None:
    rows: list[list[Any]] = []
    n_tokens = min(most, 200_000)
    for length in LENGTHS:
        if length > n_tokens:
            continue
        data = made_up.make(n_tokens, USUAL, length)
        seconds, _ = measure(data, threads=1)
        rows.append([length, *_per_token(result, seconds, f"length_{length}", data.n_tokens)])
    result.tables.append(Table(f"Sequence length: {USUAL} labels, {n_tokens:,} tokens, 1 thread", _HEAD, rows))
    usual = result.figures.get("evaluate_ns_length_20")
    longest = [value for name, value in result.figures.items() if name.startswith("evaluate_ns_length_")]
    if usual:
        result.figures["length_worst_ratio"] = max(longest) / usual


def _threads(result: Measurements, most: int) -> None:
    data = made_up.make(min(most, 400_000), USUAL)
    _, found = measure(data, threads=1, repeats=1)
    for _ in range(4):
        for threads in (1, 2):
            for seconds in engine.evaluation_seconds(found.problem, threads, 2):
                result.add(f"evaluate_threads_{threads}", seconds)
            for seconds in engine.decoding_seconds(found, threads, 2):
                result.add(f"decode_threads_{threads}", seconds)
    for what in ("evaluate", "decode"):
        one, two = (min(result.samples[f"{what}_threads_{threads}"]) for threads in (1, 2))
        result.figures[f"{what}_threads_ratio"] = one / two


def _sizes(result: Measurements, most: int) -> None:
    rows: list[list[Any]] = []
    sizes = [size for size in SIZES if size <= most]
    for size in sizes:
        click.echo(f"{size:,} tokens …", err=True)
        found = ask("suite.scaling_worker", str(size), str(USUAL))
        times = _per_token(result, found, f"tokens_{size}", found["tokens"])
        more = (found["peak"] - found["before"]) / found["tokens"]
        _tabled(result, f"bytes_per_token_{size}", more)
        result.add(f"peak_bytes_tokens_{size}", found["peak"])
        rows.append([f"{size:,}", found["weights"], *times, more])
    result.tables.append(
        Table(
            f"Corpus size: {USUAL} labels, 1 thread, one process each",
            ["tokens", "weights", *_HEAD[1:], "bytes per token"],
            rows,
        )
    )
    large = [size for size in sizes if size >= 100_000]
    if len(large) > 1:
        for what in ("encode", "evaluate", "decode"):
            totals = [size * result.figures[f"{what}_ns_tokens_{size}"] for size in large]
            slope = np.polyfit(np.log(large), np.log(totals), 1)[0]
            result.figures[f"{what}_size_exponent"] = float(slope)
    result.notes.append(
        "bytes per token: the peak less that of the process with libraries, kernels and the data alone. size_exponent: "
        "time grows as tokens to this power, from 100,000 tokens on; 1 is linear. A larger corpus has more features, "
        "which no longer fit into the processor's cache."
    )


_HEAD = ["length", "encode, ns per token", "evaluate, ns per token", "decode, ns per token"]


def _per_token(result: Measurements, seconds: dict[str, Any], name: str, n_tokens: int) -> list[float]:
    values = []
    for what in ("encode", "evaluate", "decode"):
        result.samples[f"{what}_{name}"] = seconds[what]
        values.append(1e9 * (result.middle(f"{what}_{name}") or 0.0) / n_tokens)
        _tabled(result, f"{what}_ns_{name}", values[-1])
    return values


def _tabled(result: Measurements, figure: str, value: float) -> None:
    result.figures[figure] = value
    result.tabled.append(figure)
