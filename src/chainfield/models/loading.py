"""From a model file back to the estimator that was saved."""

from __future__ import annotations

import os
from typing import Any

from chainfield.errors import ModelFileError
from chainfield.files.model import load_model
from chainfield.files.values import from_json
from chainfield.parallel import count_jobs

from .base import SequenceModel
from .families import COMPOSED, MODELS

# Settings of 0.1.0 that have another name now.
RENAMED = {"states_per_label": "n_states"}


def find_class(name: Any) -> type[SequenceModel] | None:
    """The model of that class, if there is one."""
    places = ((kinds, key) for kinds in (MODELS, COMPOSED) for key in kinds)
    return next((kinds[key] for kinds, key in places if kinds.class_name(key) == name), None)


def load(path: str | os.PathLike[str], n_jobs: int | None = None) -> Any:
    """Read a model file: the estimator that was saved, ready to predict."""
    fitted, about = load_model(path, count_jobs(n_jobs))
    kind = find_class(about.get("class", "LinearCRF"))
    if kind is None:
        raise ModelFileError(f"{path} was trained by {about['class']!r}, which this chainfield does not know.")
    if kind.task_type is not type(fitted.task):
        raise ModelFileError(f"{path} does not describe a model: {kind.__name__} is not for {fitted.task.kind}.")
    try:
        stored = {RENAMED.get(k, k): v for k, v in dict(about.get("settings", {})).items()}
        settings = {k: from_json(v) for k, v in stored.items() if k in kind.settings}
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{path} has settings that cannot be read: {error}.") from None
    estimator = kind(**settings)
    estimator.n_jobs = n_jobs
    estimator._restore(fitted, about)
    return estimator
