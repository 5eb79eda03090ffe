"""Little texts with spans, made by a rule that a model can learn."""

from __future__ import annotations

import random

CITIES = ["Paris", "New York", "Rome", "São Paulo", "北京", "Köln"]
PEOPLE = ["Ann Lee", "Bob", "Zoë O'Neil", "J. R. Smith", "Ludwig"]
SENTENCES = [
    "{p} lives in {c}.",
    "Yesterday, {p} flew from {c} to {c} 🛫",
    "Is {p} in {c}?",
    "{c} is nice;\nso is {c}.",
]


def corpus(n: int, seed: int = 0) -> tuple[list[str], list[list[tuple[int, int, str]]]]:
    """n texts and their spans (start, end, label) by character."""
    rng = random.Random(seed)
    texts, spans = [], []
    for _ in range(n):
        text, own = "", []
        for part in rng.choice(SENTENCES).split("{")[0:]:
            if part[1:2] == "}":
                name, label = (rng.choice(CITIES), "LOC") if part[0] == "c" else (rng.choice(PEOPLE), "PER")
                own.append((len(text), len(text) + len(name), label))
                text += name + part[2:]
            else:
                text += part
        texts.append(text)
        spans.append(own)
    return texts, spans
