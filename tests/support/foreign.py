"""Small models of other programs, written here byte by byte, and ways to damage them."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from chainfield.compat.crfsuite import CrfsuiteModel, write_crfsuite

LABELS = ("B", "I", "O")
TEMPLATE = ("U00:%x[0,0]", "U01:%x[-1,0]/%x[0,1]", "B", "B01:%x[0,1]")
ROWS = [("New", "X"), ("York", "X"), ("is", "x"), ("a/b", "x")]


def crfsuite_model(seed: int = 0) -> bytes:
    """A model of CRFsuite."""
    rng = np.random.default_rng(seed)
    attributes = [f"w={i}".encode() for i in range(12)] + ["ключ:привет".encode(), b"", b"x" * 40, b"\xff\xfe"]
    pairs = [(a, y) for a in range(len(attributes)) for y in range(3) if rng.random() < 0.6 or y == a % 3]
    moves = [(0, 1), (1, 1), (1, 2), (2, 0), (2, 2)]
    columns = [tuple(np.array(column, np.int64) for column in zip(*found, strict=True)) for found in (pairs, moves)]
    parts = [(*ends, rng.normal(size=len(ends[0]))) for ends in columns]
    return write_crfsuite(CrfsuiteModel([y.encode() for y in LABELS], attributes, *parts))


def crfpp_features() -> dict[str, int]:
    """Feature strings of CRF++, and where their weights begin."""
    nodes = ["U00:New", "U00:York", "U00:is", "U00:a/b", "U01:_B-1/X", "U01:New/X", "U01:York/x", "U01:is/x"]
    edges = ["B", "B01:X", "B01:x"]
    found = {name: 3 * i for i, name in enumerate(nodes)}
    return found | {name: 3 * len(nodes) + 9 * i for i, name in enumerate(edges)}


def crfpp_weights() -> np.ndarray:
    """Weights for :func:`crfpp_features`, exact in single precision."""
    return np.random.default_rng(1).integers(-200, 200, 3 * 8 + 9 * 3) / 64.0


def crfpp_text() -> bytes:
    """A model of CRF++ as crf_learn -t writes it."""
    weights = crfpp_weights()
    heads = ["version: 100", "cost-factor: 1", f"maxid: {len(weights)}", "xsize: 2"]
    features = [f"{at} {name}" for name, at in crfpp_features().items()]
    blocks = [heads, LABELS, TEMPLATE, features, [f"{w:.16f}" for w in weights]]
    return "\n\n".join("\n".join(block) for block in blocks).encode() + b"\n"


def crfpp_binary() -> bytes:
    """The same in CRF++'s binary form."""
    weights = crfpp_weights()
    labels = "".join(f"{label}\0" for label in LABELS).encode()
    templates = "".join(f"{line}\0" for line in TEMPLATE).encode()
    templates += b"\0" * (-len(templates) % 4)
    trie = darts({name.encode(): at for name, at in crfpp_features().items()})
    head = struct.pack("<IidIIII", 100, 0, 1.0, len(weights), 2, len(trie), len(labels))
    return head + labels + struct.pack("<I", len(templates)) + templates + trie + weights.astype("<f4").tobytes()


def darts(values: dict[bytes, int]) -> bytes:
    """A double-array trie, built in the simplest way: every node's children lie in the first place that fits."""
    units = {0: [1, 0]}
    bases: set[int] = set()

    def place(node: int, keys: dict[bytes, int]) -> None:
        """Put the children of a node where nothing lies yet."""
        first = sorted({key[0] for key in keys if key})
        spots = [0] * (b"" in keys) + [1 + byte for byte in first]
        base = next(b for b in count(1) if b not in bases and not any(b + spot in units for spot in spots))
        bases.add(base)
        units[node][0] = base
        units.update({base + spot: [0, base] for spot in spots})
        if b"" in keys:
            units[base][0] = -1 - keys[b""]
        for byte in first:
            place(base + 1 + byte, {key[1:]: v for key, v in keys.items() if key and key[0] == byte})

    place(0, values)
    table = np.zeros((max(units) + 1, 2), "<i4")
    for at, unit in units.items():
        table[at] = unit
    return table.tobytes()


def wapiti_model(kind: int = 2) -> bytes:
    """A model of Wapiti."""
    patterns = ["u:w=%x[0,0]", "*:s=%x[0,1]", 'u:p=%m[0,0,"^.?"]', "u:n=%x[1,0]", "b"]
    observations = ["u:w=New", "u:w=York", "*:s=X", "*:s=x", "u:p=N", "u:p=Y", "u:p=é", "u:n=is", "u:n=_x+1", "b"]
    n_weights = sum({"u": 3, "b": 9, "*": 12}[name[0]] for name in observations)
    weights = np.random.default_rng(2).normal(size=n_weights)
    chosen = [i for i in range(n_weights) if i % 4]
    lines = [f"#mdl#{kind}#{len(chosen)}", f"#rdr#{len(patterns)}/1/0", *map(netstring, patterns)]
    lines += [
        f"#qrk#{len(LABELS)}",
        *map(netstring, LABELS),
        f"#qrk#{len(observations)}",
        *map(netstring, observations),
    ]
    return "\n".join([*lines, *(f"{i}={float(weights[i]).hex()}" for i in chosen)]).encode() + b"\n"


def netstring(text: str) -> str:
    """``length:bytes,``."""
    return f"{len(text.encode())}:{text},"


#: The models by name.
MODELS: dict[str, Callable[[], bytes]] = {
    "crfsuite": crfsuite_model,
    "crfpp text": crfpp_text,
    "crfpp binary": crfpp_binary,
    "wapiti": wapiti_model,
}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """One of many ways to damage a file: bytes changed, numbers made extreme, pieces cut, doubled or moved."""
    data = bytearray(content)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(max(len(data), 1))
        way = rng.randrange(8)
        if way == 0:
            del data[at:]
        elif way == 1 and data:
            data[at] = rng.randrange(256)
        elif way == 2:
            number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, len(data), rng.randrange(2**32)))
            data[at : at + 4] = number.to_bytes(4, "little")
        elif way == 3:
            end = at + rng.randrange(1, 64)
            data[at:at] = data[at:end]
        elif way == 4:
            del data[at : at + rng.randrange(1, 64)]
        elif way == 5:
            data[at : at + 1] = str(rng.randrange(10**6)).encode()
        elif way == 6:
            data[at : at + 8] = struct.pack("<d", rng.choice((np.nan, np.inf, -1e308, 1e-320)))
        else:
            to, size = rng.randrange(max(len(data), 1)), rng.randrange(1, 64)
            data[to : to + size] = data[at : at + size]
    return bytes(data)


def damages(content: bytes, n: int, seed: int) -> Iterator[bytes]:
    """n damaged files."""
    rng = random.Random(seed)
    for _ in range(n):
        yield damaged(content, rng)
