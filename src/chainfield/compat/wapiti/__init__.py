"""Models of Wapiti: maximum entropy, MEMM and CRF."""

from .model import WapitiModel, from_wapiti, parse_wapiti, read_wapiti

__all__ = ["WapitiModel", "from_wapiti", "parse_wapiti", "read_wapiti"]
