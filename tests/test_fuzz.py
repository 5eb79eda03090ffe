"""The fuzzers run, and what they once found stays mended."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent.parent / "fuzz"
if not FUZZ.is_dir():
    pytest.skip("the fuzzers are not part of an installation", allow_module_level=True)
pytest.importorskip("resource", reason="the fuzzers need Unix")
sys.path.insert(0, str(FUZZ))

import run  # noqa: E402

OURS = [
    name for module in run.modules() if module.__name__ in ("texts", "arrays", "documents") for name in module.TARGETS
]
CORPUS = sorted((FUZZ / "corpus").glob("*/*"))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_once(path):
    run.targets()[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("name", OURS)
def test_every_target_takes_random_input(name):
    if name == "encoder":
        from support.native import flatten

        if flatten() is None:
            pytest.skip("no compiler, and no compiled encoder")
    target, pool, rng = run.targets()[name], run.seeds(name), random.Random(0)
    for number in range(len(pool) + 60):
        target(pool[number] if number < len(pool) else run.mutated(pool, rng))


def test_every_target_is_documented():
    text = (FUZZ / "README.md").read_text(encoding="utf-8")
    assert [name for name in run.targets() if f"`{name}`" not in text] == []


def test_a_finding_is_kept_and_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "HERE", tmp_path)
    name = run.keep("columns", b"data")
    assert (tmp_path / name).read_bytes() == b"data"
