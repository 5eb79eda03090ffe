"""Compiled inner loops. The only package that imports the compiler.

Every kernel takes arrays, scalars and the :class:`~chainfield.kernels.graph.Graph` tuple of arrays, and
writes into arrays that the caller made. No kernel takes a function or an object, so each one is cached on
disk; none holds the GIL, so threads run them side by side; none shares a buffer, so calls never interfere.
"""
