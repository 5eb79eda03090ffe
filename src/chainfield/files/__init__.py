"""Model files and checkpoints."""

from .container import check_writable, read_container, write_container

__all__ = ["check_writable", "read_container", "write_container"]
