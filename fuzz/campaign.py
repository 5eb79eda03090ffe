"""A long run over all targets, in small portions that can be interrupted: ``python fuzz/campaign.py COUNTS.json``.

The file keeps how many inputs each target has had, its findings and its peak of memory. Portions differ in their
seeds, so that no input is tried twice on purpose. ``--until 04:05`` ends before a time of the day (UTC).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import run

PORTION = 0.02  # of what is planned for a target
#: Thousands of inputs for targets that are slower or faster than most.
PLANNED = {
    "columns": 1500, "expressions": 1500, "dense": 1500, "templates": 1000, "compressed": 700, "model_bytes": 600,
    "attributes": 500, "archive": 500, "vectors": 500, "matrices": 200, "parquet": 150, "docbin": 100, "encoder": 100,
    "model_file": 50, "checkpoint_file": 40, "corpus_folder": 40, "frames": 50, "crfsuite": 1000, "wapiti": 1000,
    "crfpp_text": 500, "crfpp_binary": 500,
}  # fmt: skip
USUAL = 300


def goal(name: str) -> int:
    """How many inputs a target is to get."""
    return 1000 * PLANNED.get(name, USUAL)


def next_target(names: list[str], counts: dict[str, Any]) -> str | None:
    """The one that is furthest behind; none if all are done."""
    share = {name: counts.get(name, {}).get("inputs", 0) / goal(name) for name in names}
    found = min(names, key=lambda name: share[name])
    return found if share[found] < 1 else None


def main() -> None:
    """Portion after portion."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--until", default="99:99", help="HH:MM (UTC)")
    parser.add_argument("--seed", type=int, default=0, help="where seeds begin, for a run that goes on elsewhere")
    parser.add_argument("--without", nargs="*", default=[], help="targets to leave out")
    given = parser.parse_args()
    names = [name for name in run.targets() if name not in given.without]
    counts = json.loads(given.counts.read_text()) if given.counts.exists() else {}
    while time.strftime("%H:%M", time.gmtime()) < given.until:
        name = next_target(names, counts)
        if name is None:
            break
        own = counts.setdefault(name, {"inputs": 0, "seconds": 0, "findings": 0, "hangs": 0, "peak_mb": 0})
        n, seed = max(int(PORTION * goal(name)), 1), given.seed + own["inputs"] + 1
        _, done, seconds, findings, hangs, memory, _ = run.run(name, n, seed=seed, coverage=False)
        for key, more in (("inputs", done), ("seconds", int(seconds)), ("findings", findings), ("hangs", hangs)):
            own[key] += more
        own["peak_mb"] = max(own["peak_mb"], memory)
        given.counts.write_text(json.dumps(counts, indent=1) + "\n")
    total = sum(own["inputs"] for own in counts.values())
    print(f"{total:,} inputs, {sum(own['findings'] + own['hangs'] for own in counts.values())} findings")


if __name__ == "__main__":
    main()
