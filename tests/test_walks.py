"""Walks stay short: how many modules and packages a call goes through (see support/walks.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainfield.kernels.jit import NATIVE
from support.walks import follow, size, walks

#: The most modules and packages of each walk: those of today. A walk that grows has to say why, here.
LONGEST = {
    "train FILE": (89, 22),
    "fit(dicts)": (56, 17),
    "predict": (15, 8),
    "hidden units": (70, 19),
    "hidden CRF": (75, 19),
    "torch layer": (13, 4),
    "hostile file": (5, 3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(NATIVE is None, reason="Numba's dispatchers are modules on the way")
def test_walks_stay_short(tmp_path: Path) -> None:
    for name, walk in walks(tmp_path).items():
        found, most = size(follow(walk)), LONGEST[name]
        assert found[0] <= most[0], name
        assert found[1] <= most[1], name
