"""The description of all endpoints, made from the schemas that requests are checked by."""

from __future__ import annotations

from typing import Any

import chainfield

from . import schemas
from .json_schema import Schema

_NUMBER: Schema = {"type": "number"}
_SPAN: Schema = {
    "type": "object",
    "properties": {
        "start": {"type": "integer", "description": "by character in texts (code points), else by token"},
        "end": {"type": "integer", "description": "behind the last one"},
        "label": {"type": "string"},
        "text": {"type": "string"},
        "probability": _NUMBER,
    },
    "required": ["start", "end", "label"],
}
_TAGGED: Schema = {
    "type": "object",
    "properties": {
        "model": {"type": "string"},
        "version": {"type": "string"},
        "labels": {"type": "array", "items": {}, "description": "the columns of marginals"},
        "answers": {
            "type": "array",
            "description": "one for each input",
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "spans": {"type": "array", "items": _SPAN},
                            "labels": {"type": "array", "items": schemas.LABEL},
                            "probability": _NUMBER,
                            "marginals": {"type": "array", "items": {"type": "array", "items": _NUMBER}},
                        },
                    },
                    {"type": "array", "description": "Hugging Face's form", "items": {"type": "object"}},
                ]
            },
        },
    },
    "required": ["model", "version", "answers"],
}
_ERROR: Schema = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "status": {"type": "integer"}},
    "required": ["error", "status"],
}
_OBJECT: Schema = {"type": "object"}
_REASONS = {
    "400": "not JSON, or not UTF-8",
    "401": "no key, or a wrong one",
    "404": "no such model or version",
    "408": "the request did not arrive in time",
    "413": "too large",
    "415": "not application/json",
    "422": "JSON that does not fit",
    "429": "too many requests wait; Retry-After tells when to come again",
    "503": "too slow, or about to stop",
}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _answers(what: str, content: dict[str, Any], *errors: str) -> dict[str, Any]:
    refused = {code: {"description": _REASONS[code], "content": _json(_ERROR)} for code in errors}
    return {"200": {"description": what, "content": content}, **refused}


def _post(summary: str, schema: Schema, answer: Schema, *, parameters: list[dict[str, Any]] | None = None) -> Any:
    own = {
        "summary": summary,
        "requestBody": {"required": True, "content": _json(schema)},
        "responses": _answers("the answer", _json(answer), *_REASONS),
    }
    return {"post": own | ({"parameters": parameters} if parameters else {})}


def _get(summary: str, content: dict[str, Any], *errors: str, parameters: list[dict[str, Any]] | None = None) -> Any:
    own: dict[str, Any] = {"summary": summary, "responses": _answers(summary, content, *errors)}
    return {"get": own | ({"parameters": parameters} if parameters else {})}


def _name(where: str = "path", name: str = "name") -> list[dict[str, Any]]:
    return [{"name": name, "in": where, "required": where == "path", "schema": {"type": "string"}}]


def document(keys: bool) -> dict[str, Any]:
    """The OpenAPI document (3.1)."""
    lines = {"application/x-ndjson": {"schema": {"type": "string", "description": "one JSON object per line"}}}
    wanted = [
        {"name": name, "in": "query", "required": False, "schema": {k: v for k, v in schema.items()}}
        for name, schema in {**schemas.WANTED, "model": {"type": "string"}, "version": {"type": "string"}}.items()
    ]
    stream = {
        "post": {
            "summary": "Tag a stream: one input per line, one answer per line, in their order",
            "parameters": wanted,
            "requestBody": {"required": True, "content": lines},
            "responses": _answers("one answer per line", lines, "401", "404", "415", "422"),
        }
    }
    paths: dict[str, Any] = {
        "/v1/models": _get("All models", _json({"type": "object"}), "401"),
        "/v1/models/{name}": _get("One model", _json(_OBJECT), "401", "404", parameters=_name()),
        "/v1/tag": _post("Label tokens: spans, probabilities, alternatives, explanations", schemas.TAG, _TAGGED),
        "/v1/classify": _post("Label whole sequences", schemas.CLASSIFY, _OBJECT),
        "/v1/stream": stream,
        "/huggingface/{name}": _post(
            "As Hugging Face's inference servers answer", schemas.HUGGING_FACE, {"type": "array"}, parameters=_name()
        ),
        "/predict": _post("Label Studio: predictions for tasks", schemas.TASKS, _OBJECT),
        "/setup": _post("Label Studio: connect a project", schemas.SETUP, _OBJECT),
        "/health": _get("Label Studio: is it there?", _json(_OBJECT), "401"),
        "/label-studio/{name}/predict": _post("The same for one model", schemas.TASKS, _OBJECT, parameters=_name()),
        "/label-studio/{name}/setup": _post("The same for one model", schemas.SETUP, _OBJECT, parameters=_name()),
        "/label-studio/{name}/health": _get("The same for one model", _json(_OBJECT), "401", "404", parameters=_name()),
        "/v2/health/live": _get("The process answers", _json(_OBJECT)),
        "/v2/health/ready": _get("Models are loaded, and requests welcome", _json(_OBJECT), "503"),
        "/metrics": _get("Counters for Prometheus", {"text/plain": {"schema": {"type": "string"}}}, "401"),
    }
    found: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "chainfield", "version": chainfield.__version__, "description": "Models behind HTTP."},
        "paths": paths,
    }
    if keys:
        found["components"] = {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}}
        found["security"] = [{"key": []}]
    return found
