"""Label shares of words: of those that were met by their own counts, of others by their features."""

from __future__ import annotations

import numpy as np

from chainfield.kernels.declare import Bool, Float, Float2D, Int, Int32, Out
from chainfield.kernels.jit import kernel


@kernel
def fill_words(words: Int32, entry_first: Int, entry_label: Int32, log_share: Float, out: Out[Float2D]) -> None:
    """Log-shares of the labels of known words are added to out (N, R), -inf for labels that a word never had."""
    for t in range(len(words)):
        word = words[t]
        if word < 0:
            continue
        e = entry_first[word]
        end = entry_first[word + 1]
        for k in range(out.shape[1]):
            if e < end and entry_label[e] == k:
                out[t, k] += log_share[e]
                e += 1
            else:
                out[t, k] = -np.inf


@kernel
def average_features(
    indptr: Int, indices: Int32, at: Int, described: Bool, first: Int, label: Int32, share: Float, prior: Float,
    out: Out[Float2D],
) -> None:  # fmt: skip
    """out[i] = the mean of the features' label shares at position at[i]; ``prior`` where no feature is known."""
    for i in range(len(at)):
        t = at[i]
        n = 0
        for c in range(indptr[t], indptr[t + 1]):
            f = indices[c]
            if f < 0 or not described[f]:
                continue
            n += 1
            for e in range(first[f], first[f + 1]):
                out[i, label[e]] += share[e]
        if n == 0:
            for k in range(len(prior)):
                out[i, k] = prior[k]
        else:
            for k in range(len(prior)):
                out[i, k] /= n
