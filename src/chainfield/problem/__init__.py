"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .one_by_one import move_back
from .problem import Problem, data_arrays
from .steps import KeptGradients, Steps, Walked
from .trainable import Pullback, Trainable

__all__ = ["KeptGradients", "Problem", "Pullback", "Steps", "Trainable", "Walked", "data_arrays", "move_back"]
