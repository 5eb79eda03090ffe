"""An encoded corpus as a folder: ``corpus.cf`` with the features, the labels and a list of pieces, and one file each.

The description is written last: a folder without it is not finished, and is refused.
"""

from __future__ import annotations

import copy
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from chainfield.errors import ConfigError, ModelFileError
from chainfield.features.feature_map import FeatureMap
from chainfield.features.template import TemplateSet
from chainfield.files.container import read_container, write_container
from chainfield.files.model import load_features
from chainfield.files.parts import within
from chainfield.files.values import from_json, to_json
from chainfield.parallel import count_jobs

from .corpus import Corpus, Encoding, SourceCorpus
from .loaded import LoadedPieces
from .part import PREPARED, Part
from .part_file import read_part, write_part
from .profile import BORDER, Profile
from .source import Source
from .survey import ChooseMap

KIND = "corpus"
VERSION = 1
DESCRIPTION = "corpus.cf"
IN_MEMORY = 1 << 30  # bytes of pieces that a training may keep in memory, unless it is told otherwise


def encode_corpus(
    sources: Sequence[Source],
    folder: str | os.PathLike[str],
    choose: ChooseMap,
    *,
    min_count: int = 1,
    n_jobs: int | None = None,
    notes: dict[str, Any] | None = None,
    watch: Callable[[str, int, int], None] | None = None,
) -> EncodedCorpus:
    """Learn the features of a corpus, and write it encoded, piece by piece; memory grows with the features alone.

    ``watch`` is called with a stage ("learned", "encoded"), and how many pieces are done and there are.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} exists already and is not empty; give the name of a new folder.")
    target.mkdir(parents=True, exist_ok=True)
    files: list[dict[str, Any]] = []
    try:
        loading = Loading(sources, watch)
        pieces: LoadedPieces[Source] = LoadedPieces(loading, range(len(sources)), count_jobs(n_jobs))
        encoding = SourceCorpus(pieces).encoding(choose, min_count)
        for i, part in enumerate(encoding.parts.map(_itself)):
            name = f"part-{i:05}.cf"
            files.append({"name": name, "sha256": write_part(target / name, part), "bytes": part.__sizeof__()})
        _write_description(target / DESCRIPTION, encoding, files, {"min_count": min_count, **(notes or {})})
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return open_corpus(target)


@dataclass
class Loading:
    """Sources by number; every source is asked for twice, to learn its features and to encode it."""

    sources: Sequence[Source]
    watch: Callable[[str, int, int], None] | None
    count: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def __call__(self, number: int) -> Source:
        """One of them."""
        n = len(self.sources)
        with self.lock:
            self.count += 1
            if self.watch is not None:
                self.watch("learned" if self.count <= n else "encoded", (self.count - 1) % n + 1, n)
        return self.sources[number]


def _itself(part: Part) -> Part:
    return part


def _write_description(path: Path, encoding: Encoding, files: list[dict[str, Any]], notes: dict[str, Any]) -> None:
    features, arrays = encoding.features.save()
    profile = encoding.profile
    number = {kind: i for i, kind in enumerate(profile.kinds)} | {BORDER: -1}
    config = {
        "features": {"kind": encoding.features.kind, **features},
        "kinds": [to_json(kind, "label") for kind in profile.kinds],
        "steps": sorted([number[a], number[b], int((a, b) in profile.complete)] for a, b in profile.steps),
        "sizes": [list(size) for size in profile.sizes],
        "parts": files,
        "notes": notes,
    }
    write_container(path, KIND, VERSION, config, {f"features.{name}": array for name, array in arrays.items()})


def open_corpus(folder: str | os.PathLike[str], *, memory: int = IN_MEMORY, n_jobs: int | None = None) -> EncodedCorpus:
    """An encoded corpus; ``memory``: how many bytes of pieces a training may keep between iterations."""
    target = Path(folder)
    if not target.is_dir():
        raise ModelFileError(f"There is no folder {target}; make it with: chainfield encode DATA {target}")
    if not (target / DESCRIPTION).exists():
        raise ModelFileError(
            f"{target} is no encoded corpus, or not a finished one: {DESCRIPTION} is missing. Encode it again, or "
            "give the files in it by name (a folder of .txt and .ann files is read as brat)."
        )
    config, arrays, _ = read_container(target / DESCRIPTION, KIND, VERSION)
    try:
        n_bytes = sum(array.nbytes for array in arrays.values())
        features = load_features(config["features"], within(arrays, "features."), n_bytes)
        kinds = [from_json(value) for value in config["kinds"]]
        kinds = [frozenset(value) if isinstance(value, set) else value for value in kinds]
        names = [*kinds, BORDER]
        steps = [((names[a], names[b]), bool(complete)) for a, b, complete in config["steps"]]
        sizes = tuple((int(s), int(n)) for s, n in config["sizes"])
        profile = Profile(
            tuple(kinds), frozenset(step for step, _ in steps), frozenset(step for step, full in steps if full), sizes
        )
        profile.witnesses()  # there are some
        files = [(str(file["name"]), str(file["sha256"]), int(file["bytes"])) for file in config["parts"]]
        if len(files) != len(sizes) or not files or any(Path(name).name != name for name, _, _ in files):
            raise ValueError("the list of pieces does not fit the corpus")
        notes = dict(config["notes"])
        if not isinstance(notes["min_count"], int):
            raise ValueError("min_count is not a number")
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelFileError(
            f"{target / DESCRIPTION} does not describe a corpus: {reason}. Encode the corpus again."
        ) from None
    return EncodedCorpus(target, features, profile, files, notes, memory, n_jobs)


@dataclass(frozen=True, eq=False)
class EncodedCorpus(Corpus):
    """A corpus in a folder; pieces are read when they are needed, and compared with their checksums the first time."""

    folder: Path
    features: FeatureMap
    profile: Profile
    files: list[tuple[str, str, int]]  # name, checksum and bytes of each piece
    notes: dict[str, Any]
    memory: int = IN_MEMORY
    n_jobs: int | None = None
    _verified: set[int] = field(default_factory=set, init=False)

    def __repr__(self) -> str:
        size = f"{self.profile.n_sequences:,} sequences, {self.profile.n_positions:,} positions"
        return f"EncodedCorpus({str(self.folder)!r}: {size} in {len(self.files)} pieces)"

    def part(self, number: int) -> Part:
        """One piece."""
        name, checksum, _ = self.files[number]
        if not (self.folder / name).exists():
            raise ModelFileError(f"{self.folder} lacks the piece {name!r:.60}. Encode the corpus again.")
        part = read_part(self.folder / name, checksum, verified=number in self._verified)
        sparse, edges = part.batch.sparse, part.batch.edges
        if (0 if sparse is None else sparse.n_features) != self.features.n_features or (
            0 if edges is None else edges.n_features
        ) != self.features.n_edge_features:
            raise ModelFileError(f"{self.folder / name} has other features than its corpus. Encode the corpus again.")
        self._verified.add(number)
        return part

    def encoding(self, choose: ChooseMap, min_count: int, template: TemplateSet | None = None) -> Encoding:
        """As it was encoded: a template and ``min_count`` were chosen then."""
        if min_count not in (1, self.notes["min_count"]):
            raise ConfigError(
                f"min_count is {min_count}, but {self.folder} was encoded with {self.notes['min_count']}; leave it "
                "out, or encode the corpus again."
            )
        own = getattr(self.features, "templates", None)
        if template is not None and (own is None or (template.text, template.dialect) != (own.text, own.dialect)):
            raise ConfigError(f"{self.folder} was encoded with another template; leave it out, or encode it again.")
        keep, left = 0, self.memory
        for _, _, size in self.files:
            left -= PREPARED * size
            keep += left >= 0
        load = partial(EncodedCorpus.part, self)
        pieces: LoadedPieces[Part] = LoadedPieces(load, range(len(self.files)), count_jobs(self.n_jobs), keep)
        return Encoding(copy.deepcopy(self.features), pieces, self.profile)
