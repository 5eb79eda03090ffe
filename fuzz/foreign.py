"""Models of CRFsuite, CRF++ and Wapiti, damaged: an error of the library or a model that answers is a good answer.

``TARGETS`` are functions of bytes, which decide all that is chosen: the first one which model, all of them the damage.
"""

from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from chainfield.compat.crfsuite.pickles import KEY
from chainfield.compat.foreign import parse_foreign
from chainfield.errors import ChainfieldError
from chainfield.features import NamedFeatures
from support.foreign import crfpp_binary, crfpp_text, crfsuite_model, damaged, wapiti_model


def pickled_models() -> list[bytes]:
    """What sklearn-crfsuite's pickles hold, by several protocols."""
    state = {"modelfile": {KEY: crfsuite_model(), "name": "m"}, "c1": None}
    return [pickle.dumps(state, protocol) for protocol in (2, 3, 4)]


ORIGINALS: dict[str, list[bytes]] = {
    "crfsuite": [crfsuite_model(seed) for seed in range(4)],
    "crfpp_text": [crfpp_text()],
    "crfpp_binary": [crfpp_binary()],
    "wapiti": [wapiti_model(kind) for kind in range(3)],
    "sklearn_pickle": pickled_models(),
}


def foreign_model(originals: list[bytes], data: bytes) -> None:
    """Damage a model as the bytes say, read it, and ask it if it can be read."""
    original = originals[(data[0] if data else 0) % len(originals)]
    try:
        model = parse_foreign(damaged(original, random.Random(data)), "m")
        features = model.tagger_.features
        if isinstance(features, NamedFeatures):
            x = [["w=1", "w=2"], ["w=3"]]
        else:
            x = [["New"] * features.width] * 3  # type: ignore[attr-defined]
        model.predict_marginals([x])
        model.predict_n_best([x], 2)
    except ChainfieldError:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    name: partial(foreign_model, originals) for name, originals in ORIGINALS.items()
}
