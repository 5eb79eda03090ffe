"""The endpoints of a Label Studio ML backend: predictions with scores, so that tasks can be sorted by doubt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from chainfield.formats.label_studio import Units

from .bounds import Bounds
from .question import Question
from .refusal import Refusal
from .registry import Served
from .tagging import tag

LONGEST = 1 << 16  # characters of a labelling interface


@dataclass(frozen=True)
class Interface:
    """What a labelling interface calls its parts: ``<Labels name="label" toName="text"/><Text value="$text"/>``."""

    labels: str = "label"
    text: str = "text"
    field: str = "text"

    @classmethod
    def of(cls, config: str | None) -> Interface:
        """Read off the interface; it is searched, never run through an XML parser."""
        config = (config or "")[:LONGEST]
        labels = _tag(config, "Labels")
        name = labels.get("name", cls.labels)
        text = labels.get("toName", cls.text)
        values = [own.get("value", "") for own in _tags(config, "(?:Hyper)?Text") if own.get("name") == text]
        field = values[0].lstrip("$") if values and values[0].startswith("$") else cls.field
        return cls(name, text, field or cls.field)


def _tags(config: str, name: str) -> list[dict[str, str]]:
    found = re.findall(rf"<{name}\b([^<>]{{0,2000}})>", config)
    return [dict(re.findall(r'(\w{1,40})\s{0,9}=\s{0,9}"([^"]{0,200})"', own)) for own in found]


def _tag(config: str, name: str) -> dict[str, str]:
    return next(iter(_tags(config, name)), {})


def predictions(served: Served, value: dict[str, Any], bounds: Bounds) -> tuple[list[dict[str, Any]], int]:
    """The predictions for tasks, in the form that Label Studio imports; offsets are in UTF-16 units, as it counts."""
    face = Interface.of(value.get("label_config"))
    texts = []
    for i, task in enumerate(value["tasks"]):
        data = task.get("data")
        text = data.get(face.field) if isinstance(data, dict) else None
        if not isinstance(text, str):
            raise Refusal(422, f"Task {i} has no text in its field {face.field!r}.")
        texts.append(text)
    question = Question.of({"texts": texts}, bounds)
    answers, n = tag(served, question, bounds)
    return [_prediction(served, face, text, own) for text, own in zip(texts, answers, strict=True)], n


def _prediction(served: Served, face: Interface, text: str, answer: dict[str, Any]) -> dict[str, Any]:
    units = Units(text)
    return {
        "model_version": f"{served.name}@{served.version}",
        "score": answer["probability"],
        "result": [
            {
                "id": f"span-{i}",
                "from_name": face.labels,
                "to_name": face.text,
                "type": "labels",
                "score": span["probability"],
                "value": {
                    "start": units.of(span["start"]),
                    "end": units.of(span["end"]),
                    "text": span["text"],
                    "labels": [span["label"]],
                },
            }
            for i, span in enumerate(answer["spans"])
        ],
    }
