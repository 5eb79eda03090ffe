"""Vectors of eight doubles, written out; in memory they may be single precision.

LLVM's own vectoriser is erratic on rows of a few dozen numbers: with 22 labels nearly all of a loop falls into
its scalar remainder. Rows padded to a multiple of ``LANES`` and explicit vector operations are an order of
magnitude faster, and LLVM maps eight lanes onto whatever the processor has (one AVX-512 register, two AVX ones,
four SSE ones). Offsets are those of ``elements``: not checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

from .compiler import cgutils, intrinsic, ir, models, register_model, types
from .elements import INT32, address, get, plain, written
from .jit import inner
from .layout import LANES as LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_SINGLES = ir.VectorType(ir.FloatType(), LANES)
_BITS = ir.VectorType(ir.IntType(64), LANES)


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
    return plain(array) and array.dtype in (types.float64, types.float32)


def _stored(signature: Any) -> tuple[Any, str, int]:
    """How the lanes lie in an array: their LLVM vector, its name in intrinsics, and the bytes of one."""
    if signature.args[0].dtype == types.float32:
        return _SINGLES, f"v{LANES}f32", 4
    return _VECTOR, f"v{LANES}f64", 8


def _lanes_used(context: Any, builder: Any, count: Any, count_type: Any) -> Any:
    """How many lanes a count leaves: at most all of them."""
    n = context.cast(builder, count, count_type, types.intp)
    most = ir.Constant(n.type, LANES)
    return builder.select(builder.icmp_signed("<", n, most), n, most)


@intrinsic
def load(typing: Any, array: Any, offset: Any) -> Any:
    """Eight elements of an array, from ``offset`` on."""

    if not _floats(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, _, size = _stored(signature)
        value = builder.load(address(context, builder, signature, args, stored, LANES))
        value.align = size
        return value if size == 8 else builder.fpext(value, _VECTOR)

    return F64X8(array, offset), generate


@intrinsic
def store(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write eight elements to an array, from ``offset`` on."""

    if not (_floats(array) and written(array)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, _, size = _stored(signature)
        value = args[2] if size == 8 else builder.fptrunc(args[2], stored)
        written = builder.store(value, address(context, builder, signature, args, stored, LANES))
        written.align = size
        return context.get_dummy_value()

    return types.void(array, offset, value), generate


@intrinsic
def splat(typing: Any, value: Any) -> Any:
    """The same number in all eight lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _repeat(builder, context.cast(builder, args[0], signature.args[0], types.float64))

    return F64X8(value), generate


def _repeat(builder: Any, number: Any) -> Any:
    undefined = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(INT32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES))


def _number(value: float) -> Any:
    return ir.Constant(_VECTOR, [value] * LANES)


def _bits(value: int) -> Any:
    return ir.Constant(_BITS, [value] * LANES)


def _arithmetic(result: Any) -> Callable[[Callable[..., Any]], Any]:
    """An intrinsic that takes vectors alone, from the function that writes its instructions."""

    def decorate(write: Callable[..., Any]) -> Any:
        def operation(typing: Any, *vectors: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                return write(builder, *args)

            return (result(*vectors), generate) if set(vectors) == {F64X8} else None

        return intrinsic(update_wrapper(operation, write, ("__module__", "__name__", "__qualname__", "__doc__")))

    return decorate


lanewise = _arithmetic(F64X8)
reduction = _arithmetic(types.float64)


@lanewise
def add(builder: Any, a: Any, b: Any) -> Any:
    """``a + b``."""
    return builder.fadd(a, b)


@lanewise
def mul(builder: Any, a: Any, b: Any) -> Any:
    """``a * b``."""
    return builder.fmul(a, b)


@lanewise
def divide(builder: Any, a: Any, b: Any) -> Any:
    """``a / b``."""
    return builder.fdiv(a, b)


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f64"), [a, b, c])


def _larger(builder: Any, a: Any, b: Any) -> Any:
    """The larger of two; the second if one is NaN."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    """The smaller of two; the second if one is NaN."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


fma, maximum, minimum = lanewise(_fma), lanewise(_larger), lanewise(_smaller)


@lanewise
def where_positive(builder: Any, test: Any, value: Any) -> Any:
    """``value`` where ``test`` is larger than 0, else 0."""
    return builder.select(builder.fcmp_ordered(">", test, _number(0.0)), value, _number(0.0))


@lanewise
def exponent(builder: Any, vector: Any) -> Any:
    """The n of x = m · 2**n with 1 <= m < 2, as doubles, for normal positive numbers."""
    power = builder.lshr(builder.bitcast(vector, _BITS), _bits(52))
    return builder.fsub(builder.sitofp(power, _VECTOR), _number(1023.0))


@lanewise
def mantissa(builder: Any, vector: Any) -> Any:
    """The m of x = m · 2**n with 1 <= m < 2, for normal positive numbers."""
    low = builder.and_(builder.bitcast(vector, _BITS), _bits((1 << 52) - 1))
    return builder.bitcast(builder.or_(low, _bits(1023 << 52)), _VECTOR)


def _fold(builder: Any, value: Any, combine: Any) -> Any:
    """Halve a vector until one lane is left: always in the same order."""
    width = LANES
    while width > 1:
        width //= 2
        halves = [
            builder.shuffle_vector(
                value, value, ir.Constant(ir.VectorType(INT32, width), list(range(low, low + width)))
            )
            for low in (0, width)
        ]
        value = combine(*halves)
    return builder.extract_element(value, ir.Constant(INT32, 0))


@reduction
def total(builder: Any, vector: Any) -> Any:
    """Sum over the lanes."""
    return _fold(builder, vector, builder.fadd)


@reduction
def product(builder: Any, vector: Any) -> Any:
    """Product over the lanes."""
    return _fold(builder, vector, builder.fmul)


@reduction
def highest(builder: Any, vector: Any) -> Any:
    """The largest lane."""
    return _fold(builder, vector, partial(_larger, builder))


@reduction
def lowest(builder: Any, vector: Any) -> Any:
    """The smallest lane."""
    return _fold(builder, vector, partial(_smaller, builder))


def _lane_mask(context: Any, builder: Any, count: Any, count_type: Any) -> Any:
    several = _repeat(builder, context.cast(builder, count, count_type, types.int32))
    return builder.icmp_signed("<", ir.Constant(several.type, list(range(LANES))), several)


@intrinsic
def load_part(typing: Any, array: Any, offset: Any, count: Any, fill: Any) -> Any:
    """The first ``count`` elements from ``offset`` on; the other lanes hold ``fill``, and nothing there is read."""

    if not _floats(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, name, size = _stored(signature)
        used = _lanes_used(context, builder, args[2], signature.args[2])
        pointer = address(context, builder, signature, args, stored, used)
        mask = _lane_mask(context, builder, args[2], signature.args[2])
        element = types.float64 if size == 8 else types.float32
        filler = _repeat(builder, context.cast(builder, args[3], signature.args[3], element))
        kind = ir.FunctionType(stored, [pointer.type, INT32, mask.type, stored])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.load.{name}.p0")
        value = builder.call(function, [pointer, ir.Constant(INT32, size), mask, filler])
        return value if size == 8 else builder.fpext(value, _VECTOR)

    return F64X8(array, offset, count, fill), generate


@intrinsic
def store_part(typing: Any, array: Any, offset: Any, count: Any, value: Any) -> Any:
    """Write the first ``count`` lanes, and nothing behind them."""

    if not (_floats(array) and written(array)):
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        stored, name, size = _stored(signature)
        used = _lanes_used(context, builder, args[2], signature.args[2])
        pointer = address(context, builder, signature, args, stored, used)
        mask = _lane_mask(context, builder, args[2], signature.args[2])
        kind = ir.FunctionType(ir.VoidType(), [stored, pointer.type, INT32, mask.type])
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.store.{name}.p0")
        value = args[3] if size == 8 else builder.fptrunc(args[3], stored)
        builder.call(function, [value, pointer, ir.Constant(INT32, size), mask])
        return context.get_dummy_value()

    return types.void(array, offset, count, value), generate


@intrinsic
def keep(typing: Any, vector: Any, bits: Any) -> Any:
    """The lanes whose bit is set in a byte, 0 in the others."""

    if bits != types.uint8:
        return None

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        mask = builder.bitcast(args[1], ir.VectorType(ir.IntType(1), LANES))
        return builder.select(mask, args[0], _number(0.0))

    return F64X8(vector, bits), generate


_LOG2E = 1.4426950408889634
# Adding and subtracting 1.5 * 2**52 rounds to the nearest integer and leaves it in the low bits.
_MAGIC = 6755399441055744.0
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_TAYLOR = [1.0 / math.factorial(n) for n in range(13, -1, -1)]
SMALLEST = -700.0


@lanewise
def exp(builder: Any, vector: Any) -> Any:
    """exp(x) for x <= 709, to about one unit in the last place.

    x = n ln 2 + r with |r| <= ln(2)/2; exp(r) by its Taylor polynomial of degree 13; 2**n by its bit pattern.
    Below -700 the result is exactly 0, so that no denormal number ever arises (they cost a hundred cycles each).
    """
    large = builder.fcmp_ordered(">=", vector, _number(SMALLEST))
    x = builder.select(large, vector, _number(SMALLEST))
    shifted = _fma(builder, x, _number(_LOG2E), _number(_MAGIC))
    n = builder.fsub(shifted, _number(_MAGIC))
    r = _fma(builder, n, _number(-_LN2_HIGH), x)
    r = _fma(builder, n, _number(-_LN2_LOW), r)
    p = _number(_TAYLOR[0])
    for coefficient in _TAYLOR[1:]:
        p = _fma(builder, p, r, _number(coefficient))
    power = builder.add(builder.bitcast(shifted, _BITS), _bits(1023))
    scale = builder.bitcast(builder.shl(power, _bits(52)), _VECTOR)
    return builder.select(large, builder.fmul(p, scale), _number(0.0))


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
