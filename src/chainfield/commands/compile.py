"""``chainfield compile``: pay for compiling now, for example when an image is built."""

from __future__ import annotations

import time

import click


@click.command()
def compile() -> None:
    """Compile all kernels now, where they were not compiled when chainfield was built.

    They are kept in the folder NUMBA_CACHE_DIR, or else beside the library.
    """
    from chainfield.kernels.jit import NATIVE, way

    if NATIVE is not None:
        click.echo(f"Nothing to do. {way()}")
        return
    from chainfield.errors import KernelError
    from chainfield.kernels.dispatcher import all_kernels

    started, kernels = time.perf_counter(), all_kernels()
    if any(kernel.folder is None for kernel in kernels.values()):
        raise KernelError("Compiled kernels cannot be kept: set NUMBA_CACHE_DIR to a folder that can be written.")
    for kernel in kernels.values():
        kernel.compile_all()
    click.echo(f"{len(kernels)} kernels are compiled and kept ({time.perf_counter() - started:.0f} s).")
