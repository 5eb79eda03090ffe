"""What explanations must add up to."""

from __future__ import annotations

from chainfield.inspection.explanation import Explanation


def path_score(explanation: Explanation) -> float:
    """The score of the explained path: a step after one position is counted as the step before the next."""
    return sum(c.chosen for p in explanation.positions for c in p.contributions if c.place != "after")
