"""Data frames of pandas, Polars and PyArrow, through one door: narwhals (extra ``frames``)."""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
