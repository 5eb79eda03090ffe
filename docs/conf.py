"""The documentation as a site: ``sphinx-build -W docs build/site`` (or ``nox -s site``)."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import assembling  # noqa: E402

import chainfield  # noqa: E402

project = "chainfield"
author = "The chainfield developers"
copyright = author
version = release = chainfield.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["*.py"]
myst_heading_anchors = 4
suppress_warnings = ["ref.python"]  # "path" in a description of a setting is a word, not a reference

autodoc_typehints = "none"  # signatures hold them; the settings of models are described one by one
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = f"chainfield {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": assembling.REPOSITORY,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "logo": {"text": "chainfield"},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True


def setup(app: object) -> None:
    """Pages that are made, and links that lead out of the folder of the documentation."""
    assembling.write(DOCS)
    app.connect("source-read", assembling.read)  # type: ignore[attr-defined]
    app.connect("autodoc-skip-member", assembling.skipped)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", assembling.docstring)  # type: ignore[attr-defined]
