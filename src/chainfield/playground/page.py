"""The page itself: one file with its style and its script, which fetches nothing but answers of its own server."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from chainfield.errors import ConfigError
from chainfield.pages import asset, fill, script_json

from .characters import kind_runs, letter_runs

OWN = "chainfield.playground"
EXAMPLES = ("Angela Merkel met Barack Obama in Berlin on Tuesday.",)
LIMIT = 20_000_000  # bytes of a page with models inside


@dataclass(frozen=True)
class Page:
    """The text of a page, and the policy that it is to be shown under."""

    html: str
    policy: str


def server_page(title: str = "", examples: Sequence[str] = ()) -> Page:
    """The page of a server: the policy is sent with it."""
    data = {"title": title, "examples": list(examples or EXAMPLES)}
    html, policy = _page(title or "chainfield", ("server.js",), data, "'self'", inside=False)
    return Page(html, f"{policy}; frame-ancestors 'none'")


def model_page(models: Sequence[dict[str, Any]], title: str = "", examples: Sequence[str] = ()) -> Page:
    """A page with models inside, as :func:`chainfield.playground.carry` makes them; it needs no server."""
    data = {
        "title": title,
        "examples": list(examples or EXAMPLES),
        "models": list(models),
        "kinds": kind_runs(),
        "letters": letter_runs(),
    }
    html, policy = _page(
        title or models[0]["name"], ("tokens.js", "engine.js", "inside.js"), data, "'none'", inside=True
    )
    size = len(html.encode("utf-8", "replace"))
    if size > LIMIT:
        raise ConfigError(
            f"The page would have {size / 1e6:.0f} MB, more than a browser likes to open; train with --l1 0.5 or more, "
            "which leaves most features out."
        )
    return Page(html, policy)


def _page(title: str, scripts: Sequence[str], data: Any, connect: str, *, inside: bool) -> tuple[str, str]:
    style = asset("style.css") + asset("page.css", OWN)
    script = "".join([asset("base.js"), *(asset(name, OWN) for name in scripts), asset("page.js", OWN)])
    # Only this script and this style run, by their digests.
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src-elem {_digest(style)}; "
        f"style-src-attr 'unsafe-inline'; connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"
    )
    meta = f'\n<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">' if inside else ""
    parts = {"title": escape(title), "policy": meta, "style": style, "script": script, "data": script_json(data)}
    return fill(asset("page.html", OWN), **parts), policy


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
