"""Models behind HTTP (extra ``serve``): tagging, classifying, explanations, and a page to try them.

>>> from chainfield.serving import Source, make_application
>>> app = make_application([Source.of("ner=ner.cf")])  # doctest: +SKIP
"""

try:
    import starlette as _  # noqa: F401
except ImportError:
    raise ImportError(
        "chainfield.serving needs Starlette and uvicorn; install them with: pip install 'chainfield[serve]'.",
        name="starlette",
    ) from None

from .application import make_application
from .bounds import Bounds
from .registry import Registry, Source

__all__ = ["Bounds", "Registry", "Source", "make_application"]
