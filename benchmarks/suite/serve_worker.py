"""Peers behind the same kind of server: ``python -m suite.serve_worker KIND MODEL PORT``."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

TEXT = (
    "The European Commission said on Thursday that Germany and Britain would meet in Brussels with John Smith of "
    "Reuters ."
)
TOKEN = re.compile(r"\w+|[^\w\s]")


def strings(words: list[str]) -> list[list[str]]:
    """Features as users of python-crfsuite make them: those of its tutorial, as strings."""
    found = []
    for i, word in enumerate(words):
        own = ["bias", f"word.lower={word.lower()}", f"word[-3:]={word[-3:]}", f"word[-2:]={word[-2:]}"]
        own += [f"word.isupper={word.isupper()}", f"word.istitle={word.istitle()}", f"word.isdigit={word.isdigit()}"]
        for name, at in (("-1", i - 1), ("+1", i + 1)):
            if 0 <= at < len(words):
                near = words[at]
                own += [f"{name}:lower={near.lower()}", f"{name}:istitle={near.istitle()}"]
                own += [f"{name}:isupper={near.isupper()}"]
            else:
                own.append("BOS" if at < 0 else "EOS")
        found.append(own)
    return found


def crfsuite(path: str) -> Callable[[str], list[dict[str, Any]]]:
    """Spans by python-crfsuite."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(path)

    def answer(text: str) -> list[dict[str, Any]]:
        places = [match.span() for match in TOKEN.finditer(text)]
        labels = tagger.tag(strings([text[a:b] for a, b in places]))
        spans: list[dict[str, Any]] = []
        before = "O"
        for (a, b), label in zip(places, labels, strict=True):
            if label != "O":
                if label[0] == "B" or before[2:] != label[2:]:
                    spans.append({"start": a, "end": b, "label": label[2:]})
                spans[-1]["end"] = b
                spans[-1]["text"] = text[spans[-1]["start"] : b]
            before = label
        return spans

    return answer


def with_starlette(answer: Callable[[str], list[dict[str, Any]]]) -> Any:
    """An application like ours."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def tag(request: Request) -> Response:
        value = json.loads(await request.body())
        return Response(json.dumps({"answers": [{"spans": answer(value["text"])}]}), media_type="application/json")

    async def ready(request: Request) -> Response:
        return Response("{}")

    return Starlette(routes=[Route("/v1/tag", tag, methods=["POST"]), Route("/v2/health/ready", ready)])


def with_fastapi(path: str) -> Any:
    """spaCy as its users put it behind FastAPI."""
    import spacy
    from fastapi import FastAPI
    from pydantic import BaseModel

    pipeline = spacy.load(path)
    app = FastAPI()

    class Question(BaseModel):
        text: str

    async def tag(question: Question) -> dict[str, Any]:
        document = pipeline(question.text)
        found = [{"start": e.start_char, "end": e.end_char, "label": e.label_, "text": e.text} for e in document.ents]
        return {"answers": [{"spans": found}]}

    async def ready() -> dict[str, Any]:
        return {}

    tag.__annotations__["question"] = Question
    app.post("/v1/tag")(tag)
    app.get("/v2/health/ready")(ready)
    return app


def main(kind: str, path: str, port: str) -> None:
    """Serve until told to stop."""
    import uvicorn

    app = with_fastapi(path) if kind == "spacy" else with_starlette(crfsuite(path))
    uvicorn.run(app, port=int(port), log_level="error", access_log=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
