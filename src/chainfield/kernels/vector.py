"""Vectors of eight doubles, written out.

LLVM's own vectoriser is erratic on rows of a few dozen numbers: with 22 labels nearly all of a loop falls into
its scalar remainder. Rows padded to a multiple of ``LANES`` and explicit vector operations are an order of
magnitude faster, and LLVM maps eight lanes onto whatever the processor has (one AVX-512 register, two AVX ones,
four SSE ones). Offsets count elements from the array's first one and are not checked: no wrap-around, no bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from .jit import inner

LANES = 8
_ELEMENT = ir.DoubleType()
_VECTOR = ir.VectorType(_ELEMENT, LANES)
_INT32 = ir.IntType(32)


class _VectorType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name=f"f64x{LANES}")


F64X8 = _VectorType()


@register_model(_VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, front: Any) -> None:
        super().__init__(manager, front, _VECTOR)


def _address(context: Any, builder: Any, signature: Any, args: Any, element: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    offset = context.cast(builder, args[1], signature.args[1], types.intp)
    return builder.bitcast(builder.gep(array.data, [offset]), element.as_pointer())


@intrinsic
def load(typing: Any, array: Any, offset: Any) -> Any:
    """Eight elements of an array, from ``offset`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(_address(context, builder, signature, args, _VECTOR))
        value.align = 8
        return value

    return F64X8(array, offset), generate


@intrinsic
def store(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write eight elements to an array, from ``offset`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        written = builder.store(args[2], _address(context, builder, signature, args, _VECTOR))
        written.align = 8
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
def total(typing: Any, vector: Any) -> Any:
    """Sum over the lanes, always in the same order."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value, width = args[0], LANES
        while width > 1:
            width //= 2
            halves = [
                builder.shuffle_vector(
                    value, value, ir.Constant(ir.VectorType(_INT32, width), list(range(low, low + width)))
                )
                for low in (0, width)
            ]
            value = builder.fadd(*halves)
        return builder.extract_element(value, ir.Constant(_INT32, 0))

    return types.float64(vector), generate


@intrinsic
def get(typing: Any, array: Any, offset: Any) -> Any:
    """One element, without the check for negative indices that keeps loops from being vectorised."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        return builder.load(_address(context, builder, signature, args, element))

    return array.dtype(array, offset), generate


@intrinsic
def put(typing: Any, array: Any, offset: Any, value: Any) -> Any:
    """Write one element, without the check for negative indices."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = context.get_data_type(signature.args[0].dtype)
        number = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
        builder.store(number, _address(context, builder, signature, args, element))
        return context.get_dummy_value()

    return types.void(array, offset, value), generate


@intrinsic
def _as_double(typing: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _ELEMENT)

    return types.float64(types.int64), generate


@intrinsic
def _as_bits(typing: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


_LOG2E = 1.4426950408889634
# Adding and subtracting 1.5 * 2**52 rounds to the nearest integer and leaves it in the low bits.
_MAGIC = 6755399441055744.0
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@inner
def exp(x: float) -> float:
    """exp(x) for x <= 709, to about one unit in the last place, in a form that vectorises.

    x = n ln 2 + r with |r| <= ln(2)/2; exp(r) by its Taylor polynomial of degree 13; 2**n by its bit pattern.
    Below -700 the result is exactly 0, so that no denormal number ever arises (they cost a hundred cycles each).
    """
    clamped = x if x > -700.0 else -700.0
    shifted = clamped * _LOG2E + _MAGIC
    n = shifted - _MAGIC
    r = clamped - n * _LN2_HIGH
    r = r - n * _LN2_LOW
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.388888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    scale = _as_double((_as_bits(shifted) + np.int64(1023)) << np.int64(52))
    return p * scale if x >= -700.0 else 0.0


@inner
def exp_into(out: Any, o: int, values: Any, v: int, n: int, shift: float) -> None:
    """out[o:o+n] = exp(values[v:v+n] - shift)."""
    for i in range(n):
        put(out, o + i, exp(get(values, v + i) - shift))
