"""Benchmarks: chainfield and its peers side by side, in one run. ``python benchmarks/run.py list``."""

from suite.commands import main

if __name__ == "__main__":
    main()
