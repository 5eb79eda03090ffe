"""``python -m chainfield``."""

from chainfield.commands.main import entry

entry()
