"""Settings: each is declared once, with its kind, default, help and group; everything else follows from that."""

from .configurable import Configurable
from .declaring import but, choice, flag, given, number, whole
from .foreign import FOREIGN
from .kinds import Choice, Flag, Kind, Name, Number, Whole, is_whole
from .setting import Setting

__all__ = [
    "FOREIGN",
    "Choice",
    "Configurable",
    "Flag",
    "Kind",
    "Name",
    "Number",
    "Setting",
    "Whole",
    "but",
    "choice",
    "flag",
    "given",
    "is_whole",
    "number",
    "whole",
]
