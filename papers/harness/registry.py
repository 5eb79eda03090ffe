"""Which experiments there are: the modules of the package ``experiments``."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace

from .experiment import Experiment


class UnknownExperiment(Exception):
    """A name that no experiment has."""


def discover(package: str = "experiments") -> dict[str, Experiment]:
    """All experiments by name, in alphabetical order."""
    folder = importlib.import_module(package).__path__
    found: dict[str, Experiment] = {}
    for module_name in sorted(info.name for info in pkgutil.iter_modules(folder)):
        if module_name.startswith("_"):
            continue
        module = importlib.import_module(f"{package}.{module_name}")
        experiment = getattr(module, "EXPERIMENT", None)
        if not isinstance(experiment, Experiment):
            raise TypeError(f"{package}/{module_name}.py defines no EXPERIMENT; a shared part needs a name with _.")
        if experiment.name in found:
            raise ValueError(f"{package}/{module_name}.py: there is an experiment {experiment.name} already.")
        found[experiment.name] = replace(experiment, module=module.__name__)
    return dict(sorted(found.items()))


def find(name: str, package: str = "experiments") -> Experiment:
    """The experiment of a name."""
    known = discover(package)
    if name not in known:
        raise UnknownExperiment(f"There is no experiment {name!r}; there are: {', '.join(known) or 'none'}.")
    return known[name]
