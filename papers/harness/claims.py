"""The claims of the papers, and whether kept results bear them out: the verdict is computed, not written by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from .experiment import Result
from .figures import Figure, Picture, ours
from .results import number

BEGIN, END = "<!-- claims: written by `python papers/run.py render` -->", "<!-- end of claims -->"
HOLDS, FAILS, PENDING = "yes", "**no**", "to be run"


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper: that one figure is better than another, or that a figure is what it is.

    ``lower``: smaller is better. Without ``against``, ours is compared with the published one: it holds if ours is as
    good, within ``within`` of it. So it is with ``against``, if the paper says that the two are alike. ``reaches``:
    what ours has to reach, where the paper says so in words. ``seconds``: the times of the two trainings are compared,
    not what came out. ``tested``: a row with the p of a test of the difference, or with the interval of the difference.
    ``note`` says what differs, and what that means.
    """

    text: str
    figure: Figure
    against: Figure | None = None
    lower: bool = False
    within: float = 0.0
    reaches: float | None = None
    seconds: bool = False
    tested: Figure | None = None
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper with its claims; ``words``: which model it is here, and what one must know to read the table."""

    title: str
    words: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...] = ()


def judge(claim: Claim, results: Mapping[str, Result]) -> tuple[bool, str, str]:
    """Whether a claim holds here, the published figures, and ours."""
    row = claim.figure.of(results)
    if claim.seconds:
        assert claim.against is not None
        taken = [one.seconds for one in (row, claim.against.of(results))]
        if None in taken:
            raise LookupError(f"A claim compares times, and {claim.figure} or {claim.against} has none.")
        first, second = (one for one in taken if one is not None)
        return first < second, "-", f"{first:,.1f} s against {second:,.1f} s"
    sign = -1.0 if claim.lower else 1.0
    if claim.reaches is not None:
        return sign * (ours(row) - claim.reaches) >= 0.0, "-", number(ours(row))
    if claim.against is None:
        if row.published is None:
            raise LookupError(f"A claim compares {claim.figure} with a published figure, and there is none.")
        return sign * (ours(row) - row.published) >= -claim.within, number(row.published), number(ours(row))
    other = claim.against.of(results)
    printed = [one.published for one in (row, other)]
    published = "-" if None in printed else f"{number(printed[0])} against {number(printed[1])}"
    gap = sign * (ours(row) - ours(other))
    return (
        gap > 0 if not claim.within else gap >= -claim.within,
        published,
        f"{number(ours(row))} against {number(ours(other))}",
    )


def certainty(claim: Claim, results: Mapping[str, Result]) -> str:
    """What a test says of the difference, in words; nothing where there is none, or none yet."""
    try:
        row = None if claim.tested is None else claim.tested.of(results)
    except LookupError:
        row = None
    if row is None:
        return ""
    if row.interval is None:
        return f"p = {number(ours(row))}." if ours(row) >= 0.001 else "p < 0.001."
    low, high = row.interval
    return f"Difference {low:.2f} to {high:.2f} (95 %)."


def render_claims(
    papers: Iterable[Paper], results: Iterable[Result], stale: Iterable[str] = (), pictures: Iterable[str] = ()
) -> str:
    """The page, as Markdown.

    ``stale``: experiments that should be run again; their figures are marked. ``pictures``: those that have been drawn.
    """
    known, old, drawn = {result.name: result for result in results}, set(stale), set(pictures)
    lines = [BEGIN, ""]
    for paper in papers:
        told = [tell(claim, known, old) for claim in paper.claims]
        lines += [f"### {paper.title}", "", f"{paper.words} {tally([one.verdict for one in told])}", ""]
        lines += ["| The paper says | Published | Here | Holds | |", "| --- | --- | --- | --- | --- |"]
        lines += [one.line for one in told]
        for picture in paper.pictures:
            lines += ["", f"![{picture.words}]({picture.path})"] if picture.path in drawn else []
        lines.append("")
    if old:
        lines += ["† from code that has changed since, or that was not recorded: to be run again.", ""]
    return "\n".join([*lines, END])


class Told(NamedTuple):
    """A row of the table, and what it says of whether the claim holds."""

    line: str
    verdict: str


def tell(claim: Claim, known: Mapping[str, Result], old: Set[str]) -> Told:
    """A claim whose figures no kept result has is told as one that has to be run."""
    try:
        holds, published, here = judge(claim, known)
    except LookupError:
        return Told(f"| {claim.text} | - | - | {PENDING} | {claim.note} |", PENDING)
    behind = {one.experiment for one in (claim.figure, claim.against) if one is not None}
    mark = " †" if behind & old else ""
    verdict = HOLDS if holds else FAILS
    note = " ".join(part for part in (certainty(claim, known), claim.note) if part)
    return Told(f"| {claim.text} | {published} | {here}{mark} | {verdict} | {note} |", verdict)


def tally(verdicts: Sequence[str]) -> str:
    """How many claims hold, in a sentence."""
    count = Counter(verdicts)
    parts = [f"{count[HOLDS]} hold{'s' * (count[HOLDS] == 1)}", f"{count[FAILS]} do{'es' * (count[FAILS] == 1)} not"]
    parts += [f"{count[PENDING]} {'are' if count[PENDING] > 1 else 'is'} to be run"] if count[PENDING] else []
    return f"Of {len(verdicts)} claims, {', '.join(parts[:-1])} and {parts[-1]}."


def replaced(page: str, claims: str) -> str:
    """A page with its part between the marks renewed."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"The page has no part between {BEGIN} and {END}.")
    return before + claims + after
