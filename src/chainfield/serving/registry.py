"""The models of a server, by name and version. A file that changes is loaded beside the old model, and then swapped."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chainfield.errors import ChainfieldError, ConfigError
from chainfield.models import ClassifyingModel, TaggingModel, load
from chainfield.text.tagging.text_tagger import TextTagger

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
    model: TextTagger | TaggingModel | ClassifyingModel
    loaded: float = field(default_factory=time.time)

    @property
    def tagging(self) -> bool:
        """Whether it gives labels to tokens."""
        return not isinstance(self.model, ClassifyingModel)

    @property
    def inner(self) -> TaggingModel | ClassifyingModel:
        """The model of tokens, without what cuts texts."""
        return self.model.model_ if isinstance(self.model, TextTagger) else self.model

    @property
    def labels(self) -> list[Any]:
        """The labels of tokens or sequences."""
        return list(self.inner._fitted().task.labels)

    @property
    def reads_text(self) -> bool:
        """Whether it takes texts; all models take tokens."""
        return isinstance(self.model, TextTagger) or (not self.tagging and _width(self.inner) == 1)

    def described(self) -> dict[str, Any]:
        """For JSON."""
        features = self.inner._fitted().features
        return {
            "name": self.name,
            "version": self.version,
            "task": "tagging" if self.tagging else "classifying",
            "class": type(self.inner).__name__,
            "labels": [label if isinstance(label, str | int) else str(label) for label in self.labels],
            "reads_text": self.reads_text,
            "columns": _width(self.inner),
            "features": features.kind,
            "n_weights": self.inner._fitted().n_weights,
            "loaded": round(self.loaded, 3),
        }


def _width(model: Any) -> int | None:
    width = getattr(model._fitted().features, "width", None)
    return width if isinstance(width, int) else None


def load_served(source: Source) -> Served:
    """Load one file; taggers of a single column also read texts, by the built-in tokeniser."""
    stamp = stamp_of(source.path)
    model = load(source.path, 1)
    if isinstance(model, TaggingModel) and _width(model) == 1 and all(isinstance(y, str) for y in model.classes_):
        model = TextTagger.around(model, str(source.path))
    version = source.version
    if version is None:
        version = hashlib.blake2b(source.path.read_bytes(), digest_size=4).hexdigest()
    served = Served(source.name, version, source.path, stamp, model)
    if isinstance(model, TextTagger):
        model.predict(["A first text."])  # much is worked out once: not while a client waits
    return served


def stamp_of(path: Path) -> Stamp:
    """By what a changed file is known."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


class Registry:
    """All models of a server."""

    def __init__(self, sources: Sequence[Source], told: Told = lambda event, **facts: None) -> None:
        if not sources:
            raise ConfigError("There is no model to serve; give one or more model files.")
        self._sources = list(sources)
        self._told = told
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
                self._told("reload_failed", reason=str(error))
                return False
            found = {source.path: self._current(source) for source in files}
            kept = {path: served for path, served in found.items() if served is not None}
            if kept == self._served:
                return False
            try:
                self._swap(kept)
            except ConfigError as error:
                self._told("reload_failed", reason=str(error))
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
                self._told("reload_failed", model=source.name, reason=str(error))
            return old
        del self._refused[source.path]
        self._told("reloaded", model=served.name, version=served.version)
        return served


def _order(stem: str) -> tuple[int, str]:
    return (int(stem), stem) if stem.isascii() and stem.isdecimal() and len(stem) < 18 else (-1, stem)
