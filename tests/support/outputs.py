"""Runs the blocks of documentation pages and writes what they print below them.

``python tests/support/outputs.py docs/tutorial_text.md …`` (from the root of the repository; without arguments: every
page that shows an output). A Python block is followed by a ``text`` block, a command by its output in the same
``console`` block. Long outputs are cut with "…". Read the changes before you keep them: times and last digits differ
between machines.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.pages import Block, commands, execute, prepare, shell  # noqa: E402

MOST_LINES, HEAD, TAIL, WIDTH = 12, 8, 3, 118
# A block of Python with the text block below it, if there is one, or a console block.
PART = re.compile(r"^```(python|console)\n(.*?)^```$(\n\n```text\n.*?^```$)?", re.DOTALL | re.MULTILINE)


def shortened(text: str) -> str:
    """An output of a few lines, none too wide."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if len(lines) > MOST_LINES:
        lines = [*lines[:HEAD], "…", *lines[-TAIL:]]
    return "".join(f"{line if len(line) <= WIDTH else line[: WIDTH - 2] + ' …'}\n" for line in lines)


def renewed(page: Path) -> str:
    """The page with its outputs written anew; runs in the current folder."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")

    def part(found: re.Match[str]) -> str:
        block = Block(found[1], found[2], text[: found.start(2)].count("\n") + 1)
        if block.language == "console":
            shown = (f"$ {command}\n{shortened(shell(command, page))}" for command, _ in commands(block))
            return f"```console\n{''.join(shown)}```"
        printed = execute(page, block, namespace)
        below = f"\n\n```text\n{shortened(printed)}```" if printed.strip() else ""
        return f"```python\n{block.text}```{below}"

    return PART.sub(part, text)


def main() -> None:
    """Renew the pages that are named."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # as in tests: model files hold no times
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    if not pages:
        pages = [page for page in (ROOT / "docs").glob("*.md") if "\n```\n\n```text\n" in page.read_text("utf-8")]
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            prepare(Path(folder))
            page.write_text(renewed(page), encoding="utf-8")
            os.chdir(ROOT)
        print(page.name, flush=True)


if __name__ == "__main__":
    main()
