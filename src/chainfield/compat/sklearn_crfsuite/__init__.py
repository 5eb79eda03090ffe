"""sklearn-crfsuite's package, on this library's engine: ``from chainfield.compat.sklearn_crfsuite import CRF``."""

from .estimator import CRF

__all__ = ["CRF"]
