"""Models as a page carries them: linear taggers of texts, whose features are written by templates."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from chainfield.arrays import Array, distinct
from chainfield.errors import ConfigError
from chainfield.features import TemplateFeatures
from chainfield.features.template_line import Slot, Template
from chainfield.fitted import Tagger
from chainfield.fitted.label_spans import SpanTable, reading_of
from chainfield.models.base import SequenceModel
from chainfield.models.tagging import TaggingModel
from chainfield.scorers import Boundary, SparseLinear, Transition
from chainfield.text.rules import Rules
from chainfield.text.tagging.text_tagger import TextTagger

PLAIN = (
    "identity lower shape short-shape digits has-digit has-hyphen has-upper is-upper is-title is-digits is-punctuation"
)
TRANSFORMS = frozenset([*PLAIN.split(), "prefix", "suffix"])
MOST_LABELS = 1_000


def carry(model: TextTagger | SequenceModel, name: str, version: str = "1") -> dict[str, Any]:
    """What a page needs of a model, for JSON; what it cannot carry is refused with the reason."""
    if not isinstance(model, TextTagger):
        if not isinstance(model, TaggingModel):
            raise ConfigError(f"{name} labels whole sequences; a page carries taggers of texts.")
        model = TextTagger.around(model, name)
    tagger = model._ready()
    reason = _reason(model, tagger)
    if reason:
        raise ConfigError(f"A page cannot carry {name}: {reason}. Serve it instead: chainfield serve.")
    features = tagger.features
    assert isinstance(features, TemplateFeatures)
    emission = next(scorer for scorer in tagger.chain.emissions if isinstance(scorer, SparseLinear))
    own, space = tagger.own(emission), tagger.chain.space
    kept = np.flatnonzero(emission.pairs.exists() & (own["weight"] != 0.0))
    feature = emission.pairs.feature()[kept]
    used = distinct(feature)
    names = features.feature_names()
    start, end = np.zeros(space.n_rows), np.zeros(space.n_rows)
    for scorer in tagger.chain.emissions:
        if isinstance(scorer, Boundary):
            start, end = start + tagger.own(scorer)["start"], end + tagger.own(scorer)["end"]
    edge = np.zeros(space.n_edges)
    for scorer in tagger.chain.transitions:
        assert isinstance(scorer, Transition)
        weight = tagger.own(scorer)["weight"]
        edge += np.where(scorer.tie >= 0, weight[scorer.tie], 0.0) if len(weight) else 0.0
    return {
        "name": name,
        "version": version,
        "class": type(model.model_).__name__,
        "n_weights": len(kept) + space.n_edges,
        "labels": list(tagger.task.labels),
        "dialect": features.templates.dialect,
        "templates": [_pieces(template) for template in features.templates.unigrams],
        "features": [names[f] for f in used.tolist()],
        "counts": _bytes(np.bincount(np.searchsorted(used, feature), minlength=len(used)), np.uint16),
        "row": _bytes(emission.pairs.row[kept], np.uint16),
        "weight": _bytes(own["weight"][kept], np.float64),
        "bounded": any(isinstance(scorer, Boundary) for scorer in tagger.chain.emissions),
        "start": start.tolist(),
        "end": end.tolist(),
        "may_start": space.start.tolist(),
        "may_end": space.end.tolist(),
        "src": _bytes(space.src, np.uint16),
        "dst": _bytes(space.dst, np.uint16),
        "edge_score": _bytes(edge, np.float64),
        "table": _table(reading_of(tagger.task.labels)),
        "sentences": bool(model.sentences),
        "scheme": model.scheme,
    }


def _reason(model: TextTagger, tagger: Tagger) -> str:
    """Why a page cannot carry a model; empty: it can."""
    chain, features = tagger.chain, tagger.features
    space = chain.space
    plain = np.arange(space.n_labels)
    kinds = {type(scorer) for scorer in chain.scorers}
    linear = sum(isinstance(scorer, SparseLinear) for scorer in chain.emissions) == 1
    groups = any(isinstance(scorer, SparseLinear) and len(scorer.group_of) for scorer in chain.emissions)
    reasons = {
        "its features are not written by templates": not isinstance(features, TemplateFeatures),
        "it is more than a linear chain": not linear or bool(kinds - {SparseLinear, Boundary, Transition}) or groups,
        "its labels have several states": space.n_states != space.n_labels
        or not (np.array_equal(space.label_of, plain) and np.array_equal(space.row_of, plain)),
        "it is normalised at every position": chain.normalised,
        "it prunes labels": chain.pruner is not None,
        f"it has more than {MOST_LABELS:,} labels": space.n_labels > MOST_LABELS,
        f"it decodes by {tagger.decoder!r}": tagger.decoder != "viterbi",
        "it maximises over what is hidden": tagger.how != "sum",
        "its probabilities are calibrated": model.calibration_ is not None,
        f"its tokeniser is of the kind {model.tokeniser_.kind!r}": not isinstance(model.tokeniser_, Rules),
    }
    found = next((reason for reason, holds in reasons.items() if holds), "")
    if found or not isinstance(features, TemplateFeatures):
        return found
    used = {slot.transform.name for template in features.templates.unigrams for slot in template.slots}
    strange = sorted(used - TRANSFORMS)
    return f"its template uses {', '.join(strange)}" if strange else ""


def _pieces(template: Template) -> list[Any]:
    return [_slot(piece) if isinstance(piece, Slot) else piece for piece in template.pieces]


def _slot(slot: Slot) -> list[Any]:
    return [slot.offset, int(slot.absolute), slot.transform.name, slot.transform.argument, int(slot.lower)]


def _bytes(values: Array, kind: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(np.dtype(kind).newbyteorder("<")).tobytes()).decode(
        "ascii"
    )


def _table(table: SpanTable) -> dict[str, Any]:
    def rows(matrix: Array) -> list[str]:
        return ["".join("01"[cell] for cell in row) for row in matrix.astype(int).tolist()]

    whole = {"closes": table.closes, "whole": table.whole, "opens": table.opens}
    return {"types": list(table.types)} | {key: rows(matrix) for key, matrix in whole.items()}
