"""python-crfsuite's module, on this library's engine: ``import chainfield.compat.pycrfsuite as pycrfsuite``.

Same names, same files, same exceptions. What differs is written in docs/migrating.md.
"""

from . import _dumpparser, _logparser
from .errors import CRFSUITE_VERSION, CRFSuiteError
from .items import ItemSequence
from .tagger import Tagger
from .trainer import BaseTrainer, Trainer

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "Tagger",
    "Trainer",
    "_dumpparser",
    "_logparser",
]
