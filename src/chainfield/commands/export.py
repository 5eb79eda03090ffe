"""``chainfield export``: models for other programs, and for browsers."""

from __future__ import annotations

from pathlib import Path

import click

from chainfield.errors import ConfigError


@click.command()
@click.argument("models", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MODEL...")
@click.option("--crfsuite", type=click.Path(path_type=Path), help="Write a model of CRFsuite here.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with the model inside here.")
@click.option("--title", default="", help="With --html: title of the page.")
@click.option("--example", "examples", multiple=True, metavar="TEXT", help="With --html: a text that the page offers.")
def export(
    models: tuple[Path, ...], crfsuite: Path | None, html: Path | None, title: str, examples: tuple[str, ...]
) -> None:
    """Write MODEL as a file of another program, or as a page that runs it in a browser.

    CRFsuite's format holds linear-chain taggers without rules, and without weights for first and last labels (train
    them with --no-boundary). CRFsuite, python-crfsuite and sklearn-crfsuite open it.

    A page holds linear taggers that read texts, one or several to compare. It is one file, needs no server and no
    network, and gives the same answers. Train with --l1, so that it stays small.
    """
    if (crfsuite is None) == (html is None):
        raise ConfigError("Say what to write: either --crfsuite FILE or --html FILE.")
    if crfsuite is not None:
        if len(models) > 1 or title or examples:
            raise ConfigError("CRFsuite's files hold one model, without --title and --example.")
        _to_crfsuite(models[0], crfsuite)
    else:
        assert html is not None
        _to_page(models, html, title, examples)


def _to_crfsuite(model: Path, crfsuite: Path) -> None:
    import chainfield
    from chainfield.compat.crfsuite import to_crfsuite, write_crfsuite
    from chainfield.files.replacing import check_writable, replace_file

    from .text import of_tokens

    check_writable(crfsuite)
    found = to_crfsuite(of_tokens(chainfield.load(model)))
    content = write_crfsuite(found)
    replace_file(crfsuite, content)
    click.echo(
        f"{len(found.labels)} labels, {len(found.attributes):,} attributes, "
        f"{len(found.state[0]) + len(found.transition[0]):,} weights, {len(content):,} bytes. Written to {crfsuite}."
    )


def _to_page(models: tuple[Path, ...], html: Path, title: str, examples: tuple[str, ...]) -> None:
    import chainfield
    from chainfield.files.replacing import check_writable, replace_file
    from chainfield.playground import carry, model_page

    if html.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"{html}: the name of a page must end in .html.")
    check_writable(html)
    names = [path.stem for path in models]
    names = names if len(set(names)) == len(names) else [str(path) for path in models]
    carried = [carry(chainfield.load(path), name) for path, name in zip(models, names, strict=True)]
    content = model_page(carried, title, examples).html.encode("utf-8", "replace")
    replace_file(html, content)
    for one in carried:
        click.echo(f"{one['name']}: {len(one['labels'])} labels, {len(one['features']):,} features.")
    click.echo(f"Written to {html} ({len(content) / 1e6:.1f} MB).")
