"""What reading or writing annotations left out, on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from chainfield.formats import Report


def show_losses(report: Report) -> None:
    """One line per kind of loss."""
    for line in report.lines():
        click.echo(f"  {line}", err=True)
