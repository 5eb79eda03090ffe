"""Exponential functions of pairs of words: sums over label pairs, by way of one message per word."""

from __future__ import annotations

import numpy as np

from chainfield.kernels.declare import Float, Float2D, Int32, Out
from chainfield.kernels.jit import kernel


@kernel
def pair_sums(
    left: Int32, right: Int32, count: Float, message: Float2D, value: Float2D, d_message: Out[Float2D],
    d_value: Out[Float2D],
) -> float:  # fmt: skip
    """Sum over pairs p of count[p] · log z, z = message[left[p]] · value[right[p]]; gradients are added.

    left, right, count (P,): pairs of words, and how often they were met. message (M, L): for each label on the right,
    the sum over labels on the left. value (M, L): labels on the right.
    """
    total = 0.0
    n_labels = message.shape[1]
    for p in range(len(left)):
        a = left[p]
        b = right[p]
        z = 0.0
        for k in range(n_labels):
            z += message[a, k] * value[b, k]
        total += count[p] * np.log(z)
        share = count[p] / z
        for k in range(n_labels):
            d_message[a, k] += share * value[b, k]
            d_value[b, k] += share * message[a, k]
    return total
