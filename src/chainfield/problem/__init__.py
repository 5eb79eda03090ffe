"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .problem import Problem
from .workers import count_jobs, ordered_map

__all__ = ["Problem", "count_jobs", "ordered_map"]
