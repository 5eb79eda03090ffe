"""What the repository says in two places is the same in both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import chainfield

ROOT = Path(__file__).resolve().parents[1]
tomllib = pytest.importorskip("tomllib", reason="part of Python since 3.11")


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def contributing():
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [chainfield.__version__]


def test_upper_bounds_are_explained(project, contributing):
    extras = project["project"]["optional-dependencies"]
    dependencies = [*project["project"]["dependencies"], *extras["jit"], *extras["sklearn"]]
    bounds = {re.match(r"[\w-]+", line)[0]: line.partition(",<")[2] for line in dependencies if "<" in line}
    explained = dict(re.findall(r"^\| `([\w-]+)<([\d.]+)` \|", contributing, re.MULTILINE))
    assert bounds == explained


def test_every_dependency_has_a_reason(project, contributing):
    names = [re.match(r"[\w-]+", line)[0] for line in project["project"]["dependencies"]]
    table = contributing.partition("| dependency |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([\w-]+) \| .+ \|$", table, re.MULTILINE) == names


def test_checks_that_do_not_apply_are_explained(project, contributing):
    explained = dict(re.findall(r"^\| `([A-Z]+\d+)` \| (.+) \|$", contributing, re.MULTILINE))
    assert project["tool"]["repo-review"]["ignore"] == explained


def test_the_supported_versions_of_python_are_tested_and_built(project):
    classifiers = project["project"]["classifiers"]
    supported = re.findall(r"Python :: (3\.\d+)$", "\n".join(classifiers), re.MULTILINE)
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert project["project"]["requires-python"] == f">={supported[0]}"
    assert f"python: {json.dumps(supported)}\n" in workflow
    minors = ",".join(version.removeprefix("3.1") for version in supported)
    assert project["tool"]["cibuildwheel"]["build"] == f"cp31{{{minors}}}-*"
