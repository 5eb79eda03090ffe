"""Models of CRFsuite, CRF++ and Wapiti, damaged: an error of the library or a model that predicts is a good answer.

``TARGETS`` are functions of bytes, which decide all that is chosen.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from chainfield.compat.foreign import parse_foreign
from chainfield.errors import ChainfieldError
from chainfield.features import NamedFeatures
from support.foreign import MODELS, damaged

ORIGINALS = {name.replace(" ", "_"): make() for name, make in MODELS.items()}


def foreign_model(seed: bytes, data: bytes) -> None:
    """Damage a model as the bytes say, read it, and predict if it can be read."""
    rng = np.random.default_rng(zlib.crc32(data) + (len(data) << 32))
    try:
        model = parse_foreign(damaged(seed, rng), "m")
    except ChainfieldError:
        return
    features = model.tagger_.features
    if isinstance(features, NamedFeatures):
        model.predict_marginals([[["w=1", "w=2"], ["w=3"]]])
    else:
        model.predict_marginals([[tuple(["New"] * features.width)] * 3])  # type: ignore[attr-defined]


TARGETS: dict[str, Callable[[bytes], None]] = {name: partial(foreign_model, seed) for name, seed in ORIGINALS.items()}
