"""What taggers answer: spans, labels, marginals, the best answers, explanations."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from chainfield.arrays import Float, Int32, Ragged
from chainfield.fitted import Tagger, confidences
from chainfield.fitted.label_spans import reading_of
from chainfield.inspection.explanation import PositionExplanation, explain
from chainfield.text.tagging.answers import text_spans

from .bounds import Bounds
from .inputs import Inputs, explained_places, known_labels, read_inputs
from .question import Question
from .refusal import Refusal
from .registry import Served

LONGEST_EXPLAINED = 2_000  # tokens
Best = list[tuple[list[Any], float]]
Answered = tuple[list[Any], int]


def tag(served: Served, question: Question, bounds: Bounds) -> Answered:
    """The answer to each input, for JSON; and how many tokens there were."""
    answers, lengths = tag_each(served, question, bounds)
    return answers, sum(lengths)


def tag_each(served: Served, question: Question, bounds: Bounds) -> tuple[list[Any], list[int]]:
    """The answer to each input, for JSON; and how many tokens it has."""
    tagger = served.model
    if not isinstance(tagger, Tagger):
        raise Refusal(422, f"The model {served.name!r} gives labels to whole sequences; ask /v1/classify.")
    wanted = question.wanted
    if wanted.format == "huggingface" and question.texts is None:
        raise Refusal(422, "Answers in Hugging Face's form are about texts; give text or texts.")
    inputs = read_inputs(served, question, bounds)
    _check_answer(question, inputs, len(tagger.task.labels), bounds)
    given = known_labels(served, question, inputs)
    if question.texts is not None:
        answers, labels = _of_texts(served, tagger, question, inputs, given)
        if wanted.format == "huggingface":
            return [[_hugging_face(span) for span in answer["spans"]] for answer in answers], inputs.lengths
    else:
        answers = _of_tokens(tagger, question, inputs, given)
    with_tokens = wanted.with_tokens and question.texts is not None
    if wanted.marginals or with_tokens:
        rows = np.concatenate([np.empty((0, len(tagger.task.labels))), *tagger.marginals(inputs.rows, given)])
        if with_tokens:
            _add_tokens(tagger, inputs, answers, labels, rows)
        for answer, own in zip(answers, inputs.documents.cut(rows), strict=True) if wanted.marginals else ():
            answer["marginals"] = own.round(6).tolist()
    if wanted.n_best:
        several = tagger.n_best(inputs.rows, wanted.n_best, given)
        for i, answer in enumerate(answers):
            best = join_best([several[s] for s in inputs.own(i)], wanted.n_best)
            answer["n_best"] = [_best(tagger, inputs, i, labels, p) for labels, p in best]
    if given is not None:
        sure = np.exp(tagger.log_likelihood(inputs.rows, given))
        for i, answer in enumerate(answers):
            answer["given_probability"] = float(np.prod(sure[list(inputs.own(i))]))
    if question.explain is not None:
        i, positions = explained_places(question, inputs)
        answers[i]["explanations"] = _explained(tagger, question.explain, inputs, i, positions, given)
    return answers, inputs.lengths


def _check_answer(question: Question, inputs: Inputs, n_labels: int, bounds: Bounds) -> None:
    """Refuse what would make an answer of millions of numbers."""
    wanted = question.wanted
    each = wanted.n_best + n_labels * wanted.marginals + wanted.alternatives
    if each * inputs.n_tokens > bounds.values:
        raise Refusal(
            413,
            f"The answer would hold {each * inputs.n_tokens:,} values; {bounds.values:,} are allowed. Ask for less, or "
            "for fewer inputs at a time.",
        )


def plain(label: Any) -> Any:
    """A label for JSON."""
    label = label.item() if isinstance(label, np.generic) else label
    return label if isinstance(label, str | int) else str(label)


def _of_texts(
    served: Served, tagger: Tagger, question: Question, inputs: Inputs, given: Any
) -> tuple[list[dict[str, Any]], Int32]:
    """The spans of texts, and the labels of their tokens by number."""
    wanted, tokens, texts = question.wanted, inputs.tokens, inputs.texts
    assert served.reader is not None
    assert tokens is not None
    assert texts is not None
    found = served.reader.find(
        tagger,
        tokens,
        probabilities=wanted.probabilities,
        alternatives=wanted.alternatives > 0,
        whole=wanted.probabilities,
        given=given,
    )
    spans = text_spans(texts, tokens, found, reading_of(tagger.task.labels), wanted.alternatives)
    answers: list[dict[str, Any]] = [{"spans": [span.to_dict() for span in own]} for own in spans]
    if found.whole is not None:
        for i, answer in enumerate(answers):
            answer["probability"] = round(float(np.multiply.reduce(found.whole[inputs.own(i)])), 6)
    return answers, found.labels


def _add_tokens(tagger: Tagger, inputs: Inputs, answers: list[dict[str, Any]], labels: Int32, rows: Float) -> None:
    """Each token of texts with its label and the probability of that."""
    assert inputs.tokens is not None
    assert inputs.texts is not None
    names = [plain(label) for label in tagger.task.labels]
    own = inputs.documents.cut([names[y] for y in labels.tolist()])
    sure = inputs.documents.cut(rows[np.arange(len(labels)), labels].tolist())
    for text, answer, *columns in zip(inputs.texts, answers, inputs.tokens.places(), own, sure, strict=True):
        answer["tokens"] = [
            {"start": a, "end": b, "text": text[a:b], "label": label, "probability": round(p, 6)}
            for (a, b), label, p in zip(*columns, strict=True)
        ]


def _of_tokens(tagger: Tagger, question: Question, inputs: Inputs, given: Any) -> list[dict[str, Any]]:
    if not question.wanted.probabilities:
        return [{"labels": [plain(y) for y in labels]} for labels in tagger.predict(inputs.rows, given)]
    return [
        {
            "labels": [plain(y) for y in one.labels],
            "probabilities": [round(p, 6) for p in one.tokens],
            "spans": [
                {"start": span.start, "end": span.end, "label": span.type, "probability": round(span.probability, 6)}
                for span in one.spans
            ],
            "probability": round(one.sequence, 6),
        }
        for one in confidences(tagger, inputs.rows, given)
    ]


def _hugging_face(span: dict[str, Any]) -> dict[str, Any]:
    return {
        "entity_group": span["label"],
        "score": span.get("probability"),
        "word": span["text"],
        "start": span["start"],
        "end": span["end"],
    }


def join_best(parts: list[Best], n: int) -> Best:
    """The n best answers to a text from those to its sentences, which do not depend on each other."""
    if len(parts) == 1:
        return parts[0]
    whole: Best = [([], 1.0)]
    for part in parts:
        # Both lists are sorted: the best pairs are found from the corner on.
        heap = [(-whole[0][1] * part[0][1], 0, 0)]
        seen = {(0, 0)}
        found: Best = []
        while heap and len(found) < n:
            p, a, b = heapq.heappop(heap)
            found.append((whole[a][0] + part[b][0], -p))
            for at in ((a + 1, b), (a, b + 1)):
                if at not in seen and at[0] < len(whole) and at[1] < len(part):
                    seen.add(at)
                    heapq.heappush(heap, (-whole[at[0]][1] * part[at[1]][1], *at))
        whole = found
    return whole


def _best(tagger: Tagger, inputs: Inputs, i: int, labels: list[Any], p: float) -> dict[str, Any]:
    """One of the best answers: its labels, and its spans by token or, for texts, by character."""
    number = tagger.task.number
    lengths = Ragged.of([int(inputs.sequences.lengths[s]) for s in inputs.own(i)])
    spans = []
    if all(isinstance(label, str) for label in tagger.task.labels):
        table = reading_of(tagger.task.labels)
        numbers = np.array([number[label] for label in labels], np.int32)
        for a, b in zip(*(ends.tolist() for ends in table.find(numbers, lengths)), strict=True):
            spans.append((a, b, table.types[numbers[a]]))
    if inputs.tokens is not None:
        at = int(inputs.documents.offsets[i])
        starts, ends = inputs.tokens.starts[at:], inputs.tokens.ends[at:]
        spans = [(int(starts[a]), int(ends[b - 1]), label) for a, b, label in spans]
    return {
        "labels": [plain(label) for label in labels],
        "probability": round(p, 6),
        "spans": [{"start": a, "end": b, "label": label} for a, b, label in spans],
    }


def _explained(
    tagger: Tagger, asked: dict[str, Any], inputs: Inputs, i: int, positions: list[int], given: Any
) -> list[dict[str, Any]]:
    """Explanations of some positions of one input."""
    top, named = asked.get("top", 12), asked.get("against")
    against = None if named is None else next((y for y in tagger.task.labels if str(y) == str(named)), named)
    places = [inputs.place(i, position) for position in positions]
    found = {}
    for s in sorted({s for s, _ in places}):
        if inputs.sequences.lengths[s] > LONGEST_EXPLAINED:
            raise Refusal(413, f"Sequences of more than {LONGEST_EXPLAINED:,} tokens are not explained; send parts.")
        found[s] = explain(tagger, inputs.rows[s], against, None if given is None else given[s])
    return [
        {"position": position, **_parts(found[s][t], top)} for position, (s, t) in zip(positions, places, strict=True)
    ]


def _parts(one: PositionExplanation, top: int) -> dict[str, Any]:
    kept = [part for part in one.contributions if part.difference != 0.0]
    return {
        "label": plain(one.label),
        "probability": round(one.probability, 6),
        "against": plain(one.runner_up),
        "against_probability": round(one.runner_up_probability, 6),
        "possible": one.possible,
        "difference": _finite(one.difference),
        "n_parts": len(kept),
        "parts": [
            {
                "feature": part.feature + ("" if part.value == 1.0 else f" = {part.value:g}"),
                "amount": _finite(part.difference),
                "place": part.place,
            }
            for part in kept[:top]
        ],
    }


def _finite(value: float) -> float | None:
    """None: what the rules decide."""
    return round(value, 6) if np.isfinite(value) else None
