"""Pages are made from files that lie in packages: styles, scripts, and templates with places to be filled."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

OWN = "chainfield.pages"  # style.css and base.js, which all pages have


def asset(name: str, package: str = OWN) -> str:
    """A file of a package's folder ``assets``."""
    return files(package).joinpath("assets").joinpath(name).read_text(encoding="utf-8")


def fill(template: str, **parts: str) -> str:
    """A template with its places filled; nothing of what is filled in is searched for places again."""
    pieces = template.split("{{")
    out = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        out += [parts[name], rest]
    return "".join(out)


def script_json(data: Any) -> str:
    """JSON that may stand inside a script element: no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
