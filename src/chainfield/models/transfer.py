"""Carrying weights over to a chain with more features, labels or states.

Feature maps append features and may renumber them; labels may have been added. Rows are matched by their labels and
their numbers among the rows of a label, states by their rows and by the row before, edges by their states. A label
that had one row gives it to all rows that the label has now: that is how a latent model starts from a plain one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, Int32, union
from chainfield.errors import ConfigError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import FittedModel
from chainfield.scorers import Chain, Origin, Pairs
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import StateSpace
from chainfield.states.naming import row_ranks, state_keys


def check_alike(own: FeatureMap, old: FeatureMap) -> None:
    """Refuse to start from a model of other features: those of these data and settings would be lost."""
    if type(own) is not type(old):
        raise ConfigError(
            f"start_from has features of the kind {old.kind}, these data are read as {own.kind}; start from a model "
            "that was fitted on the same kind of input."
        )
    if isinstance(own, TemplateFeatures) and isinstance(old, TemplateFeatures):
        mine, theirs = own.templates, old.templates
        if (mine.text, mine.dialect) != (theirs.text, theirs.dialect):
            raise ConfigError("start_from has another template, so other features; fit both with the same template.")


def find_origin(
    old: FittedModel, space: StateSpace, labels: tuple[Any, ...], n_features: int, numbers: Int32 | None
) -> Origin:
    """Where the parts of a chain over ``space`` were in the old model.

    ``numbers``: the new number of each sparse feature; None: numbers have not changed.
    """
    before = old.chain.space
    rows = row_origin(old, space, labels)
    edges = edge_origin(before, space, rows)
    edge_rows = np.full(space.n_edge_rows, -1, np.int64)
    there = edges >= 0
    edge_rows[space.edge_row[there]] = before.edge_row[edges[there]]
    features = np.arange(n_features)
    if numbers is not None:
        features[numbers] = np.arange(n_features)
    features[features >= old.features.n_features] = -1
    counts = ((rows, before.n_rows), (edges, before.n_edges), (features, old.features.n_features))
    same = all(np.array_equal(part, np.arange(n)) for part, n in counts)
    return Origin(rows, edges, edge_rows, features, same)


def row_origin(old: FittedModel, space: StateSpace, labels: tuple[Any, ...]) -> Int:
    """(R,) the old row of each row, -1 where there was none."""
    before = old.chain.space
    ranks = zip(before.label_of_row.tolist(), row_ranks(before).tolist(), strict=True)
    found = {(old.task.labels[label], rank): row for row, (label, rank) in enumerate(ranks)}
    rows = np.full(space.n_rows, -1, np.int64)
    for row, (label, rank) in enumerate(zip(space.label_of_row.tolist(), row_ranks(space).tolist(), strict=True)):
        name = labels[label]
        if (name, 1) not in found:  # one row per label: the origin of all
            rank = 0
        rows[row] = found.get((name, rank), -1)
    return rows


def edge_origin(before: StateSpace, space: StateSpace, rows: Int) -> Int:
    """(E,) the old edge of each edge, -1 where there was none."""
    found = {tuple(key): state for state, key in enumerate(state_keys(before).tolist())}
    states = np.full(space.n_states, -1, np.int64)
    for state, (row, earlier, number) in enumerate(state_keys(space).tolist()):
        old_earlier = int(rows[earlier]) if earlier >= 0 else earlier
        states[state] = found.get((int(rows[row]), old_earlier, number), -1)
    codes = before.src.astype(np.int64) * before.n_states + before.dst  # ascending
    src, dst = states[space.src], states[space.dst]
    wanted = np.where((src >= 0) & (dst >= 0), src * before.n_states + dst, -1)
    place = np.minimum(np.searchsorted(codes, wanted), max(len(codes) - 1, 0))
    return np.where(codes[place] == wanted, place, -1) if len(codes) else np.full(space.n_edges, -1, np.int64)


def unite_pairs(old: Pairs, new: Pairs, columns: Int) -> Pairs:
    """The pairs of both; ``columns``: the old number of each column, -1: it is new. Features keep their numbers."""
    n_columns = len(columns)
    order = np.argsort(columns, kind="stable")
    ranked = columns[order]
    real = old.exists()
    feature, column = old.feature()[real], old.row[real].astype(np.int64)
    lo, hi = np.searchsorted(ranked, column, side="left"), np.searchsorted(ranked, column, side="right")
    times = hi - lo  # an old column may have become several, or none
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    kept = np.repeat(feature, times) * n_columns + order[np.repeat(lo, times) + within]
    fresh = new.feature() * n_columns + new.row
    return pairs_from_codes(union(kept, fresh), new.n_features, n_columns)


def carry_over(old: FittedModel, chain: Chain, origin: Origin, theta: Float) -> None:
    """Write the old model's weights into ``theta`` wherever the new chain has the same weight.

    Where a row became several, the start value is added to the old weight: equal states would stay equal.
    """
    carried = np.full_like(theta, np.nan)
    into, before = chain.views(carried), {scorer.name: scorer for scorer in old.chain.scorers}
    for scorer in chain.scorers:
        own = before.get(scorer.name)
        if own is not None and type(own) is type(scorer):
            ours = {name: into[f"{scorer.name}.{name}"] for name in scorer.shapes()}
            scorer.carry(own, origin, old.own(own), ours)
    found = ~np.isnan(carried)
    theta[found] = carried[found] + theta[found] if origin.split else carried[found]
