"""Hidden units as pictures (extra ``plot``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.errors import ConfigError

from .model import FittedModel
from .units import portraits, units_of


def receptive_fields(model: FittedModel, shape: tuple[int, int], n: int = 25) -> Any:
    """A matplotlib figure: the input weights of the n strongest units as images of a shape."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("Pictures need matplotlib: pip install 'chainfield[plot]'.") from None
    chosen = portraits(model, 0)[:n]
    weight = model.own(units_of(model))["input"]
    columns = int(np.ceil(np.sqrt(len(chosen))))
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(1.3 * columns, 1.5 * rows), layout="constrained")
    for i, axes in enumerate(np.ravel(figure.subplots(rows, columns, squeeze=False))):
        axes.set_axis_off()
        if i < len(chosen):
            unit = chosen[i]
            field = weight[:, unit.unit].reshape(shape)
            top = float(np.abs(field).max()) or 1.0
            axes.imshow(field, cmap="RdBu", vmin=-top, vmax=top)
            axes.set_title(f"{unit.unit}: {unit.labels[0][0]}", fontsize=8)
    return figure
