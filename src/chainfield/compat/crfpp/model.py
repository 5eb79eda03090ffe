"""CRF++'s models in both forms.

text     "version: 100", "cost-factor: 1", "maxid: N", "xsize: columns"; labels; templates; "id string" of the features;
         N weights, one per line; blank lines in between
binary   version, type, cost factor (double), N, columns, sizes of trie and labels; labels, each with its NUL; size of
         templates; templates, each with its NUL; trie; N weights in single precision; all little-endian

The weights of a feature that begins with U are id + label; with B, id + label before · L + label.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chainfield.arrays import Float, Int
from chainfield.compat.assemble import PairWeights, linear_model
from chainfield.compat.bytes_reader import Bytes
from chainfield.errors import ConfigError, ModelFileError
from chainfield.features import TemplateFeatures
from chainfield.features.template import parse_template
from chainfield.models.tagging import TaggingModel

from .darts import read_trie

VERSION = 100
HEAD = struct.Struct("<IidIIII")
MOST_COLUMNS = 1 << 10
MOST_LABELS = 1 << 13
KNOWN = ("version", "cost-factor", "maxid", "xsize")


@dataclass(frozen=True, eq=False)
class CrfppModel:
    """A model as it lies in a file."""

    cost_factor: float
    n_columns: int
    labels: list[bytes]
    templates: list[bytes]
    features: dict[bytes, int]  # string → where its weights begin
    weights: Float


def read_crfpp(path: str | os.PathLike[str]) -> CrfppModel:
    """Read a model file, in either form."""
    return parse_crfpp(Path(path).read_bytes(), os.fspath(path))


def parse_crfpp(content: bytes, name: str = "the model") -> CrfppModel:
    """A model from the bytes of a file; whatever does not fit together is a :class:`ModelFileError`."""
    data = Bytes(content, name)
    found = _text(data) if content.startswith(b"version:") else _binary(data)
    data.demand(0 < len(found.labels) <= MOST_LABELS, "the number of its labels is not to be believed")
    data.demand(len(set(found.labels)) == len(found.labels), "two of its labels are the same")
    data.demand(0 < found.n_columns <= MOST_COLUMNS, "the number of its columns is not to be believed")
    data.demand(np.isfinite(found.weights).all(), "a weight is NaN or infinite")
    data.demand(np.isfinite(found.cost_factor) and found.cost_factor > 0, "its cost factor is not a positive number")
    n = len(found.labels)
    for string, at in found.features.items():
        size = n if string[:1] == b"U" else n * n if string[:1] == b"B" else -1
        data.demand(size > 0, f"the feature {string!r:.40} begins with neither U nor B")
        data.demand(0 <= at <= len(found.weights) - size, f"the feature {string!r:.40} has weights outside of the file")
    return found


def _text(data: Bytes) -> CrfppModel:
    data.demand(data.content.endswith(b"\n"), "its last line does not end")
    lines = data.content.split(b"\n")
    heads: dict[str, bytes] = {}
    at = 0
    while at < len(lines) and lines[at].strip():
        name, _, value = lines[at].partition(b":")
        heads[name.decode("ascii", "replace")] = value.strip()
        at += 1
    data.demand(all(name in heads for name in KNOWN), f"its header does not give {', '.join(KNOWN)}")
    _check_version(data, _number(data, heads["version"], "version"))
    blocks = []
    for what in ("labels", "templates", "features"):
        at += 1
        end = at
        while end < len(lines) and lines[end]:
            end += 1
        data.demand(end < len(lines), f"its {what} do not end")
        blocks.append(lines[at:end])
        at = end
    labels, templates, entries = blocks
    features: dict[bytes, int] = {}
    for line in entries:
        number, _, string = line.partition(b" ")
        features[string] = _number(data, number, "the number of a feature")
    data.demand(len(features) == len(entries), "two of its features are the same")
    weights = [line for line in lines[at + 1 :] if line]
    data.demand(len(weights) == _number(data, heads["maxid"], "maxid"), "the number of its weights is not maxid")
    try:
        values = np.array([float(line) for line in weights])
        cost = float(heads["cost-factor"])
    except ValueError:
        raise data.fault("a weight is not a number") from None
    return CrfppModel(cost, _number(data, heads["xsize"], "xsize"), labels, templates, features, values)


def _binary(data: Bytes) -> CrfppModel:
    version, _, cost, n_weights, n_columns, trie, names = HEAD.unpack(data.piece(0, HEAD.size, "the header"))
    _check_version(data, version)
    at = HEAD.size
    labels = _strings(data, at, names, "labels")
    at += names
    (size,) = struct.unpack("<I", data.piece(at, 4, "the size of the templates"))
    templates = [line for line in _strings(data, at + 4, size, "templates") if line]
    at += 4 + size
    features = read_trie(data, at, trie)
    with np.errstate(invalid="ignore"):  # NaN is refused with all that follows
        weights = data.array(at + trie, n_weights, "<f4", "the weights").astype(np.float64)
    data.demand(at + trie + 4 * n_weights == len(data), "it does not end behind its weights")
    return CrfppModel(cost, n_columns, labels, templates, features, weights)


def _strings(data: Bytes, at: int, size: int, what: str) -> list[bytes]:
    block = data.piece(at, size, f"the {what}")
    data.demand(block.endswith(b"\0"), f"its {what} do not end with a NUL")
    return block[:-1].split(b"\0")


def _check_version(data: Bytes, version: int) -> None:
    if version // 100 != VERSION // 100:
        swapped = int.from_bytes(version.to_bytes(4, "little"), "big") if 0 <= version < 2**32 else -1
        why = "of another byte order" if swapped // 100 == 1 else f"of version {version}, or no CRF++ model"
        raise ModelFileError(f"{data.name} is {why}; only models of CRF++ 0.5x are known.")


def _number(data: Bytes, text: bytes, what: str) -> int:
    data.demand(text.isdigit() and len(text) <= 10, f"{what} is {text!r:.40}, not a number")
    return int(text)


def from_crfpp(model: CrfppModel, cost_factor: float | None = None) -> TaggingModel:
    """The same model; ``cost_factor`` (``crf_test -c``) is that of the file by default."""
    factor = model.cost_factor if cost_factor is None else cost_factor
    if not (np.isfinite(factor) and factor > 0):
        raise ConfigError(f"cost_factor is {factor}; a finite number larger than 0 is expected.")
    n, weights = len(model.labels), factor * model.weights
    text = "\n".join(decoded(line) for line in model.templates)
    templates = parse_template(text, "the model's template", "crfpp")
    plain = {decoded_piece for t in templates.templates if t.kind == "b" and not t.slots for decoded_piece in t.pieces}
    nodes, edges, moves = {}, {}, np.zeros(n * n)
    for string, at in model.features.items():
        name = decoded(string)
        if name[0] == "U":
            nodes[name] = at
        elif name in plain:
            moves += weights[at : at + n * n]
        else:
            edges[name] = at
    features, kept, kept_edges = TemplateFeatures.from_strings(templates, model.n_columns, list(nodes), list(edges))
    return linear_model(
        features,
        tuple(map(decoded, model.labels)),
        blocks(weights, np.array(list(nodes.values()), np.int64)[kept], n),
        square(moves, n) if templates.has_plain_bigram else None,
        blocks(weights, np.array(list(edges.values()), np.int64)[kept_edges], n * n)
        if templates.conditioned_bigrams
        else None,
    )


def decoded(text: bytes) -> str:
    """UTF-8, whatever it is."""
    return text.decode("utf-8", "surrogateescape")


def blocks(weights: Float, first: Int, size: int) -> PairWeights:
    """Weights of features that have ``size`` each, from their places on; those that are 0 are left out."""
    table = weights[first[:, None] + np.arange(size)] if len(first) else np.empty((0, size))
    feature, column = table.nonzero()
    return PairWeights(feature, column, table[feature, column])


def square(moves: Float, n: int) -> PairWeights:
    """Weights of all label pairs that are not 0."""
    (code,) = moves.nonzero()
    return PairWeights(code // n, code % n, moves[code])
