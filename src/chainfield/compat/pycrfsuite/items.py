"""Items: the features of the positions of one sequence, by the rules of :mod:`chainfield.features.attributes`."""

from __future__ import annotations

from operator import index
from typing import Any, final

from chainfield.arrays import Ragged
from chainfield.errors import DataError
from chainfield.features.flat import Flat, flatten

from .errors import ItemError


@final
class ItemSequence:
    """The attributes of one sequence, read once, for any number of calls.

    >>> ItemSequence([["foo"], {"bar": {"baz": 1}}]).items()
    [{'foo': 1.0}, {'bar:baz': 1.0}]
    """

    def __init__(self, pyseq: Any) -> None:
        self.flat = read_items(pyseq)

    def items(self) -> list[dict[str, float]]:
        """One dict {attribute: value} per position."""
        texts = self.flat.names.texts()
        values = [1.0] * len(texts) if self.flat.values is None else self.flat.values.tolist()
        return [dict(pairs) for pairs in Ragged(self.flat.indptr).cut(list(zip(texts, values, strict=True)))]

    def __len__(self) -> int:
        return len(self.flat.indptr) - 1

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def read_items(xseq: Any) -> Flat:
    """Names and values at the positions of one sequence."""
    if isinstance(xseq, ItemSequence):
        return xseq.flat
    try:
        (found,) = flatten([xseq])
    except DataError as error:
        raise ItemError(without_number(error)) from None
    return found


def without_number(error: DataError) -> str:
    """The message of an error about the only sequence."""
    return str(error).replace("Sequence 0", "The sequence", 1)


def label_text(label: Any) -> str:
    """A label as a string: bytes are welcome."""
    if isinstance(label, str):
        return label
    if isinstance(label, bytes | bytearray):
        return bytes(label).decode("utf-8", "surrogateescape")
    raise ItemError(f"A label is {label!r} ({type(label).__name__}); labels must be strings or bytes.")


def whole_number(value: Any, what: str) -> int:
    """A number as python-crfsuite takes it: anything but a whole one is a TypeError."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r} ({type(value).__name__}); a whole number is expected.") from None
