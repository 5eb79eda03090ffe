"""A server process: a socket, uvicorn on it, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from chainfield.errors import ConfigError

from .application import Door
from .log import Log


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; taken before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except (OSError, OverflowError) as error:
        found.close()
        code = getattr(error, "errno", None)
        if code == errno.EADDRINUSE:
            raise ConfigError(f"Port {port} of {host} is in use; give another one with --port.") from None
        if code == errno.EACCES:
            raise ConfigError(f"Port {port} needs rights that this user lacks; give one above 1023.") from None
        raise ConfigError(f"Nothing can be served on {host}, port {port}: {error}.") from None
    found.listen(2048)
    return found


def run(door: Door, sock: socket.socket, *, started: Callable[[], None] = lambda: None) -> None:
    """Serve until the process is told to stop; requests that were read are answered first."""
    bounds = door.service.bounds
    _more_files(bounds.connections)
    told = _Told(door.service.log)
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).handlers = [told]
        logging.getLogger(name).propagate = False
    config = uvicorn.Config(
        door,
        http=_protocol(bounds.seconds),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=bounds.connections,
        timeout_keep_alive=int(max(5, bounds.seconds)),
        timeout_graceful_shutdown=int(2 * bounds.seconds) + 1,
        backlog=2048,
    )
    server = _Server(config, door, started)
    server.run(sockets=[sock])


class _Told(logging.Handler):
    """What uvicorn has to say, as lines of our log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log("warning", message=record.getMessage())


class _Server(uvicorn.Server):  # type: ignore[misc]
    def __init__(self, config: uvicorn.Config, door: Door, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._door, self._when_started = door, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._door.service.ready = False
        await super().shutdown(sockets=sockets)


def _protocol(seconds: float) -> Any:
    """uvicorn's protocol, with a limit to how long the head of a request may take to arrive."""
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
    except ImportError:
        from uvicorn.protocols.http.h11_impl import H11Protocol as Protocol

    class Patient(Protocol):  # type: ignore[misc]
        _limit: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._limit = self.loop.call_later(seconds, self._too_slow)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            waiting = self.cycle is None or self.cycle.response_complete
            if not waiting and self._limit is not None:
                self._limit.cancel()
                self._limit = None
            elif waiting and self._limit is None and not self.transport.is_closing():
                self._limit = self.loop.call_later(seconds, self._too_slow)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._limit is not None:
                self._limit.cancel()
            super().connection_lost(exc)

        def _too_slow(self) -> None:
            """Nothing whole has arrived: a client that holds connections open by sending byte after byte."""
            self._limit = None
            if self.cycle is None or self.cycle.response_complete:
                self.transport.close()

    return Patient


def _more_files(connections: int) -> None:
    """Raise the number of open files as far as the user may."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = connections + 256
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
