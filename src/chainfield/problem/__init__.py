"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .memory import Memory
from .online import OnlinePass, move_back
from .problem import Problem, Pullback

__all__ = ["Memory", "OnlinePass", "Problem", "Pullback", "move_back"]
