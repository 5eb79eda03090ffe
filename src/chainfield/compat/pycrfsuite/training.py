"""From the data and parameters of a trainer to a problem of the library, and from its solution to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, Int32
from chainfield.compat.crfsuite import CrfsuiteModel
from chainfield.compat.crfsuite.translate import as_bytes, named, weights_of
from chainfield.data.string_table import StringTable
from chainfield.features import NamedFeatures
from chainfield.features.batch import Batch
from chainfield.fitted import Tagger
from chainfield.models.compose import number_features
from chainfield.models.material import Material
from chainfield.objectives import Targets, objective_named
from chainfield.parallel import count_jobs
from chainfield.potentials import clamp_labels
from chainfield.problem import Problem
from chainfield.scorers import Chain, Pairs, SparseLinear, Transition, compact_ties
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import one_per_label
from chainfield.tasks import Tagging
from chainfield.trainers import AROW, SGD, Auto, PassiveAggressive, Trainer

from .dataset import Dataset

Parameters = Mapping[str, Any]
FINEST = 1e-12  # accuracy that double precision can still tell


@dataclass(frozen=True, eq=False)
class Task:
    """A problem, what solves it, and what its parameters belong to."""

    problem: Problem
    trainer: Trainer[Any]
    features: NamedFeatures
    labels: tuple[str, ...]
    names: StringTable  # of the attributes
    number: Int32 | None  # attribute → feature

    def tagger(self, theta: Float) -> Tagger:
        """The model with some parameters."""
        return Tagger(self.features, Tagging(self.labels), self.problem.chain, theta, "sum", self.problem.n_jobs)

    def renumbered(self, batch: Batch) -> Batch:
        """Attributes of the data set as features."""
        sparse = batch.sparse
        if self.number is None or sparse is None:
            return batch
        return replace(batch, sparse=replace(sparse, indices=self.number[sparse.indices]))

    def model(self, theta: Float) -> CrfsuiteModel:
        """The same as CRFsuite has it: without weights of 0, and without attributes that have none left."""
        (feature, label, weight), transition = weights_of(self.tagger(theta))
        attribute = np.arange(self.features.n_features)
        if self.number is not None:
            attribute[self.number] = np.arange(len(self.number))
        used, number = np.unique(attribute[feature], return_inverse=True)
        attributes = named(self.names).take(used)
        labels = [as_bytes(name, "label") for name in self.labels]
        return CrfsuiteModel(labels, attributes, (number.astype(np.int64), label, weight), transition)


def compose(data: Dataset, chosen: list[bool], algorithm: str, parameters: Parameters) -> Task:
    """The problem that an algorithm of CRFsuite solves."""
    batch, targets = data.part(chosen)
    labels, features = tuple(data.labels), NamedFeatures.of(data.attributes.copy())
    space = one_per_label(len(labels))
    material = Material.of(features, batch, clamp_labels(space, targets), labels)
    least = parameters["feature.minfreq"]
    pairs = frequent_pairs(batch, targets, len(labels), least) if least > 0 else None
    all_states = parameters["feature.possible_states"] and pairs is None
    material = number_features(material, space, all_features=all_states, pairs=pairs)
    assert material.pairs is not None
    counts = _transitions(batch, targets, len(labels))
    keep = counts >= max(least, 0 if parameters["feature.possible_transitions"] else 1)
    transition = Transition(compact_ties(keep[space.src.astype(np.int64) * len(labels) + space.dst], space.edge_row))
    chain = Chain(space, (SparseLinear(material.pairs, space.n_rows),), (transition,))
    smooth = algorithm in ("lbfgs", "l2sgd")
    problem = Problem(
        chain,
        objective_named("likelihood" if smooth else "perceptron"),
        material.batch,
        Targets(material.clamp, np.ones(batch.n_sequences)),
        l1=float(parameters.get("c1", 0.0)),
        l2=float(parameters.get("c2", 0.0)),
        n_jobs=count_jobs(None),
    )
    return Task(problem, make_trainer(algorithm, parameters), features, labels, data.attributes, material.numbers)


def make_trainer(algorithm: str, parameters: Parameters) -> Trainer[Any]:
    """What solves it: the library's trainer of that kind."""
    most = max(int(parameters["max_iterations"]), 1)
    if algorithm == "lbfgs":
        tol = parameters["delta"] if parameters["delta"] > 0 else parameters["epsilon"]
        return Auto(memory=max(int(parameters["num_memories"]), 1), max_iter=most, tol=max(tol, FINEST))
    if algorithm == "l2sgd":
        return SGD(max_iter=most, tol=max(parameters["delta"], FINEST))
    if algorithm == "averaged-perceptron":
        return SGD(rate=1.0, decay=0.0, average_from=0, max_iter=most)
    common: dict[str, Any] = {"max_iter": most, "tol": parameters["epsilon"]}
    if algorithm == "arow":
        return AROW(variance=parameters["variance"], gamma=parameters["gamma"], **common)
    return PassiveAggressive(
        variant=parameters["type"],
        aggressiveness=parameters["c"],
        power=0.5 if parameters["error_sensitive"] else 0.0,
        average=parameters["averaging"],
        **common,
    )


def frequent_pairs(batch: Batch, targets: Int32, n_labels: int, least: float) -> Pairs:
    """Pairs of attributes and labels whose values add up to ``least``, regardless of their signs."""
    sparse = batch.sparse
    assert sparse is not None
    label = np.repeat(targets.astype(np.int64), np.diff(sparse.indptr))
    codes, index = np.unique(sparse.indices.astype(np.int64) * n_labels + label, return_inverse=True)
    values = np.ones(len(label)) if sparse.values is None else np.abs(sparse.values)
    found = codes[np.bincount(index, weights=values, minlength=len(codes)) >= least]
    return pairs_from_codes(found, sparse.n_features, n_labels)


def _transitions(batch: Batch, targets: Int32, n_labels: int) -> Int:
    """(L · L,) how often each label pair occurs."""
    first = np.zeros(len(targets), np.bool_)
    first[batch.ragged.firsts] = True
    codes = targets[:-1].astype(np.int64) * n_labels + targets[1:]
    return np.bincount(codes[~first[1:]], minlength=n_labels * n_labels)
