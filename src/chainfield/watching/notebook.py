"""A bar of progress in notebooks."""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chainfield.trainers import Progress

_BAR = (
    "<div style='font:13px system-ui,sans-serif;font-variant-numeric:tabular-nums;display:flex;gap:12px;"
    "align-items:center;flex-wrap:wrap'><progress max='{most}' value='{done}' style='width:160px;accent-color:#1b5fa6' "
    "aria-label='training'></progress><span>{facts}</span></div>"
)


def in_notebook() -> bool:
    """Whether this runs in a notebook: IPython with a kernel, not a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


class NotebookBar:
    """A callback: one bar below the cell, with the objective, the development score and the time left.

    Models with ``verbose=True`` use it by themselves in notebooks.
    """

    def __init__(self) -> None:
        self._handle: Any = None
        self._seconds: list[float] = []
        self._last: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Show one iteration."""
        from IPython.display import HTML, display

        page = HTML(self.text(progress))
        if self._handle is None:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)
        self._last = progress

    def finish(self, reason: str | None) -> None:
        """The bar is full: training has ended."""
        if self._last is not None:
            from IPython.display import HTML

            self._handle.update(HTML(self.end(self._last, reason)))

    def end(self, progress: Progress, reason: str | None) -> str:
        """The bar of a training that has ended, as HTML."""
        facts = [f"{progress.iteration} iterations", *self._facts(progress), *filter(None, [reason])]
        return _BAR.format(most=progress.iteration, done=progress.iteration, facts=escape(" · ".join(facts)))

    def text(self, progress: Progress) -> str:
        """The bar as HTML."""
        self._seconds.append(progress.seconds)
        facts = [f"{progress.iteration} of at most {progress.max_iter}", *self._facts(progress)]
        recent = self._seconds[-6:]
        if len(recent) > 2 and progress.iteration < progress.max_iter:
            pace = (recent[-1] - recent[0]) / (len(recent) - 1)
            facts.append(f"≤ {pace * (progress.max_iter - progress.iteration):.0f} s left")
        return _BAR.format(most=progress.max_iter, done=progress.iteration, facts=" · ".join(facts))

    def _facts(self, progress: Progress) -> list[str]:
        dev = [] if progress.dev_score is None else [f"dev {100 * progress.dev_score:.2f}"]
        return [f"objective {progress.objective:.6g}", *dev, f"{progress.seconds:.1f} s"]
