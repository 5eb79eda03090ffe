"""TIMIT's 61 phones, folded to the usual 48 for models and 39 for scoring (Lee and Hon 1989)."""

from __future__ import annotations

from chainfield.errors import DataError

_SAME_48 = [
    "aa", "ae", "ah", "ao", "aw", "ax", "ay", "b", "ch", "d", "dh", "dx", "eh", "el", "en", "er", "ey", "f", "g", "hh",
    "ih", "ix", "iy", "jh", "k", "l", "m", "n", "ng", "ow", "oy", "p", "r", "s", "sh", "t", "th", "uh", "uw", "v", "w",
    "y", "z", "zh",
]  # fmt: skip
#: The glottal stop q is left out (None).
TO_48: dict[str, str | None] = {
    **{phone: phone for phone in _SAME_48},
    "ax-h": "ax", "axr": "er", "ux": "uw", "em": "m", "nx": "n", "eng": "ng", "hv": "hh",
    "pcl": "cl", "tcl": "cl", "kcl": "cl", "qcl": "cl", "bcl": "vcl", "dcl": "vcl", "gcl": "vcl",
    "h#": "sil", "#h": "sil", "pau": "sil", "epi": "epi", "q": None,
}  # fmt: skip
_TO_39 = {
    "cl": "sil", "vcl": "sil", "epi": "sil", "el": "l", "en": "n", "sh": "sh", "zh": "sh", "ao": "aa", "ih": "ih",
    "ix": "ih", "ah": "ah", "ax": "ah",
}  # fmt: skip


def fold_48(phone: str) -> str | None:
    """The class of one of the 61 phones among the 48; None for the glottal stop, which is left out."""
    if phone not in TO_48:
        raise DataError(f"{phone!r} is none of TIMIT's 61 phones.")
    return TO_48[phone]


def fold_39(phone: str) -> str:
    """The class of one of the 48 phones among the 39 that are told apart in scoring."""
    if phone not in TO_48.values():
        raise DataError(f"{phone!r} is none of the 48 phones.")
    return _TO_39.get(phone, phone)
