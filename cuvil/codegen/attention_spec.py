"""What an attention computes, and the meaning of its mask; shared by the ways to emit it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from xdsl.dialects import math
from xdsl.dialects.builtin import Float64Type, IntegerType
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import Index, LoopBuilder, element_type_of, width_of
from cuvil.codegen.packing import accumulator_type, convert


@dataclass(frozen=True)
class AttentionSpec:
    """The extents and meaning of an attention: query [B, H, S, D], key [B, Hkv, T, D], value [B, Hkv, T, Dv].

    H is a multiple of Hkv; consecutive query heads share a key head. Scores and sums are in `accumulator_type`.
    """

    batch: Index
    heads: int
    kv_heads: int
    queries: Index
    keys: Index
    head_dim: int
    value_dim: int
    element_type: Attribute
    scale: float
    causal: bool = False
    causal_offset: Index = 0
    """A causal query s sees the keys t <= s + causal_offset; not negative."""
    masked_rows_are_nan: bool = False
    threads: int = 1

    @property
    def accumulator_type(self) -> Attribute:
        """The type of scores, sums and of what the epilogue receives."""
        return accumulator_type(self.element_type)


def additive_mask(b: LoopBuilder, value: SSAValue, element_type: Attribute) -> SSAValue:
    """What a mask value adds to a score: 0 (true, seen) or -inf for a boolean, a float itself."""
    if not isinstance(element_type_of(value.type), IntegerType):
        return convert(b, value, element_type)
    width = width_of(value.type)
    return b.select(value, b.constant(0.0, element_type, width), b.constant(-inf, element_type, width))


def softmax_exponential(b: LoopBuilder, score: SSAValue) -> SSAValue:
    """exp(score) of a score that its row's maximum was subtracted from: 0 where it would be subnormal.

    Nothing that small counts beside the maximum's 1, and arithmetic that makes subnormals on its way to 0, as
    exp(-inf) does, is several times slower: masked keys would cost more than others. NaN stays.
    """
    element_type, width = element_type_of(score.type), width_of(score.type)
    least = b.constant(-708.0 if isinstance(element_type, Float64Type) else -87.0, element_type, width)
    vanishes = b.compare_float("olt", score, least)
    exponential = b.float_op(math.ExpOp, b.select(vanishes, least, score))
    return b.select(vanishes, b.constant(0.0, element_type, width), exponential)
