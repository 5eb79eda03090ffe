"""Model files and checkpoints."""

from .container import read_container, write_container
from .replacing import check_writable

__all__ = ["check_writable", "read_container", "write_container"]
