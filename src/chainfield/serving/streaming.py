"""Streams of inputs, one JSON object per line: answered as they come, in their order, in memory that does not grow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from chainfield.errors import ChainfieldError

from .json_schema import check
from .question import Question, Wanted, parse
from .refusal import Refusal
from .registry import Served
from .schemas import LINE, WANTED
from .tagging import tag

if TYPE_CHECKING:
    from .service import Service

NDJSON = "application/x-ndjson"
PORTION = 64  # lines that are answered at a time


def wanted_of(query: Mapping[str, str]) -> Wanted:
    """What the query asks for."""
    found: dict[str, Any] = {}
    for name, schema in WANTED.items():
        if name not in query:
            continue
        value: Any = query[name]
        if schema["type"] == "boolean" and value in ("true", "false"):
            value = value == "true"
        elif schema["type"] == "integer" and value.isascii() and value.isdecimal() and len(value) < 10:
            value = int(value)
        check(value, schema, f"The query: {name}")
        found[name] = value
    return Wanted.of(found)


class Lines(Response):  # type: ignore[misc]
    """The answers to a stream, written while it is read."""

    media_type = NDJSON

    def __init__(
        self, service: Service, request: Request, served: Served, wanted: Wanted, chunks: AsyncIterator[bytes]
    ) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._service, self._served, self._wanted, self._chunks = service, served, wanted, chunks
        self._facts = request.scope["facts"] | {"inputs": 0, "tokens": 0}
        request.scope["facts"] = self._facts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Portion by portion; what is wrong with a line stands in its place."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        number = 0
        async for lines in self._portions():
            answers = await self._answered(lines, number)
            number += len(lines)
            body = b"".join(json.dumps(answer, separators=(",", ":")).encode("ascii") + b"\n" for answer in answers)
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _portions(self) -> AsyncIterator[list[bytes]]:
        """The lines that have arrived, some at a time."""
        rest, most = b"", self._service.bounds.body
        async for chunk in self._chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            lines = [line for line in lines if line.strip()]
            for at in range(0, len(lines), PORTION):
                yield lines[at : at + PORTION]
            if len(rest) > most:
                yield [rest]  # refused as too large; what follows cannot be told apart
                return
        if rest.strip():
            yield [rest]

    async def _answered(self, lines: list[bytes], first: int) -> list[Any]:
        """The answers to some lines: together, and one by one where one of them is wrong."""
        values = [self._read(line, first + i) for i, line in enumerate(lines)]
        good = [value for value in values if "error" not in value]
        found = iter(await self._asked(good))
        return [value if "error" in value else next(found) for value in values]

    def _read(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            if len(line) > self._service.bounds.body:
                raise self._service.too_large()
            value = parse(line, LINE, f"Line {number}")
            if ("text" in value) == ("tokens" in value):
                raise Refusal(422, f"Line {number} must have exactly one of the fields text, tokens.")
            Question.of({"text": value["text"]} if "text" in value else {"tokens": [value["tokens"]]}, self._bounds)
        except Refusal as refusal:
            return {"error": refusal.sentence, "status": refusal.status, "line": number}
        return value | {"line": number}

    @property
    def _bounds(self) -> Any:
        return self._service.bounds

    async def _asked(self, values: list[dict[str, Any]]) -> list[Any]:
        if not values:
            return []
        kinds = {"text" in value for value in values}
        if len(kinds) == 1:
            try:
                return await self._together(values, texts=kinds == {True})
            except Refusal as refusal:
                if len(values) == 1:
                    return [{"error": refusal.sentence, "status": refusal.status, "line": values[0]["line"]}]
        return [answer for value in values for answer in await self._asked([value])]

    async def _together(self, values: list[dict[str, Any]], *, texts: bool) -> list[Any]:
        if texts:
            question = Question([value["text"] for value in values], None, self._wanted)
        else:
            question = Question(None, [value["tokens"] for value in values], self._wanted)
        work = self._service.workers
        try:
            answers, n = await self._patient(work, question)
        except ChainfieldError as error:
            raise Refusal(422, str(error)) from None
        self._facts["inputs"] += question.n
        self._facts["tokens"] += n
        self._service.metrics.tokens(self._served.name, n)
        named = [{"id": value["id"]} if "id" in value else {} for value in values]
        return [
            own | (answer if isinstance(answer, dict) else {"spans": answer})
            for own, answer in zip(named, answers, strict=True)
        ]

    async def _patient(self, work: Any, question: Question) -> Any:
        """A stream waits for its turn: it was let in already."""
        while True:
            try:
                return await work.run(lambda: tag(self._served, question, self._bounds), small=question.small)
            except Refusal as refusal:
                if refusal.status != 429:
                    raise
                await asyncio.sleep(0.05)
