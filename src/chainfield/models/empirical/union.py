"""Two feature maps made one: what merging models needs.

Maps are united by what they would write to a model file, so that nothing has to be known of how they work inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Arrays, Int
from chainfield.errors import ConfigError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.feature_map import FeatureMap, pack_strings, unpack_strings
from chainfield.features.named import NamedFeatures


def unite_maps(ours: FeatureMap, theirs: FeatureMap) -> tuple[FeatureMap, Int]:
    """A map with the features of both, ours first and with their numbers; and the number of each of theirs in it."""
    if isinstance(ours, NamedFeatures) and isinstance(theirs, NamedFeatures):
        names, numbers = _unite(ours.feature_names(), theirs.feature_names())
        return NamedFeatures(names), numbers
    if isinstance(ours, TemplateFeatures) and isinstance(theirs, TemplateFeatures):
        own, other = ours.save(), theirs.save()
        described = ("template", "dialect", "n_columns")
        if [own[0][key] for key in described] == [other[0][key] for key in described]:
            if ours.n_edge_features or theirs.n_edge_features:
                raise ConfigError("Templates of label pairs that look at the input cannot be merged.")
            _, numbers = _unite(ours.feature_names(), theirs.feature_names())
            return TemplateFeatures.load(*_merged(own, other, numbers, ours.n_features)), numbers
        raise ConfigError("The two models have different templates or columns; merge models with the same features.")
    raise ConfigError(
        f"One model has features of the kind {ours.kind}, the other of the kind {theirs.kind}; only attributes and "
        "templates can be merged, each with its like."
    )


def _unite(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], Int]:
    """All names, ours first; and where theirs are."""
    number = {name: i for i, name in enumerate(ours)}
    found = np.array([number.setdefault(name, len(number)) for name in theirs], np.int64)
    return list(number), found


def _merged(
    ours: tuple[dict[str, Any], Arrays], theirs: tuple[dict[str, Any], Arrays], numbers: Int, n_ours: int
) -> tuple[dict[str, Any], Arrays]:
    """What the united map would write to a file (docs/file_format.md)."""
    config, own = ours
    _, other = theirs
    own_texts, other_texts = (
        unpack_strings({name: part[f"texts.{name}"] for name in ("bytes", "lengths")}) for part in (own, other)
    )
    texts, place = _unite(own_texts, other_texts)
    moved = np.append(place, -1)  # -1 stays -1
    arrays: Arrays = {f"texts.{name}": array for name, array in pack_strings(texts).items()}
    fresh = {}
    for c in range(config["n_columns"]):
        values, theirs_now = own[f"values.{c}"], place[other[f"values.{c}"]]
        fresh[c] = ~np.isin(theirs_now, values)
        arrays[f"values.{c}"] = np.concatenate([values, theirs_now[fresh[c]]]).astype(np.int32)
    arrays |= {name: array for name, array in own.items() if name.startswith("edges.") and name != "edges.tables"}
    for group in ("nodes", "edges"):
        arrays[f"{group}.tables"] = _tables(group, config, own, other, moved, fresh)
    keys = np.column_stack([other["nodes.keys"][:, :1], moved[other["nodes.keys"][:, 1:]]])
    own_number = own.get("nodes.number", np.arange(len(own["nodes.keys"])))
    number = numbers[other.get("nodes.number", np.arange(len(keys)))]
    all_keys = np.concatenate([own["nodes.keys"], keys])
    all_numbers = np.concatenate([own_number, number])
    _, first = np.unique(all_keys, axis=0, return_index=True)
    first = first[np.argsort(all_numbers[first], kind="stable")]
    arrays["nodes.keys"] = np.ascontiguousarray(all_keys[first], np.int32)
    arrays["nodes.number"] = all_numbers[first].astype(np.int32)
    arrays["nodes.pads"] = own["nodes.pads"]
    return config | {"n_texts": len(texts)}, arrays


def _tables(group: str, config: dict[str, Any], own: Arrays, other: Arrays, moved: Int, fresh: dict[int, Any]) -> Any:
    """The texts of all values, view by view: ours, then theirs that are new."""
    from chainfield.features.program import compile_templates
    from chainfield.features.template import parse_template

    templates = parse_template(config["template"], dialect=config["dialect"])
    chosen = templates.unigrams if group == "nodes" else templates.conditioned_bigrams
    parts, at, other_at = [np.empty(0, np.int32)], 0, 0
    for view in compile_templates(chosen, templates.dialect).views:
        n, m = len(own[f"values.{view.column}"]), len(other[f"values.{view.column}"])
        parts.append(own[f"{group}.tables"][at : at + n])
        parts.append(moved[other[f"{group}.tables"][other_at : other_at + m]][fresh[view.column]])
        at, other_at = at + n, other_at + m
    return np.concatenate(parts).astype(np.int32)
