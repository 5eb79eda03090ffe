"""Which code a figure comes from: the commit, and digests of all sources that can change it.

A digest is over syntax trees: comments, layout, what an experiment says of itself and how it is drawn do not make a
result stale. What counts is how rows come about.
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

#: Modules of the harness that no figure depends on.
SILENT = frozenset({"cells", "corpora", "curves", "experiment", "matrix", "provenance"})
PAPERS = Path(__file__).resolve().parents[1]
LIBRARY = Path(chainfield.__file__).resolve().parent


@dataclass(frozen=True)
class Provenance:
    """What a result was computed by.

    ``commit`` is empty outside of a checkout, and ends in "+" where sources differed from it. ``experiment`` is the
    digest of the experiment's modules, ``library`` that of the models and of all else of the library that either uses.
    """

    commit: str
    experiment: str
    library: str


def provenance_of(module: str) -> Provenance:
    """The code behind an experiment, as it stands now."""
    file = sys.modules[module].__file__
    assert file is not None
    return Provenance(commit(), experiment_digest(Path(file)), library_digest(Path(file)))


def experiment_digest(file: Path) -> str:
    """The digest of an experiment's module and of everything that it imports from experiments and harness."""
    own = (path for path in closure([file]) if not path.is_relative_to(LIBRARY))
    return digest(path for path in own if path.parent.name != "harness" or path.stem not in SILENT)


@cache
def library_digest(file: Path) -> str:
    """The digest of the models, of what an experiment's module uses besides, and of everything that they import."""
    return digest(path for path in closure([file, *_models()]) if path.is_relative_to(LIBRARY))


def _models() -> Iterator[Path]:
    return (LIBRARY / "models").rglob("*.py")


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
    """A short digest of what Python modules compute; their names and order count, their places do not."""
    found = hashlib.sha256()
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                node.body = list(_computing(node))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Experiment":
                node.keywords = [word for word in node.keywords if word.arg == "run"]
        found.update(f"{path.name}\0{ast.dump(tree)}\0".encode())
    return found.hexdigest()[:16]


def _computing(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[ast.stmt]:
    """Its statements without its docstring, and without the function that draws an experiment's picture."""
    for i, statement in enumerate(node.body):
        told = i == 0 and ast.get_docstring(node) is not None
        drawing = isinstance(statement, ast.FunctionDef) and statement.name == "picture"
        if not (told or drawing):
            yield statement


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
        changed = _git("status", "--porcelain", "--", "src", "papers/experiments", "papers/harness")
    except (OSError, subprocess.CalledProcessError):
        return ""
    return name + "+" * bool(changed)


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=PAPERS.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()
