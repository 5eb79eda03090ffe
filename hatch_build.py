"""Compiles the kernels into the extension ``chainfield._native`` when a wheel is built, or an editable install.

CHAINFIELD_LEVELS says for which processors: nothing (the one at hand), "all" levels of the platform, some with commas
between them, or "none". Without an extension the wheel depends on Numba, which compiles the kernels at first use; that
is also what happens where there is no C compiler, unless levels were asked for.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeHook(BuildHookInterface):
    """The hook of hatchling; see pyproject.toml."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before files are gathered: make the extension, and say what the wheel is."""
        if self.target_name != "wheel":
            return
        asked = os.environ.get("CHAINFIELD_LEVELS", "")
        place = f"chainfield/_native{sysconfig.get_config_var('EXT_SUFFIX')}"
        own = Path(self.root, "src", place)  # an editable install is used where it lies
        if version == "editable":
            made = self.build(own, asked)
            if not made:
                own.unlink(missing_ok=True)
        else:
            self.folder = tempfile.TemporaryDirectory()
            target = Path(self.folder.name, own.name)
            made = self.build(target, asked)
            if made:
                build_data["force_include"][str(target)] = place
        if made:
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
        else:
            build_data["dependencies"] += self.metadata.core.optional_dependencies["jit"]

    def build(self, target: Path, asked: str) -> bool:
        """Make the extension in a process of its own; whether there is one now."""
        problem = "CHAINFIELD_LEVELS=none"
        if asked != "none":
            settings = {"CHAINFIELD_JIT": "1", "NUMBA_DISABLE_INTEL_SVML": "1"}  # the same code with and without SVML
            command = [sys.executable, "-m", "chainfield.native.build", str(target.absolute()), asked]
            # The sources are found as the current folder: pip takes every path off PYTHONPATH that the environment's
            # own packages are on, which that of an editable install is when it is made again.
            done = subprocess.run(
                command, env={**os.environ, **settings}, cwd=Path(self.root, "src"), stderr=subprocess.PIPE, text=True
            )
            if done.returncode == 0:
                return True
            problem = (done.stderr.strip().splitlines() or ["no message"])[-1].removeprefix("chainfield: ")
            if asked:
                raise RuntimeError(f"The kernels cannot be compiled for CHAINFIELD_LEVELS={asked}: {problem}")
        self.app.display_warning(
            f"The kernels are not compiled ({problem}): this build depends on Numba, which compiles them at first use."
        )
        return False

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The extension is in the wheel now."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
