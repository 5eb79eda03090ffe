"""What was compiled, written down in C for the extension: see kernels.h."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A version of a kernel: how it is called, and the symbol of its entry."""

    format: str
    result: str
    n_slots: int
    symbol: str


def write(stamp: str, levels: Mapping[str, Mapping[str, list[Row]]]) -> str:
    """The C source: levels → kernels by name → versions."""
    lines = ['#include "kernels.h"', f'const char CHAINFIELD_STAMP[] = "{stamp}";']
    listed = []
    for i, (level, kernels) in enumerate(levels.items()):
        entries = []
        for j, (name, rows) in enumerate(kernels.items()):
            lines += [f"int32_t {row.symbol}(int64_t *, void *, Failure **);" for row in rows]
            lines += [f'_Static_assert({row.n_slots} <= MOST_SLOTS, "{name} has too many arguments");' for row in rows]
            lines += [f'_Static_assert({len(row.result)} <= MOST_RESULTS, "{name} returns too much");' for row in rows]
            versions = ", ".join(f'{{"{row.format}", "{row.result}", {row.symbol}}}' for row in rows)
            lines.append(f"static const Version versions_{i}_{j}[] = {{{versions}}};")
            entries.append(f'{{"{name}", {len(rows)}, versions_{i}_{j}}}')
        lines.append(f"static const Kernel kernels_{i}[] = {{{', '.join(entries)}}};")
        listed.append(f'{{"{level}", {len(entries)}, kernels_{i}}}')
    lines.append(f"const int CHAINFIELD_N_LEVELS = {len(listed)};")
    lines.append(f"const Level CHAINFIELD_LEVELS[] = {{{', '.join(listed)}}};")
    return "\n".join(lines) + "\n"
