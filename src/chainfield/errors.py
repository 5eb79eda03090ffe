"""What goes wrong, by kind. Every message is one sentence or two: what is wrong, where, and what to do."""

from __future__ import annotations


class ChainfieldError(Exception):
    """Base of every error that chainfield raises on purpose."""


class DataError(ChainfieldError, ValueError):
    """The user's data cannot be used as it is: the message names file, line, sequence or position."""


class ConfigError(ChainfieldError, ValueError):
    """Settings that do not fit together, refused before any work is done."""


class SettingError(ConfigError, TypeError):
    """A setting that a model does not have, or that means nothing beside the others."""


class NotTrainedError(ChainfieldError, ValueError, AttributeError):
    """A model that was asked for predictions before it was trained."""


class ModelFileError(ChainfieldError, ValueError):
    """A model file that is truncated, damaged, too new, or not a model file at all."""


class NoPathError(ChainfieldError, ValueError):
    """A sequence in which the rules and the given labels leave no path at all."""

    def __init__(self, sequence: int, known: str = "the given labels", detail: str = "") -> None:
        super().__init__(sequence, known, detail)
        self.sequence = sequence
        self.known = known
        self.detail = detail

    def __str__(self) -> str:
        if self.detail:
            return f"Sequence {self.sequence} has no allowed path: {self.detail}"
        return (
            f"Sequence {self.sequence} has no allowed path: the rules, {self.known} and scores of -inf exclude every "
            "one; loosen the rules or correct the labels."
        )


class DivergenceError(ChainfieldError, ArithmeticError):
    """Training ran away: the objective or the parameters stopped being finite."""


class KernelError(ChainfieldError, ImportError):
    """The compiled kernels cannot be used here, and neither can the compiler."""


class DataWarning(UserWarning):
    """Data that can be used, but probably not as its owner meant it."""


class SettingWarning(UserWarning):
    """A setting that changes nothing where it stands."""


class ConvergenceWarning(UserWarning):
    """Training stopped before it reached the tolerance that was asked for."""
