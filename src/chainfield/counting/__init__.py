"""Counting: tables of what occurred with what, which can be added up and taken apart again."""

from .counts import Counts
from .distinct import label_sequences, offsets_of
from .forms import Forms
from .table import Table, tabulate
from .tally import Tally

__all__ = ["Counts", "Forms", "Table", "Tally", "label_sequences", "offsets_of", "tabulate"]
