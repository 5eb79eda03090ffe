"""Makes the pictures of the pages: ``python docs/pictures.py`` (all), ``… charts``, ``… demo``, ``… docs/gallery.md``.

Charts come from the stored results of benchmarks, the terminal from a run of the demo. Pictures of pages are those
that their blocks write: ``figure.savefig("word.png")`` on a page that shows ``images/word.png``.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent.resolve()
ROOT = DOCS.parent
IMAGES = DOCS / "images"
WIDTH = 110
SHOWN = 6  # rows of the table of scores
sys.path[:0] = [str(DOCS), str(ROOT / "tests")]

from charts import charts  # noqa: E402


def write_charts() -> None:
    """Charts of speed."""
    for name, text in charts().items():
        (IMAGES / name).write_text(text, encoding="utf-8")


def write_demo() -> None:
    """The demo as a terminal shows it; of the table of scores, some rows."""
    from rich.console import Console
    from rich.text import Text

    from test_commands import run

    os.environ |= {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH)}  # as a terminal
    result = run("demo")
    assert result.code == 0, result.stderr
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print("[bold]$[/bold] chainfield demo")
    rows = [
        line for line in result.stdout.splitlines() if re.match(r"\W*\w+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d,]+", plain(line))
    ]
    hidden = set(rows[SHOWN:-1])
    for line in result.stdout.splitlines():
        if rows and line == rows[SHOWN]:
            console.print("…")
        if line not in hidden:
            console.print(Text.from_ansi(line))
    svg = console.export_svg(title="chainfield demo", unique_id="demo")
    # Fonts are those of the reader: no picture of ours asks another host for anything.
    svg = re.sub(r"@font-face \{.*?\}\n*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace").replace(
        "Fira Code", "monospace"
    )
    svg = re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)
    (IMAGES / "demo.svg").write_text(svg, encoding="utf-8")


def plain(line: str) -> str:
    """A line without colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def write_page(page: Path) -> list[str]:
    """The pictures that a page shows and its blocks write; their names."""
    from support.pages import blocks, execute, prepare

    wanted = re.findall(r"\]\(images/([\w.]+)\)", page.read_text(encoding="utf-8"))
    code = [block for block in blocks(page) if block.language == "python"]
    if not any(f'"{name}"' in block.text for name in wanted for block in code):
        return []
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            prepare(Path(folder))
            namespace: dict[str, object] = {"__name__": "__main__"}
            for block in code:
                execute(page, block, namespace)
            made = [name for name in wanted if Path(folder, name).exists()]
            for name in made:
                shutil.copy(Path(folder, name), IMAGES / name)
        finally:
            os.chdir(before)
    return made


def main() -> None:
    """Make what is named, or everything."""
    named = sys.argv[1:]
    if not named or "charts" in named:
        write_charts()
    if not named or "demo" in named:
        write_demo()
    pages = [Path(name).resolve() for name in named if name.endswith(".md")] if named else sorted(DOCS.glob("*.md"))
    for page in pages:
        made = write_page(page)
        if made:
            print(f"{page.name}: {', '.join(made)}", flush=True)


if __name__ == "__main__":
    main()
