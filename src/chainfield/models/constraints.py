"""Rules of schemes and of the user, and whether training labels obey them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from chainfield.errors import ConfigError, NoPathError
from chainfield.states import Rules, StateSpace, forbid, restrict
from chainfield.states.schemes import detect_scheme, scheme_rules


def label_rules(
    labels: tuple[Any, ...],
    scheme: str | None,
    forbidden: Iterable[tuple[Any, Any]] | None,
) -> Rules | None:
    """The rules of a tagging scheme and of the user together; None if there are none."""
    rules: Rules | None = None
    if scheme is not None:
        odd = [label for label in labels if not isinstance(label, str)]
        if odd:
            raise ConfigError(f"scheme={scheme!r} needs labels such as B-X, but {odd[0]!r} is not a string.")
        rules = scheme_rules(labels, scheme)
    if forbidden is not None:
        own = forbid(labels, forbidden)
        rules = own if rules is None else rules & own
    return rules


def found_scheme(labels: tuple[Any, ...], scheme: str | None, sequences: Iterable[Any]) -> str | None:
    """The scheme that "auto" stands for (None if the labels follow none), any other by its name."""
    if scheme != "auto":
        return scheme if scheme is None else scheme.lower()
    known = [s for s in sequences if all(isinstance(label, str) for label in s)]
    return detect_scheme(labels, known) if all(isinstance(label, str) for label in labels) else None


def check_rules(rules: Rules | None, labels: tuple[Any, ...], sequences: Iterable[Sequence[Any]]) -> None:
    """Refuse training labels that break the rules, naming the first place."""
    if rules is None:
        return
    number = {label: i for i, label in enumerate(labels)}
    for s, sequence in enumerate(sequences):
        ids = [number.get(label, -1) if not isinstance(label, set | frozenset) else -1 for label in sequence]
        for t, now in enumerate(ids):
            wrong = ""
            if now >= 0 and t == 0 and not rules.start[now]:
                wrong = f"{labels[now]!r} cannot begin a sequence"
            elif now >= 0 and t > 0 and ids[t - 1] >= 0 and not rules.edge[ids[t - 1], now]:
                wrong = f"{labels[now]!r} cannot follow {labels[ids[t - 1]]!r}"
            elif now >= 0 and t == len(ids) - 1 and not rules.end[now]:
                wrong = f"{labels[now]!r} cannot end a sequence"
            if wrong:
                advice = 'correct the labels, or change the rules (scheme="auto" reads the scheme off the labels).'
                raise NoPathError(s, detail=f"in its training labels, at position {t}, {wrong}; {advice}")


def restricted(space: StateSpace, rules: Rules | None) -> StateSpace:
    """The space under the rules, if there are any."""
    return space if rules is None else restrict(space, rules)
