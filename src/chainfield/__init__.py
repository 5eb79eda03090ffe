"""Sequence models on chains."""
__version__ = "0.1.0"
