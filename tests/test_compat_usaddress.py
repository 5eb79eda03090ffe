"""usaddress by way of the library: the same answers, one or many at a time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from chainfield.errors import DataError

usaddress = pytest.importorskip("usaddress")
ours = pytest.importorskip("chainfield.compat.usaddress")

from chainfield.compat.usaddress.features import TokenFeatures, agree  # noqa: E402
from chainfield.compat.usaddress.parsing import Road, road  # noqa: E402

ADDRESSES = [
    "123 Main St. Suite 100 Chicago, IL",
    "PO Box 1000, St Paul MN 55101",
    "State & Lake, Chicago",
    "1 ½ Elm; rear",
    "Rd",
    "10 Oak",
    "1600 Pennsylvania Ave NW Washington DC 20500-0003",
    "",
    " ,; ",
    "(123) N. 00500 W. Route 66 &#38; Fifth Ave.",
    "Chicago, IL 123 Main St, Chicago, IL",  # a label comes twice
    "Größe Straße 7 東京 \ud800",
]


def answer(tag, *arguments):
    try:
        return tag(*arguments)
    except usaddress.RepeatedLabelError as error:
        return str(error)


def test_answers_are_those_of_usaddress():
    assert [ours.parse(a) for a in ADDRESSES] == [usaddress.parse(a) for a in ADDRESSES]
    assert [answer(ours.tag, a) for a in ADDRESSES] == [answer(usaddress.tag, a) for a in ADDRESSES]
    mapping = {"AddressNumber": "number", "StreetName": "street"}
    assert [answer(ours.tag, a, mapping) for a in ADDRESSES] == [answer(usaddress.tag, a, mapping) for a in ADDRESSES]
    assert ours.tag(b"12 Main St") == usaddress.tag(b"12 Main St")


def test_tokens_are_described_once_each():
    assert isinstance(road().tokens, TokenFeatures)
    expected = road().tokens["Main"]
    road().tokens.clear()
    ours.parse("Main Main")
    assert dict(road().tokens) == {"Main": expected}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_at_a_time(n_jobs):
    many = ADDRESSES * 400
    assert list(ours.parse_many(many, n_jobs)) == [usaddress.parse(a) for a in ADDRESSES] * 400
    found = list(ours.tag_many(iter(ADDRESSES), n_jobs=n_jobs))
    assert [str(f) if isinstance(f, Exception) else f for f in found] == [answer(usaddress.tag, a) for a in ADDRESSES]
    assert isinstance(found[10], usaddress.RepeatedLabelError)
    assert list(ours.tag_many([])) == []


def test_what_is_no_address_is_named():
    with pytest.raises(DataError, match="Address 2 is None"):
        list(ours.tag_many(["12 Main St", "", None]))
    with pytest.raises(TypeError, match="put the only one into a list"):
        list(ours.parse_many("12 Main St"))
    with pytest.raises(TypeError):
        ours.tag(None)


class Other:
    """A version of usaddress that describes positions in another way."""

    tokenize = staticmethod(usaddress.tokenize)

    @staticmethod
    def tokens2features(tokens):
        found = usaddress.tokens2features(tokens)
        found[-1]["word"] = "last"
        return found


def test_many_addresses_have_the_features_of_single_ones():
    lists = [tokens for tokens in map(usaddress.tokenize, ADDRESSES) if tokens]
    sparse = road().tokens.batch(lists).sparse
    single = [piece for tokens in lists for piece in road().tokens.positions(tokens)]
    bounds = zip(sparse.indptr[:-1], sparse.indptr[1:], strict=True)
    assert [sparse.indices[a:b].tobytes() for a, b in bounds] == single


def test_another_version_is_asked_for_its_features():
    tokens = road().tokens
    assert agree(tokens, usaddress)
    assert not agree(tokens, Other)
    slow = Road(road().tagger, None, usaddress.tokenize, usaddress.tokens2features, road().tagging, road().labels)
    for address in ADDRESSES[:5]:
        own = usaddress.tokenize(address)
        assert slow.one(own).tolist() == road().one(own).tolist()
        assert slow.batch([own]).sparse.n_features == tokens.batch([own]).sparse.n_features


def test_under_its_own_name():
    code = (
        "from chainfield.compat import install; install('usaddress'); import usaddress; "
        "from usaddress import LABELS, tag; assert usaddress.__name__ == 'chainfield.compat.usaddress'; "
        "print(tag('12 Main St')[1], len(LABELS), usaddress.RepeatedLabelError.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Street", "Address", "26", "RepeatedLabelError"]
