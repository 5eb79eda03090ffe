"""Annotation formats: readers and writers of one type, :class:`chainfield.text.Document`."""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
