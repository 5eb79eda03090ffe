"""Which label follows which: the transitions of a model as an image."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from chainfield.errors import ConfigError

from .figure import colour_bar, diverging, finish, new_figure, styled

MOST = 60  # labels that an axis can name so that one can read them


def plot_transitions(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """The weights of a model's transitions, from rows to columns: blue likely, orange unlikely, grey impossible.

    ``model`` is a fitted model with ``transition_weights_``. Returns matplotlib's figure; with ``path`` it is saved as
    well.

    >>> import chainfield
    >>> from chainfield.plots import plot_transitions
    >>> crf = chainfield.LinearCRF(scheme="bio").fit([["a", "b", "c"]], [["B-x", "I-x", "O"]])
    >>> figure = plot_transitions(crf)  # doctest: +SKIP
    """
    weights = {pair: weight for pair, weight in model.transition_weights_.items() if len(pair) == 2}
    names = list(dict.fromkeys(name for pair in weights for name in pair))
    names.sort(key=str)
    if not names:
        raise ConfigError("The model has no transitions between single labels; there is nothing to draw.")
    if len(names) > MOST:
        raise ConfigError(f"The model has {len(names)} labels or states; at most {MOST} can be shown.")
    place = {name: i for i, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    for (before, after), weight in weights.items():
        matrix[place[before], place[after]] = weight
    limit = float(np.nanmax(np.abs(matrix))) or 1.0
    figure = new_figure(2.6 + 0.3 * len(names), 2.0 + 0.3 * len(names))
    axes = styled(figure.add_subplot(), x="next label", y="label", frame=True)
    masked: Any = np.ma  # some versions of NumPy have no types there
    image = axes.imshow(masked.masked_invalid(matrix), cmap=diverging(), vmin=-limit, vmax=limit)
    axes.set_xticks(range(len(names)), map(str, names), rotation=90)
    axes.set_yticks(range(len(names)), map(str, names))
    colour_bar(figure, image, axes, "unlikely ← weight → likely")
    return finish(figure, path)
