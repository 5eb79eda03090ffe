"""Corpora in the layout of TIMIT: label files, and the frames of each segment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chainfield.arrays import Float
from chainfield.errors import DataError

from .mfcc import HOP, mfcc, normalise, read_audio


@dataclass(frozen=True, eq=False)
class Segment:
    """A phone and its frames."""

    phone: str
    frames: Float  # (n, 39)
    speaker: str
    utterance: str


def read_phones(path: str | os.PathLike[str]) -> list[tuple[int, int, str]]:
    """(first sample, sample behind the last, phone) of each line of a .phn file."""
    found: list[tuple[int, int, str]] = []
    for number, line in enumerate(Path(path).read_text(encoding="ascii").splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 3 or not (parts[0].isdigit() and parts[1].isdigit()):
            raise DataError(f"{path}, line {number}: a beginning, an end and a phone are expected, not {line!r}.")
        begin, end = int(parts[0]), int(parts[1])
        if end <= begin:
            raise DataError(f"{path}, line {number}: the segment ends at {end}, before it begins at {begin}.")
        found.append((begin, end, parts[2]))
    return found


def phone_segments(
    folder: str | os.PathLike[str],
    *,
    fold: Callable[[str], str | None] = str,
    shortest: int = 3,
    without: tuple[str, ...] = ("sa",),
) -> list[Segment]:
    """The phone segments of all utterances below a folder: NAME.wav beside NAME.phn, in one folder per speaker.

    Features are normalised over each utterance. ``fold`` gives the class of a phone, or None for one to leave out.
    Segments of fewer than ``shortest`` frames are widened around their middle. Utterances whose names begin with one of
    ``without`` are left out (sa1 and sa2 are the same sentences for all speakers).
    """
    found: list[Segment] = []
    files = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() == ".phn")
    if not files:
        raise DataError(f"{folder} has no .phn files.")
    for path in files:
        if path.stem.lower().startswith(without):
            continue
        audio = next((path.with_suffix(s) for s in (".wav", ".WAV", ".flac") if path.with_suffix(s).exists()), None)
        if audio is None:
            raise DataError(f"There is no recording beside {path}.")
        signal, rate = read_audio(audio)
        frames = normalise(mfcc(signal, rate))
        for begin, end, name in read_phones(path):
            phone = fold(name)
            if phone is not None:
                lo, hi = frame_range(begin, end, round(HOP * rate), len(frames), shortest)
                found.append(Segment(phone, frames[lo:hi], path.parent.name, path.stem))
    return found


def frame_range(begin: int, end: int, hop: int, n: int, shortest: int) -> tuple[int, int]:
    """The frames whose middles lie in a segment, at least ``shortest`` of the n there are."""
    lo, hi = -(-begin // hop), -(-end // hop)
    hi = min(hi, n)
    if hi - lo < shortest:
        lo = round((begin + end) / (2 * hop) - shortest / 2)
        lo = max(0, min(lo, n - shortest))
        hi = min(lo + shortest, n)
    return lo, hi
