"""Text: documents with spans, tokenisers with offsets, and how spans of characters and labels of tokens agree."""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
