"""Programs and models of others: CRFsuite, CRF++, Wapiti, pytorch-crf.

What is read here becomes an ordinary model of the library: features, a chain and its parameters. So everything that
the library can do works on it, and there is no second inference engine.
"""

from .aliases import install

__all__ = ["install"]
