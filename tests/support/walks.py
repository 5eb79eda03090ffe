"""Walks: which modules a call goes through, by a profiler. ``cd tests && python -m support.walks [-v]``.

A walk is what somebody reads who follows one call from door to door. The second call is looked at, so that imports do
not count; modules are those whose Python functions were called, packages the folders (and single files) right under
``chainfield``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import chainfield as cf
from chainfield.commands.main import group
from chainfield.errors import ChainfieldError

WORDS = ("Rain", "falls", "on", "Oslo", "today", ",", "and", "Anna", "Berg", "sleeps")
LABELS = ("O", "O", "O", "B-LOC", "O", "O", "O", "B-PER", "I-PER", "O")
DICTS = [[{"w": word, "b": 1.0} for word in WORDS[s:] + WORDS[:s]] for s in range(0, 10, 2)] * 12
TAGS = [[*LABELS[s:], *LABELS[:s]] for s in range(0, 10, 2)] * 12
TAGS = [["B-PER" if label == "I-PER" and at == 0 else label for at, label in enumerate(tags)] for tags in TAGS]

Walk = Callable[[], Any]


def follow(walk: Walk) -> Counter[str]:
    """Calls by module, of the second call."""
    walk()
    seen: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__") or ""
            if module.startswith("chainfield."):
                seen[module.removeprefix("chainfield.")] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return seen


def size(seen: Counter[str]) -> tuple[int, int]:
    """Modules and packages."""
    return len(seen), len({module.partition(".")[0] for module in seen})


def walks(folder: Path) -> dict[str, Walk]:
    """The walks that are watched, by name."""
    data, model, hostile = folder / "data.conll", folder / "model.cf", folder / "hostile.cf"
    sentences = (
        "".join(f"{w['w']} {t}\n" for w, t in zip(*pair, strict=True)) for pair in zip(DICTS, TAGS, strict=True)
    )
    data.write_text("\n".join(sentences), encoding="utf-8")
    hostile.write_bytes(b"\xff" * 100)
    rng = np.random.default_rng(0)
    vectors, classes = [rng.normal(size=(12, 3)) + i % 2 for i in range(20)], [*"ab"] * 10
    tagger = cf.LinearCRF(n_jobs=1).fit(DICTS, TAGS)

    def refused() -> None:
        with suppress(ChainfieldError):
            cf.load(hostile)

    found: dict[str, Walk] = {
        "train FILE": lambda: group.main(["train", f"{data}", f"{model}", "--quiet"], standalone_mode=False),
        "fit(dicts)": lambda: cf.LinearCRF().fit(DICTS, TAGS),
        "predict": lambda: tagger.predict(DICTS[:1]),
        "hidden units": lambda: cf.HiddenUnitCRF(hidden_units=5, trainer="averaged").fit(DICTS, TAGS),
        "hidden CRF": lambda: cf.HiddenCRF(n_states=3).fit(vectors, classes),
        "hostile file": refused,
    }
    with suppress(ImportError):
        found["torch layer"] = _layer()
    return found


def _layer() -> Walk:
    import torch

    from chainfield.torch import CRF

    layer, scores = CRF(3), torch.zeros(2, 4, 3, requires_grad=True)
    tags = torch.zeros(2, 4, dtype=torch.long)
    return lambda: layer(scores, tags).sum().backward()


def main() -> None:
    """Print the size of every walk; with -v, its modules too."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="list the modules, with their calls")
    verbose = parser.parse_args().verbose
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for name, walk in walks(Path(folder)).items():
            seen = follow(walk)
            print(f"{name:14} {size(seen)[0]:3} modules {size(seen)[1]:3} packages {sum(seen.values()):7} calls")
            if verbose:
                print("   ", " ".join(f"{module}:{n}" for module, n in sorted(seen.items())))


if __name__ == "__main__":
    main()
