"""What the experiments on hidden-unit CRFs share (van der Maaten, Welling and Saul 2011)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

import chainfield
from harness.cells import kept
from harness.experiment import Context, Row
from harness.grids import best_of

PAPER = "van der Maaten et al. 2011"
QUICK, QUICK_POSITIONS = 150, 4000  # of either part, at most


@dataclass(frozen=True, eq=False)
class Data:
    """Sequences, their labels, and the fold of each sequence."""

    name: str
    X: Sequence[Any]
    y: Sequence[Sequence[str]]
    folds: np.ndarray

    def pick(self, chosen: np.ndarray) -> tuple[list[Any], list[Any]]:
        """Some of the sequences and their labels."""
        return [self.X[i] for i in chosen], [self.y[i] for i in chosen]


def random_folds(n: int, seed: int, count: int = 10) -> np.ndarray:
    """The fold of each of n sequences, at random and of equal size."""
    return np.random.default_rng(seed).permutation(n) % count


@dataclass(frozen=True)
class Setting:
    """A model with its hyper-parameters; those of ``grid`` are chosen in each fold, within its training part.

    Grids go on at their edges (:mod:`harness.grids`). ``trial``: what replaces hyper-parameters while choosing.
    ``cuts``: on how many ninths of the training part, one after the other, they are compared. ``stopping``: a ninth of
    the training part says when to stop, and is not trained on. ``quick``: what replaces hyper-parameters in quick runs.
    ``few``: train on one fold and test on the other nine. ``scaling``: what is done to columns, by the training part:
    "", "centred" (mean 0) or "standardised" (deviation 1 as well).
    """

    name: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    published: float | None = None
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    trial: Mapping[str, Any] = field(default_factory=dict)
    cuts: int = 1
    quick: Mapping[str, Any] = field(default_factory=dict)
    few: bool = False
    scaling: str = ""
    stopping: bool = False


def linear(name: str, published: float | None = None, **others: Any) -> Setting:
    """A linear CRF."""
    return Setting(name, "LinearCRF", published=published, quick={"max_iter": 3}, **others)


def hidden(name: str, published: float | None = None, **others: Any) -> Setting:
    """A hidden-unit CRF; quick runs have few units."""
    return Setting(name, "HiddenUnitCRF", published=published, quick={"hidden_units": 10, "max_iter": 3}, **others)


def run_table(
    table: Iterable[Setting], read: Callable[[Context], Data], metric: str
) -> Callable[[Context], Iterator[Row]]:
    """An experiment's ``run``: one row per setting. Quick runs: one fold, 150 sequences, hardly any training."""

    def run(context: Context) -> Iterator[Row]:
        data = read(context)
        for setting in table:
            yield row(setting, data, metric, context)

    return run


def row(setting: Setting, data: Data, metric: str, context: Context) -> Row:
    """The mean error over folds; finished folds are kept, see :mod:`harness.cells`."""
    folds = sorted(set(data.folds.tolist()))[: 1 if context.quick else None]
    found = []
    told = {key: value for key, value in asdict(setting).items() if key not in ("name", "published")}
    for fold in folds:

        def fitted(fold: int = fold) -> dict[str, Any]:
            return one_fold(setting, data, fold, context)

        found.append(kept(f"{data.name} {setting.name} fold {fold}", told, context, fitted))
        context.log(f"{setting.name}, fold {fold}: {found[-1]['error']:.2f} % {found[-1].get('chosen') or ''}")
    errors = [entry["error"] for entry in found]
    notes = [f"{name}={value}" for name, value in setting.options.items()]
    if setting.grid:
        lists = (f"{name} {', '.join(f'{v:g}' for v in values)}" for name, values in setting.grid.items())
        picked = ["/".join(f"{v:g}" for v in entry["chosen"].values()) for entry in found]
        cuts = f" on {setting.cuts} ninths" if setting.cuts > 1 else ""
        short = "".join(f", {name}={value}" for name, value in setting.trial.items())
        notes.append(
            f"chosen in each fold{short and ' (with' + short[1:] + ')'}{cuts} from {' and '.join(lists)}: "
            f"{', '.join(picked)}"
        )
    if len(errors) > 1:
        notes.append(f"{len(errors)} folds, {min(errors):.2f} to {max(errors):.2f}")
    return Row(
        setting.name,
        metric,
        setting.published,
        float(np.mean(errors)),
        sum(entry["seconds"] for entry in found),
        ", ".join(notes),
        "" if setting.published is None else PAPER,
        settings={"model": setting.model, **setting.options},
    )


def one_fold(setting: Setting, data: Data, fold: int, context: Context) -> dict[str, Any]:
    """Choose, train, test: error in per cent, processor seconds of the last training, and what was chosen."""
    here = data.folds == fold
    inside, outside = np.flatnonzero(here if setting.few else ~here), np.flatnonzero(~here if setting.few else here)
    if context.quick:
        inside, outside = few(data, inside), few(data, outside)
    options = dict(setting.options) | (dict(setting.quick) if context.quick else {})
    chosen = choose(setting, options, data, inside, fold, context) if setting.grid else {}
    error, seconds = trained(setting, options | chosen, data, inside, outside, fold, context)
    return {"error": error, "seconds": seconds, "chosen": chosen}


def few(data: Data, chosen: np.ndarray) -> np.ndarray:
    """The first of some sequences, as many as a quick run takes: two at least."""
    ends = np.cumsum([len(data.y[i]) for i in chosen[:QUICK]])
    return chosen[: max(2, int(np.searchsorted(ends, QUICK_POSITIONS)))]


def choose(
    setting: Setting, options: Mapping[str, Any], data: Data, inside: np.ndarray, fold: int, context: Context
) -> dict[str, Any]:
    """The settings of the grid that are best on ninths of the training part; test data are never looked at."""
    shuffled = np.random.default_rng(fold).permutation(inside)
    size = max(1, len(inside) // 9)

    def error(given: dict[str, Any]) -> float:
        errors = []
        for at in range(0, (1 if context.quick else setting.cuts) * size, size):
            dev, rest = np.sort(shuffled[at : at + size]), np.sort(np.delete(shuffled, np.s_[at : at + size]))
            own = dict(options) | dict(setting.trial) | (dict(setting.quick) if context.quick else {}) | given
            errors.append(trained(setting, own, data, rest, dev, fold, context)[0])
        return float(np.mean(errors))

    grid = {name: values[: 2 if context.quick else None] for name, values in setting.grid.items()}
    return best_of(grid, error).settings


def trained(
    setting: Setting,
    options: Mapping[str, Any],
    data: Data,
    inside: np.ndarray,
    outside: np.ndarray,
    seed: int,
    context: Context,
) -> tuple[float, float]:
    """Error in per cent on the sequences outside, and the processor seconds of training."""
    model = getattr(chainfield, setting.model)(random_state=seed, n_jobs=context.jobs, **options)
    (X, y), (X_test, y_test) = data.pick(inside), data.pick(outside)
    if setting.scaling:
        X, X_test = scaled(X, X_test, setting.scaling)
    watched: dict[str, Any] = {}
    if setting.stopping:
        late = set(np.random.default_rng(seed + 1000).permutation(len(X))[: max(1, len(X) // 9)].tolist())
        watched = {"X_dev": [X[i] for i in sorted(late)], "y_dev": [y[i] for i in sorted(late)]}
        X, y = ([part[i] for i in range(len(part)) if i not in late] for part in (X, y))
    started = time.process_time()
    model.fit(X, y, **watched)
    seconds = time.process_time() - started
    return 100.0 * (1.0 - model.score(X_test, y_test)), seconds


def scaled(X: list[np.ndarray], X_test: list[np.ndarray], scaling: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Columns of mean 0 in the training data, and of deviation 1 if they are to be standardised and not constant."""
    stacked = np.concatenate(X)
    mean, deviation = stacked.mean(axis=0), stacked.std(axis=0)
    unit = 1.0 / np.where((deviation > 0) & (scaling == "standardised"), deviation, 1.0)
    return [(x - mean) * unit for x in X], [(x - mean) * unit for x in X_test]
