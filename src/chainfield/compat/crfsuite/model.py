"""The lCRF container: a CRFsuite model as it lies in a file, every offset, count and string checked.

header   "lCRF", file size, "FOMC", version 100, 0, labels L, attributes A, and the offsets of what follows (48 bytes)
FEAT     "FEAT", size, n; n records: kind (0 state, 1 transition), attribute or label before, label, weight
labels   CQDB: labels by number
attrs    CQDB: attributes by number
LFRF     "LFRF", size, L + 2; an offset for each: a count, and the features that leave the label
AFRF     "AFRF", size, A; an offset for each: a count, and the features of the attribute
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int, Ragged, distinct, offsets_of
from chainfield.compat.bytes_reader import Bytes
from chainfield.errors import ConfigError, ModelFileError

from .cqdb import read_strings, write_strings

HEADER = struct.Struct("<4sI4s9I")
VERSION = 100
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1
MOST_BYTES = 2**32 - 1  # what the offsets of the format can say
MOST_LABELS = 1 << 13  # a chain has a score for every pair of labels


@dataclass(frozen=True, eq=False)
class CrfsuiteModel:
    """Names by number, and the weights. Names are bytes: by habit, UTF-8."""

    labels: list[bytes]
    attributes: Sequence[bytes]
    state: tuple[Int, Int, Float]  # (n,) attribute, label, weight
    transition: tuple[Int, Int, Float]  # (n,) label before, label, weight


def read_crfsuite(path: str | os.PathLike[str]) -> CrfsuiteModel:
    """Read a model file."""
    return parse_crfsuite(Path(path).read_bytes(), os.fspath(path))


def parse_crfsuite(content: bytes, name: str = "the model") -> CrfsuiteModel:
    """A model from the bytes of a file; whatever does not fit together is a :class:`ModelFileError`."""
    data = Bytes(content, name)
    if content[:4] != b"lCRF":
        big = content[:4] == b"FRCl"
        raise ModelFileError(
            f"{name} is {'of another byte order' if big else 'not a CRFsuite model'}: no lCRF at its start."
        )
    data.demand(len(content) > HEADER.size, "its header is not complete")
    header = read_header(content)
    data.demand(header["size"] == len(content), f"it has {len(content):,} bytes, not {header['size']:,}")
    data.demand(header["type"] == b"FOMC", f"its type is {header['type']!r}, not FOMC")
    if header["version"] != VERSION:
        raise ModelFileError(f"{name} has version {header['version']} of CRFsuite's format; only {VERSION} is known.")
    n_labels, n_attributes = header["num_labels"], header["num_attrs"]
    data.demand(n_labels <= MOST_LABELS, f"{n_labels:,} labels are not to be believed")
    labels = list(read_strings(data, header["off_labels"], n_labels, "labels"))
    attributes = read_strings(data, header["off_attrs"], n_attributes, "attributes")
    features = _features(data, header["off_features"], n_labels, n_attributes)
    parts = [features[features["kind"] == kind] for kind in (STATE, TRANSITION)]
    state, transition = ((p["source"].astype(np.int64), p["label"].astype(np.int64), p["weight"].copy()) for p in parts)
    for (source, label, _), what in ((state, "an attribute"), (transition, "a label")):
        codes = source * (n_labels + 1) + label
        once = (codes[1:] > codes[:-1]).all() or len(distinct(codes)) == len(codes)
        data.demand(once, f"{what} has two weights for one label")
    return CrfsuiteModel(labels, attributes, state, transition)


def read_header(content: bytes) -> dict[str, Any]:
    """The header's fields by the names that CRFsuite gives them."""
    names = (
        "magic", "size", "type", "version", "num_features", "num_labels", "num_attrs", "off_features", "off_labels",
        "off_attrs", "off_labelrefs", "off_attrrefs",
    )  # fmt: skip
    return dict(zip(names, HEADER.unpack(content[: HEADER.size]), strict=True))


def _features(data: Bytes, at: int, n_labels: int, n_attributes: int) -> Any:
    """(n,) records, their numbers within what there is."""
    magic, size, n = struct.unpack("<4s2I", data.piece(at, 12, "the list of features"))
    data.demand(magic == b"FEAT", "its list of features does not begin with FEAT")
    data.demand(size == 12 + FEATURE.itemsize * n, "the size of its list of features is wrong")
    found = data.array(at + 12, n, FEATURE, "the list of features")
    kinds, most = found["kind"], np.where(found["kind"] == STATE, n_attributes, n_labels)
    data.demand((kinds <= TRANSITION).all(), "a feature is of no known kind")
    fits = (found["source"] < most).all() and (found["label"] < n_labels).all()
    data.demand(fits, "a feature is of an attribute or label that does not exist")
    data.demand(np.isfinite(found["weight"]).all(), "a weight is NaN or infinite")
    return found


def write_crfsuite(model: CrfsuiteModel) -> bytes:
    """The bytes of a model file that CRFsuite opens. Features go by attribute and label, as CRFsuite has them."""
    groups = []
    for source, label, weight in (model.state, model.transition):
        order = np.lexsort((label, source))
        groups.append((source[order], label[order], weight[order]))
    records = np.empty(sum(len(label) for _, label, _ in groups), FEATURE)
    at = 0
    for kind, (source, label, weight) in enumerate(groups):
        part = records[at : at + len(label)]
        part["kind"], part["source"], part["label"], part["weight"] = kind, source, label, weight
        at += len(label)
    chunks = [struct.pack("<4s2I", b"FEAT", 12 + records.nbytes, len(records)) + records.tobytes()]
    chunks += [write_strings(model.labels), write_strings(model.attributes)]
    off_features = HEADER.size
    off_labels = off_features + len(chunks[0])
    off_attributes = off_labels + len(chunks[1])
    off_label_refs = off_attributes + len(chunks[2])
    chunks.append(b"\0" * (-off_label_refs % 4))
    off_label_refs += len(chunks[-1])
    n_state = len(groups[STATE][0])
    leaving = (
        n_state + np.arange(len(groups[TRANSITION][0])),
        np.bincount(groups[TRANSITION][0], minlength=len(model.labels)),
    )
    chunks.append(_references(b"LFRF", off_label_refs, *leaving, more=2))
    off_attribute_refs = off_label_refs + len(chunks[-1])
    own = np.arange(n_state), np.bincount(groups[STATE][0], minlength=len(model.attributes))
    chunks.append(_references(b"AFRF", off_attribute_refs, *own))
    size = off_attribute_refs + len(chunks[-1])
    if size > MOST_BYTES:
        raise ConfigError(f"The model needs {size:,} bytes; CRFsuite's format ends at 4 GiB. Save it as a .cf file.")
    header = HEADER.pack(
        b"lCRF", size, b"FOMC", VERSION, 0, len(model.labels), len(model.attributes), off_features, off_labels,
        off_attributes, off_label_refs, off_attribute_refs,
    )  # fmt: skip
    return b"".join([header, *chunks])


def _references(magic: bytes, at: int, features: Int, counts: Int, more: int = 0) -> bytes:
    """Lists of features, one for each label or attribute; ``more`` empty places follow (CRFsuite's BOS and EOS)."""
    n = len(counts)
    table = 12 + 4 * (n + more)
    lists = offsets_of(counts + 1)  # each list has its length before it
    body = np.empty(int(lists[-1]), "<u4")
    body[lists[:-1]] = counts
    spots = Ragged(offsets_of(counts))
    body[np.arange(len(features)) + spots.sequence_of() + 1] = features
    places = np.concatenate([at + table + 4 * lists[:-1], np.zeros(more, np.int64)])
    size = table + body.nbytes
    if at + size > MOST_BYTES:
        raise ConfigError("The model is larger than CRFsuite's format allows (4 GiB); save it as a .cf file.")
    return struct.pack("<4s2I", magic, size, n + more) + places.astype("<u4").tobytes() + body.tobytes()
