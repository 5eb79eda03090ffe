"""Torch layers: the chain on top of a neural network. Needs torch: pip install 'chainfield[torch]'."""

from .crf import CRF

__all__ = ["CRF"]
