"""Addresses to labels, one or many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from operator import attrgetter
from typing import Any

import numpy as np

from chainfield.arrays import Int32
from chainfield.compat.foreign import read_foreign
from chainfield.compat.pycrfsuite.errors import ItemError
from chainfield.features import NamedFeatures
from chainfield.features.batch import Batch
from chainfield.fitted import Tagger
from chainfield.parallel import count_jobs, ordered_map

from .components import Parsed, Tagged, Tagging, own_tag
from .features import TokenFeatures, agree
from .functions import own_functions
from .original import original

PART = 2048  # addresses that are read at a time


@dataclass(frozen=True, eq=False)
class Road:
    """From tokens to labels, by usaddress's model; ``tokens`` is None where its features are made in another way."""

    tagger: Tagger
    tokens: TokenFeatures | None
    tokenize: Callable[[Any], list[str]]
    described: Callable[[list[str]], list[Any]]
    tagging: Tagging  # without a mapping of labels
    labels: list[str]

    def one(self, tokens: Sequence[str]) -> Int32:
        """The numbers of one address's labels."""
        straight = self.tagger.straight
        if self.tokens is None or straight is None:
            return self.tagger.labels(self.batch([tokens]))
        lists = self.tokens.positions(tokens)
        indptr = np.array([0, *accumulate(map(len, lists))], np.int64) >> 2
        found = straight.of(indptr, np.frombuffer(b"".join(lists), np.int32), None, np.array([0, len(lists)]))
        return self.tagger.labels(self.batch([tokens])) if found is None else found

    def batch(self, addresses: Sequence[Sequence[str]]) -> Batch:
        """Tokens as numbers; every address has some."""
        if self.tokens is not None:
            return self.tokens.batch(addresses)
        return self.tagger.features.encode([self.described(list(tokens)) for tokens in addresses])


@cache
def road() -> Road:
    """The road for the version of usaddress that is installed."""
    usaddress = original()
    own = own_functions(usaddress, parse=attrgetter("parsed"))
    tagger = read_foreign(usaddress.MODEL_PATH).tagger_
    features = tagger.features
    assert isinstance(features, NamedFeatures)
    try:
        tokens = TokenFeatures(features, own["tokenFeatures"])
    except ValueError:
        tokens = None
    if tokens is not None and not agree(tokens, usaddress):
        tokens = None
    labels = list(tagger.task.labels)
    return Road(tagger, tokens, own["tokenize"], own["tokens2features"], Tagging(own["tag"], None), labels)


def parse(address_string: str) -> Parsed:
    """The tokens of an address with their labels."""
    tokens, labels = _tokens_and_labels(road(), address_string)
    return list(zip(tokens, labels, strict=True))


def _tokens_and_labels(way: Road, address_string: str) -> tuple[list[str], tuple[str, ...]]:
    tokens = way.tokenize(address_string)
    labels = way.labels
    return tokens, tuple([labels[number] for number in way.one(tokens).tolist()]) if tokens else ()


def tag(address_string: str, tag_mapping: dict[str, str] | None = None) -> Tagged:
    """The parts of an address by label, and what kind of address it is; RepeatedLabelError as usaddress raises it."""
    way = road()
    tagging = way.tagging
    if tag_mapping is None:
        return tagging.of(address_string, *_tokens_and_labels(way, address_string))
    return own_tag(tagging.tag, address_string, parse(address_string), tag_mapping)


def parse_many(address_strings: Iterable[str], n_jobs: int | None = None) -> Iterator[Parsed]:
    """:func:`parse` of many addresses, as they come, on all processors (or ``n_jobs`` threads)."""
    for _, tokens, labels in _labelled(address_strings, n_jobs):
        yield list(zip(tokens, labels, strict=True))


def tag_many(
    address_strings: Iterable[str], tag_mapping: dict[str, str] | None = None, n_jobs: int | None = None
) -> Iterator[Tagged | Exception]:
    """:func:`tag` of many addresses, as they come. Where ``tag`` would raise, the RepeatedLabelError is the answer."""
    repeated = original().RepeatedLabelError
    tagging = road().tagging if tag_mapping is None else Tagging(road().tagging.tag, tag_mapping)
    for address_string, tokens, labels in _labelled(address_strings, n_jobs):
        try:
            yield tagging.of(address_string, tokens, labels)
        except repeated as error:
            yield error


def _labelled(address_strings: Iterable[str], n_jobs: int | None) -> Iterator[tuple[str, list[str], tuple[str, ...]]]:
    """Every address with its tokens and labels: this thread reads, others find labels."""
    way = road()
    if isinstance(address_strings, str | bytes):
        raise ItemError("tag_many and parse_many take many addresses; put the only one into a list.")

    def found(part: tuple[list[str], list[list[str]], Batch]) -> tuple[list[str], list[list[str]], Int32]:
        return part[0], part[1], way.tagger.labels(part[2])

    for strings, tokens, numbers in ordered_map(found, _parts(way, address_strings), count_jobs(n_jobs)):
        labels, at = tuple(map(way.labels.__getitem__, numbers.tolist())), 0
        for string, own in zip(strings, tokens, strict=True):
            end = at + len(own)
            yield string, own, labels[at:end]
            at = end


def _parts(way: Road, address_strings: Iterable[str]) -> Iterator[tuple[list[str], list[list[str]], Batch]]:
    rest, first, tokenize = iter(address_strings), 0, way.tokenize
    while strings := list(islice(rest, PART)):
        tokens: list[list[str]] = []
        try:
            tokens.extend(map(tokenize, strings))
        except (TypeError, UnicodeDecodeError):
            wrong = strings[len(tokens)]
            raise ItemError(f"Address {first + len(tokens)} is {wrong!r:.60}; addresses must be strings.") from None
        yield strings, tokens, way.batch([own for own in tokens if own])
        first += len(strings)
