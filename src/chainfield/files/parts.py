"""State spaces and scorers as JSON and arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from chainfield.arrays import Arrays
from chainfield.features.feature_map import FeatureMap
from chainfield.scorers import Chain, Scorer
from chainfield.scorers.model_files import narrow, scorer_from_parts, scorer_to_parts
from chainfield.states import StateSpace, partitioned

# A dense space of more states would not fit into memory, whatever else the file says.
MOST_STATES = 1 << 15


def space_to_parts(space: StateSpace) -> tuple[dict[str, Any], Arrays]:
    """A space in which everything follows everything needs only the number of states of each label."""
    counts = np.bincount(space.label_of, minlength=space.n_labels)
    if counts.min() >= 1 and space.n_edges == space.n_states**2:
        plain = partitioned(counts.tolist())
        if all(np.array_equal(getattr(space, f.name), getattr(plain, f.name)) for f in dataclasses.fields(space)):
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


def chain_to_parts(chain: Chain) -> tuple[dict[str, Any], Arrays]:
    """Space and scorers."""
    config: dict[str, Any] = {"normalised": True} if chain.normalised else {}
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
    normalised = config.get("normalised", False)
    if not isinstance(normalised, bool):
        raise ValueError("whether steps are normalised is not said")
    return Chain(space, scorers("emissions"), scorers("transitions"), normalised=normalised)


def check_chain(chain: Chain, features: FeatureMap) -> None:
    """Refuse parts that do not fit together: the kernels trust every index."""
    for scorer in chain.scorers:
        scorer.check(chain.space, features)


def within(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
