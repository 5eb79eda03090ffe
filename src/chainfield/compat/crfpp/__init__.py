"""Models of CRF++ (``crf_learn``): its text form (``-t``) and its binary form."""

from .model import CrfppModel, from_crfpp, parse_crfpp, read_crfpp

__all__ = ["CrfppModel", "from_crfpp", "parse_crfpp", "read_crfpp"]
