"""``chainfield demo``: train, evaluate and tag in under a minute, with data that come along."""

from __future__ import annotations

import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import cast

import click

from chainfield.errors import ConfigError

_EXAMPLES = (
    "play the newest album by Miles Davis on Spotify",
    "add this song to my rainy day playlist",
    "book a table for four at a Greek restaurant in Portland",
    "will it snow in Oslo on Christmas day",
)


def _write_data(folder: Path) -> None:
    """The requests as column files; no file is written over."""
    import lzma

    def requests(part: str) -> list[str]:
        packed = (files("chainfield.data") / "demo" / f"snips.{part}.conll.xz").read_bytes()
        return lzma.decompress(packed).decode().strip("\n").split("\n\n")

    test = requests("test")
    parts = {"train.txt": requests("train"), "dev.txt": test[::2], "test.txt": test[1::2]}
    for name in parts:
        if (folder / name).exists():
            raise ConfigError(f"{folder / name} is there already; give another folder, or remove it.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, found in parts.items():
        (folder / name).write_text("\n\n".join(found) + "\n", encoding="utf-8")
        click.echo(f"{folder / name}: {len(found):,} requests")


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Keep the trained model in this file.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Only write the data there: train.txt, dev.txt and test.txt.",
)
def demo(output: Path | None, data: Path | None) -> None:
    """Learn to find slots in 2,100 requests to a voice assistant (SNIPS, CC0), then use what was learned."""
    if data is not None:
        if output is not None:
            raise ConfigError("--data trains nothing; leave out -o, or --data.")
        _write_data(data)
        return
    from chainfield.data import load_corpus

    from .tables import coloured, console, show_report

    if output is not None:
        from chainfield.files import check_writable

        check_writable(output)
    out = console()
    folder = files("chainfield.data") / "demo"
    with as_file(folder / "snips.train.conll.xz") as train_file, as_file(folder / "snips.test.conll.xz") as test_file:
        training, test = load_corpus(train_file), load_corpus(test_file)
    out.print(f"[bold]1. Train[/bold] a conditional random field on {len(training.rows):,} utterances.")
    from chainfield.kernels.clock import working_time
    from chainfield.metrics import evaluate
    from chainfield.models import LinearCRF

    from .progress import Reporter

    crf = LinearCRF(scheme="bio")
    started = working_time()
    with Reporter(quiet=not sys.stderr.isatty(), log=None) as watch:
        crf.fit(training.rows, training.labels, callback=watch)
    out.print(
        f"   {crf.tagger_.features.n_features:,} features, {crf.tagger_.n_weights:,} weights, "
        f"{crf.n_iter_} iterations, {working_time() - started:.1f} s: {crf.stop_reason_}."
    )
    out.print(f"\n[bold]2. Evaluate[/bold] on {len(test.rows)} utterances it has never seen.")
    show_report(evaluate(cast("list[list[str]]", test.labels), crf.predict(test.rows)), printer=out)
    out.print("\n[bold]3. Tag[/bold] new sentences.")
    colours: dict[str, str] = {}
    words = [sentence.split() for sentence in _EXAMPLES]
    for sentence, sure in zip(words, crf.predict_confidence(words), strict=True):
        out.print(
            "  ",
            coloured(sentence, sure.labels, colours, marked=not out.is_terminal),
            f"[dim]({100 * sure.sequence:.0f} % sure)[/dim]",
        )
    word = "Oslo"
    position = crf.explain(words[-1])[words[-1].index(word)]
    out.print(f"\n[bold]4. Look inside[/bold]: what speaks for {word!r} as {position.label}, not {position.runner_up}?")
    for part in sorted(position.contributions, key=lambda c: -c.difference)[:5]:
        out.print(f"   {part.difference:+.2f}  {part.feature}", highlight=False)
    if output is not None:
        crf.save(output, notes={"label_column": -1})
        out.print(f"\nWrote {output}. Try: echo 'weather in Rome' | tr ' ' '\\n' | chainfield tag {output}")
    else:
        out.print("\nYour own data: chainfield train train.txt model.cf, then chainfield tag model.cf test.txt")
