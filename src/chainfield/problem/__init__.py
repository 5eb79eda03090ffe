"""The training problem: a finite sum over sequences, evaluated in parallel."""

from .anchored import AnchoredProblem, half_curvature
from .one_by_one import move_back
from .pieces import HeldPieces, Pieces
from .problem import Problem, data_arrays
from .spread import Piece, SpreadProblem
from .steps import KeptGradients, MarginRule, Steps, Walked
from .summed import SummedProblem
from .trainable import Pullback, Trainable
from .windows import LONG, WINDOW, windowed

__all__ = [
    "LONG",
    "WINDOW",
    "AnchoredProblem",
    "HeldPieces",
    "KeptGradients",
    "MarginRule",
    "Piece",
    "Pieces",
    "Problem",
    "Pullback",
    "SpreadProblem",
    "Steps",
    "SummedProblem",
    "Trainable",
    "Walked",
    "data_arrays",
    "half_curvature",
    "move_back",
    "windowed",
]
