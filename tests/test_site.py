"""The site: every public name, pictures that are made, and links that lead to pages."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

from support.pages import DOCS, PAGES, ROOT, alike, blocks, difference

sys.path.insert(0, str(DOCS))
import assembling
import charts

MADE = {
    "report.png": "a report",
    "playground.png": "the page of a server",
    "waist.svg": "drawn by hand",
    "demo.svg": "the demo",
}


def offered() -> dict[str, list[str]]:
    """Public names by module, of what can be imported here."""
    found = {}
    for name in assembling.public_module_names():
        try:
            module = importlib.import_module(f"chainfield.{name}")
        except ImportError:  # of an extra
            continue
        found[name] = assembling.public_names(module)
    return found


def test_the_reference_has_every_public_name(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("distributed")
    assembling.reference(tmp_path)
    for module, names in offered().items():
        text = (tmp_path / f"reference_chainfield.{module}.rst").read_text(encoding="utf-8")
        headings = re.findall(r"^(\S+)\n-+$", text, re.MULTILINE)
        assert headings == names, module
        for name in names:
            documented = re.search(rf"(auto\w+|py:data):: \S+\.{name}\n|See :doc:`\S+\.{name} <", text)
            assert documented, f"{module}.{name}"


def test_every_public_name_says_what_it_is() -> None:
    for module, names in offered().items():
        for name in names:
            value = getattr(importlib.import_module(f"chainfield.{module}"), name)
            if inspect.isclass(value) or inspect.isfunction(value):
                assert value.__doc__, f"chainfield.{module}.{name}"


def test_charts_show_the_stored_figures() -> None:
    for name, text in charts.charts().items():
        assert (DOCS / "images" / name).read_text(encoding="utf-8") == text, "python docs/pictures.py charts"


def test_pictures_are_those_that_pages_make() -> None:
    shown = set()
    for page in PAGES:
        code = "\n".join(block.text for block in blocks(page) if block.language == "python")
        for name in re.findall(r"\]\((?:docs/)?images/([\w.]+)\)", page.read_text(encoding="utf-8")):
            shown.add(name)
            assert name in MADE or name in charts.charts() or f'"{name}"' in code, f"{page.name}: {name}"
    assert shown == {path.name for path in (DOCS / "images").iterdir()}


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("models.md#trainers", "models.md#trainers"),
        ("../benchmarks/RESULTS.md#hmm-em", "made/benchmarks.md#hmm-em"),
        ("../fuzz/run.py", f"{assembling.REPOSITORY}/blob/main/fuzz/run.py"),
        ("../fuzz", f"{assembling.REPOSITORY}/tree/main/fuzz"),
        ("https://spacy.io", "https://spacy.io"),
        ("#here", "#here"),
    ],
)
def test_links_lead_to_pages_of_the_site_or_to_the_repository(link: str, found: str) -> None:
    assert assembling.moved(link, "docs/a.md", "docs/a.md") == found


def test_links_in_code_stay() -> None:
    text = "[a](../SECURITY.md)\n\n```text\n[a](../SECURITY.md)\n```\n"
    assert assembling.relinked(text, "docs/a.md", "docs/a.md") == text.replace("../SECURITY", "made/security", 1)


def test_every_page_stands_in_a_section() -> None:
    sections = assembling.sections((DOCS / "index.md").read_text(encoding="utf-8"))
    listed = [page for _, pages in sections.values() for page in pages]
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


WITH_EXAMPLES = sorted(path for path in (ROOT / "src" / "chainfield").rglob("*.py") if ">>>" in path.read_text("utf-8"))


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.stem)
def test_examples_of_docstrings(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    if name == "chainfield.compat.usaddress":
        pytest.importorskip("usaddress")
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # of an extra
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert tried
    assert not failed


# ---- outputs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a 0.891", "a 0.893"),
        ("a 120", "a 122"),
        ("F1 89.06", "F1 88.00"),
        ("took 1.2 s", "took 17.0 s"),
        ("{'seconds': 0.1}", "{'seconds': 3.25}"),
        ("one   two", "one two"),
        ("a long line that was c …", "a long line that was cut here"),
        ("1.2e-17", "-3.4e-16"),
    ],
)
def test_lines_that_are_alike(shown: str, printed: str) -> None:
    assert alike(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a 0.891", "a 0.821"),
        ("a 120", "a 150"),
        ("label O", "label B"),
        ("['O', 'B-x']", "['B-x', 'O']"),
        ("a long line that was c …", "a short line that was cut here"),
        ("1", "1 2"),
    ],
)
def test_lines_that_differ(shown: str, printed: str) -> None:
    assert not alike(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed", "told"),
    [
        ("a\nb\n", "a\nb\n", None),
        ("a\n…\nd\n", "a\nb\nc\nd\n", None),
        ("a\n…\n", "a\nb\nc\n", None),
        ("a\n…\nc\n…\ne\n", "a\nb\nc\nd\ne\n", None),
        ("a\n", "a\nb\n", "2 lines instead of 1"),
        ("", "a\n", "1 lines instead of 0"),
        ("a\n…\nx\n", "a\nb\nc\nd\n", "shown 'x', printed 'd'"),
        ("a\n…\nx\n…\nd\n", "a\nb\nc\nd\n", "shown 'x'"),
    ],
)
def test_outputs_are_compared_around_what_was_cut(shown: str, printed: str, told: str | None) -> None:
    found = difference(shown, printed)
    assert (found is None) if told is None else (told in str(found))
