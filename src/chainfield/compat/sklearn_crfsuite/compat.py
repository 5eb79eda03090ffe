"""The base class of the estimator."""

from sklearn.base import BaseEstimator

__all__ = ["BaseEstimator"]
