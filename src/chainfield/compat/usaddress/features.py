"""The features of tokens as numbers: every distinct token is looked at once.

usaddress describes a position by the features of its token, of the token before and of the one after, and marks both
ends. So a token has three lists of numbers, one for each of these places, and a position joins three lists. What a
token's features are, only usaddress says (``tokenFeatures``); that positions are made of them in this way is compared
with usaddress (``tokens2features``) on some addresses before it is relied on.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, final

import numpy as np

from chainfield.arrays import Int, Int32, offsets_of
from chainfield.features.batch import Batch, Sparse
from chainfield.features.named import NamedFeatures

MOST = 1 << 16  # distinct tokens that are remembered
PROBES = (
    "Suite", "&", "1600 Pennsylvania", "1 2nd Ave.", "123 N. Main St., Suite #100, Chicago, IL 60601-1234",
    "PO Box 1000, St Paul (MN) 55101", "State & Lake; Chicago", "½ mile w of 00500 Route 66", "(rear) 12-14 O'Brien Ln",
)  # fmt: skip
NUMBERS = [str(number) for number in (1, 2, 3, 9, 10, 11, 22, 42, 50, 66, 90, 99, 100, 101, 119, 500, 911, 1000, 1234)]
NUMBERS += ["1600", "2020", "12345", "60601", "60000", "90210", "123456", "0", "00", "007", "0100", "987654321"]

Lists = tuple[bytes, bytes, bytes]  # int32: of the token itself, of the one before, of the one after


@final
class TokenFeatures(dict[str, Lists]):
    """The lists of every token that was seen; ``described``: usaddress's features of a token.

    Tokens that are described alike share their lists. Of numbers, only the digits and the zeros at the end count, so
    that 1234 need not be described when 1111 is; this, too, is compared with usaddress.
    """

    def __init__(self, features: NamedFeatures, described: Any) -> None:
        self.features = features
        self.described = described
        self.alike: dict[tuple[Any, ...], Lists] = {}
        ends: Any = [{"address.start": True}, {"address.end": True}]
        ends += [{"previous": ends[0]}, {"next": ends[1]}]
        self.start, self.end, self.after_start, self.before_end = self.numbers(ends)
        self.by_digits = all(described(number) == described(shape(number)) for number in NUMBERS)

    def __missing__(self, token: str) -> Lists:
        if self.by_digits and token.isdigit() and token.isascii():
            same = shape(token)
            if same != token:
                return self[same]
        found = self.described(token)
        key = tuple(found.items())
        lists = self.alike.get(key)
        if lists is None:
            own, before, after = self.numbers([found, {"previous": found}, {"next": found}])
            lists = self.alike[key] = own, before, after
        if len(self) >= MOST:
            self.clear()
            self.alike.clear()
        self[token] = lists
        return lists

    def numbers(self, items: list[Any]) -> list[bytes]:
        """The known features of some items that are not 0; any other value than 1 is a ValueError."""
        sparse = self.features.encode([items]).sparse
        assert sparse is not None
        numbers, ends = sparse.indices.tolist(), sparse.indptr.tolist()
        values = [1.0] * len(numbers) if sparse.values is None else sparse.values.tolist()
        found = []
        for a, b in pairwise(ends):
            kept = [f for f, value in zip(numbers[a:b], values[a:b], strict=True) if f >= 0 and value]
            if not all(value in (0.0, 1.0) for value in values[a:b]):
                raise ValueError("a feature has a value of its own")
            found.append(array("i", kept).tobytes())
        return found

    def positions(self, tokens: Sequence[str]) -> list[bytes]:
        """The features of every position of an address, in usaddress's order; an address has a token at least."""
        known = [self[token] for token in tokens]
        if len(known) == 1:
            return [known[0][0] + self.start + self.end]
        second, last = known[1], known[-1]
        found = [known[0][0] + second[2] + (self.before_end if len(known) == 2 else b"") + self.start]
        found += [b[0] + a[1] + c[2] for a, b, c in zip(known, known[1:], known[2:], strict=False)]
        found.append(last[0] + known[-2][1] + self.end)
        if len(known) == 2:
            found[1] = last[0] + known[0][1] + self.after_start + self.end
        else:
            found[1] = second[0] + known[0][1] + self.after_start + known[2][2]
            if len(known) == 3:
                found[1] += self.before_end
            else:
                found[-2] += self.before_end
        return found

    def batch(self, addresses: Sequence[Sequence[str]]) -> Batch:
        """Many addresses as numbers: the same lists, joined in bulk. Every address has a token at least."""
        entries = list(map(self.__getitem__, chain.from_iterable(addresses)))
        offsets = offsets_of(np.fromiter(map(len, addresses), np.int64, len(addresses)))
        kinds = {id(entry): entry for entry in entries}
        number = dict(zip(kinds, range(len(kinds)), strict=True))
        pieces = [piece for entry in kinds.values() for piece in entry] + self._marks()
        bounds = offsets_of(np.fromiter(map(len, pieces), np.int64, len(pieces)) >> 2)
        whole: Int32 = np.frombuffer(b"".join(pieces), np.int32)
        kind = np.fromiter(map(number.__getitem__, map(id, entries)), np.int64, len(entries))
        chosen = _pieces(3 * kind, offsets, 3 * len(kinds))
        lengths = np.diff(bounds)[chosen]  # (N, 7)
        indptr = offsets_of(lengths.sum(axis=1))
        flat = lengths.ravel()
        where = np.arange(indptr[-1]) + np.repeat(bounds[chosen.ravel()] - (np.cumsum(flat) - flat), flat)
        return Batch(offsets, Sparse(indptr, whole[where], None, self.features.n_features))

    def _marks(self) -> list[bytes]:
        return [self.after_start, self.before_end, self.start, self.end, b""]


def _pieces(own: Int, offsets: Int, marks: int) -> Int:
    """(N, 7) the pieces of every position in usaddress's order: itself, what is before and after, the ends.

    own: (N,) the first of a token's three pieces; from ``marks`` on there are those of the ends, and an empty one.
    """
    nothing = marks + 4
    first, last = offsets[:-1], offsets[1:] - 1
    chosen = np.full((len(own), 7), nothing)
    chosen[:, 0] = own
    chosen[1:, 1] = own[:-1] + 1
    chosen[first, 1] = nothing
    chosen[:-1, 3] = own[1:] + 2
    chosen[last, 3] = nothing
    long = last > first
    chosen[first[long] + 1, 2] = marks
    chosen[last[long] - 1, 4] = marks + 1
    chosen[first, 5] = marks + 2
    chosen[last, 6] = marks + 3
    return chosen


def shape(number: str) -> str:
    """The first number of as many digits and zeros at the end."""
    zeros = len(number) - len(number.rstrip("0"))
    return "1" * (len(number) - zeros) + "0" * zeros


def agree(found: TokenFeatures, usaddress: Any) -> bool:
    """Whether positions are made of tokens' features in this version of usaddress, too."""
    for address in PROBES:
        tokens = usaddress.tokenize(address)
        try:
            expected = found.numbers(usaddress.tokens2features(tokens))
            if found.positions(tokens) != expected:
                return False
        except (ValueError, KeyError, TypeError):
            return False
    return True
