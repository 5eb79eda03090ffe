"""Repeats experiments of papers: ``python papers/run.py list``, ``run NAME``, ``render``."""

from harness.commands import main

if __name__ == "__main__":
    main(prog_name="papers/run.py")
