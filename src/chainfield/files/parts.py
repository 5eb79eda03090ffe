"""State spaces and scorers as JSON and arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainfield.errors import ModelFileError
from chainfield.scorers import (
    Boundary,
    Chain,
    DenseLinear,
    EdgeFeatures,
    Pairs,
    Scorer,
    SparseLinear,
    Transition,
)
from chainfield.states import StateSpace, partitioned

from .container import Arrays

#: Scorers that a model file may name. A scorer is stored as its fields: numbers and names, arrays, pairs.
SCORERS: dict[str, type[Scorer]] = {
    kind.__name__: kind for kind in (SparseLinear, DenseLinear, Boundary, Transition, EdgeFeatures)
}


# A dense space of more states would not fit into memory, whatever else the file says.
MOST_STATES = 1 << 15


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Non-negative integers in the smallest unsigned type that holds them; others as they are."""
    if array.size and array.min() < 0:
        return array
    top = int(array.max(initial=0))
    return array.astype(
        np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32 if top < 1 << 32 else np.int64
    )


def space_to_parts(space: StateSpace) -> tuple[dict[str, Any], Arrays]:
    """A space in which everything follows everything needs only the number of states of each label."""
    counts = np.bincount(space.label_of, minlength=space.n_labels)
    if counts.min() >= 1:
        plain = partitioned(counts.tolist())
        if space.n_edges == plain.n_edges and all(
            np.array_equal(getattr(space, f.name), getattr(plain, f.name)) for f in dataclasses.fields(space)
        ):
            return {"states_per_label": counts.tolist()}, {}
    fields = ("label_of", "row_of", "src", "dst", "edge_row", "start", "end")
    return {"n_labels": space.n_labels}, {
        f: getattr(space, f) if getattr(space, f).dtype == np.bool_ else narrow(getattr(space, f)) for f in fields
    }


def space_from_parts(config: dict[str, Any], arrays: Arrays) -> StateSpace:
    """The inverse of :func:`space_to_parts`."""
    if "states_per_label" in config:
        counts = config["states_per_label"]
        if not all(isinstance(n, int) for n in counts) or sum(counts) > MOST_STATES:
            raise ValueError("the numbers of states are not to be believed")
        return partitioned(counts)
    return StateSpace(n_labels=config["n_labels"], **arrays)


def scorer_to_parts(scorer: Scorer) -> tuple[dict[str, Any], Arrays]:
    """A scorer's class and fields."""
    config: dict[str, Any] = {"type": type(scorer).__name__}
    if config["type"] not in SCORERS:
        raise ModelFileError(
            f"The scorer {config['type']} is not one that model files know; pickle the model instead, or add it to "
            "chainfield.files.parts.SCORERS."
        )
    arrays: Arrays = {}
    for f in dataclasses.fields(scorer):  # type: ignore[arg-type]
        value = getattr(scorer, f.name)
        if not f.init:
            continue
        if isinstance(value, Pairs):
            arrays[f"{f.name}.counts"] = narrow(np.diff(value.first))
            arrays[f"{f.name}.row"] = narrow(value.row)
            arrays[f"{f.name}.mask"] = value.mask.astype(np.bool_)
            config[f.name] = {"n_full": value.n_full, "n_single": value.n_single}
        elif isinstance(value, np.ndarray):
            arrays[f.name] = value
        else:
            config[f.name] = value
    return config, arrays


def scorer_from_parts(config: dict[str, Any], arrays: Arrays) -> Scorer:
    """The inverse of :func:`scorer_to_parts`."""
    settings = dict(config)
    kind = SCORERS.get(settings.pop("type"))
    if kind is None:
        raise ModelFileError(f"The model uses a scorer {config['type']!r} that this chainfield does not know.")
    for name, array in arrays.items():
        field, _, part = name.partition(".")
        if part == "counts":
            first = np.concatenate([[0], np.cumsum(array, dtype=np.int64)])
            row, mask = arrays[f"{field}.row"].astype(np.int32), arrays[f"{field}.mask"].astype(np.float64)
            settings[field] = Pairs(first, row, mask=mask, **settings[field])
        elif not part:
            settings[name] = array
    return kind(**settings)


def chain_to_parts(chain: Chain) -> tuple[dict[str, Any], Arrays]:
    """Space and scorers."""
    config: dict[str, Any] = {}
    arrays: Arrays = {}
    config["space"], own = space_to_parts(chain.space)
    arrays.update({f"space.{k}": v for k, v in own.items()})
    for group in ("emissions", "transitions"):
        config[group] = []
        for scorer in getattr(chain, group):
            described, own = scorer_to_parts(scorer)
            config[group].append(described)
            arrays.update({f"scorer.{scorer.name}.{k}": v for k, v in own.items()})
    return config, arrays


def chain_from_parts(config: dict[str, Any], arrays: Arrays) -> Chain:
    """The inverse of :func:`chain_to_parts`."""

    def scorers(group: str) -> tuple[Scorer, ...]:
        return tuple(scorer_from_parts(c, within(arrays, f"scorer.{c['name']}.")) for c in config[group])

    space = space_from_parts(config["space"], within(arrays, "space."))
    return Chain(space, scorers("emissions"), scorers("transitions"))


def check_chain(chain: Chain, n_features: int, n_columns: int, n_edge_features: int) -> None:
    """Refuse parts that do not fit together: the kernels trust every index."""
    space = chain.space

    def demand(fits: bool, what: str) -> None:
        if not fits:
            raise ValueError(f"{what} does not fit the rest of the model")

    for scorer in chain.scorers:
        if isinstance(scorer, SparseLinear):
            demand(scorer.n_rows == space.n_rows, "the number of rows of the features")
            _check_pairs(scorer.pairs, n_features, space.n_rows, demand)
        elif isinstance(scorer, EdgeFeatures):
            demand(np.array_equal(scorer.edge_row, space.edge_row), "the edge rows of the edge features")
            _check_pairs(scorer.pairs, n_edge_features, space.n_edge_rows, demand)
        elif isinstance(scorer, Transition):
            good = scorer.tie.dtype == np.int32 and scorer.tie.shape == (space.n_edges,)
            demand(good and scorer.tie.min(initial=0) >= -1, "the table of transitions")
        elif isinstance(scorer, DenseLinear):
            demand((scorer.n_columns, scorer.n_rows) == (n_columns, space.n_rows), "the shape of the columns' weights")
        elif isinstance(scorer, Boundary):
            demand(scorer.n_rows == space.n_rows, "the number of rows of the boundary")
        else:
            demand(False, f"the scorer {scorer.name!r}")


def _check_pairs(pairs: Pairs, n_features: int, n_rows: int, demand: Callable[[bool, str], None]) -> None:
    counts = np.diff(pairs.first)
    zones = pairs.n_full >= 0 and pairs.n_single >= 0 and pairs.n_full + pairs.n_single <= pairs.n_features
    demand(pairs.n_features == n_features, "the number of features")
    demand(pairs.first[-1] == pairs.n_pairs, "the number of pairs")
    demand(pairs.n_pairs == 0 or (pairs.row.min() >= 0 and pairs.row.max() < n_rows), "a row of a pair")
    demand(zones and bool((counts[: pairs.n_full] == n_rows).all()), "the zone of full features")
    full = np.tile(np.arange(n_rows), pairs.n_full)
    demand(np.array_equal(pairs.row[: len(full)], full), "the order of full features")
    demand(bool((counts[pairs.n_full : pairs.n_full + pairs.n_single] == 1).all()), "the zone of single features")
    demand(len(pairs.mask) in (0, len(full)), "the mask of full features")


def within(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
