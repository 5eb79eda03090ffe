"""The endpoints: each reads a request, asks a model, and writes JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from chainfield.errors import ChainfieldError
from chainfield.playground import server_page

from . import schemas
from .bounds import Bounds
from .classes import classify
from .gathering import Gathering, goes_together
from .json_schema import Schema
from .label_studio import predictions
from .log import Log
from .metrics import TYPE, Metrics
from .openapi import document
from .question import Question, parse
from .refusal import Refusal
from .registry import Registry, Served
from .streaming import NDJSON, Lines, wanted_of
from .tagging import Answered, plain, tag
from .workers import Workers

JSON = "application/json"
DRAINED = 8  # times the bound of a body
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def json_response(value: Any, status: int = 200) -> Response:
    """An answer; every character outside of ASCII is escaped, so that nothing can go wrong."""
    return Response(_ENCODER.encode(value).encode("ascii"), status, media_type=JSON)


class Service:
    """What answers requests."""

    def __init__(
        self,
        registry: Registry,
        bounds: Bounds,
        workers: Workers,
        metrics: Metrics,
        log: Log,
        title: str = "",
        examples: Sequence[str] = (),
    ) -> None:
        self.registry, self.bounds, self.workers, self.metrics, self.log = registry, bounds, workers, metrics, log
        self.keys = False  # whether clients need one
        self.ready = True
        self._page = server_page(title, examples)
        self._gathering = Gathering(bounds)

    def routes(self) -> list[BaseRoute]:
        """All paths."""
        posts: dict[str, Callable[..., Any]] = {
            "/v1/tag": self.tag,
            "/v1/classify": self.classify,
            "/v1/stream": self.stream,
            "/huggingface/{name}": self.hugging_face,
            "/predict": self.predict,
            "/setup": self.setup,
            "/label-studio/{name}/predict": self.predict,
            "/label-studio/{name}/setup": self.setup,
        }
        gets: dict[str, Callable[..., Any]] = {
            "/": self.page,
            "/v1/models": self.models,
            "/v1/models/{name}": self.model,
            "/health": self.health,
            "/label-studio/{name}/health": self.health,
            "/v2/health/live": self.live,
            "/v2/health/ready": self.is_ready,
            "/metrics": self.counters,
            "/openapi.json": self.openapi,
        }
        return [
            *(Route(path, function, methods=["POST"]) for path, function in posts.items()),
            *(Route(path, function, methods=["GET"]) for path, function in gets.items()),
        ]

    # ---- reading and answering -----------------------------------------------------------------------------------

    async def read(self, request: Request, schema: Schema) -> Any:
        """The body as JSON, within bounds."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise Refusal(415, f"The request is {kind[:60] or 'of no type'!r}; send Content-Type: {JSON}.")
        announced = int(request.headers.get("content-length", 0))
        waiting = "expect" in request.headers  # the client asks before it sends
        if announced > self.bounds.body * (1 if waiting else DRAINED):
            raise self.too_large()
        try:
            body = await within(self._body(request), self.bounds.seconds)
        except (TimeoutError, asyncio.TimeoutError):
            if announced > self.bounds.body:
                raise self.too_large() from None
            raise Refusal(408, f"The request did not arrive within {self.bounds.seconds:g} s.") from None
        return parse(body, schema)

    def too_large(self) -> Refusal:
        """A body beyond its bound."""
        return Refusal(413, f"The request is larger than {self.bounds.body:,} bytes; send several smaller ones.")

    async def _body(self, request: Request) -> bytes:
        """What is too large is read to its end and thrown away, as far as that is reasonable.

        A client that still writes when the connection closes would not read why.
        """
        parts, size = [], 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > DRAINED * self.bounds.body:
                break
            if size <= self.bounds.body:
                parts.append(chunk)
        if size > self.bounds.body:
            raise self.too_large()
        return b"".join(parts)

    async def ask(
        self,
        request: Request,
        function: Callable[[Served, Question, Bounds], Answered],
        served: Served,
        question: Question,
    ) -> list[Any]:
        """Work, with other requests, here or in a thread; what the library refuses is refused with its sentence."""
        facts = request.scope["facts"]
        facts |= {"model": served.name, "version": served.version, "inputs": question.n}
        if self.log.texts:
            facts["texts"] = question.texts if question.texts is not None else question.sequences
        try:
            if function is tag and goes_together(question):
                answer, n = await self._gathering.ask(served, question)
            else:
                small = question.small
                answer, n = await self.workers.run(lambda: function(served, question, self.bounds), small=small)
        except ChainfieldError as error:
            raise Refusal(422, str(error)) from None
        facts["tokens"] = n
        self.metrics.tokens(served.name, n)
        return answer

    # ---- models --------------------------------------------------------------------------------------------------

    async def tag(self, request: Request) -> Response:
        """``/v1/tag``"""
        question = Question.of(await self.read(request, schemas.TAG), self.bounds)
        served = self.registry.find(question.model, question.version)
        answers = await self.ask(request, tag, served, question)
        found = {"model": served.name, "version": served.version, "answers": answers}
        if question.wanted.marginals:
            found["labels"] = [plain(label) for label in served.labels]
        return json_response(found)

    async def classify(self, request: Request) -> Response:
        """``/v1/classify``"""
        question = Question.of(await self.read(request, schemas.CLASSIFY), self.bounds)
        served = self.registry.find(question.model, question.version)
        answers = await self.ask(request, classify, served, question)
        return json_response({"model": served.name, "version": served.version, "answers": answers})

    async def stream(self, request: Request) -> Response:
        """``/v1/stream``: options stand in the query, inputs come line by line."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != NDJSON:
            raise Refusal(415, f"The request is {kind[:60] or 'of no type'!r}; send Content-Type: {NDJSON}.")
        query = request.query_params
        wanted = wanted_of(query)
        served = self.registry.find(query.get("model"), query.get("version"))
        request.scope["facts"] |= {"model": served.name, "version": served.version}

        async def chunks() -> AsyncIterator[bytes]:
            try:
                async for chunk in request.stream():
                    yield chunk
            except ClientDisconnect:
                return

        return Lines(self, request, served, wanted, chunks())

    async def hugging_face(self, request: Request) -> Response:
        """``/huggingface/NAME``: what Hugging Face's clients send, answered as they expect."""
        value = await self.read(request, schemas.HUGGING_FACE)
        one = isinstance(value["inputs"], str)
        texts = [value["inputs"]] if one else value["inputs"]
        question = Question.of({"texts": texts, "format": "huggingface"}, self.bounds)
        served = self.registry.find(request.path_params["name"])
        answers = await self.ask(request, tag, served, question)
        return json_response(answers[0] if one else answers)

    async def models(self, request: Request) -> Response:
        """``/v1/models``"""
        return json_response({"models": [served.described() for served in self.registry]})

    async def model(self, request: Request) -> Response:
        """``/v1/models/NAME``"""
        return json_response(self.registry.find(request.path_params["name"]).described())

    # ---- Label Studio --------------------------------------------------------------------------------------------

    async def predict(self, request: Request) -> Response:
        """``/predict``"""
        value = await self.read(request, schemas.TASKS)
        served = self.registry.find(request.path_params.get("name"))
        texts = [str(task.get("data", "")) for task in value["tasks"]]
        question = Question(texts, None)  # for its size
        results = await self.ask(request, lambda one, _, bounds: predictions(one, value, bounds), served, question)
        return json_response({"results": results, "model_version": f"{served.name}@{served.version}"})

    async def setup(self, request: Request) -> Response:
        """``/setup``"""
        await self.read(request, schemas.SETUP)
        served = self.registry.find(request.path_params.get("name"))
        return json_response({"model_version": f"{served.name}@{served.version}"})

    async def health(self, request: Request) -> Response:
        """``/health``"""
        served = self.registry.find(request.path_params.get("name"))
        return json_response({"status": "UP", "model_class": served.trained_by})

    # ---- the server itself ---------------------------------------------------------------------------------------

    async def live(self, request: Request) -> Response:
        """``/v2/health/live``"""
        return json_response({"live": True})

    async def is_ready(self, request: Request) -> Response:
        """``/v2/health/ready``"""
        if not self.ready:
            raise Refusal(503, "The server is about to stop.", retry=5)
        return json_response({"ready": True})

    async def counters(self, request: Request) -> Response:
        """``/metrics``"""
        models = [(served.name, served.version) for served in self.registry]
        return Response(self.metrics.text(self.workers.busy, models), media_type=TYPE)

    async def openapi(self, request: Request) -> Response:
        """``/openapi.json``"""
        return json_response(document(self.keys))

    async def page(self, request: Request) -> Response:
        """``/``: the page to try models."""
        headers = {"content-security-policy": self._page.policy}
        return Response(self._page.html, media_type="text/html; charset=utf-8", headers=headers)


async def within(work: Any, seconds: float) -> Any:
    """The result of a coroutine, if it comes in time."""
    if sys.version_info >= (3, 11):  # needs no task of its own
        async with asyncio.timeout(seconds):
            return await work
    return await asyncio.wait_for(work, seconds)
