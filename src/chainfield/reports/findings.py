"""Sentences made from numbers. Each has a condition, or it would lie."""

from __future__ import annotations

from typing import Any

KIND_NAMES = {
    "missed": "a missed span",
    "spurious": "a spurious span",
    "boundary": "a wrong border",
    "type": "a wrong type",
    "both": "a wrong type and border",
}


ENOUGH = 10  # gold spans of a type; the F1 of fewer says little


def findings(found: dict[str, Any]) -> list[str]:
    """What a reader should know first of one model's figures."""
    sentences = [*_seen(found), *_unknown(found), *_scores(found), *_curve(found), *_commonest(found), *_trust(found)]
    return [*sentences, *_doubtful(found)]


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f}"


def _seen(found: dict[str, Any]) -> list[str]:
    if found["seen_in_training"]:
        return ["The model was trained on these very data: the scores say how well it remembers, not how good it is."]
    return []


def _unknown(found: dict[str, Any]) -> list[str]:
    names = found["unknown_labels"]
    if not names:
        return []
    shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
    return [f"The model has never seen the gold labels {shown}; they count as mistakes."]


def _scores(found: dict[str, Any]) -> list[str]:
    scores = found.get("scores")
    if scores is None:
        return []
    whole = scores["all"]
    if scores["of"] == "labels":
        what = "labels" if "token_accuracy" in found else "sequences"
        first = f"{_percent(whole['f1']['estimate'], 1)} of 100 {what} are right."
    else:
        recall, precision = _percent(whole["recall"]["estimate"]), _percent(whole["precision"]["estimate"])
        first = f"It finds {recall} of 100 spans, and {precision} of 100 that it reports are right."
    rows = [row for row in scores["rows"] if row["gold"] >= ENOUGH]
    if len(rows) < 2:
        return [first]
    rows.sort(key=lambda row: row["f1"]["estimate"])
    worst, best = rows[0], rows[-1]
    # Only where the intervals are apart is one type easier than another.
    if worst["f1"]["high"] >= best["f1"]["low"]:
        return [first]
    easy, hard = (f"{row['type']} ({_percent(row['f1']['estimate'])})" for row in (best, worst))
    rare = scores["n_types"] - len(rows)
    among = f"Of the {len(rows)} most frequent types ({ENOUGH} gold {scores['of']} or more), " if rare else ""
    return [f"{first} {among}{easy} is easiest, {hard} hardest, by F1."]


def _curve(found: dict[str, Any]) -> list[str]:
    curve = found.get("curve")
    if curve is None or len(curve["points"]) < 2:
        return []
    before, last = curve["points"][-2:]
    gain = f"{100 * (last['test'] - before['test']):.1f} points"
    if curve["still_rising"]:
        return [f"More data should help: the last {last['n'] - before['n']:,} sequences still brought {gain}."]
    return [f"The last {last['n'] - before['n']:,} training sequences brought {gain}, no more than chance can."]


def _commonest(found: dict[str, Any]) -> list[str]:
    kinds = found["mistakes"]["kinds"]
    total = sum(kinds.values())
    if not total:
        return ["There is no mistake."]
    if len(kinds) == 1:
        return []
    kind, n = max(kinds.items(), key=lambda item: item[1])
    return [f"The commonest mistake is {KIND_NAMES[kind]}: {n:,} of {total:,}."]


def _trust(found: dict[str, Any]) -> list[str]:
    own = found["calibration"]
    if own["n"] < 100:
        return []
    gap = own["mean"] - own["share"]
    said, true = _percent(own["mean"]), _percent(own["share"])
    promise = f"its probabilities promise {said} right answers of 100, and {true} are"
    if gap > 0.02:
        return [f"It is {'far' if gap > 0.08 else 'a little'} too sure of itself: {promise}."]
    if gap < -0.02:
        return [f"It is {'far' if gap < -0.08 else 'a little'} too modest: {promise}."]
    if own["error"] > 0.04:
        return [f"On average {promise}, but single probabilities are off by {100 * own['error']:.0f} points."]
    return [f"Its probabilities can be taken at their word: they{promise[17:]}."]


def _doubtful(found: dict[str, Any]) -> list[str]:
    own = found.get("doubtful")
    if not own or not own["n_sure"]:
        return []
    where = "training data" if own["of"] == "training" else "data"
    places = "1 place" if own["n_sure"] == 1 else f"{own['n_sure']:,} places"
    return [f"In {places} of the {where} a sure model disagrees with the gold label: worth a look."]
