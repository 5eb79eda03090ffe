"""The model file ``.cf`` (documented in docs/file_format.md)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from chainfield.errors import ChainfieldError, ModelFileError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.map import FeatureMap
from chainfield.features.named import NamedFeatures
from chainfield.features.numbers import DenseFeatures, SparseFeatures
from chainfield.fitted.tagger import Tagger
from chainfield.tasks import Tagging

from .container import read_container, write_container
from .parts import chain_from_parts, chain_to_parts, check_chain, within
from .values import from_json, to_json

KIND = "model"
VERSION = 1
MAPS: dict[str, type[FeatureMap]] = {
    m.kind: m for m in (NamedFeatures, TemplateFeatures, DenseFeatures, SparseFeatures)
}


def save_tagger(path: str | os.PathLike[str], tagger: Tagger, estimator: dict[str, Any] | None = None) -> None:
    """Write a model; ``estimator`` tells the class and settings that trained it."""
    chain, arrays = chain_to_parts(tagger.chain)
    features, own = tagger.features.save()
    arrays |= {f"features.{name}": array for name, array in own.items()}
    arrays["theta"] = tagger.theta
    config = {
        "labels": [to_json(label, "label") for label in tagger.task.labels],
        "features": {"kind": tagger.features.kind, **features},
        "chain": chain,
        "how": tagger.how,
        "estimator": estimator or {},
    }
    write_container(path, KIND, VERSION, config, arrays)


def load_tagger(path: str | os.PathLike[str], n_jobs: int = 1) -> tuple[Tagger, dict[str, Any]]:
    """Read a model and what trained it."""
    config, arrays = read_container(path, KIND, VERSION)
    try:
        settings = dict(config["features"])
        kind = settings.pop("kind")
        if kind not in MAPS:
            raise ValueError(f"features of the kind {kind!r} are not known here")
        features = MAPS[kind].load(settings, within(arrays, "features."))
        chain = chain_from_parts(config["chain"], arrays)
        check_chain(chain, features.n_features, features.n_columns, features.n_edge_features)
        theta = arrays["theta"]
        if theta.dtype != np.float64 or theta.shape != (chain.n_parameters,):
            raise ValueError("the number of parameters does not fit the chain")
        task = Tagging(tuple(from_json(label) for label in config["labels"]))
        if not len(task.labels) == len(set(task.labels)) == chain.space.n_labels:
            raise ValueError("the labels do not fit the chain")
        if config["how"] not in ("sum", "max"):
            raise ValueError(f"hidden variables are gathered by {config['how']!r}")
        about = dict(config["estimator"])
    except (KeyError, IndexError, TypeError, ValueError, ChainfieldError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise ModelFileError(f"{path} does not describe a model: {reason}. Make or fetch it again.") from None
    return Tagger(features, task, chain, theta, config["how"], n_jobs), about
