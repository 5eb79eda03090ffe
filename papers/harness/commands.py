"""The command line of the experiments."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from chainfield.errors import ConfigError

from .claims import Paper, render_claims, replaced
from .corpora import VARIABLE, MissingCorpus, absent, data_root, locate
from .experiment import Context, Experiment, Result, available_cores, perform
from .provenance import provenance_of, reason_to_repeat
from .registry import UnknownExperiment, discover, find
from .results import duration, read_json, render, render_result, to_json, write_json

PAPERS = Path(__file__).resolve().parents[1]
PIPE_WIDTH = 160


@dataclass(frozen=True)
class Places:
    """Where experiments come from, where results are kept, where they are rendered to."""

    package: str = "experiments"
    results: Path = PAPERS / "results"
    report: Path = PAPERS / "RESULTS.md"
    claims: Path | None = PAPERS / "README.md"


data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help=f"Folder of the corpora; without it, the environment variable {VARIABLE}.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def main(context: click.Context) -> None:
    """Experiments of the papers, their published figures beside ours."""
    if context.obj is None:
        context.obj = Places()


@main.command("list")
@data_option
@click.pass_obj
def list_(places: Places, data: Path | None) -> None:
    """Show the experiments, whether their corpora are there, and what the last full run took of a processor."""
    root, taken = data_root(data), _recorded(places)
    table = Table(title="Experiments")
    for column in ("name", "paper", "reproduces", "corpora", "--quick", "--full"):
        table.add_column(column, no_wrap=column == "name")
    for experiment in discover(places.package).values():
        table.add_row(
            f"[bold]{experiment.name}[/bold]",
            experiment.paper,
            experiment.title,
            _corpora(experiment, root),
            *(
                f"{time} (default)" if mode == experiment.default else time
                for mode, time in (
                    ("quick", experiment.quick_time),
                    ("full", taken.get(experiment.name, experiment.full_time)),
                )
            ),
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    console.print(table)


def _recorded(places: Places) -> dict[str, str]:
    """What kept runs took of a processor, by experiment."""
    found = {}
    for path in places.results.glob("*.json"):
        with suppress(ValueError):  # `render` says what is wrong with it
            result = read_json(path)
            if result.processor is not None:
                found[result.name] = duration(result.processor)
    return found


def _corpora(experiment: Experiment, root: Path | None) -> str:
    marks = [
        f"{corpus.name}: {'[red]missing[/red]' if absent(corpus, root) else '[green]found[/green]'}"
        for corpus in experiment.corpora
    ]
    return "\n".join(marks) or "none needed"


@main.command()
@click.argument("name")
@click.option("--quick", is_flag=True, help="A subset of the data, a minute or two; never kept as a result.")
@click.option("--full", is_flag=True, help="The whole protocol (the default of most experiments, see list).")
@data_option
@click.option("--json", "target", help="Write JSON here (-: standard output) and nowhere else.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), help="Threads; without it, all cores.")
@click.pass_obj
def run(
    places: Places, name: str, quick: bool, full: bool, data: Path | None, target: str | None, seed: int,
    jobs: int | None,
) -> None:  # fmt: skip
    """Run the experiment NAME and show its figures.

    A full run is kept in papers/results/NAME.json unless --json names another file.
    """
    if quick and full:
        raise click.UsageError("Give --quick or --full, not both.")
    try:
        experiment = find(name, places.package)
        root = data_root(data)
        folders = {corpus.name: locate(corpus, root) for corpus in experiment.corpora}
    except (UnknownExperiment, MissingCorpus) as error:
        raise click.ClickException(str(error)) from None
    mode = "quick" if quick else "full" if full else experiment.default
    kept = places.results / f"{name}.json" if mode == "full" and target is None else None
    path = kept if target is None else None if target == "-" else Path(target)
    if path is not None:
        _check_target(path, mode, places)
    started = time.perf_counter()

    def log(text: str) -> None:
        click.echo(f"{time.perf_counter() - started:7.1f} s  {text}", err=True)

    try:
        result = perform(experiment, Context(mode, seed, jobs or available_cores(), folders, log))
    except ConfigError as error:
        raise click.ClickException(f"{name} could not be run: {error}") from None
    if path is not None:
        write_json(result, path)
    if kept is not None and experiment.picture is not None:
        kept.with_suffix(".svg").write_text(experiment.picture(result.rows), encoding="utf-8")
    click.echo(to_json(result) if target == "-" else render_result(result), nl=False)
    if path is not None:
        click.echo(f"Written to {path}.", err=True)


def _check_target(path: Path, mode: str, places: Places) -> None:
    """Refuse before hours of work, not after them."""
    if mode == "quick" and path.resolve().parent == places.results.resolve():
        raise click.UsageError("Quick runs are not kept among the results; give --json a file elsewhere.")
    if path.is_dir():
        raise click.UsageError(f"{path} is a folder; give --json a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        probe = path.with_name(f".{path.name}.probe")
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written ({error.strerror}); give --json another file.") from None


@main.command("render")
@click.pass_obj
def render_(places: Places) -> None:
    """Write papers/RESULTS.md, and the claims of papers/README.md, from papers/results/*.json."""
    try:
        results = [read_json(path) for path in sorted(places.results.glob("*.json"))]
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    for result in results:
        if result.mode != "full":
            raise click.ClickException(f"{result.name}.json is a quick run; remove it or run the experiment in full.")
    stale = _stale(results, places)
    results = [_as_told_now(result, places) if result.name not in stale else result for result in results]
    pictures = {path.stem: f"{places.results.name}/{path.name}" for path in places.results.glob("*.svg")}
    places.report.write_text(render(results, pictures, stale), encoding="utf-8")
    if places.claims is not None:
        from claims import PAPERS as claiming

        drawn = [*pictures.values(), *_draw(claiming, results, places.claims.parent)]
        told = render_claims(claiming, results, stale, drawn)
        page = replaced(places.claims.read_text(encoding="utf-8"), told)
        places.claims.write_text(page, encoding="utf-8")
    click.echo(f"{places.report.name}: {len(results)} experiments, {len(stale)} of them stale.")
    for name, reason in stale.items():
        click.echo(f"  {name}: {reason}", err=True)


def _as_told_now(result: Result, places: Places) -> Result:
    """A result whose code has not changed, in the words of its experiment as it stands; its picture is drawn anew."""
    told = discover(places.package)[result.name]
    if told.picture is not None:
        (places.results / f"{result.name}.svg").write_text(told.picture(result.rows), encoding="utf-8")
    return replace(result, title=told.title, paper=told.paper, protocol=told.protocol, differences=told.differences)


def _draw(papers: Iterable[Paper], results: list[Result], folder: Path) -> Iterator[str]:
    """Draw the pictures that kept results have the figures for; their places."""
    known = {result.name: result for result in results}
    for picture in (picture for paper in papers for picture in paper.pictures):
        drawn = picture.draw(known)
        if drawn is not None:
            path = folder / picture.path
            path.parent.mkdir(exist_ok=True)
            path.write_text(drawn, encoding="utf-8")
            yield picture.path


def _stale(results: list[Result], places: Places) -> dict[str, str]:
    """Why results should be computed again, by name."""
    known = discover(places.package)
    found = {}
    for result in results:
        if result.name not in known:
            found[result.name] = "there is no such experiment any more"
        elif reason := reason_to_repeat(result.code, provenance_of(known[result.name].module)):
            found[result.name] = reason
    return found
