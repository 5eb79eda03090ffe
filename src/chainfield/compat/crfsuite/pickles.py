"""Models inside pickles of sklearn-crfsuite's ``CRF``, taken out without executing anything.

A pickle is a program. It is read here as a list of instructions (:mod:`pickletools`), none of which is carried out:
``FileResource`` pickles the content of its file under a key that is known, and the string behind that key is the model.
"""

from __future__ import annotations

import codecs
import pickletools
import re
import zlib

from chainfield.errors import ModelFileError

KEY = "__FILE_RESOURCE_DATA__"
MOST_BYTES = 1 << 32  # of what a compressed pickle may hold
_BETWEEN = (
    "MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "FRAME", "GLOBAL", "STACK_GLOBAL", "MARK",
    "GET", "BINGET", "LONG_BINGET",  # of _codecs.encode, where something else was written by it before
)  # fmt: skip
OLDEST = b"ccopy_reg\n"  # how pickles of an object by protocol 0 begin
#: A string behind the key in such a pickle: Python 2 wrote both as it writes strings in programs, to the line's end.
_LINE = re.compile(rb"S'" + KEY.encode() + rb"'\n(?:p\d+\n)?S(['\"])(.*)\1$", re.MULTILINE)


def pickled_model(content: bytes, name: str = "the pickle") -> bytes:
    """The bytes of the only model in a pickle, compressed (joblib) or not."""
    found = {model for model in pickled_models(_plain(content, name), name) if model[:4] == b"lCRF"}
    if len(found) != 1:
        what = "no model of sklearn-crfsuite" if not found else f"{len(found)} models"
        raise ModelFileError(f"{name} holds {what}; a pickle of one fitted sklearn_crfsuite.CRF is expected.")
    return found.pop()


def pickled_models(content: bytes, name: str) -> list[bytes]:
    """All contents of files in a pickle."""
    found: list[bytes] = []
    waiting = False
    try:
        if content.startswith(OLDEST):
            return [codecs.escape_decode(line[2])[0] for line in _LINE.finditer(content)]
        for opcode, argument, _ in pickletools.genops(content):
            if argument == KEY:
                waiting = True
            elif waiting and isinstance(argument, bytes | bytearray):
                found.append(bytes(argument))
                waiting = False
            elif waiting and isinstance(argument, str) and opcode.name not in _BETWEEN:
                if argument in ("_codecs", "encode"):  # how protocols before 3 wrote bytes: as text in latin-1
                    continue
                found.append(argument.encode("latin-1"))
                waiting = False
            elif waiting and opcode.name not in _BETWEEN:
                waiting = False
    except (ValueError, UnicodeError, IndexError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"{name} is not a pickle that can be read: {str(error)[:80]}.") from None
    return found


def _plain(content: bytes, name: str) -> bytes:
    if content[:1] == b"\x80" or content.startswith(OLDEST):
        return content
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # zlib or gzip
    try:
        plain = unpacker.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise ModelFileError(f"{name} cannot be unpacked: {error}.") from None
    if unpacker.unconsumed_tail:
        raise ModelFileError(f"{name} unpacks to more than {MOST_BYTES >> 30} GiB.")
    return plain
