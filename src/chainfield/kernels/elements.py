"""Elements of arrays as LLVM reads them: where they lie, and one by itself, read, written or asked for.

Offsets count elements from the array's first one and are not checked: no wrap-around, no bounds. Only the checked
build (``CHAINFIELD_CHECKED=1``) compares what is read or written with the array's size.
"""

from __future__ import annotations

from typing import Any

from .compiler import cgutils, intrinsic, ir, types
from .jit import CHECKED

INT32 = ir.IntType(32)


def plain(array: Any) -> bool:
    """Whether an array type lies in memory as it is counted."""
    return isinstance(array, types.Array) and array.layout == "C"


def written(array: Any) -> bool:
    """Whether an array type may be written: kernels declare which arguments are."""
    return plain(array) and array.mutable


def address(context: Any, builder: Any, signature: Any, args: Any, element: Any, count: Any) -> Any:
    """Where ``count`` elements of the array begin, which are read or written; 0: none is."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    offset = context.cast(builder, args[1], signature.args[1], types.intp)
    if CHECKED and count != 0:
        _check_bounds(context, builder, array.nitems, offset, count)
    return builder.bitcast(builder.gep(array.data, [offset]), element.as_pointer())


def _check_bounds(context: Any, builder: Any, size: Any, offset: Any, count: Any) -> None:
    """Leave with an IndexError unless ``count`` elements from ``offset`` on lie inside of an array; none always do."""
    n = ir.Constant(size.type, count) if isinstance(count, int) else count
    some = builder.icmp_signed(">", n, ir.Constant(size.type, 0))
    before = builder.icmp_signed("<", offset, ir.Constant(size.type, 0))
    behind = builder.icmp_signed(">", builder.add(offset, n), size)
    with builder.if_then(builder.and_(some, builder.or_(before, behind)), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a vector lies outside of its array",))


@intrinsic
def get(typing: Any, array: Any, offset: Any) -> Any:
    """One element, without the check for negative indices that keeps loops from being vectorised."""

    if not plain(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        return builder.load(address(context, builder, signature, args, element, 1))

    return array.dtype(array, offset), generate


@intrinsic
def put(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write one element, without the check for negative indices."""

    if not written(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        number = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
        builder.store(number, address(context, builder, signature, args, element, 1))
        return context.get_dummy_value()

    return types.void(array, offset, value), generate


@intrinsic
def prefetch(typing: Any, array: Any, offset: Any) -> Any:
    """Ask for the cache line of an element, which will be read soon; offset counts elements."""

    if not plain(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = address(context, builder, signature, args, ir.IntType(8), 0)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, INT32, INT32, INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, ir.Constant(INT32, 0), ir.Constant(INT32, 3), ir.Constant(INT32, 1)])
        return context.get_dummy_value()

    return types.void(array, offset), generate
