"""Single weights of a linear chain, read and changed: what ``wapiti dump`` and ``wapiti update`` do.

A line is ``FEATURE TAB BEFORE TAB LABEL TAB WEIGHT``, as Wapiti writes it. BEFORE is the label before, or # where the
weight does not depend on it. Plain transitions are called b.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from chainfield.arrays import Float, Int, distinct
from chainfield.compat.assemble import PairWeights, arranged
from chainfield.errors import ConfigError, DataError
from chainfield.features.feature_map import FeatureMap
from chainfield.fitted import Tagger
from chainfield.models.tagging import TaggingModel
from chainfield.scorers import Boundary, EdgeFeatures, SparseLinear, Transition
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import StateSpace

NONE = "#"
PLAIN = ("b", "B", "*", "")  # names of transitions that depend on nothing but the labels


class Change(NamedTuple):
    """A weight of a feature with a label, or with two; None: there is no feature, or no label before."""

    feature: str | None
    before: Any
    label: Any
    weight: float


def weights_of(model: TaggingModel) -> Iterator[Change]:
    """All weights that are not 0: of features, of features with two labels, and of transitions."""
    fitted = patchable(model)
    labels, space = fitted.task.labels, fitted.chain.space
    for scorer in fitted.chain.emissions:
        for feature, row, weight in scorer.weights("position", fitted.own(scorer), fitted.features):
            if weight:
                yield Change(feature, None, labels[space.label_of_row[row]], weight)
    for scorer in fitted.chain.transitions:
        for feature, edge, weight in scorer.weights("transition", fitted.own(scorer), fitted.features):
            if weight:
                yield Change(feature or None, labels[space.src[edge]], labels[space.dst[edge]], weight)


def weight_lines(model: TaggingModel) -> Iterator[str]:
    """The same as lines; names that hold a tab or a line end cannot be written."""
    for feature, before, label, weight in weights_of(model):
        cells = ["b" if feature is None else feature, NONE if before is None else str(before), str(label)]
        if any(mark in cell for cell in cells for mark in "\t\n\r"):
            raise DataError(f"The name {feature!r:.60} holds a tab or a line end, which the lines cannot; use --json.")
        yield "\t".join([*cells, repr(weight)])


def read_changes(lines: Iterable[str], model: TaggingModel, source: str = "the patch") -> list[Change]:
    """Changes as lines; blank ones are passed over."""
    fitted = patchable(model)
    by_text = {str(label): label for label in fitted.task.labels}
    pairs = set(fitted.features.edge_feature_names()) if fitted.features.n_edge_features else set()
    found = []
    for number, line in enumerate(lines, 1):
        text = line.rstrip("\r\n")
        if not text.strip():
            continue
        where, cells = f"{source}, line {number}", text.split("\t")
        if len(cells) != 4:
            raise DataError(f"{where}: there are {len(cells)} cells; FEATURE, BEFORE, LABEL and WEIGHT are expected.")
        feature, before, label, written = cells
        for name in (label, *([] if before == NONE else [before])):
            if name not in by_text:
                raise DataError(f"{where}: the model has no label {name!r:.60}.")
        plain = before != NONE and feature in PLAIN and feature not in pairs
        found.append(
            Change(
                None if plain else feature, None if before == NONE else by_text[before], by_text[label],
                _weight(written, where),
            )
        )  # fmt: skip
    return found


def patched(model: TaggingModel, changes: Iterable[Change]) -> TaggingModel:
    """The same model with some weights set; features and labels must be known. The model itself stays as it is."""
    fitted, space, made = patchable(model), model._fitted().chain.space, copy.copy(model)
    number = {label: i for i, label in enumerate(fitted.task.labels)}
    edge_of = {ends: e for e, ends in enumerate(zip(space.src.tolist(), space.dst.tolist(), strict=True))}
    state: dict[tuple[int, int], float] = {}
    pairs: dict[tuple[int, int], float] = {}
    steps: dict[int, float] = {}
    nodes, edges = _numbers(fitted.features.feature_names()), _numbers(_edge_names(fitted.features))
    for change in changes:
        for label in (change.label, *([] if change.before is None else [change.before])):
            if label not in number:
                raise DataError(f"The model has no label {label!r:.60}.")
        to, weight = number[change.label], _weight(change.weight, "A change")
        if change.before is None:
            state[_known(nodes, change.feature), to] = weight
            continue
        edge = edge_of.get((number[change.before], to))
        if edge is None:
            raise DataError(f"The rules of the model forbid {change.label!r} after {change.before!r}.")
        if change.feature is None:
            steps[edge] = weight
        else:
            pairs[_known(edges, change.feature), edge] = weight
    made.fitted_ = _rebuilt(fitted, state, pairs, steps)
    return made


def _rebuilt(
    fitted: Tagger,
    state: dict[tuple[int, int], float],
    pairs: dict[tuple[int, int], float],
    steps: dict[int, float],
) -> Tagger:
    """The parts of the model with other weights; a pair that had none gets one."""
    features, chain, values = fitted.features, fitted.chain, dict[str, Float]()
    emissions, transitions = list(chain.emissions), list(chain.transitions)
    for i, scorer in enumerate(emissions):
        own = fitted.own(scorer)
        if isinstance(scorer, SparseLinear):
            given = _with(scorer.pairs.feature(), scorer.pairs.row, scorer.pairs.exists(), own["weight"], state)
            found, weight, numbers = arranged(given, features.n_features, scorer.n_rows)
            features = copy.deepcopy(features)
            features.renumber(numbers)
            emissions[i], own = scorer.with_pairs(found), {"weight": weight}
        values |= {f"{scorer.name}.{name}": value for name, value in own.items()}
    for i, scorer in enumerate(transitions):
        own = fitted.own(scorer)
        if isinstance(scorer, EdgeFeatures):
            given = _with(scorer.pairs.feature(), scorer.pairs.row, scorer.pairs.exists(), own["weight"], pairs)
            codes = given.feature * chain.space.n_edges + given.column
            order = np.argsort(codes)
            found = pairs_from_codes(codes[order], features.n_edge_features, chain.space.n_edges)
            transitions[i], own = scorer.with_pairs(found), {"weight": given.weight[order]}
        elif isinstance(scorer, Transition) and steps:
            transitions[i], own = _with_steps(scorer, own["weight"], steps)
        values |= {f"{scorer.name}.{name}": value for name, value in own.items()}
    new = replace(chain, emissions=tuple(emissions), transitions=tuple(transitions))
    for scorer in new.scorers:
        scorer.check(new.space, features)
    theta = np.concatenate([values[name].ravel() for name in new.shapes] or [np.empty(0)]).astype(new.dtype)
    return replace(fitted, features=features, chain=new, theta=theta)


def _with(feature: Int, row: Any, exists: Any, weight: Float, changes: dict[tuple[int, int], float]) -> PairWeights:
    """The pairs that are there, and those that change."""
    there = zip(feature[exists].tolist(), row[exists].tolist(), strict=True)
    merged = dict(zip(there, weight[exists].tolist(), strict=True)) | changes
    ends = np.array(list(merged), np.int64).reshape(-1, 2)
    return PairWeights(ends[:, 0], ends[:, 1], np.fromiter(merged.values(), np.float64, len(merged)))


def _with_steps(scorer: Transition, weight: Float, steps: dict[int, float]) -> tuple[Transition, dict[str, Float]]:
    """An edge of its own for every change."""
    tie, values = scorer.tie.copy(), weight.tolist()
    for edge, value in steps.items():
        if tie[edge] < 0:
            tie[edge] = len(values)
            values.append(value)
        else:
            values[tie[edge]] = value
    return replace(scorer, tie=tie), {"weight": np.array(values)}


def patchable(model: TaggingModel) -> Tagger:
    """The fitted model; refuses models whose weights do not belong to features and labels alone."""
    fitted = model._fitted()
    if not isinstance(fitted, Tagger):
        raise ConfigError("The model labels whole sequences; weights are shown and changed for taggers.")
    space, chain = fitted.chain.space, fitted.chain
    plain = _single(space) and chain.pruner is None
    for scorer in chain.scorers:
        known = isinstance(scorer, SparseLinear | Boundary | Transition | EdgeFeatures)
        shared = isinstance(scorer, SparseLinear) and len(scorer.group_of) > 0
        if isinstance(scorer, Transition):
            ties = scorer.tie[scorer.tie >= 0]
            shared = len(distinct(ties)) < len(ties)
        plain = plain and known and not shared
    if not plain or sum(isinstance(scorer, Transition) for scorer in chain.scorers) > 1:
        raise ConfigError(
            "Weights can be changed one by one in linear chains of first order with one state per label, not pruned."
        )
    return fitted


def _single(space: StateSpace) -> bool:
    return space.n_states == space.n_rows == space.n_labels and len(distinct(space.label_of)) == space.n_labels


def _edge_names(features: FeatureMap) -> Any:
    return features.edge_feature_names() if features.n_edge_features else []


def _numbers(names: Any) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


def _known(numbers: dict[str, int], feature: str | None) -> int:
    if feature not in numbers:
        raise DataError(f"The model has no feature {feature!r:.60} of this kind; new features need training.")
    return numbers[feature]


def _weight(written: Any, where: str) -> float:
    try:
        value = float.fromhex(written) if isinstance(written, str) and "x" in written else float(written)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: the weight {written!r:.40} is no finite number.")
    return value
