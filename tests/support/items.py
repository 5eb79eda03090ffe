"""Random items: ordinary ones, and whatever else users may put into dicts and lists."""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from chainfield.errors import DataError
from chainfield.features import flat


class Text(str):
    """A string that is more than a string."""


class Record(dict):
    """A dict that says something else than it holds."""

    def items(self):
        return [("other", 1.0)]


class Half(float):
    def __float__(self):
        return 0.5


class Endless:
    """Has a length, but no end that could be relied on."""

    def __len__(self):
        return -1

    def __iter__(self):
        return iter(["a", "b"])


class Once(list):
    """Can be read once."""

    def __iter__(self):
        while self:
            yield self.pop(0)


class Silent:
    def __repr__(self):
        raise RuntimeError("no repr")


TEXTS = [
    "",
    "a",
    "b",
    "word",
    "é",
    "ÿ",
    "中文",
    "\ud800",
    "\udfff",
    "😀",
    "\0",
    "a:b",
    ":",
    "x" * 15,
    "y" * 40,
    "ü" * 9,
]
ODD: list[Any] = [
    None, float("nan"), float("inf"), 10**400, -(10**5000), 1j, (), ("a",), frozenset("ab"), bytearray(b"a"), b"\xff",
    b"\xed\xa0\x80", Text("a"), Text(""), Half(2.0), Endless(), Silent(), Fraction(1, 3), range(2),
    np.array([1.0, 2.0]), np.array(3.0), np.str_("s"), np.bytes_(b"s"), np.longdouble(2.5), np.float64("nan"), object(),
    int, Ellipsis,
]  # fmt: skip
PLAIN: list[Any] = [1.0, 0.0, -0.0, 1, 0, True, False, 0.1, 1e308, 5e-324, 2**53 + 1, 2**63, -(2**70), np.float64(0.1),
                    np.float32(0.1), np.int64(3), np.uint8(7), np.bool_(True), np.float16(0.5)]  # fmt: skip


def text(rng: Random) -> Any:
    found = rng.choice(TEXTS) + (rng.choice(TEXTS) if rng.random() < 0.3 else "")
    return found.encode("utf-8", "replace") if rng.random() < 0.1 else found


def texts(rng: Random) -> list[Any]:
    return [text(rng) for _ in range(rng.choice([0, 1, 2, 3, 12]))]


def value(rng: Random, odd: float, depth: int = 0) -> Any:
    if rng.random() < odd:
        return rng.choice(ODD)
    kind = rng.random()
    if kind < 0.45:
        return text(rng)
    if kind < 0.7:
        return rng.choice(PLAIN)
    if kind < 0.8:
        return texts(rng)
    if kind < 0.9:
        return set(texts(rng))
    return record(rng, odd, depth + 1) if depth < 6 else {}


def record(rng: Random, odd: float, depth: int = 0) -> Any:
    found: Any = {}
    for _ in range(rng.choice([0, 1, 2, 5, 9])):
        key = rng.choice([1, None, (), Text("k"), 2.5]) if rng.random() < odd else text(rng)
        found[key] = value(rng, odd, depth)
    if rng.random() < odd:
        return rng.choice([OrderedDict, UserDict, Record, Counter, lambda d: defaultdict(int, d)])(found)
    return found


def item(rng: Random, odd: float) -> Any:
    kind = rng.random()
    if kind < 0.6:
        return record(rng, odd)
    if rng.random() < odd:
        return rng.choice([*ODD, "word", b"word", 3, {"a": {"b": "c"}}.keys()])
    given = texts(rng)
    if given and rng.random() < odd:
        given[rng.randrange(len(given))] = rng.choice([t for t in ODD if getattr(type(t), "__hash__", None)])
    try:
        return rng.choice([list, list, tuple, set, frozenset])(given)
    except TypeError:
        return given


def sequences(rng: Random, odd: float) -> Any:
    found: list[Any] = []
    for _ in range(rng.choice([0, 1, 2, 4])):
        items: Any = [item(rng, odd) for _ in range(rng.choice([0, 1, 3]))]
        if rng.random() < odd:
            items = rng.choice([UserList(items), Once(items), "text", {"a": items}, 3, None, np.array(3.0)])
        found.append(tuple(items) if rng.random() < 0.2 and type(items) is list else items)
    return found


def texts_of(pieces: Any) -> list[str]:
    """The strings behind pieces of a buffer."""
    bounds = zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)
    return [pieces.buffer[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in bounds]


def answer(read: Any) -> Any:
    """Everything that was read, or the class and the text of the error."""
    try:
        parts = list(read())
    except DataError as error:
        return type(error), str(error)
    names = [text for part in parts for text in texts_of(part.names)]
    lengths = [n for part in parts for n in np.diff(part.offsets).tolist()]
    counts = [n for part in parts for n in np.diff(part.indptr).tolist()]
    assert all(part.values is None or (part.values != 1.0).any() for part in parts)
    values = [np.ones(len(part.names)) if part.values is None else part.values for part in parts]
    return names, lengths, counts, b"".join(part.tobytes() for part in values)


def both(seed: int, odd: float) -> tuple[Any, Any]:
    """What the library reads, and what the definition reads, each from data of its own: some can be read only once."""
    one, other = sequences(Random(seed), odd), sequences(Random(seed), odd)
    return answer(lambda: flat.flatten(one)), answer(lambda: [flat.defined(other)])


def main(n: int) -> None:
    """Compare the two encoders on n random inputs."""
    from .native import flatten

    flat.compiled = flatten()
    assert flat.compiled is not None
    kinds: Counter[str] = Counter()
    for seed in range(n):
        odd = (0.0, 0.02, 0.2)[seed % 3]
        found, expected = both(seed, odd)
        assert found == expected, (seed, odd, found, expected)
        kinds["refused" if isinstance(found[0], type) else "read"] += 1
    print(n, dict(kinds))


if __name__ == "__main__":
    main(int(sys.argv[1]))
