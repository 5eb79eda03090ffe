"""chainfield: sequence models for tagging text and classifying sequences, fast, exact and easy to look into.

>>> import chainfield
>>> crf = chainfield.LinearCRF()
"""

from .lazy import offer as _offer

__version__ = "0.1.0"
# Names are imported when they are first used: ``import chainfield`` and ``chainfield --help`` stay instant.
__getattr__, __dir__, __all__ = _offer(__name__, __file__)
