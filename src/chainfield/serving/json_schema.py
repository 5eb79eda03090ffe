"""Schemas of requests, written once: they are checked by, and published in ``/openapi.json``.

They are JSON Schemas of a few keywords. A value that does not fit is refused with the place where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chainfield.checking import shown

from .refusal import Refusal

Schema = dict[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_WORDS = {"array": "a list", "object": "an object", "integer": "a whole number", "boolean": "true or false"}


def record(what: str, properties: Mapping[str, Schema], **more: Any) -> Schema:
    """An object with these fields and no others."""
    return {"type": "object", "description": what, "properties": dict(properties), "additionalProperties": False} | more


def text(what: str, **more: Any) -> Schema:
    """A string."""
    return {"type": "string", "description": what} | more


def whole(what: str, least: int, most: int, **more: Any) -> Schema:
    """A whole number."""
    return {"type": "integer", "description": what, "minimum": least, "maximum": most} | more


def truth(what: str, default: bool = False) -> Schema:
    """True or false."""
    return {"type": "boolean", "description": what, "default": default}


def many(what: str, items: Schema, **more: Any) -> Schema:
    """A list."""
    return {"type": "array", "description": what, "items": items} | more


def check(value: Any, schema: Schema, where: str) -> None:
    """Refuse what does not fit, with 422."""
    if "anyOf" in schema:
        kinds = [kind for option in schema["anyOf"] for kind in _kinds(option)]
        fitting = [option for option in schema["anyOf"] if any(_is(value, kind) for kind in _kinds(option))]
        if not fitting:
            _refuse(where, f"is {shown(value)}; {_named(kinds)} is expected")
        check(value, fitting[0], where)
        return
    kinds = _kinds(schema)
    if kinds and not any(_is(value, kind) for kind in kinds):
        _refuse(where, f"is {shown(value)}; {_named(kinds)} is expected")
    for kind in kinds:
        if _is(value, kind) and kind in _CHECKS:
            _CHECKS[kind](value, schema, where)


def _kinds(schema: Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def _is(value: Any, kind: str) -> bool:
    return type(value) in _TYPES[kind]


def _named(kinds: list[str]) -> str:
    words = list(dict.fromkeys(_WORDS.get(kind, "null" if kind == "null" else f"a {kind}") for kind in kinds))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _refuse(where: str, what: str) -> None:
    raise Refusal(422, f"{where} {what}.")


def _check_object(value: dict[str, Any], schema: Schema, where: str) -> None:
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is False:
        strange = next((key for key in value if key not in known), None)
        if strange is not None:
            _refuse(where, f"has the field {strange[:40]!r}, which means nothing here; fields are {', '.join(known)}")
    for key in schema.get("required", ()):
        if key not in value:
            _refuse(where, f"lacks the field {key!r}")
    ways = [option["required"][0] for option in schema.get("oneOf", ())]
    if ways and sum(key in value for key in ways) != 1:
        _refuse(where, f"must have exactly one of the fields {', '.join(ways)}")
    more = schema.get("additionalProperties")
    for key, one in value.items():
        if key in known:
            check(one, known[key], f"{where}: {key}")
        elif isinstance(more, dict):
            check(one, more, f"{where}: {key[:40]}")


def _check_array(value: list[Any], schema: Schema, where: str) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < least:
        _refuse(where, f"has {len(value)} entries; {least} or more are expected")
    if most is not None and len(value) > most:
        _refuse(where, f"has {len(value):,} entries; {most:,} are allowed")
    items = schema["items"]
    kind = items.get("type")
    simple = isinstance(kind, str) and not items.keys() - {"type", "description"} and kind not in ("array", "object")
    if simple and set(map(type, value)) <= set(_TYPES[kind]):  # most lists are long and plain
        return
    for i, one in enumerate(value):
        check(one, items, f"{where}, entry {i}")


def _check_string(value: str, schema: Schema, where: str) -> None:
    if "enum" in schema and value not in schema["enum"]:
        _refuse(where, f"is {value[:40]!r}; one of {', '.join(schema['enum'])} is expected")
    if len(value) > schema.get("maxLength", len(value)):
        _refuse(where, f"has {len(value):,} characters; {schema['maxLength']:,} are allowed")


def _check_number(value: float, schema: Schema, where: str) -> None:
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    if not low <= value <= high:
        _refuse(where, f"is {shown(value)}; it must lie between {low} and {high}")


_CHECKS: dict[str, Callable[[Any, Schema, str], None]] = {
    "object": _check_object,
    "array": _check_array,
    "string": _check_string,
    "integer": _check_number,
    "number": _check_number,
}
