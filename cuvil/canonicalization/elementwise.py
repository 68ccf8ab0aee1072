"""Laws of scalar functions at every point: neutral elements, functions that undo themselves, choices that are known.

Exactness decides what is a law on floats: `x + 0.0` is not x where x is -0.0, `x + -0.0` is; `x - x` is not 0 where x
is infinite; `x * 0.0` is not 0 where it is NaN.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Operation, SSAValue

from cuvil.canonicalization.rules import Rule
from cuvil.dialects import tensor as ct
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.scalars import SCALAR_FUNCTIONS
from cuvil.semantics.splats import repeated_number

_UNDOES_ITSELF = ("neg", "not")
_REPEATS_NOTHING = ("abs", "relu", "floor", "ceil", "round", "trunc", "sign")
_KEEPS_INTEGERS = ("floor", "ceil", "round", "trunc")
_CHOOSES = ("max", "min", "and", "or")
_LARGEST_EXPONENT = 60
"""Powers of two within 2 ** +-60 and their reciprocals are normal numbers in f32: products round as quotients do."""


def _domain(value: SSAValue) -> str | None:
    return ct.element_domain(ct.element_of(value))


def _is_zero(number: float | None, negative: bool) -> bool:
    """Whether a number is the zero of that sign."""
    return number is not None and number == 0 and (math.copysign(1.0, number) < 0) == negative


# -- one operand -------------------------------------------------------------------------------------------------------


def undone(op: ct.UnaryOp, b: CoreBuilder) -> SSAValue | None:
    """neg (neg x), not (not x) => x"""
    inner, kind = op.input.owner, op.kind.data
    if kind not in _UNDOES_ITSELF or not isinstance(inner, ct.UnaryOp) or inner.kind.data != kind:
        return None
    return inner.input


def repeated(op: ct.UnaryOp, b: CoreBuilder) -> SSAValue | None:
    """f (f x) => f x for abs, relu, sign and the roundings"""
    inner, kind = op.input.owner, op.kind.data
    if kind not in _REPEATS_NOTHING or not isinstance(inner, ct.UnaryOp) or inner.kind.data != kind:
        return None
    return op.input


def rounded_integer(op: ct.UnaryOp, b: CoreBuilder) -> SSAValue | None:
    """floor, ceil, round or trunc of an integer => itself"""
    return op.input if op.kind.data in _KEEPS_INTEGERS and _domain(op.input) == "i" else None


def abs_of_negated(op: ct.UnaryOp, b: CoreBuilder) -> SSAValue | None:
    """abs (neg x) => abs x, but not of unsigned numbers, whose negative wraps around"""
    inner, element = op.input.owner, ct.element_of(op.input)
    if isinstance(element, IntegerType) and element.signedness.data == Signedness.UNSIGNED:
        return None
    if op.kind.data != "abs" or not isinstance(inner, ct.UnaryOp) or inner.kind.data != "neg":
        return None
    return b.unary("abs", inner.input)


# -- two operands ------------------------------------------------------------------------------------------------------


def neutral_operand(op: ct.BinaryOp, b: CoreBuilder) -> SSAValue | None:
    """x + -0.0, x - 0.0, x * 1, x / 1, x or false, x and true => x (integers: x + 0, x - 0)"""
    if _is_neutral(op.kind.data, _domain(op.lhs), repeated_number(op.rhs)):
        return op.lhs
    if _commutes(op) and _is_neutral(op.kind.data, _domain(op.lhs), repeated_number(op.lhs)):
        return op.rhs
    return None


def _is_neutral(kind: str, domain: str | None, number: float | None) -> bool:
    if number is None or domain is None:
        return False
    match kind, domain:
        case ("add", "f"):
            return _is_zero(number, negative=True)
        case ("sub", "f"):
            return _is_zero(number, negative=False)
        case (("add" | "sub" | "or" | "xor"), _):
            return number == 0
        case ("mul" | "and", "b"):
            return bool(number)
        case ("and", _):
            return number == -1
        case (("mul" | "div" | "floor_div" | "trunc_div"), _):
            return number == 1 and not (kind.endswith("_div") and domain == "f")
        case _:
            return False


def _commutes(op: ct.BinaryOp) -> bool:
    return SCALAR_FUNCTIONS[op.kind.data].commutative


def chosen_from_equals(op: ct.BinaryOp, b: CoreBuilder) -> SSAValue | None:
    """max(x, x), min(x, x), x and x, x or x => x"""
    return op.lhs if op.lhs is op.rhs and op.kind.data in _CHOOSES else None


def constant_first(op: ct.BinaryOp, b: CoreBuilder) -> SSAValue | None:
    """constant + x => x + constant, and all that commutes"""
    if not _commutes(op) or repeated_number(op.lhs) is None or repeated_number(op.rhs) is not None:
        return None
    return b.add(ct.BinaryOp(op.kind.data, op.rhs, op.lhs))


def divided_by_power_of_two(op: ct.BinaryOp, b: CoreBuilder) -> SSAValue | None:
    """x / 2 ** k => x * 2 ** -k on f32 and f64"""
    number = repeated_number(op.rhs)
    if op.kind.data != "div" or number is None or number == 0 or not math.isfinite(number):
        return None
    fraction, exponent = math.frexp(abs(number))
    if fraction != 0.5 or abs(exponent) > _LARGEST_EXPONENT or getattr(ct.element_of(op.lhs), "bitwidth", 0) < 32:
        return None
    return b.binary("mul", op.lhs, 1 / number)


# -- three operands ----------------------------------------------------------------------------------------------------


def known_choice(op: ct.TernaryOp, b: CoreBuilder) -> SSAValue | None:
    """select true, x, y => x; select false, x, y => y; select c, x, x => x"""
    if op.kind.data != "select":
        return None
    if op.second is op.third:
        return op.second
    condition = repeated_number(op.first)
    return None if condition is None else op.second if condition else op.third


def negated_choice(op: ct.TernaryOp, b: CoreBuilder) -> SSAValue | None:
    """select (not c), x, y => select c, y, x"""
    inner = op.first.owner
    if op.kind.data != "select" or not isinstance(inner, ct.UnaryOp) or inner.kind.data != "not":
        return None
    return b.add(ct.TernaryOp("select", inner.input, op.third, op.second))


RULES: dict[type[Operation], tuple[Rule, ...]] = {
    ct.UnaryOp: (undone, repeated, rounded_integer, abs_of_negated),
    ct.BinaryOp: (neutral_operand, chosen_from_equals, constant_first, divided_by_power_of_two),
    ct.TernaryOp: (known_choice, negated_choice),
}
"""The laws of each op, in the order in which they are tried."""
