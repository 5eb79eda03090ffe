"""The page at ``/``: one file with its style and its script; nothing is fetched but answers of the same server."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from chainfield.pages import asset, fill, script_json

OWN = "chainfield.serving"


def policy(*scripts: str, styles: str, connect: str) -> str:
    """A policy by which only these scripts and this style run, and nothing is fetched from elsewhere."""
    own = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {own}; style-src-elem {_hash(styles)}; style-src-attr 'unsafe-inline'; "
        f"connect-src {connect}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


@lru_cache(maxsize=1)
def _parts() -> tuple[str, str]:
    style = asset("style.css") + asset("page.css", OWN)
    script = asset("base.js") + asset("server.js", OWN) + asset("page.js", OWN)
    return style, script


@lru_cache(maxsize=1)
def page() -> str:
    """The page of a server."""
    style, script = _parts()
    return fill(
        asset("page.html", OWN), title="chainfield", policy="", style=style, script=script, data=script_json({})
    )


@lru_cache(maxsize=1)
def page_policy() -> str:
    """The policy of the server's page."""
    style, script = _parts()
    return policy(script, styles=style, connect="'self'") + "; frame-ancestors 'none'"
