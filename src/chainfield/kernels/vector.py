"""Vectors of eight doubles, written out; in memory they may be single precision.

LLVM's own vectoriser is erratic on rows of a few dozen numbers: with 22 labels nearly all of a loop falls into
its scalar remainder. Rows padded to a multiple of ``LANES`` and explicit vector operations are an order of
magnitude faster, and LLVM maps eight lanes onto whatever the processor has (one AVX-512 register, two AVX ones,
four SSE ones). Offsets count elements from the array's first one and are not checked: no wrap-around, no bounds.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from .jit import inner
from .layout import LANES as LANES

_ELEMENT = ir.DoubleType()
_VECTOR = ir.VectorType(_ELEMENT, LANES)
_SINGLES = ir.VectorType(ir.FloatType(), LANES)
_INT32 = ir.IntType(32)


class _VectorType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name=f"f64x{LANES}")


F64X8 = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, front: Any) -> None:
        super().__init__(manager, front, _VECTOR)


def _floats(array: Any) -> bool:
    """Whether vectors can be read from this array type: anything else is a compile-time error, not a wrong number."""
    good = isinstance(array, types.Array) and array.layout == "C"
    return good and array.dtype in (types.float64, types.float32)


def _stored(signature: Any) -> tuple[Any, str, int]:
    """How the lanes lie in an array: their LLVM vector, its name in intrinsics, and the bytes of one."""
    if signature.args[0].dtype == types.float32:
        return _SINGLES, f"v{LANES}f32", 4
    return _VECTOR, f"v{LANES}f64", 8


def _address(context: Any, builder: Any, signature: Any, args: Any, element: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    offset = context.cast(builder, args[1], signature.args[1], types.intp)
    return builder.bitcast(builder.gep(array.data, [offset]), element.as_pointer())


@intrinsic
def load(typing: Any, array: Any, offset: Any) -> Any:
    """Eight elements of an array, from ``offset`` on."""

    if not _floats(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, _, size = _stored(signature)
        value = builder.load(_address(context, builder, signature, args, stored))
        value.align = size
        return value if size == 8 else builder.fpext(value, _VECTOR)

    return F64X8(array, offset), generate


@intrinsic
def store(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write eight elements to an array, from ``offset`` on."""

    if not _floats(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, _, size = _stored(signature)
        value = args[2] if size == 8 else builder.fptrunc(args[2], stored)
        written = builder.store(value, _address(context, builder, signature, args, stored))
        written.align = size
        return context.get_dummy_value()

    return types.void(array, offset, value), generate


@intrinsic
def splat(typing: Any, value: Any) -> Any:
    """The same number in all eight lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = context.cast(builder, args[0], signature.args[0], types.float64)
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        vector = builder.insert_element(undefined, number, ir.Constant(_INT32, 0))
        zeros = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
        return builder.shuffle_vector(vector, undefined, zeros)

    return F64X8(value), generate


@intrinsic
def fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(function, args)

    return F64X8(a, b, c), generate


@intrinsic
def add(typing: Any, a: Any, b: Any) -> Any:
    """``a + b`` lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return F64X8(a, b), generate


@intrinsic
def mul(typing: Any, a: Any, b: Any) -> Any:
    """``a * b`` lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(*args)

    return F64X8(a, b), generate


@intrinsic
def maximum(typing: Any, a: Any, b: Any) -> Any:
    """The larger of two, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return F64X8(a, b), generate


@intrinsic
def divide(typing: Any, a: Any, b: Any) -> Any:
    """``a / b`` lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fdiv(*args)

    return F64X8(a, b), generate


@intrinsic
def product(typing: Any, vector: Any) -> Any:
    """Product over the lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], builder.fmul)

    return types.float64(vector), generate


@intrinsic
def exponent(typing: Any, vector: Any) -> Any:
    """The n of x = m · 2**n with 1 <= m < 2, as doubles, for normal positive numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.VectorType(ir.IntType(64), LANES)
        power = builder.lshr(builder.bitcast(args[0], bits), ir.Constant(bits, [52] * LANES))
        return builder.fsub(builder.sitofp(power, _VECTOR), ir.Constant(_VECTOR, [1023.0] * LANES))

    return F64X8(vector), generate


@intrinsic
def mantissa(typing: Any, vector: Any) -> Any:
    """The m of x = m · 2**n with 1 <= m < 2, for normal positive numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.VectorType(ir.IntType(64), LANES)
        low = builder.and_(builder.bitcast(args[0], bits), ir.Constant(bits, [(1 << 52) - 1] * LANES))
        return builder.bitcast(builder.or_(low, ir.Constant(bits, [1023 << 52] * LANES)), _VECTOR)

    return F64X8(vector), generate


def _fold(builder: Any, value: Any, combine: Any) -> Any:
    """Halve a vector until one lane is left: always in the same order."""
    width = LANES
    while width > 1:
        width //= 2
        halves = [
            builder.shuffle_vector(
                value, value, ir.Constant(ir.VectorType(_INT32, width), list(range(low, low + width)))
            )
            for low in (0, width)
        ]
        value = combine(*halves)
    return builder.extract_element(value, ir.Constant(_INT32, 0))


@intrinsic
def total(typing: Any, vector: Any) -> Any:
    """Sum over the lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], builder.fadd)

    return types.float64(vector), generate


@intrinsic
def highest(typing: Any, vector: Any) -> Any:
    """The largest lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], lambda a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))

    return types.float64(vector), generate


@intrinsic
def lowest(typing: Any, vector: Any) -> Any:
    """The smallest lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _fold(builder, args[0], lambda a, b: builder.select(builder.fcmp_ordered("<", a, b), a, b))

    return types.float64(vector), generate


@intrinsic
def minimum(typing: Any, a: Any, b: Any) -> Any:
    """The smaller of two, lane by lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return F64X8(a, b), generate


@intrinsic
def where_positive(typing: Any, test: Any, value: Any) -> Any:
    """``value`` in the lanes where ``test`` is larger than 0, else 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zero = ir.Constant(_VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), args[1], zero)

    return F64X8(test, value), generate


def _lane_mask(context: Any, builder: Any, count: Any, count_type: Any) -> Any:
    number = context.cast(builder, count, count_type, types.int32)
    kind = ir.VectorType(_INT32, LANES)
    undefined = ir.Constant(kind, ir.Undefined)
    several = builder.shuffle_vector(
        builder.insert_element(undefined, number, ir.Constant(_INT32, 0)), undefined, ir.Constant(kind, [0] * LANES)
    )
    return builder.icmp_signed("<", ir.Constant(kind, list(range(LANES))), several)


@intrinsic
def load_part(typing: Any, array: Any, offset: Any, count: Any, fill: Any) -> Any:
    """The first ``count`` elements from ``offset`` on; the other lanes hold ``fill``, and nothing there is read."""

    if not _floats(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, name, size = _stored(signature)
        pointer = _address(context, builder, signature, args, stored)
        mask = _lane_mask(context, builder, args[2], signature.args[2])
        element = types.float64 if size == 8 else types.float32
        number = context.cast(builder, args[3], signature.args[3], element)
        undefined = ir.Constant(stored, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
        filler = builder.shuffle_vector(
            builder.insert_element(undefined, number, ir.Constant(_INT32, 0)), undefined, zeros
        )
        kind = ir.FunctionType(stored, [pointer.type, _INT32, mask.type, stored])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.load.{name}.p0")
        value = builder.call(function, [pointer, ir.Constant(_INT32, size), mask, filler])
        return value if size == 8 else builder.fpext(value, _VECTOR)

    return F64X8(array, offset, count, fill), generate


@intrinsic
def store_part(typing: Any, array: Any, offset: Any, count: Any, value: Any) -> Any:
    """Write the first ``count`` lanes, and nothing behind them."""

    if not _floats(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, name, size = _stored(signature)
        pointer = _address(context, builder, signature, args, stored)
        mask = _lane_mask(context, builder, args[2], signature.args[2])
        kind = ir.FunctionType(ir.VoidType(), [stored, pointer.type, _INT32, mask.type])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.store.{name}.p0")
        value = args[3] if size == 8 else builder.fptrunc(args[3], stored)
        builder.call(function, [value, pointer, ir.Constant(_INT32, size), mask])
        return context.get_dummy_value()

    return types.void(array, offset, count, value), generate


@intrinsic
def keep(typing: Any, vector: Any, bits: Any) -> Any:
    """The lanes whose bit is set in a byte, 0 in the others."""

    if bits != types.uint8:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.bitcast(args[1], ir.VectorType(ir.IntType(1), LANES))
        return builder.select(mask, args[0], ir.Constant(_VECTOR, [0.0] * LANES))

    return F64X8(vector, bits), generate


@intrinsic
def get(typing: Any, array: Any, offset: Any) -> Any:
    """One element, without the check for negative indices that keeps loops from being vectorised."""

    if not isinstance(array, types.Array) or array.layout != "C":
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        return builder.load(_address(context, builder, signature, args, element))

    return array.dtype(array, offset), generate


@intrinsic
def put(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write one element, without the check for negative indices."""

    if not isinstance(array, types.Array) or array.layout != "C":
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        number = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
        builder.store(number, _address(context, builder, signature, args, element))
        return context.get_dummy_value()

    return types.void(array, offset, value), generate


@intrinsic
def prefetch(typing: Any, array: Any, offset: Any) -> Any:
    """Ask for the cache line of an element, which will be read soon; offset counts elements."""

    if not isinstance(array, types.Array) or array.layout != "C":
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte = ir.IntType(8)
        pointer = builder.bitcast(
            _address(context, builder, signature, args, context.get_data_type(signature.args[0].dtype)),
            byte.as_pointer(),
        )
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [pointer, ir.Constant(_INT32, 0), ir.Constant(_INT32, 3), ir.Constant(_INT32, 1)])
        return context.get_dummy_value()

    return types.void(array, offset), generate


_LOG2E = 1.4426950408889634
# Adding and subtracting 1.5 * 2**52 rounds to the nearest integer and leaves it in the low bits.
_MAGIC = 6755399441055744.0
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_TAYLOR = [1.0 / math.factorial(n) for n in range(13, -1, -1)]
SMALLEST = -700.0


@intrinsic
def exp(typing: Any, vector: Any) -> Any:
    """exp(x) lane by lane for x <= 709, to about one unit in the last place.

    x = n ln 2 + r with |r| <= ln(2)/2; exp(r) by its Taylor polynomial of degree 13; 2**n by its bit pattern.
    Below -700 the result is exactly 0, so that no denormal number ever arises (they cost a hundred cycles each).
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = ir.VectorType(ir.IntType(64), LANES)

        def constant(number: float) -> Any:
            return ir.Constant(_VECTOR, [number] * LANES)

        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        multiply_add = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        large = builder.fcmp_ordered(">=", args[0], constant(SMALLEST))
        x = builder.select(large, args[0], constant(SMALLEST))
        shifted = builder.call(multiply_add, [x, constant(_LOG2E), constant(_MAGIC)])
        n = builder.fsub(shifted, constant(_MAGIC))
        r = builder.call(multiply_add, [n, constant(-_LN2_HIGH), x])
        r = builder.call(multiply_add, [n, constant(-_LN2_LOW), r])
        p = constant(_TAYLOR[0])
        for coefficient in _TAYLOR[1:]:
            p = builder.call(multiply_add, [p, r, constant(coefficient)])
        power = builder.add(builder.bitcast(shifted, bits), ir.Constant(bits, [1023] * LANES))
        scale = builder.bitcast(builder.shl(power, ir.Constant(bits, [52] * LANES)), _VECTOR)
        return builder.select(large, builder.fmul(p, scale), constant(0.0))

    return F64X8(vector), generate


@inner
def any_of(values: Any, at: int, width: int) -> bool:
    """Whether any of ``width`` numbers from ``at`` on, a multiple of the lanes, is not 0."""
    squares = splat(0.0)
    for c in range(0, width, LANES):
        value = load(values, at + c)
        squares = fma(value, value, squares)
    return total(squares) != 0.0


@inner
def some_of(values: Any, n: int) -> bool:
    """The same for the first n numbers, however many."""
    found = False
    for i in range(n):
        found = found or get(values, i) != 0.0
    return found
