"""Models behind HTTP (extra ``serve``): tagging, classifying, explanations, and a page to try them.

>>> from chainfield.serving import Source
>>> ner = Source.of("ner=models/ner.cf")
>>> ner.name
'ner'

``make_application([ner])`` is the server, for any program that runs ASGI applications.
"""

from chainfield.lazy import offer as _offer

__getattr__, __dir__, __all__ = _offer(__name__, __file__)
