"""The other programs, each behind a small module of its own; none of them has to be installed."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = {"crfsuite": "pycrfsuite", "wapiti": "wapiti", "chaine": "chaine"}
NAMES = {"crfsuite": "python-crfsuite", "wapiti": "libwapiti", "chaine": "chaine"}


def installed(peer: str) -> bool:
    """Whether a peer is there."""
    return find_spec(PACKAGES[peer]) is not None


def missing_notes(*peers: str) -> list[str]:
    """A note for every peer that is not."""
    return [
        f"{NAMES[peer]} is not installed, so it did not take part (pip install -e '.[bench]')."
        for peer in peers
        if not installed(peer)
    ]
