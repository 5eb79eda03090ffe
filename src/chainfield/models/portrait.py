"""What a fitted model shows of itself in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chainfield.pages.fragments import framed, note, table

if TYPE_CHECKING:
    from .base import SequenceModel

MOST_LABELS = 12


def portrait(model: SequenceModel) -> str:
    """Its size, its labels, its training, as a piece of HTML."""
    fitted = model._fitted()
    labels = [str(label) for label in fitted.task.labels]
    more = f" and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else ""
    rows = [
        ("labels", ", ".join(labels[:MOST_LABELS]) + more),
        ("features", f"{fitted.features.n_features or fitted.features.n_columns:,} ({fitted.features.kind})"),
        ("states", f"{fitted.chain.space.n_states:,}"),
        ("weights", f"{fitted.n_weights:,}"),
    ]
    facts = getattr(model, "training_", None)
    if facts is not None:
        took = "" if facts.seconds is None else f" in {facts.seconds:.1f} s"
        rows.append(("trained on", f"{facts.n_sequences:,} sequences, {facts.n_positions:,} positions{took}"))
        if facts.n_iter:
            rows.append(("training", f"{facts.n_iter} iterations of {facts.trainer}: {facts.stop_reason}"))
        best = [r["dev_score"] for r in facts.history if r["iteration"] == facts.best_iteration and "dev_score" in r]
        if best:
            rows.append(("best development score", f"{100 * best[0]:.2f} (iteration {facts.best_iteration})"))
    told = "report(model, X, y) shows what it does; explain(x) why."
    return framed(table(("fitted", type(model).__name__), rows), note(told) if fitted.task.every_position else "")
