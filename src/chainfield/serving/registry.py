"""The models of a server, by name and version. A file that changes is loaded beside the old model, and then swapped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chainfield.errors import ChainfieldError, ConfigError, ModelFileError
from chainfield.files.model import content_name, load_model
from chainfield.fitted import FittedModel, Tagger
from chainfield.text.tagging.reader import TextReader, reads_words

from .refusal import Refusal

Stamp = tuple[int, int, int]
Told = Callable[..., None]
"""Called with the name of an event and its facts, when a file was loaded anew, or could not be."""

SUFFIX = ".cf"


@dataclass(frozen=True)
class Source:
    """Where a model comes from: a file, or a folder with one file per version (``1.cf``, ``2.cf``, …)."""

    path: Path
    name: str
    version: str | None = None

    @classmethod
    def of(cls, text: str) -> Source:
        """``PATH``, ``NAME=PATH`` or ``NAME@VERSION=PATH``."""
        before, equals, after = text.partition("=")
        if not equals or Path(text).exists():
            return cls(Path(text), Path(text).stem or Path(text).name)
        name, _, version = before.partition("@")
        if not name or not after:
            raise ConfigError(f"{text!r}: a model is given as PATH, NAME=PATH or NAME@VERSION=PATH.")
        return cls(Path(after), name, version or None)


@dataclass(frozen=True, eq=False)
class Served:
    """A model that is ready. Nothing in it changes: any number of threads may ask it."""

    name: str
    version: str
    path: Path
    stamp: Stamp
    model: FittedModel
    trained_by: str
    reader: TextReader | None = None
    loaded: float = field(default_factory=time.time)

    @property
    def tagging(self) -> bool:
        """Whether it gives labels to tokens."""
        return isinstance(self.model, Tagger)

    @property
    def labels(self) -> list[Any]:
        """The labels of tokens or sequences."""
        return list(self.model.task.labels)

    @property
    def reads_text(self) -> bool:
        """Whether it takes texts; all models take tokens."""
        return self.reader is not None or (not self.tagging and self.model.features.width == 1)

    def described(self) -> dict[str, Any]:
        """For JSON."""
        features = self.model.features
        return {
            "name": self.name,
            "version": self.version,
            "task": "tagging" if self.tagging else "classifying",
            "class": self.trained_by,
            "labels": [label if isinstance(label, str | int) else str(label) for label in self.labels],
            "reads_text": self.reads_text,
            "columns": features.width,
            "features": features.kind,
            "n_weights": self.model.n_weights,
            "loaded": round(self.loaded, 3),
        }


def load_served(source: Source) -> Served:
    """Load one file; taggers of a single column also read texts, by the built-in tokeniser."""
    stamp = stamp_of(source.path)
    model, about = load_model(source.path)
    reader = _reader(source.path, model, about.get("wrapper"))
    if isinstance(model, Tagger) and reader is not None:
        reader.tag(model, ["A first text."], True, 0)  # much is worked out once: not while a client waits
    version = content_name(source.path) if source.version is None else source.version
    return Served(source.name, version, source.path, stamp, model, about.get("class", "LinearCRF"), reader)


def _reader(path: Path, model: FittedModel, wrapper: dict[str, Any] | None) -> TextReader | None:
    """What cuts texts for a model: what its file says, or the built-in rules."""
    if wrapper is None:
        return TextReader.around(model) if reads_words(model) else None
    try:
        return TextReader.restore(model, wrapper)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error} Make or fetch it again.") from None


def stamp_of(path: Path) -> Stamp:
    """By what a changed file is known."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


class Registry:
    """All models of a server."""

    def __init__(self, sources: Sequence[Source]) -> None:
        if not sources:
            raise ConfigError("There is no model to serve; give one or more model files.")
        self._sources = list(sources)
        #: Is told of files that were loaded anew, and of those that could not be.
        self.told: Told = lambda event, **facts: None
        self._lock = threading.Lock()
        self._refused: dict[Path, Stamp] = {}  # files that could not be loaded: not tried again until they change
        self._served: dict[Path, Served] = {}
        self._by_name: dict[str, dict[str, Served]] = {}
        found = {}
        for source in self._files():
            found[source.path] = load_served(source)
        self._swap(found)

    def _files(self) -> list[Source]:
        """The files as they are now: those of folders may come and go."""
        found = []
        for source in self._sources:
            if source.path.is_dir():
                own = sorted(source.path.glob(f"*{SUFFIX}"), key=lambda path: _order(path.stem))
                if not own:
                    raise ConfigError(f"{source.path} holds no model: files of versions end in {SUFFIX}.")
                found += [Source(path, source.name, path.stem) for path in own]
            else:
                found.append(source)
        return found

    def _swap(self, served: dict[Path, Served]) -> None:
        by_name: dict[str, dict[str, Served]] = {}
        for one in served.values():
            own = by_name.setdefault(one.name, {})
            if one.version in own:
                raise ConfigError(
                    f"There are two models {one.name}@{one.version}: {own[one.version].path} and {one.path}; give one "
                    "of them another name or version (NAME@VERSION=PATH)."
                )
            own[one.version] = one
        self._served, self._by_name = served, by_name  # one assignment each: who asks sees the old or the new

    def __iter__(self) -> Any:
        return iter(list(self._served.values()))

    def find(self, name: str | None = None, version: str | None = None) -> Served:
        """The model that was asked for; without a name the first, without a version the last of that name."""
        by_name = self._by_name
        own = by_name[next(iter(by_name))] if name is None else by_name.get(name)
        if own is None:
            raise Refusal(404, f"There is no model {str(name)[:60]!r}; there is {', '.join(by_name)}.")
        if version is None:
            return own[next(reversed(own))]
        if version not in own:
            raise Refusal(404, f"The model {name!r} has no version {version[:60]!r}; it has {', '.join(own)}.")
        return own[version]

    def refresh(self) -> bool:
        """Load what has changed; a file that cannot be loaded leaves its model as it was. True: something changed."""
        with self._lock:
            try:
                files = self._files()
            except (OSError, ConfigError) as error:
                self.told("reload_failed", reason=str(error))
                return False
            found = {source.path: self._current(source) for source in files}
            kept = {path: served for path, served in found.items() if served is not None}
            if kept == self._served:
                return False
            try:
                self._swap(kept)
            except ConfigError as error:
                self.told("reload_failed", reason=str(error))
                return False
            return True

    def _current(self, source: Source) -> Served | None:
        """The model of a file, loaded again if the file has changed."""
        old = self._served.get(source.path)
        try:
            stamp = stamp_of(source.path)
            if (old is not None and stamp == old.stamp) or stamp == self._refused.get(source.path):
                return old
            self._refused[source.path] = stamp
            served = load_served(source)
        except (ChainfieldError, OSError, MemoryError) as error:
            if old is None or source.path.exists():
                self.told("reload_failed", model=source.name, reason=str(error))
            return old
        del self._refused[source.path]
        self.told("reloaded", model=served.name, version=served.version)
        return served


def _order(stem: str) -> tuple[int, str]:
    return (int(stem), stem) if stem.isascii() and stem.isdecimal() and len(stem) < 18 else (-1, stem)
