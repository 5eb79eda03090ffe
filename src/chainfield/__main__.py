"""``python -m chainfield``."""

from chainfield.commands.main import main

main()
