"""Scorers in model files: the list of those that a file may name, and their settings and arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from chainfield.arrays import Array, Arrays
from chainfield.errors import ConfigError, ModelFileError
from chainfield.lazy import Registry

if TYPE_CHECKING:
    from .scorer import Scorer

S = TypeVar("S", bound="type[Scorer]")

#: Scorers that a model file may name, by the names of their classes.
SCORERS: Registry[Scorer] = Registry("chainfield.models.families")
# Fields of these types are stored part by part: their loaders, by the name of the type.
_NESTED: dict[str, Callable[[dict[str, Any], Arrays], Any]] = {}


def register(kind: S) -> S:
    """A class decorator: model files may hold scorers of this class. Files name it; they never bring code."""
    known = SCORERS.present(kind.__name__)
    if known is not None and (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ConfigError(f"There is a scorer {kind.__name__} already, in {known.__module__}; give another name.")
    if kind.group is None:
        raise ConfigError(
            f'{kind.__name__} does not say where it belongs; write group = "emissions" or "transitions" in the class.'
        )
    SCORERS[kind.__name__] = kind
    return kind


def nested(kind: type, load: Callable[[dict[str, Any], Arrays], Any]) -> None:
    """Let fields of scorers be of a class that has ``to_parts``."""
    _NESTED[kind.__name__] = load


def scorer_to_parts(scorer: Scorer) -> tuple[dict[str, Any], Arrays]:
    """A scorer's class and what it tells of itself."""
    kind = type(scorer).__name__
    if SCORERS.get(kind) is not type(scorer):
        raise ModelFileError(
            f"The scorer {kind} is not one that model files know; pickle the model instead, or decorate the class "
            "with chainfield.scorers.register."
        )
    config, arrays = scorer.to_parts()
    return {"type": kind, **config}, arrays


def scorer_from_parts(config: dict[str, Any], arrays: Arrays, group: str, sizes: Mapping[str, int]) -> Scorer:
    """The inverse of :func:`scorer_to_parts`, checked; ``sizes``: those of the features and of the space."""
    settings = dict(config)
    named = settings.pop("type")
    kind = SCORERS.get(named)
    if kind is None:
        raise ModelFileError(f"The model uses a scorer {named!r:.60} that this chainfield does not know.")
    if kind.group != group:
        raise ModelFileError(f"the scorer {named} stands among the {group}, where it does not belong")
    if kind.schema is not None:
        kind.schema.check(settings, arrays, sizes, f"scorer.{config['name']}.")
    return kind.from_parts(settings, arrays)


def fields_to_parts(scorer: Any) -> tuple[dict[str, Any], Arrays]:
    """The fields of a dataclass: plain values, arrays, and whatever has ``to_parts`` itself."""
    config: dict[str, Any] = {}
    arrays: Arrays = {}
    for field in dataclasses.fields(scorer):
        value = getattr(scorer, field.name)
        if not field.init:
            continue
        if field.type in _NESTED:
            config[field.name], own = value.to_parts()
            arrays.update({f"{field.name}.{name}": array for name, array in own.items()})
        elif isinstance(value, np.ndarray):
            arrays[field.name] = value
        else:
            config[field.name] = value
    return config, arrays


def fields_from_parts(kind: Any, config: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """The inverse of :func:`fields_to_parts`: arguments of the constructor."""
    settings: dict[str, Any] = {**config, **{name: array for name, array in arrays.items() if "." not in name}}
    for field in dataclasses.fields(kind):
        if field.init and field.type in _NESTED:
            prefix = f"{field.name}."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            settings[field.name] = _NESTED[str(field.type)](config[field.name], own)
    return settings


def narrow(array: Array) -> Array:
    """Non-negative integers in the smallest unsigned type that holds them; others as they are."""
    if array.size and array.min() < 0:
        return array
    top = int(array.max(initial=0))
    return array.astype(
        np.uint8 if top < 1 << 8 else np.uint16 if top < 1 << 16 else np.uint32 if top < 1 << 32 else np.int64
    )
