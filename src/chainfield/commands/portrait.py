"""What a model has learned, in tables that a person can read: each kind of model in its own words."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .tables import console

if TYPE_CHECKING:
    from rich.console import Console

    from chainfield.fitted import FittedModel

MOST_COLUMNS = 8  # numbers of a state that a line can hold
FOR, AGAINST = "blue", "yellow"  # never green and red
FEATURES = {
    "templates": "features of text columns",
    "attributes": "features of dicts and lists",
    "dense": "numbers",
    "sparse": "columns of a sparse matrix",
    "words": "words",
}


def show_portrait(
    fitted: FittedModel,
    about: dict[str, Any],
    weights: list[tuple[str, Any, float]],
    moves: dict[tuple[Any, ...], float],
    top: int,
    label: str | None,
) -> None:
    """Everything that this kind of model can tell."""
    from chainfield.inspection.units import has_units
    from chainfield.reports.inside import hmm_portrait

    out = console()
    for line in headlines(fitted, about):
        out.print(line)
    hmm = hmm_portrait(fitted)
    if hmm is not None:
        _hmm(out, hmm, label)
        return
    several = fitted.chain.space.n_rows > fitted.chain.space.n_labels
    what = "state" if several else "label"
    scored = [(f"{feature} → {y}", w) for feature, y, w in weights]
    if about.get("class") == "EmpiricalCRF":
        out.print("\nCounted, not optimised: +0.69 stands for twice as often as by chance, −0.69 for half as often.")
    if about.get("class") == "NeuralCRF":
        out.print("\nThe weights of a network have no names; its transitions do. chainfield report shows what it does.")
    _weights(out, f"features for a {what}", heapq.nlargest(top, scored, key=lambda row: row[1]), True)
    _weights(out, f"features against a {what}", heapq.nsmallest(top, scored, key=lambda row: row[1]), False)
    edges = [(" → ".join("(start)" if y is None else str(y) for y in ends), w) for ends, w in moves.items()]
    _weights(out, "likely transitions", heapq.nlargest(top, edges, key=lambda row: row[1]), True)
    _weights(out, "unlikely transitions", heapq.nsmallest(top, edges, key=lambda row: row[1]), False)
    if has_units(fitted):
        _units(out, fitted, top)
    if several:
        out.print("\nB-x#0 and B-x#1 are two states of the label B-x. With --states DATA: the words of each state.")


def headlines(fitted: FittedModel, about: dict[str, Any]) -> list[str]:
    """What it is, how it was trained, and which settings are not the usual ones."""
    space, task = fitted.chain.space, fitted.task
    unit = "position" if task.every_position else "sequence"
    name = escape(about.get("class", "model"))
    n = fitted.features.n_features or fitted.features.n_columns
    kind = FEATURES.get(fitted.features.kind, fitted.features.kind)
    lines = [
        f"[bold]{name}[/bold]: gives each {unit} one of {len(task.labels)} labels. "
        f"It sees {n:,} {kind} and has {fitted.n_weights:,} weights."
    ]
    if about.get("wrapper"):
        lines.append("It reads raw text and answers with spans of characters.")
    if space.n_rows > space.n_labels:
        lines.append(f"Behind the labels are {space.n_rows} states.")
    elif space.n_states > space.n_rows:
        lines.append("A label depends on the two labels before it.")
    pruner = fitted.chain.pruner
    if pruner is not None:
        lines.append(
            f"Labels below a probability of {pruner.threshold:g} are left out: {pruner.width:.1f} remain per position, "
            f"and {100 * pruner.lost:.2f} % of the right ones are lost."
        )
    return [*lines, *_training(about), *_settings(about)]


def _training(about: dict[str, Any]) -> list[str]:
    facts = about.get("training")
    if not facts:
        return []
    took = "" if facts["seconds"] is None else f" in {facts['seconds']:.1f} s"
    line = f"Trained on {facts['n_sequences']:,} sequences ({facts['n_positions']:,} positions){took}"
    if facts["n_iter"]:
        passes = "1 iteration" if facts["n_iter"] == 1 else f"{facts['n_iter']} iterations"
        line += f": {passes} of {facts['trainer']}; {facts['stop_reason']}"
    best = [r["dev_score"] for r in facts["history"] if r["iteration"] == facts["best_iteration"] and "dev_score" in r]
    if best:
        line += f". Best development score {100 * best[0]:.2f} (iteration {facts['best_iteration']})"
    return [f"[dim]{escape(line)}.[/dim]"]


def _settings(about: dict[str, Any]) -> list[str]:
    """Settings that were chosen: those that are not the default of their model."""
    from chainfield.models.loading import find_class

    kind = find_class(about.get("class"))
    stored = {k: v for k, v in about.get("settings", {}).items() if k not in ("template", "n_jobs")}
    usual = {} if kind is None else {name: setting.default for name, setting in kind.settings.items()}
    chosen = {k: v for k, v in stored.items() if k not in usual or usual[k] != v}
    told = "  ".join(f"{k}={v}" for k, v in chosen.items())
    return [f"[dim]Settings: {escape(told) if told else 'all as they come'}.[/dim]"]


def _weights(out: Console, title: str, rows: list[tuple[str, float]], positive: bool) -> None:
    rows = [(name, w) for name, w in rows if w and (w > 0) == positive]
    if not rows:
        return
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=False, title_style="bold")
    shown.add_column(justify="right", style=FOR if positive else AGAINST)
    shown.add_column()
    for name, w in rows:
        shown.add_row(f"{w:+.4f}", Text(name))
    out.print()
    out.print(shown)


def _units(out: Console, fitted: FittedModel, top: int) -> None:
    from chainfield.inspection.units import portraits

    units = Table(title="hidden units that set labels apart most", title_justify="left", box=None, pad_edge=False,
                  title_style="bold")  # fmt: skip
    for column in ("unit", "switched on (+) or off (−) by", "speaks for (+) or against (−)"):
        units.add_column(column)
    for unit in portraits(fitted)[:top]:
        units.add_row(str(unit.unit), Text(_weighted(unit.features)), Text(_weighted(unit.labels)))
    out.print()
    out.print(units)


def _weighted(named: tuple[tuple[Any, float], ...]) -> str:
    return "\n".join(f"{weight:+.3g} {name}" for name, weight in named)


def _hmm(out: Console, found: dict[str, Any], label: str | None) -> None:
    """One table for each class: how long states last, where they lead, and what they look like."""
    n = min(found["n_columns"], MOST_COLUMNS)
    for own in found["classes"]:
        if label is not None and own["label"] != label:
            continue
        shown = Table(title=Text(str(own["label"])), title_justify="left", box=None, pad_edge=False, title_style="bold")
        for name in ("state", "begins", "stays", "lasts", "goes on to", *(f"x{d}" for d in range(n))):
            shown.add_column(name, justify="left" if name in ("state", "goes on to") else "right")
        for k, state in enumerate(own["states"]):
            looks = zip(state["mean"][:n], state["deviation"][:n], strict=True)
            shown.add_row(str(k), *_moves(own, k), *(f"{mean:.3g} ± {spread:.2g}" for mean, spread in looks))
        out.print()
        out.print(shown)
    out.print("\nbegins, stays: probabilities; lasts: positions on average; x: mean ± deviation of a column.")
    if found["n_columns"] > n:
        out.print(f"The first {n} of {found['n_columns']} columns are shown.")
    if found["n_classes"] > len(found["classes"]):
        out.print(f"{len(found['classes'])} of {found['n_classes']} classes are shown.")


def _moves(own: dict[str, Any], k: int) -> tuple[str, ...]:
    """Begins, stays, lasts, goes on to: shares of all that leads on from a state, and of all states to begin in."""
    starts = sum(state["start"] for state in own["states"]) or 1.0
    onward = {b: p for a, b, p in own["moves"] if a == k}
    total = (sum(onward.values()) + own["states"][k]["end"]) or 1.0
    stays = onward.pop(k, 0.0) / total
    lasts = "always" if stays >= 1 else f"{1 / (1 - stays):.1f}"
    leads = [f"{b} ({p / total:.2f})" for b, p in onward.items() if p / total >= 0.005]
    end = own["states"][k]["end"] / total
    leads += [f"the end ({end:.2f})"] if end >= 0.005 else []
    return f"{own['states'][k]['start'] / starts:.2f}", f"{stays:.2f}", lasts, ", ".join(leads)
