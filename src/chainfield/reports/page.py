"""The page of a report: one file that needs nothing else, made from templates and the data."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from chainfield.errors import ConfigError
from chainfield.models import SequenceModel
from chainfield.pages import asset, fill, script_json

from .contents import report_data

LIMIT = 5_000_000  # bytes of a page
OWN = "chainfield.reports"


@dataclass(frozen=True)
class ReportPage:
    """A report: its ``data`` (docs/reports.md) and the page around them."""

    data: dict[str, Any]

    @property
    def html(self) -> str:
        """The whole page."""
        return fill(
            asset("report.html", OWN),
            title=escape(self.data["title"]),
            style=asset("style.css") + asset("report.css", OWN),
            script=asset("base.js") + asset("report.js", OWN),
            data=script_json(self.data),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page (.html) or its data (.json)."""
        target = Path(path)
        if target.suffix.lower() not in (".html", ".htm", ".json"):
            raise ConfigError(f"{target}: the name of a report must end in .html or .json.")
        content = self.html if target.suffix.lower() != ".json" else json.dumps(self.data, ensure_ascii=False)
        target.write_text(content, encoding="utf-8", errors="replace")

    def __str__(self) -> str:
        return "\n".join(line for model in self.data["models"] for line in (f"{model['name']}:", *model["findings"]))

    def __repr__(self) -> str:
        return f"ReportPage({self.data['title']!r})"

    def _repr_html_(self) -> str:
        """In a notebook, the page in a frame: its styles stay inside."""
        return (
            f'<iframe title="{escape(self.data["title"])}" srcdoc="{escape(self.html)}" '
            'style="width:100%;height:640px;border:1px solid #8884;border-radius:8px"></iframe>'
        )


def report(
    models: SequenceModel | Sequence[SequenceModel],
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> ReportPage:
    """A report on a model, or on several beside each other, on labelled data; with ``path`` it is saved as well.

    ``options`` are those of :func:`chainfield.reports.report_data`. A page never has more than 5 MB: where it would,
    it shows fewer sentences, and says so.
    """
    page = fit_page(report_data(models, X, y, **options))
    if path is not None:
        page.save(path)
    return page


def fit_page(data: dict[str, Any]) -> ReportPage:
    """A page that keeps to the limit: of the sentences with mistakes, as many as fit."""
    page = ReportPage(data)
    while len(page.html.encode("utf-8", "replace")) > LIMIT:
        halved = False
        for model in page.data["models"]:
            errors = model["errors"]
            for key in ("sentences", "sequences"):
                rows = errors.get(key, [])
                if len(rows) > 1:
                    errors[key] = rows[: len(rows) // 2]
                    errors["n_surest"] = min(errors["n_surest"], len(errors[key]))
                    errors["n_sampled"] = len(errors[key]) - errors["n_surest"]
                    halved = True
        if not halved:
            break
    return page
