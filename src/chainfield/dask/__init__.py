"""Training and tagging on a cluster of Dask's (extra ``dask``): the same models, bit by bit, for any number of workers.

>>> import chainfield.dask
>>> corpus = chainfield.dask.corpus("data/*.txt", client)  # doctest: +SKIP
>>> chainfield.LinearCRF().fit(corpus)  # doctest: +SKIP
"""

try:
    import distributed as _  # noqa: F401
except ImportError:
    raise ImportError(
        "chainfield.dask needs Dask; install it with: pip install 'chainfield[dask]'.", name="distributed"
    ) from None

from .connecting import connect
from .corpus import DaskCorpus, corpus
from .tagging import Tagged, tag

__all__ = ["DaskCorpus", "Tagged", "connect", "corpus", "tag"]
