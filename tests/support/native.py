"""The encoder written in C: as it is installed, or else compiled on its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

import chainfield
from chainfield.kernels.jit import NATIVE

# Where they are asked for: Python itself must be started with their libraries (see noxfile.py).
SANITISERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g")
SOURCE = Path(chainfield.__file__).parent / "native" / "encoder.c"
MODULE = """
#include <Python.h>
int chainfield_add_encoder(PyObject *module);
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "alone", NULL, -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_alone(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && chainfield_add_encoder(module) < 0)
        Py_CLEAR(module);
    return module;
}
"""


def build(folder: Path, *options: str) -> Any:
    """Compile the encoder as a module of its own and import it; None where that is not possible."""
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    headers = sysconfig.get_path("include")
    if sys.platform == "win32" or not which(compiler[0]) or not (Path(headers) / "Python.h").exists():
        return None
    start, library = folder / "alone.c", folder / f"alone{sysconfig.get_config_var('EXT_SUFFIX')}"
    start.write_text(MODULE)
    shared = ["-shared", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    paths = ["-I", headers, str(start), str(SOURCE), "-o", str(library)]
    subprocess.run([*compiler, "-O2", "-fPIC", *shared, *warnings, *options, *paths], check=True)
    spec = spec_from_file_location("alone", library, loader=ExtensionFileLoader("alone", str(library)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flatten() -> Any:
    """The function of the encoder; None where it is not installed and there is no compiler."""
    sanitised = bool(os.environ.get("CHAINFIELD_SANITISE"))
    if NATIVE is not None and not sanitised:
        return NATIVE.flatten
    with TemporaryDirectory() as folder:
        module = build(Path(folder), *(SANITISERS if sanitised else ()))
    return None if module is None else module.flatten
