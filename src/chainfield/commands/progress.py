"""Training progress for people (a live bar), for pipes (plain lines) and for programs (JSON lines)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from chainfield.trainers import Progress


class Reporter:
    """Shows what training reports; a context manager, so that the terminal is left in order."""

    def __init__(self, *, quiet: bool, log: TextIO | None) -> None:
        self._quiet = quiet
        self._log = log
        self._stream = sys.stderr
        self._bar: Bar | None = None
        self._task: Any = None
        self._seconds: list[float] = []

    def __enter__(self) -> Callable[[Progress], None]:
        if not self._quiet and self._stream.isatty():
            self._bar = _bar(self._stream)
            self._task = self._bar.add_task("training", total=None, facts="", left="")
            self._bar.start()
        return self.show

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """One iteration."""
        if self._log is not None:
            self._log.write(json.dumps(progress.to_dict()) + "\n")
            self._log.flush()
        if self._quiet:
            return
        facts = _facts(progress)
        if self._bar is None:
            line = [f"{progress.iteration:>4}", *facts, f"{progress.seconds:.1f} s"]
            self._stream.write("  ".join(line) + "\n")
            self._stream.flush()
            return
        # The first iterations may contain compilation, and say little of the later ones.
        self._seconds.append(progress.seconds)
        recent = self._seconds[-6:]
        left = ""
        if len(recent) > 2:
            pace = (recent[-1] - recent[0]) / (len(recent) - 1)
            left = f"≤ {_clock(pace * (progress.max_iter - progress.iteration))} left"
        self._bar.update(
            self._task, completed=progress.iteration, total=progress.max_iter, facts="  ".join(facts), left=left
        )


def summary(
    estimator: Any, output: Path, seconds: float, interrupted: bool, checkpoint: Path, further: int = 0
) -> None:
    """What came out of a training, in two or three lines; ``further``: how far the model there came before."""
    fitted, history = estimator.fitted_, estimator.history_
    kept = history[estimator.best_iteration_ - 1]
    whole = not estimator.task_type.every_position
    parts = [f"{len(fitted.task.labels)} labels"]
    parts.append(f"{fitted.chain.space.n_states} states" if whole else f"{fitted.features.n_features:,} features")
    if getattr(estimator, "scheme_", None) is not None:
        parts.append(f"scheme {estimator.scheme_}")
    parts += [f"{fitted.n_weights:,} weights", f"{estimator.n_iter_} iterations of {estimator.trainer_}"]
    show_repairs(estimator)
    click.echo(f"{', '.join(parts)}; objective {kept['objective']:.2f}", err=True)
    if "dev_score" in kept:
        what = "accuracy" if whole else "score"
        best, at = 100 * kept["dev_score"], estimator.best_iteration_
        click.echo(f"best development {what} {best:.2f} (iteration {at})", err=True)
    if interrupted:
        if further > estimator.n_iter_:
            click.echo(f"Interrupted: {output} keeps the model of this training after {further} iterations.", err=True)
        else:
            click.echo(f"Interrupted: {output} holds the best model so far.", err=True)
        if checkpoint.exists():
            click.echo("Continue with the same command and --resume.", err=True)
    else:
        size = output.stat().st_size / 1e6
        click.echo(f"Done in {seconds:.1f} s: {estimator.stop_reason_}. Wrote {output} ({size:.1f} MB).", err=True)


def show_repairs(estimator: Any) -> None:
    """The labels of the training data that were repaired."""
    from chainfield.models.repairing import told

    repairs = getattr(estimator, "repairs_", ())
    if repairs:
        click.echo(f"{len(repairs):,} broken label{'s' * (len(repairs) > 1)} repaired ({told(repairs)})", err=True)


def _facts(progress: Progress) -> list[str]:
    facts = [f"objective {progress.objective:.2f}"]
    if progress.gradient_norm is not None:
        facts.append(f"gradient {progress.gradient_norm:.3g}")
    if progress.dev_score is not None:
        facts.append(f"dev {100 * progress.dev_score:.2f}")
    if "lost" in progress.notes:
        facts.append(f"pruned to {progress.notes['width']:.1f} labels, {100 * progress.notes['lost']:.2f} % lost")
    if "active" in progress.notes:
        facts.append(f"weights {progress.notes['active']:.0f}")
    return facts


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("training"),
        BarColumn(bar_width=10),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TextColumn("[dim]{task.fields[left]}"),
        console=Console(file=stream, highlight=False),
    )
