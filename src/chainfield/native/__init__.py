"""The extension ``chainfield._native``: its C sources, and how it is built. Nothing here is imported at run time.

``ahead`` compiles one kernel with Numba, ``tables`` writes down in C what was compiled, ``build`` does all of it.
"""
