"""Exponential functions of features, fitted to label shares: the second kind of empirical training (EP2).

log u(y | f_1 … f_m) = sum of weights - normaliser. Maximising the samples' log-likelihood is a chain problem with
sequences of one position; samples with the same features are added up first.
"""

from __future__ import annotations

import numpy as np

from chainfield.arrays import Float, Int, distinct
from chainfield.features.batch import Batch, Sparse
from chainfield.objectives import Targets, objective_named
from chainfield.parallel import one_blas_thread
from chainfield.potentials import clamp_labels
from chainfield.problem import Problem, Trainable
from chainfield.scorers import Chain, Pairs, SparseLinear
from chainfield.scorers.pairs import pairs_from_codes
from chainfield.states import one_per_label
from chainfield.trainers import LBFGS, begin, run

from .forms import Forms
from .table import tabulate

TRAINER = LBFGS(max_iter=60, tol=1e-4)  # accuracy on unseen words has settled by then


def minimised(problem: Trainable) -> Float:
    """The parameters that minimise a problem of exponential functions."""
    with one_blas_thread():
        return run(TRAINER, problem, begin(TRAINER, problem, np.zeros(problem.n_parameters))).best


def fit_exponential(
    forms: Forms, form: Int, row: Int, weight: Float, n_features: int, n_rows: int, *, l2: float, n_jobs: int
) -> tuple[Pairs, Float, Float]:
    """Pairs of features and rows, a weight for each, and a bias for each row.

    form, row, weight (n,): samples; a weight exists for every pair that some sample has.
    """
    kinds, kind_of = Forms(np.full(len(forms), -1, np.int32), forms.indptr, forms.indices).distinct()
    samples = tabulate(kind_of[form] * n_rows + row, weight)
    kind, label = samples.codes // n_rows, samples.codes % n_rows
    # The bias is one more feature, which every position has.
    chosen = kinds.take(kind)
    n, lengths = len(kind), np.diff(chosen.indptr)
    indptr = chosen.indptr + np.arange(n + 1)
    indices = np.empty(int(indptr[-1]), np.int32)
    last = np.zeros(len(indices), np.bool_)
    last[indptr[1:] - 1] = True
    indices[last], indices[~last] = n_features, chosen.indices
    codes = distinct(indices[~last].astype(np.int64) * n_rows + np.repeat(label, lengths))
    biases = n_features * n_rows + np.arange(n_rows, dtype=np.int64)
    pairs = pairs_from_codes(np.concatenate([codes, biases]), n_features + 1, n_rows)
    space = one_per_label(n_rows)
    chain = Chain(space, (SparseLinear(pairs, n_rows),), ())
    batch = Batch(np.arange(n + 1, dtype=np.int64), sparse=Sparse(indptr, indices, None, n_features + 1))
    targets = Targets(clamp_labels(space, label), samples.counts)
    problem = Problem(chain, objective_named("likelihood"), batch, targets, l2=l2, n_jobs=n_jobs)
    theta = minimised(problem)
    return pairs_from_codes(codes, n_features, n_rows), theta[: len(codes)], theta[len(codes) :]
