"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .online import Memory, OnlinePass
from .problem import Problem

__all__ = ["Memory", "OnlinePass", "Problem"]
