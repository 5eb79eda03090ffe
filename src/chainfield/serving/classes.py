"""What classifiers of whole sequences answer."""

from __future__ import annotations

from typing import Any

from chainfield.fitted import Classifier

from .bounds import Bounds
from .inputs import read_inputs
from .question import Question
from .refusal import Refusal
from .registry import Served
from .tagging import plain


def classify(served: Served, question: Question, bounds: Bounds) -> tuple[list[dict[str, Any]], int]:
    """The label of each input with the probabilities of all; and how many tokens there were."""
    if not isinstance(served.model, Classifier):
        raise Refusal(422, f"The model {served.name!r} gives a label to every token; ask /v1/tag.")
    inputs = read_inputs(served, question, bounds)
    labels = [plain(label) for label in served.labels]
    if inputs.documents.n_sequences * len(labels) > bounds.values:
        raise Refusal(413, f"The answer would hold more than {bounds.values:,} probabilities; send fewer inputs.")
    rows: Any = served.model.probabilities(inputs.rows) if inputs.documents.n_sequences else []
    answers = []
    for row in rows:
        best = int(row.argmax())
        answers.append(
            {
                "label": labels[best],
                "probability": round(float(row[best]), 6),
                "probabilities": {str(label): round(p, 6) for label, p in zip(labels, row.tolist(), strict=True)},
            }
        )
    return answers, inputs.n_tokens
