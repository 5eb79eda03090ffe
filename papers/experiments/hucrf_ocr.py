"""Handwritten words by hidden-unit CRFs of first and second order, large margin (figures 2 and 3, table 1)."""

from __future__ import annotations

from experiments._hucrf import Settings, experiment

MARGIN = {"objective": "large_margin", "dtype": "float32"}
SETTINGS: Settings = (
    (
        "hidden units, large margin, first order, H = 1000",
        4.05,
        "HiddenUnitCRF",
        MARGIN | {"hidden_units": 1000, "learning_rate": 0.012},
    ),
    (
        "hidden units, large margin, second order, H = 250",
        1.99,
        "HiddenUnitCRF",
        MARGIN | {"hidden_units": 250, "order": 2, "max_iter": 20, "learning_rate": 0.02},
    ),
)
EXPERIMENT = experiment("hucrf-ocr", "handwritten words, hidden units, both orders", SETTINGS, "5 minutes")
