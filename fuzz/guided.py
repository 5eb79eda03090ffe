"""The same targets, guided by coverage: ``python fuzz/guided.py columns [options of libFuzzer]``.

Needs `atheris <https://github.com/google/atheris>`_. This is also the entry point for OSS-Fuzz, whose fuzzers have no
arguments of their own: a copy named ``fuzz_columns.py`` runs the target ``columns``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))

with atheris.instrument_imports(include=["chainfield"]):
    import run


def main() -> None:
    """Hand the target to libFuzzer, with its seeds as a corpus."""
    own = Path(sys.argv[0]).stem.removeprefix("fuzz_")
    name = own if own in run.targets() else sys.argv.pop(1)
    corpus = Path(__file__).parent / "findings" / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(run.seeds(name)):
        (corpus / f"seed{number}").write_bytes(data)
    limits = ["-timeout=5", "-rss_limit_mb=2048", f"-max_len={run.LONGEST}"]
    atheris.Setup([sys.argv[0], str(corpus), *limits, *sys.argv[1:]], run.targets()[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
