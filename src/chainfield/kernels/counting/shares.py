"""Label shares of words: of those that were met by their own counts, of others by their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from chainfield.kernels.jit import kernel


@kernel
def fill_words(words: Any, entry_first: Any, entry_label: Any, log_share: Any, out: Any) -> None:
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
    indptr: Any, indices: Any, at: Any, described: Any, first: Any, label: Any, share: Any, prior: Any, out: Any
) -> None:
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
