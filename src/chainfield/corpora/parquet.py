"""Parquet files as pieces of a corpus: rows from one place to another, read in batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, final

from chainfield.errors import ConfigError, DataError
from chainfield.frames.tables import TableColumns, class_names, read_table

from .source import Read, Source, read_lists
from .storage import binary

# Small corpora are cut into this many pieces; no piece has fewer or more values in its first column than these.
PIECES = 16
SMALLEST, LARGEST = 2000, 1 << 18
BATCH = 4096  # rows that are read at a time


@final
@dataclass(frozen=True)
class ParquetSource(Source):
    """The rows of a Parquet file from ``start`` to ``stop``."""

    path: str
    start: int
    stop: int
    columns: TableColumns = field(default_factory=TableColumns)
    number: int = 0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The file, and which rows."""
        return f"{self.path} (rows {self.start} to {self.stop})"

    def _read(self) -> Read:
        with opened_parquet(self.path) as file:
            wanted = self.columns.found_in(file.schema_arrow.names, labelled=True)
            names = class_names(file.schema_arrow.metadata or {}, wanted.label)
            X, y = read_table(self.table(file, wanted.read), self.columns, names=names)
        assert y is not None
        return read_lists(X, y)

    def table(self, file: Any, columns: list[str] | None = None) -> Any:
        """The rows, as an Arrow table; only the row groups that have some of them are read."""
        arrow, at = pyarrow(), 0
        found: list[Any] = []
        for group in range(file.num_row_groups):
            n = file.metadata.row_group(group).num_rows
            if at < self.stop and at + n > self.start:
                place = at
                for batch in file.iter_batches(batch_size=BATCH, row_groups=[group], columns=columns):
                    lo, hi = max(self.start - place, 0), min(self.stop - place, batch.num_rows)
                    found += [batch.slice(lo, hi - lo)] if hi > lo else []
                    place += batch.num_rows
            at += n
        if at < self.stop:
            raise DataError(f"{self.path} has fewer rows than when it was planned; read it again.")
        return arrow.Table.from_batches(found)


def pyarrow() -> Any:
    """The library that reads Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError(
            "Parquet needs the package pyarrow; install it with: pip install 'chainfield[frames]'."
        ) from None
    return pyarrow


@contextmanager
def opened_parquet(path: str) -> Iterator[Any]:
    """A Parquet file; what cannot be read as one is named."""
    arrow = pyarrow()
    with binary(path) as file:
        try:
            yield arrow.parquet.ParquetFile(file)
        except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError, OSError) as error:
            raise DataError(f"{path} cannot be read as Parquet: {str(error).splitlines()[0]}.") from None


def plan_parquet(files: list[str], columns: TableColumns, *, labelled: bool = True) -> list[Source]:
    """The pieces of some Parquet files: runs of rows of about the same number of values, by the files' own counts.

    Where every row is one position, a row group is a piece: sequences must not go on in the next one.
    """
    groups: list[tuple[str, int, int, int]] = []  # file, first row, rows, values
    for path in files:
        with opened_parquet(path) as file:
            try:
                wanted = columns.found_in(file.schema_arrow.names, labelled=labelled)
            except DataError as error:
                raise DataError(f"{path}: {error}") from None
            leaf = next(
                i for i in range(len(file.schema)) if file.schema.column(i).path.split(".")[0] == wanted.words[0]
            )
            at = 0
            for group in range(file.num_row_groups):
                about = file.metadata.row_group(group)
                groups.append((path, at, about.num_rows, about.column(leaf).num_values))
                at += about.num_rows
        if not at:
            raise DataError(f"{path}: there is no row; leave the file out, or check how it was written.")
    size = min(max(sum(values for *_, values in groups) // PIECES, SMALLEST), LARGEST)
    sources: list[ParquetSource] = []
    for path, at, rows, values in groups:
        n = 1 if columns.sequence is not None else min(-(-values // size), rows)
        cuts = [at + rows * i // n for i in range(n + 1)] if rows else []
        sources += [ParquetSource(path, a, b, columns) for a, b in pairwise(cuts)]
    return [replace(source, number=i) for i, source in enumerate(sources)]
