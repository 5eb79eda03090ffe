"""The command line of the benchmarks."""

from __future__ import annotations

import json
from pathlib import Path

import click

RESULTS = Path(__file__).parents[1] / "results"
BENCHMARKS = ("train-conll2000", "tag-conll2000")


@click.command()
@click.argument("name", type=click.Choice([*BENCHMARKS, "render"]))
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures to this file as well.")
@click.option(
    "--keep", is_flag=True, help="Keep the figures in benchmarks/results, from which `render` writes RESULTS.md."
)
def main(name: str, json_file: Path | None, keep: bool) -> None:
    """Run the benchmark NAME, chainfield and peers side by side, and print ratios; or render RESULTS.md."""
    if name == "render":
        render()
        return
    try:
        if name == "train-conll2000":
            from .train_conll2000 import run
        else:
            from .tag_conll2000 import run
    except ImportError as error:
        raise click.ClickException(f"{error.name} is missing; install the peers: pip install -e '.[bench]'.") from None
    measured = run()
    for figure, value in measured.figures.items():
        click.echo(f"{figure:>40}  {value:,.4g}")
    content = json.dumps(measured.to_dict(), indent=2) + "\n"
    if json_file is not None:
        json_file.write_text(content, encoding="utf-8")
    if keep:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(content, encoding="utf-8")


def render() -> None:
    """benchmarks/RESULTS.md from benchmarks/results."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `python benchmarks/run.py render`; ratios are of one run, medians of alternating repeats.",
        "",
    ]
    for path in sorted(RESULTS.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        box = result["machine"]
        lines += [f"## {result['name']}", ""]
        lines += [
            f"{box['processor']}, {box['cores']} cores, Python {box['python']}, chainfield {box['chainfield']}.",
            "",
        ]
        lines += ["| figure | value |", "| --- | --: |"]
        lines += [f"| {name} | {value:,.6g} |" for name, value in result["figures"].items()]
        lines += ["", *result["notes"], ""]
    (RESULTS.parent / "RESULTS.md").write_text("\n".join(lines), encoding="utf-8")
