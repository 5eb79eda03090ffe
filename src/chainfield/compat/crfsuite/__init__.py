"""Models of CRFsuite (``.crfsuite``): read strictly, written so that CRFsuite itself opens them."""

from .model import CrfsuiteModel, parse_crfsuite, read_crfsuite, write_crfsuite
from .translate import from_crfsuite, to_crfsuite

__all__ = ["CrfsuiteModel", "from_crfsuite", "parse_crfsuite", "read_crfsuite", "to_crfsuite", "write_crfsuite"]
