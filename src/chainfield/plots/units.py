"""Hidden units as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Float

from .figure import new_figure


def receptive_fields(fields: Float, titles: Sequence[str]) -> Any:
    """A figure: the input weights of some units, (units, height, width), as images with titles."""
    columns = int(np.ceil(np.sqrt(len(fields))))
    rows = -(-len(fields) // columns)
    figure = new_figure(1.3 * columns, 1.5 * rows)
    for i, axes in enumerate(np.ravel(figure.subplots(rows, columns, squeeze=False))):
        axes.set_axis_off()
        if i < len(fields):
            top = float(np.abs(fields[i]).max()) or 1.0
            axes.imshow(fields[i], cmap="RdBu", vmin=-top, vmax=top)
            axes.set_title(titles[i], fontsize=8)
    return figure
