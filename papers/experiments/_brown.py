"""What the experiments with the Brown corpus share: the sentences, the splits and the published figures."""

from __future__ import annotations

import random
from pathlib import Path

from experiments._empirical import Sentences

N_SENTENCES, N_HELD_OUT, N_SMALL = 34_623, 1000, 5000
# Training sentences, test sentences, and the figures of the paper: overall, known and unknown words.
TABLES: dict[int, tuple[int, dict[str, tuple[float, float, float]]]] = {
    1000: (
        4000,
        {
            "EP1": (86.7, 94.9, 55.9),
            "EP2": (86.8, 94.9, 56.3),
            "CRF": (82.6, 89.7, 56.2),
            "piecewise": (69.4, 75.3, 47.5),
        },
    ),
    2500: (
        2500,
        {
            "EP1": (90.0, 95.5, 58.2),
            "EP2": (90.2, 95.6, 58.6),
            "CRF": (87.6, 92.6, 58.8),
            "piecewise": (75.5, 80.0, 49.5),
        },
    ),
    4000: (
        1000,
        {
            "EP1": (91.7, 96.1, 60.5),
            "EP2": (91.9, 96.2, 61.4),
            "CRF": (90.1, 94.0, 62.1),
            "piecewise": (79.25, 83.0, 52.5),
        },
    ),
    17_311: (
        16_312,
        {
            "EP1": (94.18, 96.4, 60.8),
            "EP2": (94.2, 96.4, 61.0),
            "CRF": (93.2, 95.3, 62.3),
            "piecewise": (78.9, 80.8, 50.4),
        },
    ),
    32_623: (
        1000,
        {
            "EP1": (95.6, 96.9, 70.1),
            "EP2": (95.6, 96.8, 70.4),
            "CRF": (95.4, 96.1, 71.7),
            "piecewise": (82.9, 84.0, 59.9),
        },
    ),
}


def load(folder: Path, seed: int, n_draws: int = 1) -> tuple[Sentences, list[Sentences]]:
    """Sentences that are held out, and random choices of all others; tags as they are."""
    found = []
    for file in sorted(folder.glob("c[a-r][0-9][0-9]")):
        for line in file.read_text(encoding="latin-1").splitlines():
            pairs = [token.rsplit("/", 1) for token in line.split()]
            if pairs:
                found.append(([word for word, _ in pairs], [tag for _, tag in pairs]))
    random.Random(seed).shuffle(found)
    held_out, others = found[:N_HELD_OUT], found[N_HELD_OUT:]
    draws = []
    for i in range(n_draws):
        if i:
            random.Random(seed + i).shuffle(others)
        draws.append(others[: N_SENTENCES - N_HELD_OUT])
    return held_out, draws


def split(rest: Sentences, n_train: int, n_test: int) -> tuple[Sentences, Sentences]:
    """Training sentences first, test sentences last; the three small tables use the same 5,000 sentences."""
    chosen = rest[:N_SMALL] if n_train + n_test == N_SMALL else rest
    return chosen[:n_train], chosen[len(chosen) - n_test :]


SUBSET = (
    "The paper's 34,623 sentences with 252 tags could not be identified: the whole corpus has 57,340 sentences and 472 "
    "tag strings. A random choice with all tag strings is used, which is harder by the number of tags."
)
