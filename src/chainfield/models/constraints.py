"""Rules of schemes and of the user, and whether training labels obey them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chainfield.errors import ConfigError, DataError, DataWarning, NoPathError
from chainfield.memory import demand_memory
from chainfield.spans import has_spans, violations
from chainfield.states import Rules, StateSpace, forbid, one_per_label, restrict, second_order
from chainfield.states.schemes import detect_scheme, nearest_scheme, scheme_rules

from .repairing import ADVICE, textual, told

PAIR_BYTES = 150.0  # of transitions: numbers, weights, gradients and averages
TRIPLE_BYTES = 100.0  # of a space that lists them: edges, and the layouts that kernels read


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
    if not textual(labels):
        return None
    given = list(sequences)
    known = [s for s in given if textual(s)]
    found = detect_scheme(labels, known)
    if found is None and has_spans(labels):
        _warn(labels, given, nearest_scheme(labels, known))
    return found


def _warn(labels: tuple[str, ...], sequences: Sequence[Any], nearest: str | None) -> None:
    """Labels that stand for spans follow no scheme: no rules hold, and that is said."""
    if nearest is None:
        why = f"the labels are of no single scheme ({', '.join(labels[:5])} …)"
    else:
        given = [(s, labels) for s, labels in enumerate(sequences) if textual(labels)]
        places = [(s, t, labels[t]) for s, labels in given for t in violations(labels, nearest)]
        listed = [f"sequence {s}, position {t}: {label}" for s, t, label in places]
        why = f"of the nearest scheme, {nearest}, {len(places):,} labels break the rules ({told(listed)})"
    warnings.warn(f'scheme="auto" applies no rules: {why}; {ADVICE}', DataWarning, stacklevel=2)


def check_rules(rules: Rules | None, labels: tuple[Any, ...], sequences: Iterable[Sequence[Any]]) -> None:
    """Refuse training labels that break the rules, naming the first place and how many there are."""
    if rules is None:
        return
    number, first, count = {label: i for i, label in enumerate(labels)}, "", 0
    where = 0
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
                count += 1
                if count == 1:
                    where, first = s, f"in its training labels, at position {t}, {wrong}"
    if count:
        more = f" ({count:,} such places in all)" if count > 1 else ""
        raise NoPathError(where, detail=f"{first}{more}; {ADVICE}")


def check_pairs(rules: Rules | None, labels: tuple[Any, ...], counted: tuple[Any, ...], counts: Any) -> None:
    """Refuse labels of a stream that break the rules for neighbours; counts (L, L) in the order of ``counted``."""
    if rules is None:
        return
    place = [labels.index(label) for label in counted]
    for i, j in np.argwhere((counts > 0) & ~rules.edge[np.ix_(place, place)]).tolist():
        raise DataError(
            f"The training labels break the rules: {counted[j]!r} cannot follow {counted[i]!r}, but does so "
            f"{counts[i, j]:g} times; {ADVICE}"
        )


def label_space(n_labels: int) -> StateSpace:
    """One state per label; transitions that do not fit into memory are refused before they are made."""
    what = f"{n_labels:,} labels ({n_labels**2:,} transitions)"
    demand_memory(PAIR_BYTES * n_labels**2, what, "use fewer labels")
    return one_per_label(n_labels)


def restricted(space: StateSpace, rules: Rules | None) -> StateSpace:
    """The space under the rules, if there are any."""
    return space if rules is None else restrict(space, rules)


def ordered_space(space: StateSpace, rules: Rules | None, order: int) -> StateSpace:
    """The space under the rules; in second order, its states are pairs."""
    space = restricted(space, rules)
    return paired(space) if order == 2 else space


def paired(space: StateSpace) -> StateSpace:
    """The second-order space; one that does not fit into memory is refused before it is made."""
    leaving, entering = (np.bincount(side, minlength=space.n_states) for side in (space.src, space.dst))
    n_edges = float((entering + space.start) @ leaving)
    what = f"Second order over {space.n_states:,} states ({n_edges:,.0f} triples)"
    demand_memory(TRIPLE_BYTES * n_edges, what, 'use order=1, or LinearCRF with prune="auto"')
    return second_order(space)
