"""The application: what stands around the endpoints. Keys, errors as JSON, logs, counters, and files that change."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import time
import traceback
from collections.abc import AsyncIterator, Sequence
from typing import Any

try:
    import starlette as _  # noqa: F401
except ImportError:
    raise ImportError(
        "chainfield.serving needs Starlette and uvicorn; install them with: pip install 'chainfield[serve]'.",
        name="starlette",
    ) from None

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chainfield.parallel import count_jobs

from .bounds import Bounds
from .log import Log
from .metrics import Metrics
from .refusal import Refusal
from .registry import Registry, Source
from .service import Service, json_response
from .workers import Workers

OPEN = frozenset(["/", "/v2/health/live", "/v2/health/ready"])  # need no key: nothing of a model is in them
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]


def make_application(
    models: Sequence[Source] | Registry,
    *,
    bounds: Bounds | None = None,
    jobs: int | None = None,
    keys: Sequence[str] = (),
    cors: Sequence[str] = (),
    watch: float = 1.0,
    log: Log | None = None,
    title: str = "",
    examples: Sequence[str] = (),
) -> Door:
    """An ASGI application that serves models. Sources are loaded here, so that what is wrong is told at once.

    ``keys``: clients must send one of them. ``cors``: origins whose pages may ask. ``watch``: seconds between two looks
    at the files; 0 for never. ``title`` and ``examples`` are for the page.
    """
    log = log or Log(requests=False)
    metrics, bounds = Metrics(), bounds or Bounds()

    def told(event: str, **facts: Any) -> None:
        metrics.reloaded(event)
        log(event, **facts)

    workers = Workers(count_jobs(jobs), bounds)
    registry = models if isinstance(models, Registry) else Registry(models)
    registry.told = told
    service = Service(registry, bounds, workers, metrics, log, title, examples)
    service.keys = bool(keys)
    return Door(service, keys, cors, watch)


class Door:
    """Everything passes here once. ``service`` is behind it."""

    def __init__(self, service: Service, keys: Sequence[str], cors: Sequence[str], watch: float) -> None:
        self.service = service
        self._keys = [key.encode("utf-8") for key in keys]
        self._watch = watch
        middleware = []
        if cors:
            allowed = {
                "allow_methods": ["GET", "POST"],
                "allow_headers": ["authorization", "content-type", "x-api-key"],
            }
            middleware = [Middleware(CORSMiddleware, allow_origins=list(cors), **allowed)]
        # Starlette's own handler of exceptions lies inside of this: refusals become answers there.
        self._inner: ASGIApp = Starlette(
            routes=service.routes(),
            middleware=middleware,
            lifespan=self._lifespan,
            exception_handlers={
                Refusal: _refused,
                HTTPException: _refused_by_router,
                ClientDisconnect: _gone,
                Exception: _broken,
            },
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        started, status = time.perf_counter(), 500
        scope["facts"] = {}

        async def passed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            if self._keys and scope["path"] not in OPEN and scope["method"] != "OPTIONS" and not self._has_key(scope):
                await _refused(None, Refusal(401, "This needs a key: send Authorization: Bearer KEY."))(
                    scope, receive, passed
                )
            else:
                await self._inner(scope, receive, passed)
        except Exception:
            # Starlette has answered with 500 by then, or the answer had begun.
            self.service.log("error", trace=traceback.format_exc(limit=-6))
        finally:
            seconds = time.perf_counter() - started
            found = scope.get("route")
            route = getattr(found, "path", "other")
            method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS") else "other"
            self.service.metrics.request(method, route, status, seconds)
            if self.service.log.requests:
                facts = {"method": method, "route": route, "status": status, "ms": round(1000 * seconds, 2)}
                self.service.log("request", **facts, **scope["facts"])

    def _has_key(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        said = [headers.get(b"x-api-key", b"")]
        kind, _, value = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() == b"bearer":
            said.append(value.strip())
        elif kind.lower() == b"basic":  # as Label Studio sends it: any name, the key as the password
            with contextlib.suppress(ValueError):
                said.append(base64.b64decode(value, validate=True).partition(b":")[2])
        # Every key is compared, in the same time whatever it is.
        return any([hmac.compare_digest(one, key) for one in said for key in self._keys])

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(self._look()) if self._watch else None
        try:
            yield
        finally:
            self.service.ready = False
            if watching is not None:
                watching.cancel()
            await asyncio.to_thread(self.service.workers.close)

    async def _look(self) -> None:
        """Load files that have changed; requests go on meanwhile with the models that are there."""
        while True:
            await asyncio.sleep(self._watch)
            await asyncio.to_thread(self.service.registry.refresh)


def _refused(_: Request | None, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    response = json_response({"error": refusal.sentence, "status": refusal.status}, refusal.status)
    if refusal.retry is not None:
        response.headers["retry-after"] = str(refusal.retry)
    if refusal.status == 401:
        response.headers["www-authenticate"] = "Bearer"
    if refusal.status in (408, 413):
        response.headers["connection"] = "close"  # the rest of the request is not read
    return response


def _refused_by_router(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentences = {
        404: "There is nothing at this address; /openapi.json tells what there is.",
        405: "This address does not take that method; /openapi.json tells which it takes.",
    }
    response = _refused(request, Refusal(error.status_code, sentences.get(error.status_code, str(error.detail))))
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


def _gone(_: Request, __: Exception) -> Response:
    return Response(status_code=400)


def _broken(_: Request, __: Exception) -> Response:
    sentence = "Something went wrong in the server; its log tells what."
    return json_response({"error": sentence, "status": 500}, 500)
