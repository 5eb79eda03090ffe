"""Plain values as JSON, without losing what JSON cannot say: tuples, bytes, sets, keys that are not strings."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from chainfield.errors import ConfigError
from chainfield.features.template import TemplateSet, parse_template
from chainfield.features.template_line import Dialect

from .container import LONGEST


def to_json(value: Any, what: str = "value") -> Any:
    """A JSON value; everything but strings, numbers, booleans, None and lists is a dict with one key that names it."""
    if isinstance(value, str):
        return savable_text(value, what)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and value.bit_length() <= LONGEST:
        return value
    if isinstance(value, list):
        return [to_json(part, what) for part in value]
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, tuple):
        return {"tuple": [to_json(part, what) for part in value]}
    if isinstance(value, set | frozenset):
        return {"set": sorted((to_json(part, what) for part in value), key=repr)}
    if isinstance(value, dict):
        return {"dict": [[to_json(k, what), to_json(v, what)] for k, v in value.items()]}
    if isinstance(value, TemplateSet):
        return {"template": [savable_text(value.text, what), value.dialect]}
    raise ConfigError(
        f"The {what} {value!r:.60} cannot be saved: only strings, numbers, bytes, tuples and the like can."
    )


def savable_text(text: str, what: str) -> str:
    """Text, refused if it has halves of characters: files are UTF-8, which has none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"The {what} {text!r:.60} cannot be saved: {text[error.start]!r} is half a character (a lone surrogate). "
            "Read the data with the right encoding, or replace it."
        ) from None
    return text


def check_notes(notes: Any) -> None:
    """Refuse what JSON cannot hold."""
    try:
        json.dumps(notes, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"The notes cannot be saved ({error}); give strings, numbers, lists and dicts of them."
        ) from None


def from_json(value: Any) -> Any:
    """The inverse of :func:`to_json`; raises a ValueError at anything that it could not have written."""
    if isinstance(value, list):
        return [from_json(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(f"{value!r:.60} is no value: an object with one key is expected")
    ((kind, content),) = value.items()
    wanted: Any = str if kind == "bytes" else list
    if type(content) is not wanted:
        raise ValueError(f"there is no {kind!r:.20} {content!r:.40}")
    if kind == "bytes":
        return base64.b64decode(content, validate=True)
    if kind == "tuple":
        return tuple(from_json(part) for part in content)
    if kind == "template":
        if [type(part) for part in content] != [str, str]:
            raise ValueError("a template is a text and a dialect")
        return parse_template(content[0], dialect=cast(Dialect, content[1]))
    try:
        if kind == "set":
            return {from_json(part) for part in content}
        if kind == "dict":
            return {from_json(k): from_json(v) for k, v in content}
    except TypeError:
        raise ValueError(f"a {kind} holds something that it cannot hold") from None
    raise ValueError(f"there is no kind of value {kind!r:.40}")
