"""Training labels that break their tagging scheme: where they are, and how they are repaired on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from chainfield.errors import ConfigError
from chainfield.spans import violations
from chainfield.states.schemes import convert, nearest_scheme

ADVICE = 'correct the labels, change the rules, or have labels repaired (repair="conlleval" or repair="open").'
SHOWN = 3


class Repair(NamedTuple):
    """A label that broke the scheme, and what stands in its place; None: it is left open."""

    sequence: int
    position: int
    label: str
    repaired: str | None

    def __str__(self) -> str:
        now = "left open" if self.repaired is None else f"→ {self.repaired}"
        return f"sequence {self.sequence}, position {self.position}: {self.label} {now}"


def textual(labels: Sequence[Any]) -> bool:
    """Whether every label is known, and a string."""
    return all(isinstance(label, str) for label in labels)


def repair_labels(sequences: Sequence[Any], scheme: str, how: str) -> tuple[list[Any], list[Repair]]:
    """The sequences with labels that obey the scheme, and what was changed.

    ``how``: "conlleval" writes the spans that conlleval reads off a sequence; "open" leaves the labels open that the
    scheme does not explain. Sequences with unknown labels stay as they are.
    """
    if scheme.lower() == "auto":
        known = [list(labels) for labels in sequences if textual(labels)]
        found = nearest_scheme(dict.fromkeys(label for labels in known for label in labels), known)
        if found is None:
            raise ConfigError(f'repair="{how}" with scheme="auto": the labels belong to no scheme; give its name.')
        scheme = found
    mended, repairs = [], list[Repair]()
    for s, given in enumerate(sequences):
        wrong = violations(given, scheme.lower()) if textual(given) else []
        if not wrong:
            mended.append(given)
            continue
        labels: list[str | None] = [*given]
        if how == "open":
            for t in wrong:
                labels[t] = None
        else:
            labels = [*convert(given, "conlleval", scheme.lower())]
        repairs += [Repair(s, t, a, b) for t, (a, b) in enumerate(zip(given, labels, strict=True)) if a != b]
        mended.append(labels)
    return mended, repairs


def check_whole(model: Any) -> None:
    """Refuse to repair labels that are not in memory."""
    if getattr(model, "repair", None) is not None:
        raise ConfigError(f'repair="{model.repair}" needs sequences in memory; repair the files: chainfield convert.')


def told(places: Sequence[Any]) -> str:
    """The first of some places, and how many more there are."""
    more = f", and {len(places) - SHOWN:,} more" if len(places) > SHOWN else ""
    return "; ".join(str(place) for place in places[:SHOWN]) + more
