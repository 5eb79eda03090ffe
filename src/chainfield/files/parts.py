"""State spaces and scorers as JSON and arrays."""

from __future__ import annotations

import dataclasses
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
        return partitioned(config["states_per_label"])
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


def within(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
