"""Tagging at scale: files in, files out, each written once and as a whole.

Every piece of the input has one file of its own in the output, which appears when it is complete: a run that was
interrupted leaves out what is there already when it is repeated. What the folder was made by is written into it first,
so that the labels of two models are never mixed.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from chainfield.corpora.plan import plan_columns
from chainfield.corpora.source import ColumnSource
from chainfield.data.coded_rows import CodedRows
from chainfield.data.column_blocks import Block
from chainfield.errors import ConfigError, DataError
from chainfield.files.replacing import replace_file

from .connecting import connect
from .corpus import spread

ABOUT = "about.json"


@dataclass(frozen=True)
class Tagged:
    """What a run did."""

    folder: Path
    n_pieces: int
    n_skipped: int
    n_sentences: int  # those of this run
    n_tokens: int


def tag(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    client: Any = None,
    *,
    piece_bytes: int | None = None,
    watch: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> Tagged:
    """Label column files with a model, on the workers of a client; ``output``: a folder that all workers see.

    The model file is sent to each worker once. Rows come out as they were, with one more column. Pieces that are
    finished already are left out. ``watch`` is called with how many pieces are done, and how many there are.
    """
    path = Path(model)
    if not path.is_file():
        raise FileNotFoundError(f"There is no model file {path}.")
    content = path.read_bytes()
    if isinstance(client, str):
        with connect(client) as own:
            return tag(path, data, output, own, piece_bytes=piece_bytes, watch=watch, **reading)
    found = connect(client)
    digest = hashlib.sha256(content).hexdigest()
    sources = plan_columns(data, piece_bytes=piece_bytes, **reading)
    names = output_names(sources)
    folder = Path(output)
    _claim(folder, {"model": digest, "pieces": [source.name for source in sources]})
    left = [
        (source, folder / name) for source, name in zip(sources, names, strict=True) if not (folder / name).exists()
    ]
    skipped, sentences, tokens = len(sources) - len(left), 0, 0
    if left:
        pieces = spread(found, left)
        for done, (s, n) in enumerate(pieces.as_completed(tag_piece, content, digest), skipped + 1):
            sentences, tokens = sentences + s, tokens + n
            if watch is not None:
                watch(done, len(sources))
    return Tagged(folder, len(sources), skipped, sentences, tokens)


def output_names(sources: Sequence[Any]) -> list[str]:
    """A name for each piece's output: that of the file, and the place in it where it has several pieces."""
    names = [
        Path(source.path).name if source.stop is None else f"{Path(source.path).name}.{source.start:015}"
        for source in sources
    ]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"Two files have the name {twice}; tag them into different folders.")
    return names


def _claim(folder: Path, about: dict[str, Any]) -> None:
    """Say what a folder is for; refuse one that is for something else."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ABOUT
    if path.exists():
        try:
            same = json.loads(path.read_text(encoding="utf-8")) == about
        except ValueError:
            same = False
        if not same:
            raise ConfigError(
                f"{folder} holds labels of another model or of other data; give the name of a new folder, or remove it."
            )
    elif any(folder.iterdir()):
        raise ConfigError(f"{folder} is not empty, and was not made by tagging; give the name of a new folder.")
    else:
        replace_file(path, json.dumps(about, indent=1).encode())


@lru_cache(maxsize=2)
def _loaded(digest: str, folder: str) -> tuple[Any, dict[str, Any]]:
    from chainfield.files.model import load_tagger

    return load_tagger(Path(folder) / f"{digest}.cf")


def model_of(content: bytes, digest: str) -> tuple[Any, dict[str, Any]]:
    """The model of a file's content, read once in a process."""
    folder = Path(tempfile.gettempdir()) / f"chainfield-models-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{digest}.cf"
    if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        replace_file(path, content)
    return _loaded(digest, str(folder))


def tag_piece(job: tuple[ColumnSource, Path], content: bytes, digest: str) -> tuple[int, int]:
    """Tag one piece; its file appears when it is complete. Returns how many sentences and tokens it has."""
    source, target = job
    tagger, about = model_of(content, digest)
    if source.reading.get("separator") is None:  # that of the training data
        between = (about.get("notes") or {}).get("separator")
        source = replace(source, reading={**source.reading, "separator": between})
    names, sentences, tokens = list(map(str, tagger.task.labels)), 0, 0
    parts: list[bytes] = []
    for block in source.blocks(verbatim=True):
        rows = _read_columns(block, tagger, about)
        parts.append(block.labelled(tagger.labels(tagger.features.encode(rows)), names))
        sentences, tokens = sentences + len(rows), tokens + rows.ragged.n_positions
    replace_file(target, b"".join(parts))
    return sentences, tokens


def _read_columns(block: Block, tagger: Any, about: dict[str, Any]) -> CodedRows:
    """The columns that the model reads: a label column is taken out if there is one."""
    width, n = tagger.features.width, block.rows.n_columns
    if width is None:
        raise DataError(f"The model was trained on {tagger.features.kind} features, not on column files.")
    if n not in (width, width + 1):
        raise DataError(
            f"{block.source}, line {block.line_of(0)}: there are {n} columns; the model reads {width} ({width + 1} "
            "with the label), one token per line."
        )
    label = int((about.get("notes") or {}).get("label_column") or -1)
    return block.rows if n == width else block.rows.without(label % n)
