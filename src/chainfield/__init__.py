"""chainfield: linear-chain conditional random fields and what hides inside them.

>>> import chainfield
>>> crf = chainfield.LinearCRF()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .data.columns import read_columns
    from .data.corpus import load_corpus
    from .data.stream import stream_corpus
    from .features.template import load_template, parse_template
    from .metrics import evaluate
    from .models import (
        MEMM,
        EmpiricalCRF,
        HiddenCRF,
        HiddenUnitCRF,
        HMMClassifier,
        LatentCRF,
        LinearCRF,
        NeuralCRF,
        load,
    )

# Names are imported when they are first used: ``import chainfield`` and ``chainfield --help`` stay instant.
_WHERE = {
    "MEMM": "chainfield.models",
    "EmpiricalCRF": "chainfield.models",
    "HMMClassifier": "chainfield.models",
    "HiddenCRF": "chainfield.models",
    "HiddenUnitCRF": "chainfield.models",
    "LatentCRF": "chainfield.models",
    "LinearCRF": "chainfield.models",
    "NeuralCRF": "chainfield.models",
    "load": "chainfield.models",
    "load_corpus": "chainfield.data.corpus",
    "read_columns": "chainfield.data.columns",
    "stream_corpus": "chainfield.data.stream",
    "load_template": "chainfield.features.template",
    "parse_template": "chainfield.features.template",
    "evaluate": "chainfield.metrics",
}

__all__ = [
    "MEMM",
    "EmpiricalCRF",
    "HMMClassifier",
    "HiddenCRF",
    "HiddenUnitCRF",
    "LatentCRF",
    "LinearCRF",
    "NeuralCRF",
    "__version__",
    "evaluate",
    "load",
    "load_corpus",
    "load_template",
    "parse_template",
    "read_columns",
    "stream_corpus",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'chainfield' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
