"""Hidden units as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from chainfield.arrays import Float

from .figure import INK, MUTED, diverging, new_figure


def receptive_fields(fields: Float, titles: Sequence[str]) -> Any:
    """A figure: the input weights of some units, (units, height, width), as images with titles."""
    columns = int(np.ceil(np.sqrt(len(fields))))
    rows = -(-len(fields) // columns)
    figure = new_figure(1.4 * columns, 1.6 * rows + 0.3)
    for i, axes in enumerate(np.ravel(figure.subplots(rows, columns, squeeze=False))):
        axes.set_axis_off()
        if i < len(fields):
            top = float(np.abs(fields[i]).max()) or 1.0
            axes.imshow(fields[i], cmap=diverging(), vmin=-top, vmax=top)
            axes.set_title(titles[i], fontsize=9, color=INK)
    figure.supxlabel("number of the unit: its label. Blue switches it on, orange off.", fontsize=9, color=MUTED)
    return figure
