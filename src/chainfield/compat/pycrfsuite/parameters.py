"""The parameters of CRFsuite's algorithms: names, defaults, and what they mean here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

UNLIMITED = 2**31 - 1


def _whole(text: str) -> int:
    return int(float(text))


def _flag(text: str) -> bool:
    return bool(int(float(text)))


@dataclass(frozen=True)
class Parameter:
    """One of an algorithm's."""

    default: Any
    help: str
    read: Callable[[str], Any] = float


_ITERATIONS = "The maximum number of iterations"
_FEATURES = {
    "feature.minfreq": Parameter(0.0, "The minimum frequency of features: how often they occur, or the sum of values."),
    "feature.possible_states": Parameter(False, "Features of all attributes with all labels, seen or not.", _flag),
    "feature.possible_transitions": Parameter(False, "Features of all label pairs, seen or not.", _flag),
}
_L2 = Parameter(1.0, "Coefficient for L2 regularization.")
_PERIOD = Parameter(10, "Accepted; when training stops is decided by delta alone.", _whole)
_CALIBRATION = "Accepted; the first step is found by trial in another way."

#: Algorithm → its parameters, in CRFsuite's order.
ALGORITHMS: dict[str, dict[str, Parameter]] = {
    "lbfgs": _FEATURES | {
        "c1": Parameter(0.0, "Coefficient for L1 regularization."),
        "c2": _L2,
        "max_iterations": Parameter(UNLIMITED, f"{_ITERATIONS} for L-BFGS optimization.", _whole),
        "num_memories": Parameter(6, "The number of limited memories for the inverse Hessian matrix.", _whole),
        "epsilon": Parameter(1e-5, "Epsilon for testing the convergence of the objective, where delta is 0."),
        "period": _PERIOD,
        "delta": Parameter(1e-5, "Training stops when the objective is within this share of its optimum."),
        "linesearch": Parameter(
            "MoreThuente", "Accepted (MoreThuente, Backtracking, StrongBacktracking); weak Wolfe conditions are used.",
            str,
        ),
        "max_linesearch": Parameter(20, "Accepted; a line search tries as often as it needs.", _whole),
    },
    "l2sgd": _FEATURES | {
        "c2": _L2,
        "max_iterations": Parameter(1000, f"{_ITERATIONS} (epochs) for SGD optimization.", _whole),
        "period": _PERIOD,
        "delta": Parameter(1e-6, "Training stops when the objective improves by less than this share per epoch."),
        "calibration.eta": Parameter(0.1, _CALIBRATION),
        "calibration.rate": Parameter(2.0, _CALIBRATION),
        "calibration.samples": Parameter(1000.0, _CALIBRATION),
        "calibration.candidates": Parameter(10, _CALIBRATION, _whole),
        "calibration.max_trials": Parameter(20, _CALIBRATION, _whole),
    },
    "averaged-perceptron": _FEATURES | {
        "max_iterations": Parameter(100, f"{_ITERATIONS}.", _whole),
        "epsilon": Parameter(0.0, "Accepted; training stops when all training sequences are right."),
    },
    "passive-aggressive": _FEATURES | {
        "type": Parameter(1, "0: PA without slack variables, 1: PA type I, 2: PA type II.", _whole),
        "c": Parameter(1.0, "The aggressiveness parameter."),
        "error_sensitive": Parameter(True, "Mistakes cost the root of their number, not 1.", _flag),
        "averaging": Parameter(True, "Compute the average of feature weights, as Averaged Perceptron does.", _flag),
        "max_iterations": Parameter(100, f"{_ITERATIONS}.", _whole),
        "epsilon": Parameter(0.0, "The stopping criterion (the mean loss)."),
    },
    "arow": _FEATURES | {
        "variance": Parameter(1.0, "The initial variance of every feature weight."),
        "gamma": Parameter(1.0, "Tradeoff parameter."),
        "max_iterations": Parameter(100, f"{_ITERATIONS}.", _whole),
        "epsilon": Parameter(0.0, "The stopping criterion (the mean loss)."),
    },
}  # fmt: skip

ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}
#: What CRFsuite calls an algorithm in its log.
TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
#: Parameters that its log calls otherwise.
LOGGED = {"period": "stop", "max_linesearch": "linesearch.max_iterations"}
