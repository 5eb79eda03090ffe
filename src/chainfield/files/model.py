"""The model file ``.cf`` (documented in docs/file_format.md)."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from chainfield.errors import ChainfieldError, ModelFileError
from chainfield.features import MAPS, FeatureMap
from chainfield.fitted import FITTED, FittedModel, Herd, Tagger, herd_of
from chainfield.inference import DECODERS
from chainfield.scorers import Chain
from chainfield.tasks import TASKS

from .container import read_container, write_container
from .parts import chain_from_parts, chain_to_parts, check_chain, within
from .values import from_json, to_json

KIND = "model"
# Before 6: 1: taggers only, decoded by Viterbi; 3: steps may be normalised; 4: single precision; 5: several sets of
# parameters that vote.
VERSION = 6


def save_model(path: str | os.PathLike[str], model: FittedModel, estimator: dict[str, Any] | None = None) -> None:
    """Write a model; ``estimator`` tells the class and settings that trained it."""
    chain, arrays = chain_to_parts(model.chain)
    features, own = model.features.save()
    arrays |= {f"features.{name}": array for name, array in own.items()}
    arrays["theta"] = model.theta
    config = {
        "task": model.task.kind,
        "labels": [to_json(label, "label") for label in model.task.labels],
        "features": {"kind": model.features.kind, **features},
        "chain": chain,
        "how": model.how,
        "estimator": estimator or {},
    }
    if isinstance(model, Tagger):
        config["decoder"] = model.decoder
    if isinstance(model, Herd):
        arrays["members"] = model.members
    write_container(path, KIND, VERSION, config, arrays, model.n_jobs)


def load_model(path: str | os.PathLike[str], n_jobs: int = 1) -> tuple[FittedModel, dict[str, Any]]:
    """Read a model and what trained it."""
    config, arrays, _ = read_container(path, KIND, VERSION, n_jobs)
    try:
        settings = dict(config["features"])
        kind = settings.pop("kind")
        if kind not in MAPS:
            raise ValueError(f"features of the kind {kind!r} are not known here")
        features = MAPS[kind].load(settings, within(arrays, "features."))
        chain = chain_from_parts(config["chain"], arrays)
        check_chain(chain, features)
        theta = arrays["theta"]
        chain = replace(chain, dtype=str(theta.dtype))
        if theta.dtype not in (np.float64, np.float32) or theta.shape != (chain.n_parameters,):
            raise ValueError("the number of parameters does not fit the chain")
        about = dict(config["estimator"])
        model = _model(config, features, chain, theta, n_jobs)
        if "members" in arrays:
            model = _herd(model, arrays["members"])
    except (KeyError, IndexError, TypeError, ValueError, ChainfieldError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise ModelFileError(f"{path} does not describe a model: {reason}. Make or fetch it again.") from None
    return model, about


def _model(config: dict[str, Any], features: FeatureMap, chain: Chain, theta: Any, n_jobs: int) -> FittedModel:
    """The parts that depend on the task; files of version 1 do not name it."""
    kind = config.get("task", "tagging")
    if kind not in TASKS:
        raise ValueError(f"the task {kind!r} is not known here")
    task = TASKS[kind](tuple(from_json(label) for label in config["labels"]))
    if not len(task.labels) == len(set(task.labels)) == chain.space.n_labels:
        raise ValueError("the labels do not fit the chain")
    task.check(chain.space)
    if config["how"] not in ("sum", "max"):
        raise ValueError(f"hidden variables are gathered by {config['how']!r}")
    model = FITTED[kind](features, task, chain, theta, config["how"], n_jobs)
    if isinstance(model, Tagger) and "decoder" in config:
        if config["decoder"] not in DECODERS:
            raise ValueError(f"there is no decoder {config['decoder']!r}")
        model = replace(model, decoder=config["decoder"])
    return model


def _herd(model: FittedModel, members: Any) -> Tagger:
    """The sets of parameters that vote; their mean is that of the model."""
    if not isinstance(model, Tagger):
        raise ValueError("only taggers have members that vote")
    if members.dtype != model.theta.dtype or members.ndim != 2 or members.shape[1] != len(model.theta):
        raise ValueError("the members do not fit the chain")
    if not len(members):
        raise ValueError("there are no members to vote")
    return herd_of(model, members.ravel())


def load_tagger(path: str | os.PathLike[str], n_jobs: int = 1) -> tuple[Tagger, dict[str, Any]]:
    """Read a tagger, and what trained it; refuses models of other tasks."""
    model, about = load_model(path, n_jobs)
    if not isinstance(model, Tagger):
        raise ModelFileError(
            f"{path} labels whole sequences, not positions; use chainfield classify, or chainfield.load in Python."
        )
    return model, about
