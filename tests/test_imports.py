"""Imports run one way: the packages of the library, from the bottom up, and whom each may import."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

import chainfield

ROOT = Path(chainfield.__file__).parent

# The layers of docs/concepts.md. A package may import what its line names, and nothing that stands below it.
ALLOWED: dict[str, str] = {
    "errors": "",
    "kernels": "",
    "memory": "errors",
    "parallel": "errors",
    "spans": "errors",
    "data": "errors parallel kernels",
    "metrics": "errors spans",
    "states": "errors spans kernels",
    "potentials": "errors states",
    "inference": "errors parallel kernels states potentials",
    "torch": "errors kernels states potentials inference",
    "features": "errors parallel kernels data",
    "statistics": "errors features",
    "scorers": "errors memory kernels states potentials features torch",
    "objectives": "errors states potentials inference",
    "tasks": "errors states potentials",
    "counting": "errors data features tasks",
    "problem": "errors parallel kernels states potentials inference features scorers objectives",
    "generative": "errors parallel states potentials features scorers objectives problem",
    "trainers": "errors parallel kernels states potentials inference features scorers objectives problem generative",
    "fitted": "errors parallel spans states potentials inference features scorers tasks",
    "files": "errors states inference features scorers tasks problem trainers fitted",
    "models": "errors memory parallel spans kernels data metrics states potentials inference features scorers "
    "objectives tasks counting problem generative trainers fitted files torch",
    "audio": "errors",
    "plots": "errors",
    "commands": "errors parallel spans data metrics features trainers fitted files models",
}
# Whoever needs one of these needs all of the library, or nothing of it.
TOP = {"__init__", "__main__"}


def imported(path: Path) -> set[str]:
    """The packages of the library that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "chainfield":
            names |= {f"chainfield.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names.add(node.module)
        elif isinstance(node, ast.ImportFrom) and node.level > 1:
            names.add(f"chainfield.relative to another package ({path.name})")
    return {name.split(".")[1] for name in names if name.startswith("chainfield.")}


def package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


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
