"""Model files of other programs, whichever it was: they tell it by their first bytes."""

from __future__ import annotations

import os
from pathlib import Path

from chainfield.errors import ModelFileError
from chainfield.models.tagging import TaggingModel

MOST_BYTES = 1 << 33  # larger files are no models of these programs
#: How pickles begin: protocols from 2 on, Python 2's protocol 0, gzip, zlib at several levels.
PICKLES = (b"\x80", b"ccopy_reg\n", b"\x1f\x8b", b"\x78\x9c", b"\x78\x5e", b"\x78\x01", b"\x78\xda")


def read_foreign(path: str | os.PathLike[str], cost_factor: float | None = None) -> TaggingModel:
    """A model of CRFsuite, CRF++ or Wapiti, or a pickle of sklearn-crfsuite (which is not executed), as one of ours.

    ``cost_factor``: what CRF++ multiplies all scores by (``crf_test -c``); None: what the file says.
    """
    target = Path(path)
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder; give the name of a model file.")
    if not target.is_file() and target.exists():
        raise ModelFileError(f"{target} is a device or a pipe; give the name of a model file.")
    if target.stat().st_size > MOST_BYTES:
        raise ModelFileError(f"{target} is larger than any model of CRFsuite, CRF++ or Wapiti.")
    return parse_foreign(target.read_bytes(), os.fspath(path), cost_factor)


def parse_foreign(content: bytes, name: str, cost_factor: float | None = None) -> TaggingModel:
    """The same from the bytes of a file."""
    kind = program_of(content)
    if kind == "CRF++":
        from .crfpp import from_crfpp, parse_crfpp

        return from_crfpp(parse_crfpp(content, name), cost_factor)
    if cost_factor is not None:
        raise ModelFileError(f"{name} is of {kind or 'another program'}; only models of CRF++ have a cost factor.")
    if kind == "Wapiti":
        from .wapiti import from_wapiti, parse_wapiti

        return from_wapiti(parse_wapiti(content, name))
    from .crfsuite import from_crfsuite, parse_crfsuite
    from .crfsuite.pickles import pickled_model

    if kind == "pickle":
        content = pickled_model(content, name)
    elif kind is None:
        raise ModelFileError(
            f"{name} is not a model of CRFsuite, CRF++ or Wapiti, nor a pickle of sklearn-crfsuite; models of this "
            "library need not be imported."
        )
    return from_crfsuite(parse_crfsuite(content, name))


def program_of(content: bytes) -> str | None:
    """Which program wrote it."""
    if content[:4] in (b"lCRF", b"FRCl"):
        return "CRFsuite"
    if content.startswith(b"#mdl#"):
        return "Wapiti"
    version = int.from_bytes(content[:4], "little")
    if content.startswith(b"version:") or (len(content) > 32 and version // 100 == 1) or content[:3] == b"\0\0\0":
        return "CRF++"
    if content.startswith(PICKLES):
        return "pickle"
    return None
