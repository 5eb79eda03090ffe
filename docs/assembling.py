"""What the site has beside the pages of this folder: sections, the reference of all public names, pages of the project.

The pages are plain Markdown, made for GitHub as well. ``index.md`` lists them under headings; each heading becomes a
section of the site. Links to files outside of this folder lead to the page that the site has of them, or to the
repository.
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import chainfield

REPOSITORY = "https://github.com/chainfield/chainfield"
ROOT = Path(__file__).parent.parent
MADE = "made"  # pages that are written here, and not kept under version control
#: Files outside of this folder that the site shows as pages.
PROJECT = {
    "CHANGELOG.md": "changes",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "CODE_OF_CONDUCT.md": "code_of_conduct",
    "benchmarks/RESULTS.md": "benchmarks",
    "benchmarks/README.md": "benchmarking",
    "papers/RESULTS.md": "papers",
    "papers/README.md": "repeating",
    "fuzz/README.md": "fuzzing",
}
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
#: Classes whose methods are not ours.
FOREIGN = (
    "object",
    "Module",
    "dict",
    "tuple",
    "list",
    "str",
    "int",
    "Exception",
    "MutableMapping",
    "Mapping",
    "Generic",
    "ABC",
    "BaseEstimator",
)
ATTRIBUTE = re.compile(r"\b([A-Za-z]\w*)_(?![\w`])")  # a name that ends in _ is no link
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def public_module_names() -> list[str]:
    """The modules that ``chainfield`` offers: they stand beside its other names in its stub."""
    stub = Path(chainfield.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return re.findall(r"^from \. import (\w+) as", stub, re.MULTILINE)


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: its list, or else what it defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not isinstance(getattr(module, name), ModuleType)]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def write(docs: Path) -> None:
    """All pages that are made."""
    made = docs / MADE
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    for source, name in PROJECT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        (made / f"{name}.md").write_text(relinked(text, source, f"docs/{MADE}/{name}.md"), encoding="utf-8")
    for title, (text, pages) in sections((docs / "index.md").read_text(encoding="utf-8")).items():
        entries = "\n".join(f"../{page}" for page in pages)
        body = relinked(text, "docs/index.md", f"docs/{MADE}/index.md")
        page = f"# {title}\n\n{body}\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
        (made / f"{slug(title)}.md").write_text(page, encoding="utf-8")
    titles = {name: name.replace("_", " ").capitalize() for name in PROJECT.values()}
    listed = "\n".join(f"{title} <{name}>" for name, title in titles.items())
    (made / "project.md").write_text(f"# Project\n\n```{{toctree}}\n{listed}\n```\n", encoding="utf-8")
    reference(made)


def sections(index: str) -> dict[str, tuple[str, list[str]]]:
    """The headings of the index, each with its text and the pages that it links to."""
    parts = re.split(r"^## (.*)$", index, flags=re.MULTILINE)[1:]
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    return {
        title: (text.strip(), re.findall(r"^- \[[^\]]*\]\((\w+)\.md\)", text, re.MULTILINE))
        for title, text in found.items()
    }


def slug(title: str) -> str:
    """A title as the name of a file."""
    return re.sub(r"\W+", "_", title.lower())


def read(app: Any, name: str, source: list[str]) -> None:
    """A page as it is read: its links, and for the first page what stands below it."""
    if not name.startswith(f"{MADE}/"):
        source[0] = relinked(source[0], f"docs/{name}.md", f"docs/{name}.md")
    if name == "index":
        made = [f"{MADE}/{slug(title)}" for title in sections(source[0])]
        entries = "\n".join([*made, f"{MADE}/reference", f"{MADE}/project"])
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def relinked(text: str, source: str, target: str) -> str:
    """Markdown of one file, with its links as they must be in another one."""

    def link(found: re.Match[str]) -> str:
        return found[1] + moved(found[2], source, target) + found[3]

    # Code keeps what looks like a link.
    return "".join(part if i % 2 else LINK.sub(link, part) for i, part in enumerate(FENCED.split(text)))


def moved(link: str, source: str, target: str) -> str:
    """Where a link of ``source`` leads from ``target``: to a page of the site, or to the repository."""
    name, mark, anchor = link.partition("#")
    if not name or re.match(r"[a-z]+:", name):
        return link
    path = os.path.normpath(os.path.join(os.path.dirname(source), name)).replace(os.sep, "/")
    if path in PROJECT:
        path = f"docs/{MADE}/{PROJECT[path]}.md"
    elif path == "README.md":
        path, mark, anchor = "docs/index.md", "", ""
    elif not path.startswith("docs/"):
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{path}{mark}{anchor}"
    return os.path.relpath(path, os.path.dirname(target)).replace(os.sep, "/") + mark + anchor


def reference(made: Path) -> None:
    """One page for each public module, and one for what ``chainfield`` itself offers."""
    modules = {name: getattr(chainfield, name) for name in public_module_names()}
    own = [name for name in chainfield.__all__ if not name.startswith("_") and name not in modules]
    pages = {"chainfield": (chainfield, own)}
    pages |= {f"chainfield.{name}": (module, public_names(module)) for name, module in modules.items()}
    places: dict[int, str] = {}
    for title, (module, names) in pages.items():
        blocks = [heading(title, "="), f".. automodule:: {module.__name__}", ""]
        for name in names:
            value = getattr(module, name)
            place = places.setdefault(id(value), title)
            what = entry(title, name, value) if place == title else f"See :doc:`{place}.{name} <reference_{place}>`."
            blocks += [heading(name, "-"), what, ""]
        (made / f"reference_{title}.rst").write_text("\n".join(blocks), encoding="utf-8")
    listed = "\n".join(f"   {title} <reference_{title}>" for title in pages)
    about = "Every public name. What stands under ``chainfield`` itself is what most programs need."
    text = f"{heading('Reference', '=')}\n{about}\n\n.. toctree::\n\n{listed}\n"
    (made / "reference.rst").write_text(text, encoding="utf-8")


def heading(title: str, line: str) -> str:
    """A heading of reStructuredText."""
    return f"{title}\n{line * len(title)}\n"


def entry(module: str, name: str, value: Any) -> str:
    """How Sphinx documents a name: a class with what it inherits from ours, a function, or a table by its keys."""
    if inspect.isclass(value):
        options = ["members:", f"inherited-members: {', '.join(FOREIGN)}", "show-inheritance:"]
        return f".. autoclass:: {module}.{name}\n" + "".join(f"   :{option}\n" for option in options)
    if callable(value):
        return f".. autofunction:: {module}.{name}\n"
    told = (
        f"A table with the keys {', '.join(f'``{key}``' for key in value)}."
        if isinstance(value, Mapping)
        else f"``{value!r}``"
    )
    return f".. py:data:: {module}.{name}\n\n   {told}\n"


def docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are read in the source as well: names of attributes and tables need no marks there."""
    new, table = [], False
    for line in lines:
        if line.startswith("|") and line.endswith("|"):
            new += [] if table else ["::", ""]
            new.append(f"   {line}")
            table = True
            continue
        if table and line.strip():
            new.append("")
        table = table and not line.strip()
        plain = [
            part if i % 2 else ATTRIBUTE.sub(r"\1\\_", part)
            for i, part in enumerate(re.split(r"(``.*?``|`.*?`)", line))
        ]
        new.append("".join(plain))
    lines[:] = new


def skipped(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Methods that scikit-learn gives its estimators are described there."""
    if (getattr(value, "__module__", "") or "").startswith("sklearn.") or re.fullmatch(r"set_\w+_request", name):
        return True
    return None
