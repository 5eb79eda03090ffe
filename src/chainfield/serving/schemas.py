"""What clients may send. The bounds of numbers here are those of a single field; a server's own bounds come on top."""

from __future__ import annotations

from .json_schema import Schema, many, record, text, truth, whole

MOST_BEST = 100
MOST_PARTS = 100
LABEL: Schema = {"type": ["string", "integer"], "description": "a label of the model"}

_CELL: Schema = {"type": ["string", "number", "boolean"]}
_TOKEN: Schema = {
    "anyOf": [
        text("a word"),
        many("columns of a token (strings), attributes (strings), or features (numbers)", _CELL),
        {"type": "object", "description": "attributes by name", "additionalProperties": _CELL},
    ]
}
_MODEL = {
    "model": text("the name of a model; without it, the first one", maxLength=200),
    "version": text("a version of the model; without it, the newest", maxLength=200),
}
_INPUT = {
    "text": text("one text"),
    "texts": many("several texts", {"type": "string"}),
    "tokens": many("several sequences that are cut already", many("one sequence", _TOKEN)),
}
_ONE_INPUT = [{"required": [name]} for name in _INPUT]

GIVEN = many(
    "labels that are known: the others are found around them",
    record(
        "one known label",
        {
            "input": whole("which input, from 0", 0, 1 << 31, default=0),
            "position": whole("which token of it, from 0", 0, 1 << 31),
            "label": {"anyOf": [LABEL, many("one of these labels", LABEL, minItems=1)]},
        },
        required=["position", "label"],
    ),
)
EXPLAIN = record(
    "why tokens of one input have their labels",
    {
        "input": whole("which input, from 0", 0, 1 << 31, default=0),
        "positions": many("which tokens of it; without it, all", {"type": "integer", "minimum": 0}),
        "against": LABEL | {"description": "the label to compare with; without it, the best possible other one"},
        "top": whole("how many features for each token, the strongest first", 1, MOST_PARTS, default=12),
    },
)
#: What an answer of a tagger may hold; the same for one request and for a stream.
WANTED = {
    "probabilities": truth("probabilities of spans and of the whole answer", True),
    "alternatives": whole("other labels for each span, with their probabilities (texts only)", 0, MOST_BEST, default=0),
    "with_tokens": truth("the tokens of texts, with their places, labels and probabilities"),
    "marginals": truth("the probability of every label for every token"),
    "n_best": whole("how many of the best answers, with their probabilities", 0, MOST_BEST, default=0),
    "format": text(
        "chainfield's answers, or those of Hugging Face's token-classification pipeline (texts only)",
        enum=["chainfield", "huggingface"],
        default="chainfield",
    ),
}
TAG = record("what to tag", {**_MODEL, **_INPUT, **WANTED, "given": GIVEN, "explain": EXPLAIN}, oneOf=_ONE_INPUT)
CLASSIFY = record("what to classify", {**_MODEL, **_INPUT}, oneOf=_ONE_INPUT)
LINE = record("one line of a stream", {"text": _INPUT["text"], "tokens": many("one sequence", _TOKEN), "id": {}})
HUGGING_FACE = record(
    "what Hugging Face's clients send",
    {
        "inputs": {"anyOf": [_INPUT["text"], _INPUT["texts"]]},
        "parameters": {"type": ["object", "null"], "description": "not needed", "additionalProperties": True},
        "options": {"type": ["object", "null"], "description": "not needed", "additionalProperties": True},
    },
    required=["inputs"],
)
TASKS = {
    "type": "object",
    "description": "what Label Studio sends",
    "properties": {
        "tasks": many("tasks with a text", {"type": "object", "additionalProperties": True}),
        "label_config": {"type": ["string", "null"], "description": "the labelling interface"},
    },
    "required": ["tasks"],
}
SETUP = {
    "type": "object",
    "description": "what Label Studio sends when a project is connected",
    "properties": {"schema": {"type": ["string", "null"], "description": "the labelling interface"}},
}
