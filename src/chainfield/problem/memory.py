"""What variance-reduced training remembers."""

from __future__ import annotations

from dataclasses import dataclass

from chainfield.arrays import Single


@dataclass(frozen=True, eq=False)
class Memory:
    """The gradient in score space that every sequence keeps (variance-reduced training), in single precision."""

    node: Single  # (N, R)
    edge: Single  # (S, E), or (N, E) if positions have their own edges
