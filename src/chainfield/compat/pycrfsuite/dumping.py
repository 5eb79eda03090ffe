"""A model as :class:`ParsedDump`, in full precision, and as the text of ``crfsuite dump``."""

from __future__ import annotations

from collections.abc import Iterator

from chainfield.compat.crfsuite import CrfsuiteModel
from chainfield.compat.crfsuite.model import read_header
from chainfield.compat.crfsuite.translate import as_text

from ._dumpparser import ParsedDump


def parsed(content: bytes, model: CrfsuiteModel) -> ParsedDump:
    """Everything in a model. Works on every model: nothing is written as text and read again."""
    dump = ParsedDump()
    for name, value in read_header(content).items():
        text = value.decode() if isinstance(value, bytes) else f"0x{value:X}" if name.startswith("off") else str(value)
        dump.header[name] = text
    labels, attributes = [as_text(name) for name in model.labels], [as_text(name) for name in model.attributes]
    dump.labels = {name: str(i) for i, name in enumerate(labels)}
    dump.attributes = {name: str(i) for i, name in enumerate(attributes)}
    moves, states = (zip(*(part.tolist() for part in parts), strict=True) for parts in (model.transition, model.state))
    dump.transitions = {(labels[a], labels[b]): weight for a, b, weight in moves}
    dump.state_features = {(attributes[a], labels[y]): weight for a, y, weight in states}
    return dump


def dump_lines(dump: ParsedDump) -> Iterator[str]:
    """The lines of ``crfsuite dump``, with as many digits as a weight has."""
    yield from ("FILEHEADER = {", *(f"  {name}: {value}" for name, value in dump.header.items()), "}", "")
    for title, names in (("LABELS", dump.labels), ("ATTRIBUTES", dump.attributes)):
        yield from (f"{title} = {{", *(f"  {number:>5}: {name}" for name, number in names.items()), "}", "")
    for title, kind, weights in (("TRANSITIONS", 1, dump.transitions), ("STATE_FEATURES", 0, dump.state_features)):
        entries = (f"  ({kind}) {a} --> {b}: {weight:.17g}" for (a, b), weight in weights.items())
        yield from (f"{title} = {{", *entries, "}", "")
