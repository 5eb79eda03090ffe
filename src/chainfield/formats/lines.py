"""Files of JSON values: one per line, or one list in the whole file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chainfield.data.opening import line_runs_of, open_text, source_name
from chainfield.errors import DataError
from chainfield.limits import ANNOTATION_BYTES, DOCUMENT_BYTES

from .format import Options


def text_lines(path: str, options: Options) -> Iterator[tuple[int, str]]:
    """(number, line) of a text file; a line that is too long is refused before it is held as a whole."""
    with open_text(path, options.encoding, limit=DOCUMENT_BYTES) as lines:
        yield from enumerate(lines, 1)


def json_lines(path: str, options: Options) -> Iterator[tuple[str, Any]]:
    """(place, object) of a file with one JSON object per line; blank lines are skipped."""
    for number, line in text_lines(path, options):
        if not line.strip():
            continue
        place = f"{source_name(path)}, line {number}"
        yield place, checked_object(parse_json(line, place), place)


def json_list(path: str, options: Options) -> Iterator[tuple[str, Any]]:
    """(place, object) of a file with one JSON list; a file of lines is read too."""
    name = source_name(path)
    size, parts, most = 0, list[str](), ANNOTATION_BYTES.value()
    with line_runs_of(path, options.encoding, limit=ANNOTATION_BYTES) as (_, runs):
        for run in runs:
            parts += run
            size += sum(map(len, run)) + len(run)
            if size > most:
                raise DataError(f"{name} is too large to be read as a whole; {ANNOTATION_BYTES.remedy}")
    whole = "\n".join(parts)
    try:
        found = json.loads(whole)
    except (ValueError, RecursionError) as error:
        if whole.lstrip().startswith("{"):
            yield from json_lines(path, options)
            return
        raise DataError(f"{name}: this is not JSON ({error}); is it another format?") from None
    for i, value in enumerate(found if isinstance(found, list) else [found]):
        yield f"{name}, task {i}", checked_object(value, f"{name}, task {i}")


def parse_json(line: str, place: str) -> Any:
    """One value."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: this is not JSON ({error}); one object per line is expected.") from None


def checked_object(value: Any, place: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise DataError(f"{place}: there is {value!r:.40}; a JSON object is expected.")
    return value


def take(value: dict[str, Any], names: tuple[str, ...], place: str, what: str) -> Any:
    """The first of some fields that is there."""
    for name in names:
        if name in value:
            return value[name]
    listed = " or ".join(map(repr, names))
    raise DataError(f"{place}: the field {listed} is missing: {what}; it has {', '.join(map(repr, value)) or 'none'}.")


def dump(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=False) + "\n"
