"""Models: estimators that compose the parts of the library. They are imported when they are first used."""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
