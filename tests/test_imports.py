"""Imports run one way: the packages of the library, from the bottom up, and whom each may import."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

import chainfield

ROOT = Path(chainfield.__file__).parent

# The layers of docs/concepts.md. A package may import what its line names, and nothing that stands below it. Packages
# inside of ``kernels`` and ``models`` have lines of their own: a family of models knows no other family.
ALLOWED: dict[str, str] = {
    "errors": "",
    "lazy": "",
    "arrays": "",
    "pages": "",
    "limits": "errors",
    "checking": "errors arrays limits",
    "schema": "arrays",
    "settings": "errors",
    "memory": "errors",
    "parallel": "errors",
    "spans": "errors",
    "kernels": "errors arrays",
    "kernels.chain": "kernels",
    "kernels.text": "kernels",
    "kernels.counting": "kernels",
    "kernels.train": "kernels kernels.chain",
    "native": "kernels",
    "data": "errors arrays checking limits parallel kernels kernels.text",
    "frames": "errors lazy arrays",
    "confidence": "errors lazy arrays schema",
    "text": "errors arrays frames lazy spans kernels kernels.text data pages",
    "metrics": "errors arrays spans pages",
    "states": "errors arrays spans kernels pages",
    "potentials": "errors arrays checking states",
    "inference": "errors arrays checking limits parallel kernels kernels.chain states potentials",
    "torch": "errors arrays kernels kernels.chain states potentials inference",
    "features": "errors lazy arrays checking limits schema parallel kernels kernels.text data",
    "statistics": "errors arrays features",
    "scorers": "errors lazy arrays schema memory kernels kernels.chain kernels.train states potentials features",
    "objectives": "errors arrays states potentials inference",
    "tasks": "errors arrays states potentials",
    "problem": "errors arrays memory parallel kernels kernels.chain kernels.train states potentials inference "
    "features scorers objectives",
    "trainers": "errors arrays schema parallel kernels kernels.chain kernels.train states potentials inference "
    "features scorers objectives problem",
    "fitted": "errors arrays checking limits parallel spans kernels kernels.chain kernels.train states potentials "
    "inference features scorers tasks pages",
    "plots": "errors arrays",
    "inspection": "errors arrays parallel spans metrics states potentials inference features scorers tasks fitted "
    "plots pages",
    "watching": "errors",
    "files": "errors arrays schema memory parallel states inference features scorers tasks problem trainers fitted",
    "corpora": "errors arrays checking parallel data frames states potentials features tasks problem files",
    "models": "errors lazy arrays checking frames settings memory parallel spans kernels kernels.train data metrics "
    "states potentials inference features scorers objectives tasks problem trainers fitted inspection files corpora "
    "watching pages confidence",
    "models.hidden_units": "errors arrays settings parallel features fitted inspection objectives plots potentials "
    "problem scorers states trainers models",
    "models.hmm": "errors arrays schema settings memory parallel kernels kernels.train states potentials inference "
    "features scorers objectives tasks problem trainers fitted models confidence",
    "models.empirical": "errors arrays checking schema settings memory parallel kernels kernels.counting "
    "kernels.train data states potentials inference features scorers objectives tasks problem trainers fitted "
    "corpora models",
    "models.neural": "errors arrays schema settings memory parallel kernels kernels.text data states potentials "
    "features inference scorers objectives tasks problem trainers fitted files torch models",
    "formats": "errors lazy limits spans data frames text",
    "text.tagging": "errors arrays frames schema confidence settings parallel states potentials features inference "
    "fitted models text",
    "spacy": "errors models text text.tagging",
    "transformers": "errors states torch",
    "dask": "errors arrays parallel kernels data frames features problem files corpora models",
    "adapters": "errors arrays checking settings tasks models",
    "reports": "errors arrays spans metrics states fitted inspection pages models models.hmm",
    "playground": "errors lazy arrays features scorers fitted pages models text text.tagging",
    "serving": "errors lazy arrays checking parallel fitted inspection files text formats text.tagging playground",
    "audio": "errors arrays",
    "compat": "errors arrays memory parallel data features scorers states tasks fitted files models",
    "compat.crfsuite": "errors arrays data features scorers fitted models compat",
    "compat.crfpp": "errors arrays features models compat",
    "compat.wapiti": "errors arrays features models compat",
    "compat.pycrfsuite": "errors arrays parallel data features states potentials inference scorers objectives tasks "
    "problem trainers fitted files models compat compat.crfsuite",
    "compat.sklearn_crfsuite": "errors arrays compat compat.pycrfsuite",
    "compat.torchcrf": "torch compat",
    "compat.usaddress": "errors arrays parallel features fitted compat compat.pycrfsuite",
    "commands": "errors limits arrays settings parallel spans kernels data metrics features trainers fitted inspection "
    "files corpora dask models models.empirical models.neural text formats text.tagging compat compat.crfsuite "
    "reports playground serving watching",
}
# Whoever needs one of these needs all of the library, or nothing of it.
TOP = {"__init__", "__main__"}


def imported(path: Path) -> set[str]:
    """The packages of the library that a module imports, wherever in it; what only type checkers see does not count."""
    names: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "chainfield":
            names |= {f"chainfield.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names.add(node.module)
        elif isinstance(node, ast.ImportFrom) and node.level > 1:
            names.add(f"chainfield.relative to another package ({path.name})")
    return {line_of(name.split(".")[1:]) for name in names if name.startswith("chainfield.")}


def line_of(parts: list[str]) -> str:
    """The line of the table that a module stands under."""
    inner = ".".join(parts[:2])
    return inner if inner in ALLOWED else parts[0]


def package(path: Path) -> str:
    return line_of(list(path.relative_to(ROOT).with_suffix("").parts))


MODULES = sorted(path for path in ROOT.rglob("*.py") if package(path) not in TOP)


def test_every_package_has_its_line() -> None:
    assert {package(path) for path in MODULES} == set(ALLOWED)


def test_the_table_has_no_circles() -> None:
    above: set[str] = set()
    for name, allowed in ALLOWED.items():
        assert set(allowed.split()) <= above, name
        above.add(name)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_run_one_way(path: Path) -> None:
    own = package(path)
    assert imported(path) <= {own, *ALLOWED[own].split()}


def test_the_documented_order_is_the_tables() -> None:
    """`a ← b` in the documentation: b stands behind a in the table."""
    order = list(ALLOWED)
    for page in ("CONTRIBUTING.md", "docs/concepts.md"):
        text = (Path(__file__).parent.parent / page).read_text(encoding="utf-8")
        chain = next(line for line in text.splitlines() if "kernels ←" in line).split("`")[1]
        steps = [[order.index(name) for name in step.split(", ")] for step in chain.split(" ← ")]
        assert all(max(a) < min(b) for a, b in pairwise(steps)), page


def at_import(name: str, is_package: bool, body: list[ast.stmt], known: set[str]) -> set[str]:
    """The modules of the library that a module imports when it is imported itself."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".") if is_package else name.split(".")[:-1]
            above = above[: len(above) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            inner = {f"{source}.{alias.name}" for alias in node.names}
            found |= inner if inner <= known else (inner & known) | {source}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            found |= at_import(name, is_package, node.body + node.orelse, known)
        elif isinstance(node, ast.Try):
            found |= at_import(name, is_package, node.body, known)
    return (found & known) - {name}


def test_modules_have_no_circles() -> None:
    paths = {".".join(p.relative_to(ROOT.parent).with_suffix("").parts): p for p in ROOT.rglob("*.py")}
    known = {name.removesuffix(".__init__") for name in paths}
    graph = {
        name.removesuffix(".__init__"): at_import(
            name.removesuffix(".__init__"),
            name.endswith(".__init__"),
            ast.parse(path.read_text(encoding="utf-8")).body,
            known,
        )
        for name, path in paths.items()
    }
    assert len(list(TopologicalSorter(graph).static_order())) == len(known)  # a CycleError names the modules


def test_files_stay_small() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.rglob("*.py")}
    assert max(lines.values()) <= 400, max(lines, key=lines.__getitem__)
    assert median(lines.values()) <= 120
