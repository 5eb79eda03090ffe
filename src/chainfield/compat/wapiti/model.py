"""Wapiti's models.

    #mdl#TYPE#ACTIVE            0 maximum entropy, 1 MEMM, 2 CRF; older files have no TYPE and are CRFs
    #rdr#PATTERNS/TOKENS/AUTO   then the patterns, each as ``length:bytes,``
    #qrk#LABELS                 then the labels, written alike
    #qrk#OBSERVATIONS           then the observations, written alike
    INDEX=WEIGHT                hexadecimal or decimal

The index runs over the observations in their order: one that begins with u has L weights, with b L · L, with * L and
then L · L. The weight of labels (y', y) is at y' · L + y.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.compat.assemble import PairWeights, linear_model
from chainfield.compat.bytes_reader import Bytes
from chainfield.errors import ConfigError, ModelFileError
from chainfield.features import NamedFeatures, TemplateFeatures
from chainfield.features.feature_map import FeatureMap
from chainfield.features.template import parse_template
from chainfield.models.tagging import TaggingModel

MAXENT, MEMM, CRF = 0, 1, 2
MOST_LABELS = 1 << 13
MOST_WEIGHTS = 1 << 40
_WEIGHT = re.compile(rb"(\d{1,15})=([-+]?(?:0x[0-9a-fA-F]*\.?[0-9a-fA-F]*p[-+]?\d{1,5}|[0-9.]+(?:e[-+]?\d{1,4})?))")


@dataclass(frozen=True, eq=False)
class WapitiModel:
    """A model as it lies in a file."""

    kind: int
    patterns: list[bytes]
    labels: list[bytes]
    observations: list[bytes]
    index: Int  # (n,) ascending
    weight: Float


def read_wapiti(path: str | os.PathLike[str]) -> WapitiModel:
    """Read a model file."""
    return parse_wapiti(Path(path).read_bytes(), os.fspath(path))


def parse_wapiti(content: bytes, name: str = "the model") -> WapitiModel:
    """A model from the bytes of a file; whatever does not fit together is a :class:`ModelFileError`."""
    data = Bytes(content, name)
    if not content.startswith(b"#mdl#"):
        raise ModelFileError(f"{name} is not a Wapiti model: it does not begin with #mdl#.")
    (*kind, n_active), at = _head(data, 0, "mdl", (1, 2))
    data.demand(not kind or kind[0] in (MAXENT, MEMM, CRF), "its type is none of 0, 1 and 2")
    (n_patterns, *_), at = _head(data, at, "rdr", (2, 3))
    patterns, at = _netstrings(data, at, n_patterns, "patterns")
    (n_labels,), at = _head(data, at, "qrk", (1,))
    data.demand(0 < n_labels <= MOST_LABELS, "the number of its labels is not to be believed")
    labels, at = _netstrings(data, at, n_labels, "labels")
    (n_observations,), at = _head(data, at, "qrk", (1,))
    observations, at = _netstrings(data, at, n_observations, "observations")
    for strings, what in ((labels, "labels"), (observations, "observations")):
        data.demand(len(set(strings)) == len(strings), f"two of its {what} are the same")
    data.demand(all(text[:1] in (b"u", b"b", b"*") for text in observations), "an observation is neither u, b nor *")
    data.demand(content.endswith(b"\n"), "its last line does not end")
    index, weight = _weights(data, at)
    n_weights = int(sizes(observations, n_labels).sum())
    data.demand(len(index) == n_active, f"it has {len(index):,} weights, not {n_active:,}")
    data.demand(
        (np.diff(index) > 0).all() and (not len(index) or index[-1] < n_weights), "its weights are out of order"
    )
    return WapitiModel(kind[0] if kind else CRF, patterns, labels, observations, index, weight)


def _head(data: Bytes, at: int, mark: str, counts: tuple[int, ...]) -> tuple[list[int], int]:
    """The numbers of a line ``#mark#a#b`` or ``#mark#a/b/c``, and where the next line begins."""
    end = data.content.find(b"\n", at, at + 80)
    line = data.content[at:end] if end >= 0 else b""
    found = re.fullmatch(rb"#" + mark.encode() + rb"#(\d{1,12}(?:[#/]\d{1,12})*)\r?", line)
    data.demand(found is not None, f"there is no #{mark}# where it should be")
    assert found is not None
    numbers = [int(text) for text in re.split(rb"[#/]", found.group(1))]
    data.demand(len(numbers) in counts, f"its line #{mark}# has {len(numbers)} numbers")
    return numbers, end + 1


def _netstrings(data: Bytes, at: int, n: int, what: str) -> tuple[list[bytes], int]:
    """n strings ``length:bytes,`` on a line each."""
    content, found = data.content, []
    data.demand(n <= len(content) - at, f"its {what} do not end")
    for _ in range(n):
        colon = content.find(b":", at, at + 12)
        digits = content[at:colon] if colon >= 0 else b""
        data.demand(digits.isdigit(), f"one of its {what} has no length")
        end = colon + 1 + int(digits)
        data.demand(content[end : end + 1] == b",", f"one of its {what} does not end with a comma")
        found.append(content[colon + 1 : end])
        at = end + 1
        while content[at : at + 1] in (b"\n", b"\r"):
            at += 1
    return found, at


def _weights(data: Bytes, at: int) -> tuple[Int, Float]:
    index, weight = [], []
    for line in data.content[at:].split(b"\n"):
        text = line.strip()
        if not text:
            continue
        found = _WEIGHT.fullmatch(text)
        data.demand(found is not None, f"a weight is written {text[:40]!r}")
        assert found is not None
        number = found.group(2).decode()
        try:
            value = float.fromhex(number) if "x" in number else float(number)
        except (ValueError, OverflowError):
            value = math.nan
        data.demand(math.isfinite(value), f"a weight is written {text[:40]!r}")
        index.append(int(found.group(1)))
        weight.append(value)
    return np.array(index, np.int64), np.array(weight, np.float64)


def sizes(observations: list[bytes], n_labels: int) -> Int:
    """(n,) how many weights each observation has."""
    of = {b"u": n_labels, b"b": n_labels * n_labels, b"*": n_labels + n_labels * n_labels}
    return np.array([of[text[:1]] for text in observations], np.int64)


def from_wapiti(model: WapitiModel) -> TaggingModel:
    """The same model. Maximum entropy is a chain without transitions; a MEMM has its steps normalised."""
    n = len(model.labels)
    ends = np.cumsum(sizes(model.observations, n))
    first = ends - sizes(model.observations, n)
    owner = np.searchsorted(ends, model.index, side="right")  # the observation of each weight
    place = model.index - first[owner]
    kinds = np.array([text[:1] for text in model.observations], "S1")
    pair = np.where(kinds[owner] == b"*", place - n, np.where(kinds[owner] == b"b", place, -1))  # < 0: of one label
    texts = [decoded(text) for text in model.observations]
    features, nodes, edges = feature_map(model, texts)
    of_node, of_edge = (numbered(texts, names) for names in (nodes, edges))
    single = (pair < 0) & (of_node[owner] >= 0)
    states = PairWeights(of_node[owner][single], place[single], model.weight[single])
    steps = model.kind != MAXENT
    plain = numbered(texts, plain_pairs(features)) >= 0
    moves = np.zeros(n * n)
    chosen = (pair >= 0) & plain[owner]
    np.add.at(moves, pair[chosen], model.weight[chosen])
    (code,) = moves.nonzero()
    wide = (pair >= 0) & (of_edge[owner] >= 0)
    conditioned = PairWeights(of_edge[owner][wide], pair[wide], model.weight[wide])
    return linear_model(
        features,
        tuple(decoded(label) for label in model.labels),
        states,
        PairWeights(code // n, code % n, moves[code]) if steps else None,
        conditioned if steps and features.n_edge_features else None,
        normalised=model.kind == MEMM,
    )


def feature_map(model: WapitiModel, texts: list[str]) -> tuple[FeatureMap, list[str], list[str]]:
    """The map, and the names of its node and edge features."""
    if not model.patterns:
        if any(text[0] != "u" and len(text) > 1 for text in texts):
            raise ConfigError(
                "The model has no patterns, and features of label pairs (b, *) in its data; such models are not read."
            )
        names = [text for text in texts if text[0] == "u"]
        return NamedFeatures(names), names, []
    lines = "\n".join(decoded(line) for line in model.patterns)
    templates = parse_template(lines, "the model's patterns", "wapiti")
    nodes = [text for text in texts if text[0] != "b"]
    edges = [text for text in texts if text[0] != "u"] if model.kind != MAXENT else []
    features, kept, kept_edges = TemplateFeatures.from_strings(
        templates, max(templates.n_columns_needed, 1), nodes, edges
    )
    return features, [nodes[i] for i in kept.tolist()], [edges[i] for i in kept_edges.tolist()]


def plain_pairs(features: FeatureMap) -> list[str]:
    """The observations of patterns without slots, on label pairs."""
    if not isinstance(features, TemplateFeatures):
        return ["b", "*"]
    templates = features.templates.templates
    return ["".join(map(str, t.pieces)) for t in templates if t.kind != "u" and not t.slots]


def numbered(texts: list[str], names: list[str]) -> Int:
    """(n,) the number of each text among some names, or -1."""
    number = {name: i for i, name in enumerate(names)}
    return np.array([number.get(text, -1) for text in texts], np.int64)


def decoded(text: bytes) -> str:
    """UTF-8; bytes of characters that were cut in two are written out, as the library's own expressions do."""
    return text.decode("utf-8", "backslashreplace")
