"""From a model file back to the estimator that was saved."""

from __future__ import annotations

import os
from typing import Any

from chainfield.errors import ConfigError, ModelFileError
from chainfield.features import TemplateSet
from chainfield.files.model import load_model
from chainfield.files.values import from_json
from chainfield.parallel import count_jobs

from .base import SequenceModel
from .families import COMPOSED, MODELS, WRAPPERS
from .kinds import Template

# Settings of 0.1.0 that have another name now.
RENAMED = {"states_per_label": "n_states"}


def find_class(name: Any) -> type[SequenceModel] | None:
    """The model of that class, if there is one."""
    places = ((kinds, key) for kinds in (MODELS, COMPOSED) for key in kinds)
    return next((kinds[key] for kinds, key in places if kinds.class_name(key) == name), None)


def load(path: str | os.PathLike[str], n_jobs: int | None = None, *, tokeniser: Any = None) -> Any:
    """Read a model file: the estimator that was saved, ready to predict.

    ``tokeniser``: for a :class:`~chainfield.TextTagger` whose tokeniser is a function, which its file cannot hold.

    >>> import chainfield
    >>> chainfield.LinearCRF().fit([["Oslo", "sleeps"]], [["LOC", "O"]]).save("places.cf")
    >>> chainfield.load("places.cf").predict([["Oslo"]])
    [['LOC']]
    """
    fitted, about = load_model(path, count_jobs(n_jobs))
    name = about.get("class", "LinearCRF")
    kind = find_class(name)
    if kind is None:
        raise ModelFileError(f"{path} was trained by {name!r:.60}, which this chainfield does not know.")
    if kind.task_type is not type(fitted.task):
        raise ModelFileError(f"{path} does not describe a model: {kind.__name__} is not for {fitted.task.kind}.")
    try:
        estimator = kind(**_settings(kind, about.get("settings", {})))
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelFileError(f"{path} has settings that cannot be used: {str(error).rstrip('.')}.") from None
    estimator.n_jobs = n_jobs
    try:
        estimator._restore(fitted, about)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise ModelFileError(f"{path} is no {name}: {str(error).rstrip('.')}.") from None
    return _wrapped(path, estimator, about.get("wrapper"), tokeniser)


def _settings(kind: type[SequenceModel], stored: dict[str, Any]) -> dict[str, Any]:
    """The settings of a file, as the model takes them; None stands for functions too, which files do not hold."""
    found = {}
    for key, value in stored.items():
        name = RENAMED.get(key, key)
        if name in kind.settings:
            found[name] = from_json(value)
            if found[name] is None:
                continue
            kind.settings[name].check(found[name])
            if isinstance(kind.settings[name].kind, Template) and not isinstance(found[name], TemplateSet):
                raise ValueError(f"{name} is {found[name]!r:.40}, which may be the name of another file")
    return found


def _wrapped(path: str | os.PathLike[str], estimator: SequenceModel, wrapper: Any, tokeniser: Any) -> Any:
    """The model, with what stands around it."""
    if wrapper is None and tokeniser is None:
        return estimator
    if wrapper is None:
        raise ConfigError(f"{path} reads columns, not text: it has no tokeniser; leave tokeniser= out.")
    if type(wrapper.get("kind")) is not str or wrapper["kind"] not in WRAPPERS:
        raise ModelFileError(f"{path} holds a model inside of something that this chainfield does not know.")
    try:
        return WRAPPERS[wrapper["kind"]].restore(estimator, wrapper, tokeniser)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error} Make or fetch it again.") from None
