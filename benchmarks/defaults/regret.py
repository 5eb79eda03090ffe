"""The benchmark ``defaults``: runs all cells, or as many as time allows, and tells how far defaults are from the best.

Cells are kept in the folder that CHAINFIELD_CELLS names, so that a run that was interrupted goes on. Ctrl-C ends it
with tables of what there is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from harness.cells import CELLS, earlier, kept
from harness.corpora import MissingCorpus, data_root
from harness.experiment import Context
from suite.measure import Measurements, Options, Table

from .cells import Cell, Family
from .corpora import SOURCES, Source
from .grids import FAMILIES, cells
from .training import in_effect, training

#: Names of models, with ; between them, whose cells count even if other code computed them: where code has changed that
#: cannot change them. Cells of defaults are always computed by the code at hand.
ANY_CODE = "CHAINFIELD_CELLS_ANY"
MODELS = "CHAINFIELD_MODELS"  # names of models, with ; between them: no others are tried
Scores = dict[Cell, float]
NOISE = (
    "Scores of development data have a standard error of about half a point (vowels and phones: one point), and the "
    "best of a grid is partly luck."
)


def run(options: Options) -> Measurements:
    """One cell after the other."""
    present = {name for name, source in SOURCES.items() if source.folder() is not None}
    if not present:
        raise click.ClickException(str(MissingCorpus(next(iter(SOURCES.values())).corpus, data_root(None))))
    context = Context("full", 0, 1, {}, lambda text: click.echo(text, err=True))
    only = os.environ.get(MODELS)
    wanted = [c for c in cells() if c.corpus in present and (not only or c.family.name in only.split(";"))]
    found: dict[Cell, dict[str, Any]] = {}
    trusted, others = os.environ.get(ANY_CODE, "").split(";"), 0
    try:
        for cell in wanted:
            settings = in_effect(cell, options.sample)
            known = earlier(cell.name, settings) if cell.chosen and cell.family.name in trusted else None
            others += known is not None
            found[cell] = known or kept(cell.name, settings, context, training(cell, options.sample))
            context.log(f"{cell.name}, {cell.shown}: {told(found[cell])}")
    except KeyboardInterrupt:
        context.log(f"stopped after {len(found)} of {len(wanted)} cells")
    result = report(found)
    result.notes += [
        f"{len(found)} of {len(wanted)} cells, {sum(v['seconds'] for v in found.values()) / 60:.0f} CPU minutes of "
        "training; models on one thread.",
        *([f"Missing corpora: {', '.join(sorted(SOURCES.keys() - present))}."] if present != SOURCES.keys() else []),
        *([f"{others} cells were computed by earlier code."] if others else []),
        *([f"Nothing was kept: {CELLS} is not set."] if not os.environ.get(CELLS) else []),
    ]
    return result


def told(value: dict[str, Any]) -> str:
    """A cell for the log."""
    if value["score"] is None:
        return str(value["error"])
    return f"{value['score']:.2f} in {value['seconds']:.1f} s"


def report(found: dict[Cell, dict[str, Any]]) -> Measurements:
    """Figures and tables from what the cells gave."""
    scores = {cell: value["score"] for cell, value in found.items() if value["score"] is not None}
    result, summary, by_corpus, by_choice = Measurements("defaults"), [], [], []
    for family in FAMILIES:
        table = _by_corpus(family, scores)
        if not table:
            continue
        regrets = {corpus: max(own.values()) - own["defaults"] for corpus, own in table.items()}
        worst = max(regrets, key=lambda corpus: regrets[corpus])
        mean = sum(regrets.values()) / len(regrets)
        n = sum(map(len, table.values()))
        summary.append([family.name, len(table), n, mean, regrets[worst], worst, _best(table[worst])])
        result.figures[f"{_slug(family)}_worst_regret"] = regrets[worst]
        by_corpus += [
            [family.name, corpus, own["defaults"], max(own.values()), _best(own), regrets[corpus]]
            for corpus, own in table.items()
        ]
        by_choice += _by_choice(family, table)
    result.figures |= _beside_likelihood(scores)
    result.tables = [
        Table(
            "Regret of defaults: points of span F1 or accuracy below the best of the grid",
            ["model", "corpora", "cells", "mean", "worst", "where", "best there"],
            summary,
        ),
        Table("By corpus", ["model", "corpus", "defaults", "best", "by", "regret"], by_corpus),
        Table(
            "Every choice as if it were the default: worst and mean regret over the corpora where it was tried",
            ["model", "choice", "worst", "where", "mean"],
            by_choice,
        ),
    ]
    result.notes = [
        "Development data are a part of the training data of each corpus; test data are not read. "
        + "; ".join(map(_described, SOURCES.values()))
        + " (sequences of training + development data). A grid changes one setting at a time.",
        NOISE,
    ]
    return result


def _described(source: Source) -> str:
    sizes = f", {source.n_train} + {source.n_dev}" if source.n_train else ""
    return f"{source.name}: {source.about}{sizes}"


def _by_corpus(family: Family, scores: Scores) -> dict[str, dict[str, float]]:
    """Scores of all choices, for the corpora where the defaults were tried."""
    found: dict[str, dict[str, float]] = {}
    for cell, score in scores.items():
        if cell.family is family:
            found.setdefault(cell.corpus, {})[cell.shown] = score
    return {corpus: own for corpus, own in found.items() if "defaults" in own}


def _by_choice(family: Family, table: dict[str, dict[str, float]]) -> list[list[Any]]:
    rows = []
    for choice in dict.fromkeys(choice for own in table.values() for choice in own):
        regrets = {corpus: max(own.values()) - own[choice] for corpus, own in table.items() if choice in own}
        if len(regrets) == len(table):  # tried everywhere: others cannot be compared
            worst = max(regrets, key=lambda corpus: regrets[corpus])
            rows.append([family.name, choice, regrets[worst], worst, sum(regrets.values()) / len(regrets)])
    return sorted(rows, key=lambda row: (row[2], row[4]))


def _best(own: dict[str, float]) -> str:
    return max(own, key=lambda choice: own[choice])


def _beside_likelihood(scores: Scores) -> dict[str, float]:
    """How far the defaults of other objectives are below those of the likelihood, at worst."""
    default = {(cell.family.name, cell.corpus): score for cell, score in scores.items() if not cell.chosen}
    figures = {}
    for family in FAMILIES:
        own = [default["LinearCRF", c] - default[family.name, c] for c in _shared(family, default)]
        if family.kind == "LinearCRF" and family.base and own:
            figures[f"{_slug(family)}_worst_below_likelihood"] = max(own)
    return figures


def _shared(family: Family, default: dict[tuple[str, str], float]) -> Sequence[str]:
    return [c for c in family.corpora if (family.name, c) in default and ("LinearCRF", c) in default]


def _slug(family: Family) -> str:
    return "".join(c if c.isalnum() else "_" for c in family.name.lower()).replace("__", "_")
