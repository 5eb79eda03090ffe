"""Models of version 0.1.0: its files still load, and the same trainings still give the same models."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load_file

import chainfield
from support.trainings import KEPT, NEURAL, TRAININGS, train


def kept_arrays(name: str) -> dict[str, np.ndarray]:
    return load_file(KEPT / f"{name}.cf")


@pytest.mark.parametrize("name", [*TRAININGS, *NEURAL])
def test_old_files_load_and_predict(name: str) -> None:
    if name in NEURAL:
        pytest.importorskip("torch")
    model = chainfield.load(KEPT / f"{name}.cf")
    X, y = {**TRAININGS, **NEURAL}[name][1]()
    found = model.predict(X)
    if isinstance(y[0], list):
        y, found = [label for labels in y for label in labels], [label for labels in found for label in labels]
    right = np.mean([a == b for a, b in zip(y, found, strict=True)])
    assert right > (0.0 if name in NEURAL else 0.5)  # the network had two passes


@pytest.mark.parametrize("name", [*TRAININGS, *NEURAL])
def test_trainings_give_what_they_gave(name: str, tmp_path) -> None:
    """Bit by bit on one machine (``tests/support/trainings.py`` tells); here to rounding, on any."""
    if name in NEURAL:
        pytest.importorskip("torch")
    model = train(name)
    if name == "linear-l1":  # 0.1.0 kept the zeros
        return same_weights(model, chainfield.load(KEPT / f"{name}.cf"))
    model.save(tmp_path / "model.cf")
    old, new = kept_arrays(name), load_file(tmp_path / "model.cf")
    assert old.keys() == new.keys() - {"feature_counts", "features.slots"}  # 0.1.0 had neither
    for key, value in old.items():
        np.testing.assert_allclose(new[key], value, rtol=1e-6, atol=1e-8, err_msg=key)


def same_weights(model, kept) -> None:
    """Those that are not zero, by name."""
    for part in ("feature_weights_", "transition_weights_"):
        ours, theirs = (
            {key: weight for key, weight in getattr(own, part).items() if weight != 0.0} for own in (model, kept)
        )
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-8)
        assert len(ours) > 10
