"""How much a client may ask for. Every bound can be set where the server is started."""

from __future__ import annotations

from dataclasses import dataclass, fields

from chainfield.errors import ConfigError


@dataclass(frozen=True)
class Bounds:
    """The bounds of a server; what lies beyond is refused with 413, 408, 429 or 503."""

    body: int = 4 << 20  # bytes of a request, and of one line of a stream
    tokens: int = 50_000  # of all inputs of a request
    texts: int = 1_000  # inputs of a request
    values: int = 2_000_000  # numbers that one answer may hold: marginals, n-best lists, explanations
    seconds: float = 10.0  # for a request to arrive, and for its answer
    queue: int = 64  # requests that wait for a thread
    connections: int = 4_000  # open at a time

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ConfigError(f"The bound {field.name} is {value}; it must be above 0.")
