"""Arithmetic on lanes with operators: the notation that the expansions of `math` operations are written in.

`Lanes` wraps a scalar or a rank-1 vector of one float or integer type; every operator appends one loop-level operation
to the builder, so the number of operators in an expansion is its cost. Python numbers become splat constants. Nothing
here knows a target: only `arith`, `vector.fma` and those `math` operations appear which every back end has as an
instruction (fma, sqrt, absf, floor, ceil, trunc, roundeven, copysign).

Conversions between floats and integers go through bits (`arith.bitcast`) and a *magic number*: adding 1.5 * 2^m, where
m is the mantissa's width, rounds to the nearest integer and leaves it in the low bits of the sum.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IntegerType, f16, f32, f64
from xdsl.ir import Attribute, SSAValue

from cuvil.codegen.loops import LoopBuilder, element_type_of, vector_of, width_of


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """The layout of an IEEE binary float, as the bit tricks need it."""

    bits: int
    mantissa_bits: int
    type: AnyFloat

    @property
    def bias(self) -> int:
        """The exponent field of 1.0."""
        return (1 << (self.bits - self.mantissa_bits - 2)) - 1

    @property
    def magic(self) -> float:
        """1.5 * 2^mantissa_bits: added to x, it leaves round(x) in the low bits of the sum."""
        return 1.5 * 2.0**self.mantissa_bits

    @property
    def smallest_normal(self) -> float:
        """2^(1 - bias)."""
        return 2.0 ** (1 - self.bias)


FORMATS = {16: FloatFormat(16, 10, f16), 32: FloatFormat(32, 23, f32), 64: FloatFormat(64, 52, f64)}

INFINITY = float("inf")
NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Lanes:
    """A scalar or vector value under the builder that its operators append to."""

    builder: LoopBuilder
    value: SSAValue

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def element_type(self) -> Attribute:
        """The type of one lane."""
        return element_type_of(self.value.type)

    @property
    def width(self) -> int:
        """The number of lanes; 1 for a scalar."""
        return width_of(self.value.type)

    @property
    def bits(self) -> int:
        """The width of one lane in bits."""
        element_type = self.element_type
        assert isinstance(element_type, FixedBitwidthType)
        return element_type.bitwidth

    @property
    def is_float(self) -> bool:
        """True for float lanes, False for integer ones."""
        return isinstance(self.element_type, AnyFloat)

    @property
    def format(self) -> FloatFormat:
        """The float layout that has as many bits as a lane."""
        return FORMATS[self.bits]

    def like(self, number: float) -> Lanes:
        """`number` in every lane, of this type."""
        return Lanes(self.builder, self.builder.constant(number, self.element_type, self.width))

    def _lift(self, other: Lanes | float) -> SSAValue:
        return other.value if isinstance(other, Lanes) else self.like(other).value

    def _binary(self, float_class: type | None, int_class: type | None, lhs: SSAValue, rhs: SSAValue) -> Lanes:
        if self.is_float:
            assert float_class is not None, "no such operation on floats"
            return Lanes(self.builder, self.builder.float_op(float_class, lhs, rhs))
        assert int_class is not None, "no such operation on integers"
        return Lanes(self.builder, self.builder.int_op(int_class, lhs, rhs))

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def __add__(self, other: Lanes | float) -> Lanes:
        return self._binary(arith.AddfOp, arith.AddiOp, self.value, self._lift(other))

    def __sub__(self, other: Lanes | float) -> Lanes:
        return self._binary(arith.SubfOp, arith.SubiOp, self.value, self._lift(other))

    def __rsub__(self, other: float) -> Lanes:
        return self._binary(arith.SubfOp, arith.SubiOp, self._lift(other), self.value)

    def __mul__(self, other: Lanes | float) -> Lanes:
        return self._binary(arith.MulfOp, arith.MuliOp, self.value, self._lift(other))

    def __truediv__(self, other: Lanes | float) -> Lanes:
        return self._binary(arith.DivfOp, None, self.value, self._lift(other))

    def __rtruediv__(self, other: float) -> Lanes:
        return self._binary(arith.DivfOp, None, self._lift(other), self.value)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Lanes:
        if self.is_float:
            return Lanes(self.builder, self.builder.float_op(arith.NegfOp, self.value))
        return 0 - self

    def __and__(self, other: Lanes | int) -> Lanes:
        return self._binary(None, arith.AndIOp, self.value, self._lift(other))

    def __or__(self, other: Lanes | int) -> Lanes:
        return self._binary(None, arith.OrIOp, self.value, self._lift(other))

    def __xor__(self, other: Lanes | int) -> Lanes:
        return self._binary(None, arith.XOrIOp, self.value, self._lift(other))

    def __lshift__(self, other: Lanes | int) -> Lanes:
        return self._binary(None, arith.ShLIOp, self.value, self._lift(other))

    def __rshift__(self, other: Lanes | int) -> Lanes:
        """Arithmetic shift: keeps the sign."""
        return self._binary(None, arith.ShRSIOp, self.value, self._lift(other))

    def logical_right(self, other: Lanes | int) -> Lanes:
        """Logical shift right: zeros come in."""
        return self._binary(None, arith.ShRUIOp, self.value, self._lift(other))

    def max_signed(self, other: Lanes | int) -> Lanes:
        """The larger of two signed integers."""
        return self._binary(None, arith.MaxSIOp, self.value, self._lift(other))

    def fma(self, factor: Lanes | float, addend: Lanes | float) -> Lanes:
        """self * factor + addend, rounded once."""
        return Lanes(self.builder, self.builder.fma(self.value, self._lift(factor), self._lift(addend)))

    def polynomial(self, coefficients: Sequence[float]) -> Lanes:
        """The polynomial of `coefficients`, lowest degree first, by Horner's rule."""
        result: Lanes | float = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            result = self.fma(result, coefficient)
        return result if isinstance(result, Lanes) else self.like(result)

    # -- float functions that are instructions -----------------------------------------------------------------------

    def _unary(self, op_class: type) -> Lanes:
        return Lanes(self.builder, self.builder.float_op(op_class, self.value))

    def abs(self) -> Lanes:
        """|self|."""
        return self._unary(math.AbsFOp)

    def sqrt(self) -> Lanes:
        """The square root, correctly rounded."""
        return self._unary(math.SqrtOp)

    def floor(self) -> Lanes:
        """The largest integer not above."""
        return self._unary(math.FloorOp)

    def trunc(self) -> Lanes:
        """The integer part."""
        return self._unary(math.TruncOp)

    def round_even(self) -> Lanes:
        """The nearest integer, ties to even."""
        return self._unary(math.RoundEvenOp)

    def copysign(self, sign: Lanes) -> Lanes:
        """|self| with the sign of `sign`."""
        return Lanes(self.builder, self.builder.float_op(math.CopySignOp, self.value, sign.value))

    # -- comparing and choosing --------------------------------------------------------------------------------------

    def compare(self, predicate: str, other: Lanes | float) -> Lanes:
        """i1 lanes; predicates as arith.cmpf or arith.cmpi spells them."""
        compare = self.builder.compare_float if self.is_float else self.builder.compare_int
        return Lanes(self.builder, compare(predicate, self.value, self._lift(other)))

    def select(self, true: Lanes, false: Lanes | float) -> Lanes:
        """Lane-wise `self ? true : false`, self being i1 lanes."""
        chosen = self.builder.select(self.value, true.value, true._lift(false))
        return Lanes(self.builder, chosen)

    def any(self) -> Lanes:
        """A scalar i1: whether one of these i1 lanes is set."""
        return Lanes(self.builder, self.builder.reduce("or", self.value))

    def at_most(self, bound: float) -> Lanes:
        """min(self, bound); NaN stays NaN."""
        # `bound < self ? bound : self` is one x86 instruction and keeps NaN, which arith.minimumf pays three for.
        limit = self.like(bound)
        return limit.compare("olt", self).select(limit, self)

    def at_least(self, bound: float) -> Lanes:
        """max(self, bound); NaN stays NaN."""
        limit = self.like(bound)
        return limit.compare("ogt", self).select(limit, self)

    # -- bits and types ----------------------------------------------------------------------------------------------

    def _cast(self, op_class: type, element_type: Attribute) -> Lanes:
        result = vector_of(element_type, self.width)
        return Lanes(self.builder, self.builder.op(op_class, self.value, result=result))

    def as_bits(self) -> Lanes:
        """The bits of float lanes, as integers."""
        return self._cast(arith.BitcastOp, IntegerType(self.bits))

    def as_float(self) -> Lanes:
        """Integer lanes read as the bits of floats."""
        return self._cast(arith.BitcastOp, self.format.type)

    def extend(self, element_type: AnyFloat) -> Lanes:
        """Float lanes in a wider float type, exactly."""
        return self if self.element_type == element_type else self._cast(arith.ExtFOp, element_type)

    def truncate(self, element_type: AnyFloat) -> Lanes:
        """Float lanes rounded to a narrower float type."""
        return self if self.element_type == element_type else self._cast(arith.TruncFOp, element_type)

    def int_as_float(self) -> Lanes:
        """Integer lanes as floats of the same width; exact below 2^mantissa_bits."""
        return self._cast(arith.SIToFPOp, self.format.type)

    def int_as_float_of(self, element_type: AnyFloat) -> Lanes:
        """Integer lanes as floats of another width, rounded."""
        return self._cast(arith.SIToFPOp, element_type)

    def small_int_as_float(self) -> Lanes:
        """As `int_as_float`, for magnitudes below 2^(mantissa_bits - 1)."""
        if self.bits == 32:
            return self.int_as_float()
        # Many targets convert only 32-bit integers in vectors.
        magic = self.format.magic
        return (self + float_bits(magic, self.format)).as_float() - magic

    def power_of_two(self) -> Lanes:
        """2^self for integer lanes within the exponents of normal floats."""
        return ((self + self.format.bias) << self.format.mantissa_bits).as_float()


def float_bits(number: float, form: FloatFormat) -> int:
    """The bits of `number` in `form`, as a non-negative integer."""
    pack, unpack = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}[form.bits]
    return struct.unpack(unpack, struct.pack(pack, number))[0]


def choose(condition: Lanes, then: Callable[[], Lanes], otherwise: Callable[[], Lanes], like: Lanes) -> Lanes:
    """One of two computations, of the type of `like`; only the one that the scalar `condition` names runs."""
    builder = condition.builder
    result = like.value.type
    return Lanes(builder, builder.choose(condition.value, lambda: then().value, lambda: otherwise().value, result))
