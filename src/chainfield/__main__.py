"""``python -m chainfield``."""

from .commands.main import main

main()
