"""What all pages share: their look, the script that draws sentences, and how templates are filled."""

from .template import asset, fill, script_json

__all__ = ["asset", "fill", "script_json"]
