"""Whether pieces fit into the memory of workers, before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainfield.corpora.source import ColumnSource, Source
from chainfield.corpora.storage import is_compressed, size_of
from chainfield.errors import ConfigError

#: Bytes of memory per byte of text, while a piece is read and encoded (measured: 20 to 40), and what text is packed to.
GROWTH, PACKED = 40, 6


def check_sizes(client: Any, sources: Sequence[Source]) -> None:
    """Refuse pieces that are too large for the smallest worker. How data are cut is never changed by the cluster: other
    pieces would give other last digits.
    """
    limits = {
        address: int(worker["memory_limit"])
        for address, worker in client.scheduler_info(n_workers=-1)["workers"].items()
        if worker.get("memory_limit")
    }
    if not limits:
        return
    smallest = min(limits, key=lambda address: (limits[address], address))
    for source in sources:
        if not isinstance(source, ColumnSource):
            continue
        packed = is_compressed(source.path)
        n = (size_of(source.path) * (PACKED if packed else 1)) if source.stop is None else source.stop - source.start
        if GROWTH * n > limits[smallest]:
            remedy = (
                "decompress it, so that it can be cut" if packed else f"use piece_bytes={limits[smallest] // GROWTH}"
            )
            raise ConfigError(
                f"{source.name} has about {n / 1e6:,.0f} MB of text, which takes {GROWTH * n / 1e9:,.1f} GB to encode, "
                f"but the worker {smallest} may use {limits[smallest] / 1e9:,.1f} GB; {remedy}, or use larger workers."
            )
