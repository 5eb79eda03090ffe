"""Results as files: JSON to keep, Markdown to read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from .experiment import Machine, Result, Row
from .provenance import Provenance

HEAD = """# Results

Written by `python papers/run.py render` from `papers/results/`. "Compared with" is a published figure, or a
reference run of another program where the source says so; "-" means that there is none. "Seconds" is the time of
the training behind a row, on the clock unless the protocol says processor time; in experiments whose names begin with
hucrf, the processor time of the last trainings of all folds together. Several experiments ran side by side, so that
times on the clock are rough.

A result is marked as stale if the experiment has changed since it was run. The library has changed since most of them
were: its tests hold that this changes no figure by design, but defaults may be others now, and last digits.
"""


def to_json(result: Result) -> str:
    """The result as JSON text."""
    return json.dumps(asdict(result), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(result: Result, path: Path) -> None:
    """Write a result as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(to_json(result), encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read_json(path: Path) -> Result:
    """The inverse of :func:`write_json`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(
            Row(**row | {"interval": None if row["interval"] is None else tuple(row["interval"])})
            for row in data["rows"]
        )
        parts = {"rows": rows, "differences": tuple(data["differences"]), "machine": Machine(**data["machine"])}
        parts["missing"] = tuple(data.get("missing", ()))
        if data.get("code") is not None:
            parts["code"] = Provenance(**data["code"])
        return Result(**data | parts)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path.name} is no result of this harness ({error}); run the experiment again.") from error


def render(
    results: Iterable[Result], pictures: Mapping[str, str] | None = None, stale: Mapping[str, str] | None = None
) -> str:
    """All results as one Markdown page.

    ``pictures``: the files that belong to results, by their names; ``stale``: why some should be run again.
    """
    shown, old = pictures or {}, stale or {}
    ordered = sorted(results, key=lambda result: result.name)
    if not ordered:
        return f"{HEAD}\nThere is no result yet.\n"
    parts = [render_result(result, shown.get(result.name), old.get(result.name, "")) for result in ordered]
    return "\n".join([HEAD, overview(ordered, old), *parts])


def overview(results: Sequence[Result], stale: Mapping[str, str]) -> str:
    """What a full run of each experiment takes, the code that it was run with, and whether it should be run again."""
    lines = [_line(["Experiment", "Processor time of a full run", "Commit", ""]), _line(["---", "--:", "---", "---"])]
    for result in results:
        taken = "not recorded" if result.processor is None else duration(result.processor)
        commit = "" if result.code is None else result.code.commit
        place = f"[{result.name}](#{result.name}-{_anchor(result.title)})"
        marks = ["stale"] * (result.name in stale) + ["not complete"] * bool(result.missing)
        lines.append(_line([place, taken, commit, ", ".join(marks)]))
    known = [result.processor for result in results if result.processor is not None]
    lines.append(_line([f"{len(known)} of {len(results)} together", duration(sum(known)), "", ""]))
    return "\n".join([*lines, ""])


def _anchor(title: str) -> str:
    """A heading as the address of its section, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def render_result(result: Result, picture: str | None = None, stale: str = "") -> str:
    """One result as a section of Markdown."""
    machine = result.machine
    lines = [f"## {result.name}: {result.title}", ""]
    if result.mode == "quick":
        lines += [f"**Quick run, a check that it works and no result: {result.subset}.**", ""]
    if result.missing:
        lines += [f"**Not complete: {'; '.join(result.missing)}.**", ""]
    if stale:
        lines += [f"**Stale: {stale}. Run it again before you rely on it.**", ""]
    lines += [f"Paper: {result.paper}", "", f"Protocol: {result.protocol}", ""]
    if result.differences:
        lines += ["Differences from the paper:", "", *(f"- {text}" for text in result.differences), ""]
    lines += _table(result.rows)
    if picture is not None:
        lines += ["", f"![{_escape(result.title)}]({picture})"]
    lines += [
        "",
        f"Seed {result.seed}, {result.jobs} threads; {machine.processor}, {machine.cores} cores, "
        f"Python {machine.python}, chainfield {machine.chainfield}{_origin(result)}.",
        "",
    ]
    return "\n".join(lines)


def _origin(result: Result) -> str:
    commit = f", commit {result.code.commit}" if result.code is not None and result.code.commit else ""
    if result.processor is not None:
        return f"{commit}; the whole run took {duration(result.processor)} of processor time"
    return commit + (f"; the whole run took {duration(result.seconds)}" if result.seconds is not None else "")


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 2 * 3600 else f"{seconds / 3600:.1f} hours"


def _table(rows: Iterable[Row]) -> list[str]:
    head = ["Setting", "Metric", "Compared with", "Source", "Ours", "95 % interval", "Seconds", "Note"]
    body = [
        [
            row.setting,
            row.metric,
            number(row.published),
            row.source,
            number(row.ours),
            "" if row.interval is None else f"{number(row.interval[0])} – {number(row.interval[1])}",
            "" if row.seconds is None else f"{row.seconds:,.1f}",
            row.note,
        ]
        for row in rows
    ]
    kept = [i for i in range(len(head)) if i < 2 or any(cells[i] not in ("", "-") for cells in body)]
    align = ["--:" if head[i] in ("Compared with", "Ours", "Seconds") else "---" for i in kept]
    return [
        _line(head[i] for i in kept),
        _line(align),
        *(_line(_escape(cells[i]) for i in kept) for cells in body),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape(text: str) -> str:
    return " ".join(text.replace("|", r"\|").split())


def number(value: float | None) -> str:
    """A figure as it is printed: counts whole, others with two decimals, small ones with three digits."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.2f}" if abs(value) >= 1 else f"{value:.3g}"
