"""Confidence that one can promise: calibrated probabilities, and sets of answers that hold the truth."""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
