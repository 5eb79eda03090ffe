"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .memory import Memory
from .online import OnlinePass
from .problem import Problem

__all__ = ["Memory", "OnlinePass", "Problem"]
