"""``train --tune MINUTES``: a search around the defaults, by successive halving of trials (Optuna's).

Every trial is a choice of settings. It is trained on a ninth of the data, then on a third, then on all, and goes on
only if it is among the best third so far (Li et al. 2018). The first trial is the model as it stands. Trials are judged
on the development data, or by cross-validation where there are none.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from chainfield.errors import ChainfieldError, ConfigError
from chainfield.models import ChainEstimator
from chainfield.models.kinds import seed_of

FOLDS = 3
PARTS = (9, 3, 1)  # a trial sees one in so many training sequences, step after step


class OutOfTime(Exception):
    """The limit is reached in the middle of a trial."""


@final
@dataclass
class Search:
    """A search under way: how trials are judged, and what came out."""

    model: ChainEstimator
    X: Sequence[Any]
    y: Sequence[Any]
    development: dict[str, Any]
    open_settings: tuple[str, ...]
    seconds: float
    say: Callable[[str], None]
    deadline: float = math.inf
    tried: list[tuple[dict[str, Any], float]] = field(default_factory=list)  # those that were trained on all data

    def run(self, seed: int, most: int | None = None) -> dict[str, Any]:
        """The best settings, of ``most`` trials at most; none, if nothing was better than those that the model has."""
        try:
            import optuna
        except ImportError:
            raise ConfigError("--tune needs Optuna; pip install 'chainfield[tune]'.") from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.deadline = time.monotonic() + self.seconds

        def judge(trial: Any) -> float:
            settings = {} if trial.number == 0 else self._suggested(trial)
            score = math.nan
            for step, part in enumerate(PARTS):
                try:
                    score = self._score(settings, part)
                except ChainfieldError:
                    if part == 1:
                        raise
                    continue  # a part of the data may lack a class
                trial.report(score, 3**step)
                if trial.number and part > 1 and trial.should_prune():
                    self.say(f"{_shown(settings)}: {100 * score:.2f} on 1/{part} of the data; given up")
                    raise optuna.TrialPruned
            self.tried.append((settings, score))
            self.say(f"{_shown(settings)}: {100 * score:.2f}")
            return score

        study = optuna.create_study(
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed),
            pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a part of the data may lack labels, and trials may stop early
            try:
                study.optimize(judge, n_trials=most, timeout=self.seconds, catch=(ChainfieldError,))
            except OutOfTime:
                self.say("the time is up")
        if not self.tried:
            self.say("no trial was finished in time; the settings stay as they are")
            return {}
        return max(self.tried, key=lambda found: found[1])[0]

    def _suggested(self, trial: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in self.open_settings:
            values = self.model.settings[name].search
            if isinstance(values[0], float):
                found[name] = trial.suggest_float(name, *values, log=True)
            else:
                found[name] = trial.suggest_categorical(name, values)
        return found

    def _score(self, settings: dict[str, Any], part: int) -> float:
        """The quality of a choice of settings, trained on a part of the data."""
        return float(np.mean([self._trained(settings, *split, part) for split in self._splits()]))

    def _splits(self) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Training and test data: those of the user, or folds."""
        order = np.random.default_rng(0).permutation(len(self.X))
        if self.development.get("X_dev") is not None:
            yield _at(self.X, order), _at(self.y, order), self.development["X_dev"], self.development["y_dev"]
            return
        for fold in range(FOLDS):
            test, rest = order[fold::FOLDS], np.setdiff1d(order, order[fold::FOLDS])
            rest = np.random.default_rng(fold).permutation(rest)
            yield _at(self.X, rest), _at(self.y, rest), _at(self.X, test), _at(self.y, test)

    def _trained(self, settings: dict[str, Any], X: Any, y: Any, X_test: Any, y_test: Any, part: int) -> float:
        model = type(self.model)(**self.model.get_params() | settings)
        n = max(len(X) // part, min(len(X), 2))

        def watch(progress: Any) -> None:
            if time.monotonic() > self.deadline:
                raise OutOfTime

        model.fit(X[:n], y[:n], callback=watch)
        return model._quality(y_test, model.predict(X_test), tuple(model.classes_))


def _at(items: Sequence[Any], places: Any) -> list[Any]:
    return [items[i] for i in places.tolist()]


def _shown(settings: dict[str, Any]) -> str:
    texts = {name: f"{value:.3g}" if isinstance(value, float) else str(value) for name, value in settings.items()}
    parts = (f"{name}={text}" for name, text in texts.items())
    return ", ".join(parts) or "defaults"


def check_minutes(minutes: float) -> None:
    """Refuse a limit that leaves no time."""
    if not (math.isfinite(minutes) and minutes > 0):
        raise ConfigError(f"--tune {minutes:g}: give a number of minutes larger than 0.")


def tune(
    model: Any,
    found: Any,
    minutes: float,
    given: dict[str, Any],
    say: Callable[[str], None],
    most: int | None = None,
) -> dict[str, Any]:
    """Search for so many minutes, or by ``most`` trials, and set what was best; returns it."""
    if not isinstance(model, ChainEstimator) or not isinstance(found.X, Sequence):
        raise ConfigError("--tune is for column files and for arrays in memory; leave it out.")
    names = tuple(name for name, setting in model.settings.items() if setting.search and name not in given)
    if len(found.X) < 2 * FOLDS:
        raise ConfigError(f"--tune needs at least {2 * FOLDS} sequences, and there are {len(found.X)}.")
    if not names:
        say("every setting that a search could change is given; there is nothing to try")
        return {}
    search = Search(model, found.X, found.y, found.development, names, 60.0 * minutes, say)
    best = search.run(seed_of(model.random_state), most)
    model.set_params(**best)
    return best
