"""How much memory there is, and refusing what cannot fit before it is allocated."""

from __future__ import annotations

import os

from .errors import ConfigError


def physical_memory() -> int | None:
    """Bytes of memory of this machine; None where it cannot be told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def demand_memory(n_bytes: float, what: str, advice: str) -> None:
    """Refuse something that this machine has no room for, saying how large it is."""
    there = physical_memory()
    if there is not None and n_bytes > there:
        raise ConfigError(
            f"{what} would need about {n_bytes / 1e9:,.1f} GB of memory, but this machine has {there / 1e9:,.1f} GB; "
            f"{advice}."
        )
