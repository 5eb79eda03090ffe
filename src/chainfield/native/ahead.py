"""One kernel compiled ahead of time by Numba: object code for a level of processors, with one entry for the extension.

Numba's own way from Python to machine code is aimed at another target: position-independent code for a given level of
processors instead of the one at hand. A process that did so cannot run kernels any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.caching import NullCache
from numba.core.codegen import AOTCodeLibrary, AOTCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from chainfield.kernels.declare import Version
from chainfield.kernels.dispatcher import Kernel, all_kernels, numba_type

_SLOT = ir.IntType(64)
_SCALARS = {types.int64: "l", types.float64: "d", types.boolean: "?"}


class _Library(AOTCodeLibrary):  # type: ignore[misc]
    """Machine code of a function and all that it calls.

    Functions that kernels call are optimised as parts of them, never for themselves. In a kernel only the entry is
    visible: what was inlined everywhere goes, and kernels of several levels lie side by side in one module.
    """

    entry: str | None = None

    def _optimize_final_module(self) -> None:
        if self.entry is None:
            return
        for function in self._final_module.functions:
            if not function.is_declaration and function.name != self.entry:
                function.linkage = "internal"
        for variable in self._final_module.global_variables:
            if not variable.is_declaration:
                variable.linkage = "internal"
        super()._optimize_final_module()


class _Codegen(AOTCPUCodegen):  # type: ignore[misc]
    _library_class = _Library


@dataclass(frozen=True)
class Compiled:
    """A version of a kernel."""

    code: bytes  # an object file
    result: str  # the format of what it returns
    n_slots: int


def prepare() -> None:
    """Let the compiler learn what it knows of Python: once, before processes that compile are forked."""
    cpu_target.target_context.refresh()
    cpu_target.typing_context.refresh()


def aim(cpu: str) -> None:
    """Compile from now on for a processor as LLVM names it, "" for what every processor of the platform has."""
    prepare()
    context = cpu_target.target_context
    context.aot_mode = True
    context._internal_codegen = _Codegen("chainfield", cpu_name=cpu)
    # A function object stands for compiled code, each its own: nothing is ever called by it.
    context.get_executable = lambda library, description, environment: [].append
    for kernel in all_kernels().values():
        kernel._cache = NullCache()
        kernel.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    # Errors carry no path of the machine that compiled them.
    context.call_conv.build_excinfo_struct = lambda error, arguments, place, name: (error, arguments, None)


@global_compiler_lock  # type: ignore[untyped-decorator]
def compile_kernel(kernel: Kernel, version: Version, symbol: str) -> Compiled:
    """Compile one version; ``symbol`` is the name of its entry in the object file."""
    compiled = kernel._compiler.compile(tuple(numba_type(argument) for argument in version.arguments), None)
    library = compiled.library
    context = cpu_target.target_context
    kind = context.call_conv.get_function_type(compiled.fndesc.restype, compiled.fndesc.argtypes)
    library.add_ir_module(_entry(library, kind, compiled.fndesc.llvm_func_name, symbol))
    library.entry = symbol
    return Compiled(library.emit_native_object(), result_format(compiled.fndesc.restype), len(kind.args) - 2)


def _entry(library: Any, kind: Any, name: str, symbol: str) -> Any:
    """A function (slots, result, failure) → status that calls the kernel with what the slots hold."""
    module = library.create_ir_module(symbol)
    kernel = ir.Function(module, kind, name)
    to_result, to_failure = kind.args[:2]
    entry = ir.Function(module, ir.FunctionType(ir.IntType(32), [_SLOT.as_pointer(), to_result, to_failure]), symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    slots, result, failure = entry.args
    values = []
    for i, wanted in enumerate(kind.args[2:]):
        value = builder.load(builder.gep(slots, [ir.Constant(_SLOT, i)]))
        if isinstance(wanted, ir.PointerType):
            value = builder.inttoptr(value, wanted)
        elif isinstance(wanted, ir.DoubleType):
            value = builder.bitcast(value, wanted)
        elif wanted != _SLOT:
            value = builder.trunc(value, wanted)
        values.append(value)
    builder.ret(builder.call(kernel, [result, failure, *values]))
    return module


def result_format(kind: Any) -> str:
    """How the extension reads what a kernel returns: numbers, or a tuple of numbers of 64 bits."""
    if kind == types.none:
        return ""
    if isinstance(kind, types.BaseTuple) and all(_SCALARS.get(item) in ("l", "d") for item in kind.types):
        return f"({''.join(_SCALARS[item] for item in kind.types)})"
    if kind in _SCALARS:
        return _SCALARS[kind]
    raise TypeError(f"a kernel returns numbers or nothing, not {kind}")
