"""``chainfield show``: each kind of model in words that a person understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainfield import EmpiricalCRF, HiddenCRF, HiddenUnitCRF, HMMClassifier, LatentCRF, LinearCRF, TextTagger
from test_commands import run

WORDS, LABELS = [["a", "b", "a"], ["b", "b"]], [["A", "B", "A"], ["B", "B"]]
RNG = np.random.default_rng(0)
# "up" goes from 0 to 5, "down" back: two states each.
UP = [np.repeat([[0.0], [5.0]], 4, axis=0) + RNG.normal(0, 0.1, (8, 1)) for _ in range(6)]
SERIES, CLASSES = [x for up in UP for x in (up, up[::-1])], ["up", "down"] * 6


def shown(model: Any, tmp_path: Path, *options: object) -> str:
    model.save(tmp_path / "m.cf")
    result = run("show", tmp_path / "m.cf", "--top", 3, *options)
    assert (result.code, result.stderr) == (0, "")
    return result.stdout


def states(text: str) -> list[str]:
    """The lines of states."""
    return [line for line in text.splitlines() if line[:1].isdigit()]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (LinearCRF(max_iter=3), ["gives each position one of 2 labels", "Trained on 2 sequences (5 positions)"]),
        (LinearCRF(max_iter=3, order=2), ["depends on the two labels before it", "order=2"]),
        (LinearCRF(max_iter=3, prune=0.001), ["Labels below a probability of 0.001 are left out", "prune=0.001"]),
        (LatentCRF(max_iter=3), ["Behind the labels are 4 states", "features for a state", "--states DATA"]),
        (HiddenUnitCRF(hidden_units=3, max_iter=3), ["hidden units that set labels apart most", "switched on (+)"]),
        (EmpiricalCRF(), ["twice as often as by chance", "all as they come"]),
    ],
    ids=["linear", "second", "pruned", "latent", "units", "empirical"],
)
def test_taggers(model: Any, told: list[str], tmp_path: Path) -> None:
    text = shown(model.fit(WORDS, LABELS), tmp_path)
    for part in told:
        assert part in text


@pytest.mark.parametrize("kind", [HMMClassifier, HiddenCRF])
def test_states_of_gaussians_by_what_they_look_like(kind: Any, tmp_path: Path) -> None:
    text = shown(kind(n_states=2, max_iter=5).fit(SERIES, CLASSES), tmp_path)
    assert "gives each sequence one of 2 labels" in text
    assert "occupancy" not in text
    assert "the end (" in text
    means = [float(line.split(" ± ")[0].split()[-1]) for line in states(text)]
    assert means == pytest.approx([5.0, 0.0, 0.0, 5.0], abs=0.3)  # down, then up
    one = shown(kind(n_states=2, max_iter=5).fit(SERIES, CLASSES), tmp_path, "--label", "up")
    assert "\ndown\n" not in one


def test_a_state_lasts_as_long_as_it_did(tmp_path: Path) -> None:
    text = shown(HMMClassifier(n_states=2, max_iter=10).fit(SERIES, CLASSES), tmp_path)
    lasts = [float(line.split()[3]) for line in states(text)]
    assert lasts == pytest.approx([4.0] * 4, abs=0.5)


def test_a_tagger_of_texts(tmp_path: Path) -> None:
    tagger = TextTagger(model=LinearCRF(max_iter=2)).fit(["in Rome"], [[(3, 7, "city")]])
    assert "It reads raw text" in shown(tagger, tmp_path)
