"""The command line of the benchmarks."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import click

from .measure import Options
from .registry import BENCHMARKS
from .render import render_all, shown

RESULTS = Path(__file__).parents[1] / "results"
REPORT = Path(__file__).parents[1] / "RESULTS.md"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file as well.")
@click.option(
    "--keep", is_flag=True, help="Keep the figures in benchmarks/results, from which `render` writes RESULTS.md."
)
@click.option("--repeats", type=click.IntRange(min=1), help="Rounds; without it, the benchmark's own number.")
@click.option("--sample", type=click.IntRange(min=1), help="Only the first N sentences: a trial, no result.")
@click.option("--fresh-optimum", is_flag=True, help="Look for the optimum again instead of taking the known one.")
def main(
    name: str, json_file: Path | None, keep: bool, repeats: int | None, sample: int | None, fresh_optimum: bool
) -> None:
    """Run the benchmark NAME, chainfield and its peers side by side, and print ratios.

    `list` names all benchmarks; `render` writes RESULTS.md from the figures that were kept.
    """
    if name == "list":
        width = max(map(len, BENCHMARKS))
        for benchmark in BENCHMARKS.values():
            click.echo(f"{benchmark.name:<{width}}  {benchmark.about} (about {benchmark.minutes} min)")
        return
    if name == "render":
        REPORT.write_text(render_all(sorted(RESULTS.glob("*.json"))), encoding="utf-8")
        return
    if name not in BENCHMARKS:
        near = difflib.get_close_matches(name, [*BENCHMARKS, "list", "render"], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(BENCHMARKS)}, list, render."
        raise click.ClickException(f"There is no benchmark {name!r}; {hint}")
    if sample is not None and keep:
        raise click.ClickException("A sample is no result: --sample and --keep do not go together.")
    if json_file is not None and not json_file.resolve().parent.is_dir():
        raise click.ClickException(f"There is no folder {json_file.parent} to write {json_file.name} to.")
    measured = BENCHMARKS[name].load()(Options(repeats, sample, fresh_optimum))
    if sample is not None:
        measured.notes.insert(0, f"A trial with the first {sample:,} sentences, no result.")
    click.echo(shown(measured))
    content = json.dumps(measured.to_dict(), indent=2, allow_nan=False) + "\n"
    if json_file is not None:
        json_file.write_text(content, encoding="utf-8")
    if keep:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(content, encoding="utf-8")
