"""Pages of the documentation: their blocks, how they run, and whether what they print is what stands below them."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import re
import shlex
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from test_commands import corpus_text, run

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md")])

#: What a compiler says at its first use is no part of an output.
NOTICE = re.compile(r"^chainfield: compiling, once .*\n?", re.MULTILINE)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
#: A number of seconds, bytes or the like: it differs from machine to machine and from run to run.
MEASURED = re.compile(
    r"(?<![\w.])\d[\d.,]*(?= ?(?:s|ms|µs|seconds?|minutes?|KB|MB|GB|tokens (?:per second|/ ?s))\b)"
    r"|(?<=seconds: )\d[\d.e-]*|(?<=seconds': )\d[\d.e-]*"
)
#: Numbers may differ by this share, or by two units of the last digit that is shown.
SHARE = 0.05
NOISE = 1e-9  # what should be zero
MOST_TOLD = 1000  # characters of an output that a failure shows


@dataclasses.dataclass(frozen=True)
class Block:
    """A block of code, and what stands below it: the text block that follows, or None."""

    language: str
    text: str
    line: int
    below: str | None = None


def page_name(page: Path) -> str:
    """A page by its path in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """All blocks of a page."""
    found = []
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", text, re.DOTALL | re.MULTILINE):
        found.append(Block(match[1], match[2], text[: match.start(2)].count("\n") + 1, match[3]))
    return found


def execute(page: Path, block: Block, namespace: dict[str, object]) -> str:
    """Run a block of Python; what it prints. Blank lines in front keep the line numbers of the page in tracebacks."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True)
    out = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", module=r"pyspark\.")  # its own
        exec(code, namespace)
    return out.getvalue()


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with what stands below it."""
    parts = re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.MULTILINE)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def shell(command: str, page: Path) -> str:
    """A pipeline of `chainfield` (in this process: it is quick) and of small standard tools; what it shows."""
    command, _, target = command.partition(" > ")
    data, said = b"", ""
    for part in command.split(" | "):
        words = shlex.split(part)
        if words[0] == "chainfield":
            result = run(*words[1:], stdin=data)
            assert result.code == 0, f"{page_name(page)}: {part!r} failed: {result.stderr}"
            data, said = result.stdout.encode(), said + result.stderr
        else:
            data = subprocess.run(words, input=data, stdout=subprocess.PIPE, check=True).stdout
    if target:
        Path(target.strip()).write_bytes(data)
        data = b""
    return NOTICE.sub("", said) + data.decode()


def prepare(folder: Path) -> None:
    """Files that a page may take for granted: a little corpus in three parts."""
    (folder / "train.txt").write_text(corpus_text("train", 0, 120), encoding="utf-8")
    (folder / "dev.txt").write_text(corpus_text("test", 0, 50), encoding="utf-8")
    (folder / "test.txt").write_text(corpus_text("test", 50, 100), encoding="utf-8")


def difference(shown: str, printed: str) -> str | None:
    """How an output differs from the one that a page shows, or None: "…" stands for what was cut."""
    wanted, given = lines(shown), lines(printed)
    place = 0
    for number, (chunk, last) in enumerate(chunks(wanted)):
        if number == 0 and last:  # nothing was cut
            if len(wanted) != len(given):
                return f"{len(given)} lines instead of {len(wanted)}:\n{printed[:MOST_TOLD]}"
            starts = [0]
        elif number == 0:
            starts = [0]
        elif last:
            starts = [len(given) - len(chunk)]
        else:
            starts = list(range(place, len(given) - len(chunk) + 1))
        for start in starts:
            if start >= place and all(
                alike(a, b) for a, b in zip(chunk, given[start : start + len(chunk)], strict=False)
            ):
                place = start + len(chunk)
                break
        else:
            worse = [(a, b) for a, b in zip(chunk, given[max(starts[0], 0) :], strict=False) if not alike(a, b)]
            return (
                f"shown {worse[0][0]!r}, printed {worse[0][1]!r}" if worse else f"not all there:\n{printed[:MOST_TOLD]}"
            )
    return None


def lines(text: str) -> list[str]:
    """Lines without blank ones at the ends and without blanks behind."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def chunks(wanted: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
    """Stretches of lines between lines that say "…" alone, and whether nothing follows."""
    chunk: list[str] = []
    for line in wanted:
        if line.strip() == "…":
            yield chunk, False
            chunk = []
        else:
            chunk.append(line)
    if chunk or not wanted or wanted[-1].strip() != "…":
        yield chunk, True


def alike(shown: str, printed: str) -> bool:
    """Whether two lines say the same: blanks and measured quantities do not count, numbers count roughly."""
    if shown.endswith(" …"):  # the last word may be cut
        shown = shown[:-2].rpartition(" ")[0]
        printed = " ".join(printed.split()[: len(shown.split())])
    shown, printed = (" ".join(MEASURED.sub("0", line).split()) for line in (shown, printed))
    if re.sub(r"[\s─-]+", "", NUMBER.sub("#", shown)) != re.sub(r"[\s─-]+", "", NUMBER.sub("#", printed)):
        return False
    return all(close(a, b) for a, b in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True))


def close(shown: str, printed: str) -> bool:
    """Whether two numbers differ by no more than the tolerance above."""
    a, b = float(shown), float(printed)
    unit = 10.0 ** -len(shown.partition("e")[0].partition(".")[2])
    return abs(a - b) <= max(SHARE * max(abs(a), abs(b)), 2.001 * unit * (1 if "e" not in shown else 0), NOISE)
