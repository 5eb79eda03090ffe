"""The model file ``.cf`` (documented in docs/file_format.md)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from chainfield.errors import ModelFileError
from chainfield.features.columns_map import TemplateFeatures
from chainfield.features.map import FeatureMap
from chainfield.features.named import NamedFeatures
from chainfield.features.numbers import DenseFeatures, SparseFeatures
from chainfield.models.tagger import Tagger
from chainfield.tasks import Tagging, labels_from_json, labels_to_json

from .container import read_container, write_container
from .parts import chain_from_parts, chain_to_parts, within

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
        "labels": labels_to_json(tagger.task.labels),
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
        features = MAPS[settings.pop("kind")].load(settings, within(arrays, "features."))
        chain = chain_from_parts(config["chain"], arrays)
        theta = arrays["theta"]
        if theta.dtype != np.float64 or theta.shape != (chain.n_parameters,):
            raise ValueError("the number of parameters does not fit the chain")
        task = Tagging(labels_from_json(config["labels"]))
        if len(task.labels) != chain.space.n_labels:
            raise ValueError("the number of labels does not fit the chain")
    except ModelFileError:
        raise
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} does not describe a model: {error}. Make or fetch it again.") from None
    return Tagger(features, task, chain, theta, config["how"], n_jobs), config["estimator"]
