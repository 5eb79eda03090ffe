"""What the experiments of the HCRF paper share: data, folds, and settings that are chosen on held-out speakers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.phones import fold_39, fold_48

PAPER = "Mahajan, Gunawardana and Acero: Training algorithms for hidden conditional random fields (ICASSP 2006)"
PUBLISHED = "the paper, on all of TIMIT (23 times the data, 20 Gaussians per state)"
HMM = {"n_states": 3, "n_components": 1, "variance_floor": 0.05, "smoothing": 1.0, "n_jobs": 1}


@dataclass(frozen=True)
class Part:
    """Segments with their phones (48 classes)."""

    frames: Sequence[Any]
    phones: Sequence[str]

    def __len__(self) -> int:
        return len(self.frames)


def segments(folder: Path) -> list[Any]:
    """All phone segments of the sample but those of sa1 and sa2."""
    from chainfield.audio import phone_segments

    return phone_segments(folder, fold=fold_48)


def of_speakers(found: Sequence[Any], speakers: Sequence[str]) -> Part:
    """The segments of some speakers."""
    own = [s for s in found if s.speaker in speakers]
    return Part([s.frames for s in own], [s.phone for s in own])


def pairs(found: Sequence[Any]) -> list[list[str]]:
    """Pairs of a woman and a man of the same region, each a test part once: sorted by name the speakers alternate."""
    speakers = sorted({s.speaker for s in found})
    return [speakers[i : i + 2] for i in range(0, len(speakers), 2)]


def without(found: Sequence[Any], left_out: Sequence[int]) -> Part:
    """The segments of all pairs but some."""
    return of_speakers(found, [s for i, pair in enumerate(pairs(found)) if i not in left_out for s in pair])


def scored(phones: Sequence[str]) -> list[str]:
    """The 39 classes that count."""
    return [fold_39(phone) for phone in phones]


def error(model: Any, part: Part) -> float:
    """Per cent of segments with a wrong phone, among 39."""
    wrong = [a != b for a, b in zip(scored(model.predict(part.frames)), scored(part.phones), strict=True)]
    return 100.0 * float(np.mean(wrong))


def fitted(model: Any, train: Part, dev: Part | None = None) -> Any:
    """Trained; with development data the best pass on them (by 48 classes) is kept. None if training ran away."""
    from chainfield.errors import DivergenceError

    try:
        if dev is None:
            return model.fit(train.frames, train.phones)
        return model.fit(train.frames, train.phones, X_dev=dev.frames, y_dev=dev.phones)
    except DivergenceError:
        return None


def curve(model: Any) -> list[float]:
    """Error on development data (48 classes) after each pass."""
    return [100.0 * (1.0 - record["dev_score"]) for record in model.history_]


def vowels(folder: Path, part: str) -> tuple[list[Any], list[str]]:
    """Japanese vowels: sequences of 12 cepstra, and their speakers."""
    found, labels = [], []
    for line in (folder / f"JapaneseVowels_{part}.ts").read_text(encoding="utf-8").splitlines():
        if line.strip() and line[0] not in "#@":
            *dims, label = line.strip().split(":")
            found.append(np.array([[float(v) for v in d.split(",")] for d in dims]).T.copy())
            labels.append(label)
    return found, labels
