"""Models behind HTTP (extra ``serve``): tagging, classifying, explanations, and a page to try them.

>>> from chainfield.serving import Source, make_application
>>> app = make_application([Source.of("ner=ner.cf")])  # doctest: +SKIP
"""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
