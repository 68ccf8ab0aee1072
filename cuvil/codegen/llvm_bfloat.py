"""bf16 on the llvm level: an `i16` of its bits, computed with in f32.

LLVM's own `bfloat` moves through f32 registers wherever a target lacks it, and rounds back by calling a library
function that no C library has; on x86 even a store of one lane does. As bits it loads, stores, shuffles and selects
like any integer.

    extf  bf16 -> f32   zero-extend, shift left by 16, bitcast
    truncf f32 -> bf16  the CPU's conversion where it has one, else round to nearest even on the bits
    any other float op  widen the operands, compute, round the result once: what eager PyTorch does
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    VectorType,
    bf16,
    f32,
    i1,
    i16,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.llvm_build import NO_FLAGS
from cuvil.codegen.llvm_literals import bfloat_bits
from cuvil.codegen.llvm_types import element_of, with_element
from cuvil.dialects import llvm_extra

if TYPE_CHECKING:
    from cuvil.codegen.llvm_function import FunctionLowering


def is_bf16(source: Attribute) -> bool:
    """Whether a source type is bf16 or a vector of it."""
    return isinstance(element_of(source), BFloat16Type)


def bits_of_constant(value: Attribute) -> Attribute:
    """A bf16 constant as the i16 constant of its bits; any other constant itself."""
    if isinstance(value, FloatAttr) and isinstance(value.type, BFloat16Type):
        return IntegerAttr(bfloat_bits(value.value.data), i16, truncate_bits=True)
    if isinstance(value, DenseIntOrFPElementsAttr) and is_bf16(element_of(value.type)):
        bits = [bfloat_bits(float(number)) for number in value.get_values()]
        signed = [number - (1 << 16) if number >= 1 << 15 else number for number in bits]
        return DenseIntOrFPElementsAttr.from_list(VectorType(i16, value.type.get_shape()), signed)  # pyright: ignore
    return value


def widen(f: FunctionLowering, value: SSAValue) -> SSAValue:
    """Bits of bf16 => f32."""
    words = f.b.op(llvm.ZExtOp, value, result=with_element(value.type, i32))
    shifted = f.b.op(llvm.ShlOp, words, f.integer(16, words.type), result=words.type)
    return f.b.op(llvm.BitcastOp, shifted, result=with_element(value.type, f32))


def narrow(f: FunctionLowering, value: SSAValue) -> SSAValue:
    """f32 => bits of bf16, rounded to nearest even; a NaN stays one."""
    result = with_element(value.type, i16)
    if f.module.has_bf16_conversion:
        rounded = f.b.op(llvm.FPTruncOp, value, result=with_element(value.type, bf16))
        return f.b.op(llvm.BitcastOp, rounded, result=result)
    words = with_element(value.type, i32)
    bits = f.b.op(llvm.BitcastOp, value, result=words)
    upper = f.b.op(llvm.LShrOp, bits, f.integer(16, words), result=words)
    is_odd = f.b.op(llvm.AndOp, upper, f.integer(1, words), result=words)
    bias = f.b.op(llvm.AddOp, is_odd, f.integer(0x7FFF, words), result=words)
    biased = f.b.op(llvm.AddOp, bits, bias, result=words)
    rounded = f.b.op(llvm.LShrOp, biased, f.integer(16, words), result=words)
    quiet = f.b.op(llvm.OrOp, upper, f.integer(0x40, words), result=words)
    chosen = f.b.select(_is_nan(f, value), quiet, rounded)
    return f.b.op(llvm.TruncOp, chosen, result=result, overflowFlags=llvm.OverflowAttr(None))


def _is_nan(f: FunctionLowering, value: SSAValue) -> SSAValue:
    op_class = llvm_extra.FCmpOp if isinstance(value.type, VectorType) else llvm.FCmpOp
    predicate = IntegerAttr(llvm.FCmpPredicateFlag.UNO.to_int(), 64)
    result = with_element(value.type, i1)
    return f.b.op(op_class, value, value, result=result, predicate=predicate, fastmathFlags=NO_FLAGS)
