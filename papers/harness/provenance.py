"""Which code a figure comes from: the commit, and digests of all sources that can change it.

A digest is over syntax trees without docstrings: comments, layout and English do not make a result stale.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import chainfield

PAPERS = Path(__file__).resolve().parents[1]
LIBRARY = Path(chainfield.__file__).resolve().parent


@dataclass(frozen=True)
class Provenance:
    """What a result was computed by.

    ``commit`` is empty outside of a checkout, and ends in "+" where sources differed from it. ``experiment`` is the
    digest of the experiment's modules, ``library`` that of the modules below the models.
    """

    commit: str
    experiment: str
    library: str


def provenance_of(module: str) -> Provenance:
    """The code behind an experiment, as it stands now."""
    file = sys.modules[module].__file__
    assert file is not None
    own = [path for path in closure([Path(file)]) if not path.is_relative_to(LIBRARY)]
    return Provenance(commit(), digest(own), library_digest())


@cache
def library_digest() -> str:
    """The digest of the models and of everything that they import."""
    return digest(closure((LIBRARY / "models").rglob("*.py")))


def reason_to_repeat(then: Provenance | None, now: Provenance) -> str:
    """Why a kept result may not be what the code gives now; empty if nothing speaks against it."""
    if then is None:
        return "it was kept without a record of the code behind it"
    if then.experiment != now.experiment:
        return f"the experiment has changed since commit {then.commit or 'unknown'}"
    if then.commit.endswith("+"):
        return "it comes from sources that were not committed"
    return ""


def digest(files: Iterable[Path]) -> str:
    """A short digest of what Python modules say; their names and order count, their places do not."""
    found = hashlib.sha256()
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
                node.body = node.body[1:]
        found.update(f"{path.name}\0{ast.dump(tree)}\0".encode())
    return found.hexdigest()[:16]


def closure(files: Iterable[Path]) -> list[Path]:
    """These modules and all that they import, of the library, the harness and the experiments."""
    found: set[Path] = set()
    waiting = [path.resolve() for path in files]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting.extend(_imported(path))
    return sorted(found)


def _imported(path: Path) -> Iterator[Path]:
    """Wherever in a module they are imported; what only type checkers see counts too, which does no harm."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            folder = path.parents[node.level - 1] if node.level else None
            names = node.module.split(".") if node.module else []
            yield from _files(folder, names)
            for alias in node.names:
                yield from _files(folder, [*names, alias.name])
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(None, alias.name.split("."))


def _files(folder: Path | None, names: list[str]) -> Iterator[Path]:
    """The file of a module, if it is one of ours."""
    if folder is None and names[:1] == ["chainfield"]:
        folder, names = LIBRARY, names[1:]
    folder = PAPERS if folder is None else folder
    if not names:
        return
    target = folder.joinpath(*names)
    for path in (target.with_suffix(".py"), target / "__init__.py"):
        if path.is_file():
            yield path.resolve()


@cache
def commit() -> str:
    """The commit of the checkout that holds the experiments; with "+" if its sources were changed since."""
    try:
        name = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "papers/experiments")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return name + "+" * bool(changed)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=PAPERS.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()
