"""A corpus that the workers of a cluster read: files by pattern or address, or a bag of sequences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any, final

from chainfield.corpora import EncodedCorpus, SourceCorpus, plan_sources
from chainfield.corpora.corpus import Corpus, Encoding
from chainfield.corpora.part import Part
from chainfield.corpora.plan import columns_of
from chainfield.corpora.source import ListSource, Source
from chainfield.corpora.survey import ChooseMap
from chainfield.errors import ConfigError, DataError
from chainfield.features.template import TemplateSet
from chainfield.frames.tables import TableColumns, read_table
from chainfield.problem import Pieces

from .connecting import connect
from .memory import check_sizes
from .pieces import DaskPieces
from .places import Places
from .work import Parcel, hold


@final
class DaskCorpus(Corpus):
    """Labelled sequences on a cluster; ``fit`` of a model takes it in place of X and y."""

    def __init__(self, client: Any, corpus: Corpus, n_pieces: int) -> None:
        self.client = client
        self.n_pieces = n_pieces
        self._corpus = corpus

    def __repr__(self) -> str:
        return f"DaskCorpus({self.n_pieces} pieces on {self.client.scheduler.address})"

    @property
    def sources(self) -> Pieces[Source]:
        """Those of the corpus."""
        return self._corpus.sources

    def encoding(self, choose: ChooseMap, min_count: int, template: TemplateSet | None = None) -> Encoding:
        """Counted, merged and encoded by the workers."""
        return self._corpus.encoding(choose, min_count, template)


def corpus(
    data: str | os.PathLike[str] | Sequence[Any] | EncodedCorpus | Any,
    client: Any = None,
    **options: Any,
) -> DaskCorpus:
    """A corpus on the workers of a client (an address, a client, or None: the one in use).

    ``data``: column files, Parquet or arrays by names, patterns or addresses (``options``: those of
    :func:`~chainfield.corpora.plan_sources`); a Dask data frame (``words``, ``label``, ``sequence``: its columns); a
    Dask bag of (sequence, labels) pairs; or an encoded corpus in a folder that all workers see. Workers read the data;
    nothing goes through the client or the scheduler.
    """
    found = connect(client)
    if isinstance(data, EncodedCorpus):
        if options:
            raise ConfigError(f"An encoded corpus takes no options, but {', '.join(options)} is given.")
        return DaskCorpus(found, Folder(found, data), len(data.files))
    if hasattr(data, "to_delayed") and hasattr(data, "npartitions"):
        frame = hasattr(data, "columns")
        if options and not frame:
            raise ConfigError(f"A bag takes no options, but {', '.join(options)} is given.")
        read = partial(frame_source, columns=columns_of(options)) if frame else bag_source
        name = "read-frame" if frame else "read-bag"
        partitions = found.compute(list(data.to_delayed()))
        places = Places(found, len(partitions))
        tasks = [
            found.submit(read, part, i, key=(f"{name}-{part.key}", i), pure=False) for i, part in enumerate(partitions)
        ]
        return DaskCorpus(found, SourceCorpus(DaskPieces(found, tasks, places)), len(tasks))
    sources = plan_sources(data, **options)
    check_sizes(found, sources)
    return DaskCorpus(found, SourceCorpus(spread(found, sources)), len(sources))


def spread(client: Any, sources: Sequence[Any]) -> DaskPieces[Any]:
    """Small descriptions of pieces, one task each.

    They want no worker in particular: if all workers were gone for a moment, Dask would wait for the one they wanted,
    even if others would do.
    """
    tasks = [client.submit(hold, Parcel(source), pure=False) for source in sources]
    return DaskPieces(client, tasks, Places(client, len(sources)))


def frame_source(partition: Any, number: int, columns: TableColumns) -> Source:
    """A partition of a data frame."""
    name = f"partition {number} of the frame"
    if not len(partition):
        raise DataError(f"{name}: there is no row; leave it out (frame.repartition), or check how it was written.")
    try:
        X, y = read_table(partition, columns)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    assert y is not None
    return ListSource(X, y, name, number)


def bag_source(partition: Any, number: int) -> Source:
    """A partition of a bag: pairs of a sequence and its labels."""
    name, pairs = f"partition {number} of the bag", list(partition)
    for i, pair in enumerate(pairs):
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise DataError(f"{name}: item {i} is {pair!r:.60}; a pair of a sequence and its labels is expected.")
    return ListSource([x for x, _ in pairs], [y for _, y in pairs], name, number)


@final
class Folder(Corpus):
    """An encoded corpus in a folder that all workers see."""

    def __init__(self, client: Any, encoded: EncodedCorpus) -> None:
        self._client = client
        self._encoded = encoded

    def encoding(self, choose: ChooseMap, min_count: int, template: TemplateSet | None = None) -> Encoding:
        """Pieces are read by the workers, and stay there."""
        found = self._encoded.encoding(choose, min_count, template)
        numbers = spread(self._client, range(len(self._encoded.files)))
        return Encoding(found.features, numbers.derive(load_part, self._encoded), found.profile)


def load_part(number: int, encoded: EncodedCorpus) -> Part:
    """One piece of a folder."""
    return encoded.part(number)
