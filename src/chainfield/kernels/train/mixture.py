"""Mixture components inside a position: gathered into one score a row, with each component's share."""

from __future__ import annotations

import numpy as np

from chainfield.kernels.declare import Float2D, Out
from chainfield.kernels.jit import kernel
from chainfield.kernels.vector import LANES, exp, load, load_part, store, store_part


@kernel
def gather_components(components: Out[Float2D], m: int, sharpness: float, best: bool, scores: Out[Float2D]) -> None:
    """scores[t, r] += gathered components[t, r·m : (r+1)·m], which become their shares.

    Sum, with sharpness κ:  1/κ · log of the sum of exp(κ x);  the shares are exp(κ x) over that sum.
    ``best``: the largest (the first of equals), with a share of 1.
    """
    flat = components.ravel()
    n, n_rows = scores.shape
    if best:
        for t in range(n):
            for r in range(n_rows):
                o = (t * n_rows + r) * m
                chosen = 0
                for i in range(1, m):
                    if flat[o + i] > flat[o + chosen]:
                        chosen = i
                scores[t, r] += flat[o + chosen]
                for i in range(m):
                    flat[o + i] = 1.0 if i == chosen else 0.0
        return
    # Three passes, so that the exponentials in the middle run over whole vectors.
    for t in range(n):
        for r in range(n_rows):
            o = (t * n_rows + r) * m
            top = flat[o]
            for i in range(1, m):
                top = max(top, flat[o + i])
            scores[t, r] += top
            shift = top if top > -np.inf else 0.0  # a row without any component: all of them stay at -inf
            for i in range(m):
                flat[o + i] = sharpness * (flat[o + i] - shift)
    size = len(flat)
    last = size - size % LANES
    for i in range(0, last, LANES):
        store(flat, i, exp(load(flat, i)))
    if last < size:
        store_part(flat, last, size - last, exp(load_part(flat, last, size - last, 0.0)))
    for t in range(n):
        for r in range(n_rows):
            o = (t * n_rows + r) * m
            mass = 0.0
            for i in range(m):
                mass += flat[o + i]
            if mass > 0.0:
                scores[t, r] += np.log(mass) / sharpness
                for i in range(m):
                    flat[o + i] /= mass


@kernel
def spread_components(d: Float2D, m: int, shares: Float2D, out: Out[Float2D]) -> None:
    """out[t, r·m + i] = d[t, r] · share of component i."""
    n, n_rows = d.shape
    for t in range(n):
        for r in range(n_rows):
            for i in range(m):
                out[t, r * m + i] = d[t, r] * shares[t, r * m + i]
