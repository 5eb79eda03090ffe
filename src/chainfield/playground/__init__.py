"""A page to try models on texts: with answers of a server, or with the models inside."""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
