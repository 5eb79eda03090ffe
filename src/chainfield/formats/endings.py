"""How files of each format are named. Asking it imports no format: a command asks for every file that it is given."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

COLUMNS = "columns"
#: Format → how names of its files end; the first is the usual one.
ENDINGS: dict[str, tuple[str, ...]] = {
    COLUMNS: (".conll", ".bio", ".iob", ".iob2", ".col"),
    "conllu": (".conllu", ".conllup"),
    "jsonl": (".jsonl", ".ndjson"),
    "label-studio": (".label-studio.json", ".json"),
    "doccano": (".doccano.jsonl",),
    "prodigy": (".prodigy.jsonl",),
    "brat": (".ann", "/"),
    "docbin": (".spacy",),
    "parquet": (".parquet", ".arrow", ".feather"),
    "token-csv": (".csv", ".tsv"),
    "text": (),
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def format_named(path: str | PathLike[str]) -> str | None:
    """The format that files of such a name have, by the longest ending; a folder is brat's."""
    shown = fspath(path)
    if shown.endswith("/") or Path(shown).is_dir():
        return "brat"
    plain = shown
    for ending in _COMPRESSED:
        plain = plain.removesuffix(ending)
    plain = plain.lower()
    fitting = [(len(end), name) for name, ends in ENDINGS.items() for end in ends if plain.endswith(end)]
    return max(fitting)[1] if fitting else None


def annotated(path: str, name: str | None = None, *, named: bool = False, encoding: str = "utf-8") -> str | None:
    """The format of an annotation file, by its name unless one is given; None for column files: they hold no text.

    ``named``: columns were named, so that CSV and TSV are no column files, whatever their header says.
    """
    if name is not None:
        from .catalogue import format_of

        return None if name == COLUMNS else format_of(path, name).name
    found = format_named(path)
    plain = (
        found in (None, COLUMNS)
        or (found == "brat" and Path(path).is_dir() and not any(Path(path).glob("*.ann")))
        or (found == "token-csv" and not named and not _has_header(path, encoding))  # a column file with tabs
    )
    return None if plain else found


def _has_header(path: str, encoding: str) -> bool:
    from .token_csv import has_header

    return has_header(path, encoding)
