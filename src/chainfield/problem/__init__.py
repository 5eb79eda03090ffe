"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .online import Memory, OnlinePass
from .problem import Problem
from .workers import count_jobs, ordered_map

__all__ = ["Memory", "OnlinePass", "Problem", "count_jobs", "ordered_map"]
