"""Handwritten words: hidden-unit and linear CRFs by other trainings (figures 2 and 3)."""

from __future__ import annotations

from experiments._hucrf import Settings, experiment

SETTINGS: Settings = (
    (
        "hidden units, perceptron, first order, H = 1000",
        None,
        "HiddenUnitCRF",
        {"objective": "perceptron", "dtype": "float32", "hidden_units": 1000, "learning_rate": 0.012},
    ),
    (
        "hidden units, likelihood by SGD, first order, H = 250",
        None,
        "HiddenUnitCRF",
        {"objective": "likelihood", "dtype": "float32", "hidden_units": 250},
    ),
    ("linear, large margin, first order", None, "LinearCRF", {"objective": "large_margin"}),
    ("linear, perceptron, first order", None, "LinearCRF", {"objective": "perceptron"}),
    ("linear, likelihood by L-BFGS, first order", None, "LinearCRF", {"trainer": "lbfgs"}),
    ("linear, large margin, second order", None, "LinearCRF", {"objective": "large_margin", "order": 2}),
)
EXPERIMENT = experiment(
    "hucrf-ocr-trainings", "handwritten words, all trainings, hidden units and linear", SETTINGS, "40 minutes", "quick"
)
