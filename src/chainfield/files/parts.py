"""State spaces and scorers as JSON and arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from chainfield.arrays import Arrays
from chainfield.features.feature_map import FeatureMap
from chainfield.schema import NAME, NARROW, Part, Tensor, Value, demand, whole
from chainfield.scorers import Chain, Pruner, Scorer
from chainfield.scorers.model_files import narrow, scorer_from_parts, scorer_to_parts
from chainfield.states import StateSpace, partitioned

# A space in which everything follows everything is written as its numbers of states if it has no more edges than this;
# a larger one is written out, so that a small file never stands for a large space. Files of before may have as many
# edges as they have bytes.
MOST_IMPLIED = 1 << 22

COUNTED_SPACE = Part((Value("states_per_label", "list", "how many states each label has", least=1, of="whole"),))
SPACE = Part(
    (whole("n_labels", "labels", "L", least=1),),
    (
        Tensor("label_of", NARROW, ("K",), "the label of a state", least=0, below="L"),
        Tensor("row_of", NARROW, ("K",), "the emission row of a state", least=0, below="K"),
        Tensor("start", ("BOOL",), ("K",), "may a path start here"),
        Tensor("end", ("BOOL",), ("K",), "may a path end here"),
        Tensor(
            "src", NARROW, ("E",), "where an edge comes from; edges are sorted by (source, target), each listed once",
            least=0, below="K",
        ),
        Tensor("dst", NARROW, ("E",), "where it leads", least=0, below="K"),
        Tensor("edge_row", NARROW, ("E",), "the first-order edge below it", least=0, below="E"),
    ),
)  # fmt: skip
CHAIN = Part(
    (
        Value("space", "object", "the state space"),
        Value("emissions", "list", "scorers of nodes", of="object"),
        Value("transitions", "list", "scorers of edges", of="object"),
        Value(
            "normalised", "truth", "whether scores become log-probabilities of steps, given the state before (`MEMM`); "
            "missing: no", optional=True,
        ),
        Value("pruner", "object", "what leaves out implausible labels, where there are many", optional=True),
    )
)  # fmt: skip
SCORER = Part((Value("type", "text", "the class"), NAME))


def space_to_parts(space: StateSpace) -> tuple[dict[str, Any], Arrays]:
    """A space in which everything follows everything needs only the number of states of each label."""
    counts = np.bincount(space.label_of, minlength=space.n_labels)
    if counts.min() >= 1 and space.n_edges == space.n_states**2 <= MOST_IMPLIED:
        plain = partitioned(counts.tolist())
        if all(np.array_equal(getattr(space, f.name), getattr(plain, f.name)) for f in dataclasses.fields(space)):
            return {"states_per_label": counts.tolist()}, {}
    return {"n_labels": space.n_labels}, {
        t.name: getattr(space, t.name) if t.types == ("BOOL",) else narrow(getattr(space, t.name))
        for t in SPACE.tensors
    }


def space_from_parts(config: dict[str, Any], arrays: Arrays, n_bytes: int) -> StateSpace:
    """The inverse of :func:`space_to_parts`; ``n_bytes``: how large the file is."""
    if "states_per_label" in config:
        COUNTED_SPACE.check(config, arrays, {})
        counts = config["states_per_label"]
        if sum(counts) ** 2 > max(MOST_IMPLIED, n_bytes):
            raise ValueError(f"{sum(counts)} states that follow each other are more than a file of this size can mean")
        return partitioned(counts)
    SPACE.check(config, arrays, {}, "space.")
    return StateSpace(n_labels=config["n_labels"], **{t.name: arrays[t.name] for t in SPACE.tensors})


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
    if chain.pruner is not None:
        config["pruner"], own = chain.pruner.to_parts()
        arrays.update({f"pruner.{k}": v for k, v in own.items()})
    return config, arrays


def chain_from_parts(config: dict[str, Any], arrays: Arrays, features: FeatureMap, n_bytes: int) -> Chain:
    """The inverse of :func:`chain_to_parts`: every scorer fits the space and the features."""
    CHAIN.check(config, arrays, {})
    space = space_from_parts(config["space"], within(arrays, "space."), n_bytes)
    sizes = {
        "L": space.n_labels,
        "K": space.n_states,
        "R": space.n_rows,
        "E": space.n_edges,
        "F": features.n_features,
        "D": features.n_columns,
        "B": features.n_edge_features,
        "characters": len(getattr(features, "chars", ())),
    }

    def scorers(group: str) -> tuple[Scorer, ...]:
        found = []
        for own in config[group]:
            SCORER.check(own, {}, {})
            found.append(scorer_from_parts(own, within(arrays, f"scorer.{own['name']}."), group, sizes))
        return tuple(found)

    pruner = None
    if "pruner" in config:
        pruner = Pruner.from_parts(config["pruner"], within(arrays, "pruner."))
    chain = Chain(
        space, scorers("emissions"), scorers("transitions"), normalised=config.get("normalised", False), pruner=pruner
    )
    for scorer in chain.scorers:
        if scorer.needs and scorer.needs not in features.offers:
            raise ValueError(f"the scorer {scorer.name} needs other features than {features.kind}")
        scorer.check(space, features)
    if pruner is not None:
        pruner.check(chain.scorers)
        demand(space.n_states == space.n_rows and not chain.per_position, "a pruner")
    elif chain.reach > 1:
        raise ValueError("scores of triples need a pruner")
    return chain


def within(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
