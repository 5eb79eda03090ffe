"""Label Studio's JSON: a list of tasks with annotations.

Label Studio counts in UTF-16 units, as browsers do: a character beyond U+FFFF (an emoji) counts twice. It also writes
the text of every span. By that text a reader can tell which way offsets were counted, and whether they are right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, final

from chainfield.errors import DataError
from chainfield.text.document import Document, make_document

from .format import Format, Options, Report, writing
from .lines import checked_object, json_list, take


@final
class LabelStudio(Format):
    """Named entities of Label Studio, import and export."""

    name: ClassVar[str] = "label-studio"
    title: ClassVar[str] = 'Label Studio\'s JSON: [{"data": {"text": …}, "annotations": [{"result": […]}]}]'

    def read(self, path: str, options: Options, report: Report) -> Iterator[Document]:
        """The first annotation of each task that was not cancelled, else its first prediction."""
        for place, task in json_list(path, options):
            data = checked_object(task.get("data", task), place)
            text = _text(data, options, place)
            given = _list(task, "annotations", place) or _list(task, "completions", place)
            done = [one for one in given if _kept(one)]
            if len(done) > 1:
                report.add("further annotation of the same task left out", place)
            source = done[:1] or _list(task, "predictions", place)[:1]
            if options.gold and (not source or (given and not done)):
                report.add("task without a finished annotation left out", place)
                continue
            if not source:
                report.add("task without an annotation: no spans", place)
            results = _list(checked_object(source[0], place), "result", place) if source else []
            spans, units = [], Units(text)
            for result in results:
                result = checked_object(result, place)
                if result.get("type", "labels") not in ("labels", "hypertextlabels"):
                    report.add(f"result of the type {result.get('type')!r} left out", place)
                    continue
                value = checked_object(take(result, ("value",), place, "the place of a span"), place)
                labels = value.get("labels") or value.get("hypertextlabels") or value.get("text_labels")
                if not isinstance(labels, list) or not labels:
                    report.add("span without a label left out", place)
                    continue
                start, end = units.place(value, place)
                spans += [(start, end, label) for label in labels]
            meta = {key: value for key, value in task.items() if key in ("id", "meta")}
            more = {key: value for key, value in data.items() if value is not text}
            yield make_document(text, spans, meta=meta | ({"data": more} if more else {}), where=place)

    def write(self, documents: Iterable[Document], path: str, options: Options, report: Report) -> None:
        """One task per document, with one annotation; control tags are called ``label`` and ``text``."""
        import json

        with writing(path, options) as out:
            out.write("[")
            for number, document in enumerate(documents):
                if document.tokens is not None:
                    report.add("tokens left out", f"document {number}")
                units = Units(document.text)
                results = [
                    {
                        "id": f"{number}-{i}",
                        "from_name": "label",
                        "to_name": "text",
                        "type": "labels",
                        "value": {
                            "start": units.of(span.start),
                            "end": units.of(span.end),
                            "text": document.text[span.start : span.end],
                            "labels": [span.label],
                        },
                    }
                    for i, span in enumerate(document.spans)
                ]
                data = {**document.meta.get("data", {}), options.text_field or "text": document.text}
                kept = {key: value for key, value in document.meta.items() if key in ("id", "meta")}
                for key in document.meta.keys() - {"id", "meta", "data"}:
                    report.add(f"field {key!r} left out", f"document {number}")
                task = {**kept, "data": data, "annotations": [{"result": results}]}
                out.write(("," if number else "") + "\n" + json.dumps(task, ensure_ascii=False))
            out.write("\n]\n")


class Units:
    """Offsets in UTF-16 units and in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = not text or max(text) <= "\uffff"
        self._first = None if self.plain else self._count()

    def _count(self) -> list[int]:
        at, found = 0, []
        for character in self.text:
            found.append(at)
            at += 1 + (character > "\uffff")
        return [*found, at]

    def of(self, character: int) -> int:
        """The unit at which a character begins."""
        return character if self._first is None else self._first[character]

    def place(self, value: dict[str, Any], place: str) -> tuple[int, int]:
        """The characters of a span, checked by its text."""
        start, end = take(value, ("start",), place, "where a span begins"), take(value, ("end",), place, "its end")
        if type(start) is not int or type(end) is not int:
            raise DataError(f"{place}: a span is at {start!r}–{end!r}; numbers of characters are expected.")
        said = value.get("text")
        if self._first is not None:
            both = {unit: i for i, unit in enumerate(self._first)}
            if start in both and end in both and said in (None, self.text[both[start] : both[end]]):
                return both[start], both[end]
        if said is not None and 0 <= start <= end <= len(self.text) and self.text[start:end] != said:
            raise DataError(
                f"{place}: the span {start}–{end} says {said!r:.60}, but there stands {self.text[start:end]!r:.60}; "
                "the text was changed after it was annotated."
            )
        return start, end


def _kept(annotation: Any) -> bool:
    return isinstance(annotation, dict) and not annotation.get("was_cancelled", False)


def _list(value: dict[str, Any], name: str, place: str) -> list[Any]:
    found = value.get(name) or []
    if not isinstance(found, list):
        raise DataError(f"{place}: {name!r} is {found!r:.40}; a list is expected.")
    return found


def _text(data: dict[str, Any], options: Options, place: str) -> str:
    """The text of a task: the field that is called text, or the only one that holds a string."""
    if options.text_field is not None:
        return take(data, (options.text_field,), place, "what the document says")
    if isinstance(data.get("text"), str):
        return str(data["text"])
    strings = [name for name, value in data.items() if isinstance(value, str)]
    if len(strings) != 1:
        raise DataError(
            f"{place}: there is no field 'text'; say which one it is: --text-field {strings[0] if strings else 'NAME'}."
        )
    return str(data[strings[0]])
