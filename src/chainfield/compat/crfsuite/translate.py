"""CRFsuite's models as models of the library, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.compat.assemble import PairWeights, linear_model
from chainfield.data.string_table import StringTable
from chainfield.errors import ConfigError
from chainfield.features import NamedFeatures
from chainfield.fitted import Tagger
from chainfield.fitted.names import edge_scores
from chainfield.scorers import Boundary, SparseLinear, Transition

from .model import CrfsuiteModel
from .names import Names

if TYPE_CHECKING:
    from chainfield.models import SequenceModel
    from chainfield.models.tagging import TaggingModel


def from_crfsuite(model: CrfsuiteModel) -> TaggingModel:
    """The same model: the same tags and probabilities. Labels stay in their order, so ties are broken alike."""
    names = Names.of(model.attributes)
    texts = NamedFeatures.of(names.table.copy()) if names.is_text() else None
    features = texts or NamedFeatures([as_text(name) for name in names])
    labels = tuple(as_text(name) for name in model.labels)
    if not labels:
        raise ConfigError("The model has no labels at all; train it again.")
    return linear_model(features, labels, PairWeights(*model.state), PairWeights(*model.transition))


def to_crfsuite(model: SequenceModel) -> CrfsuiteModel:
    """A linear-chain tagger as CRFsuite knows it; weights of 0 are left out, and names that have none besides."""
    fitted = model._fitted()
    refuse_others(fitted)
    assert isinstance(fitted, Tagger)
    labels = [as_bytes(str(label), "label") for label in fitted.task.labels]
    if len(set(labels)) < len(labels):
        raise ConfigError("Two labels are written alike, and CRFsuite's labels are strings; rename one of them.")
    (feature, label, weight), transition = weights_of(fitted)
    used, number = np.unique(feature, return_inverse=True)
    names = fitted.features.feature_names()
    attributes = [as_bytes(names[f], "feature") for f in used.tolist()]
    if len(set(attributes)) < len(attributes):
        raise ConfigError("Two features have the same name, which CRFsuite's format does not allow.")
    return CrfsuiteModel(labels, attributes, (number.astype(np.int64), label, weight), transition)


def weights_of(fitted: Tagger) -> tuple[tuple[Int, Int, Float], tuple[Int, Int, Float]]:
    """(feature, label, weight) and (label before, label, weight) of all weights that are not 0."""
    space = fitted.chain.space
    feature, label, weight = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    for scorer in fitted.chain.emissions:
        if isinstance(scorer, SparseLinear):
            own = np.asarray(fitted.own(scorer)["weight"], np.float64)
            kept = scorer.pairs.exists() & (own != 0.0)
            feature, label = scorer.pairs.feature()[kept], scorer.pairs.row[kept].astype(np.int64)
            weight = own[kept]
    edge = edge_scores(fitted)
    there = edge != 0.0
    return (feature, space.label_of_row[label].astype(np.int64), weight), (
        space.src[there].astype(np.int64), space.dst[there].astype(np.int64), edge[there],
    )  # fmt: skip


def refuse_others(fitted: Any) -> None:
    """Say what CRFsuite's format has no place for."""
    advice = "CRFsuite's format has no place for that; keep the .cf file"
    if not isinstance(fitted, Tagger):
        raise ConfigError(f"The model labels whole sequences. {advice}.")
    chain, space = fitted.chain, fitted.chain.space
    if space.n_states != space.n_labels:
        raise ConfigError(f"The model has several states per label, or sees more than one label back. {advice}.")
    if space.n_edges != space.n_states**2 or not (space.start.all() and space.end.all()):
        raise ConfigError(f"The model has rules that forbid label sequences (scheme, forbidden). {advice}.")
    if chain.normalised:
        raise ConfigError(f"The model normalises every step (MEMM). {advice}.")
    if any(isinstance(s, Boundary) and any(w.any() for w in fitted.own(s).values()) for s in chain.scorers):
        raise ConfigError(
            "The model has weights for the first and the last label, and CRFsuite's format has none; train with "
            "boundary=False (--no-boundary)."
        )
    for scorer in chain.scorers:
        grouped = isinstance(scorer, SparseLinear) and len(scorer.group_of) > 0
        if grouped or not isinstance(scorer, SparseLinear | Transition | Boundary):
            raise ConfigError(f"The model has {type(scorer).__name__} scores. {advice}.")
    if fitted.decoder != "viterbi":
        raise ConfigError(f'The model decodes by "{fitted.decoder}". {advice}, or set decoder="viterbi".')


def named(table: StringTable) -> Names:
    """The texts of a table as CRFsuite's attributes; the table is not to be changed from here on."""
    names = Names(table)
    if names.is_text() and not names.has_nul():
        return names
    return Names.of([as_bytes(text, "attribute") for text in table.strings()])


def as_text(name: bytes) -> str:
    """A name as a string; bytes that are not UTF-8 are kept (as lone surrogates) and written back the same."""
    return name.decode("utf-8", "surrogateescape")


def as_bytes(name: str, what: str) -> bytes:
    """The inverse of :func:`as_text`."""
    try:
        found = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        found = name.encode("utf-8", "surrogatepass")
    if b"\0" in found:
        raise ConfigError(f"The {what} {name!r} contains a NUL character, at which CRFsuite cuts strings; rename it.")
    return found
