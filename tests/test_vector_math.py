"""The expansions of `math` functions, compiled and run: errors in ulp against extended precision, and special values.

The bounds are those that docs/vector-math.md states; a function without a row there fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, func, math
from xdsl.dialects.builtin import AnyFloat, MemRefType, ModuleOp, bf16, f16, f32, f64, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from cuvil.codegen import vector_math
from cuvil.codegen.jit import NativeModule, compile_module
from cuvil.codegen.loops import LoopBuilder, vector_of
from cuvil.passes.lower_math import LowerMathPass

Array = npt.NDArray[Any]
Reference = Callable[..., Array]
Emit = Callable[[LoopBuilder, Sequence[SSAValue]], SSAValue]

PAGE = Path(__file__).parent.parent / "docs" / "vector-math.md"
WIDTHS = (1, 8, 16)
TYPES: dict[str, tuple[Any, AnyFloat]] = {"f32": (np.float32, f32), "f64": (np.float64, f64)}
DTYPES: dict[Attribute, Any] = {f32: np.float32, f64: np.float64, i32: np.int32, i64: np.int64, f16: np.float16}
Extended = np.longdouble


# -- running -----------------------------------------------------------------------------------------------------------


def math_op(op_class: type[Operation]) -> Emit:
    """The `math` operation itself, for the pass to expand."""

    def emit(b: LoopBuilder, operands: Sequence[SSAValue]) -> SSAValue:
        if op_class is math.IPowIOp:
            return b.int_op(op_class, *operands)
        return b.float_op(op_class, *operands)  # pyright: ignore[reportArgumentType]

    return emit


def compiled(emit: Emit, types: Sequence[Attribute], size: int, widths: Sequence[int] = WIDTHS) -> NativeModule:
    """Functions `w1`, `w8`, ...: out[i] = emit(in0[i], ...) over `size` elements, that many lanes at a time."""
    arguments = [MemRefType(t, [size]) for t in (*types, types[0])]
    functions: list[Operation] = []
    for width in widths:
        block = Block(arg_types=arguments)
        b = LoopBuilder(block)
        *sources, target = block.args
        with b.for_(0, size, width) as loop:
            b.store(emit(b, [b.load(source, loop.index, width) for source in sources]), target, loop.index)
        b.block.add_op(func.ReturnOp())
        functions.append(func.FuncOp(f"w{width}", (arguments, []), Region([block])))
    module = ModuleOp(functions)
    LowerMathPass().apply(Context(), module)
    module.verify()
    return compile_module(module)


def evaluate(emit: Emit, types: Sequence[Attribute], inputs: Sequence[Array], widths: Sequence[int] = WIDTHS) -> Array:
    """The function of `inputs` at every width; asserts that all widths agree to the bit."""
    size = len(inputs[0])
    padded_size = -(-size // 16) * 16
    padded = [np.concatenate([x, np.ones(padded_size - size, x.dtype)]) for x in inputs]
    native = compiled(emit, types, padded_size, widths)
    results: list[Array] = []
    for width in widths:
        out = np.empty_like(padded[0])
        native.function(f"w{width}")(*padded, out)
        results.append(out[:size])
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])
    return results[0]


# -- measuring ---------------------------------------------------------------------------------------------------------


def errors_in_ulp(got: Array, reference: Array) -> Array:
    """|got - reference| in units of the last place of `got`'s type; infinite where NaN is missing or too many.

    Overflow is measured as if the exponent range went one further.
    """
    info = np.finfo(got.dtype)
    limit = Extended(info.max) * 2
    with np.errstate(all="ignore"):
        magnitude = np.clip(np.abs(reference), Extended(info.tiny), Extended(info.max)).astype(got.dtype)
        bounded = [np.clip(x.astype(Extended), -limit / 2 * (1 + 2**-60), limit) for x in (got, reference)]
        errors = np.abs(bounded[0] - bounded[1]) / np.spacing(magnitude).astype(Extended)
    got_nan, reference_nan = np.isnan(got), np.isnan(reference)
    errors[got_nan & reference_nan] = 0
    errors[got_nan != reference_nan] = np.inf
    return errors.astype(np.float64)


def special_values(dtype: Any) -> Array:
    """Zeros, infinities, NaN, limits of the type, and small numbers with exact results."""
    info = np.finfo(dtype)
    one = dtype(1)
    edges = [
        info.max,
        info.tiny,
        info.smallest_subnormal,
        info.eps,
        np.nextafter(one, 2 * one),
        np.nextafter(one, 0 * one),
    ]
    plain = [0, 1, 2, 3, 4, 7, 0.5, 0.25, 1.5, 10, 1000, np.inf]
    values = np.array([*plain, *edges], dtype)
    return np.concatenate([values, -values, np.array([np.nan], dtype)])


def random_values(dtype: Any, low: float, high: float, count: int, seed: int = 0) -> Array:
    """Half evenly, half logarithmically distributed numbers of [low, high]."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    low, high = max(low, float(info.min) / 2), min(high, float(info.max) / 2)
    even = rng.uniform(low, high, count // 2)
    largest = max(abs(low), abs(high))
    logarithmic = np.exp(rng.uniform(np.log(float(info.tiny)) - 5, np.log(largest), count // 2))
    signs = rng.choice([-1, 1], count // 2) if low < 0 else np.ones(count // 2)
    logarithmic = np.clip(logarithmic * signs, low, high)
    return np.concatenate([even, logarithmic]).astype(dtype)


def check(name: str, type_name: str, got: Array, reference: Array, *inputs: Array) -> None:
    """Fail with the worst argument where an error exceeds the stated bound, or a zero's sign is wrong."""
    bound = stated_bounds()[name][type_name]
    errors = errors_in_ulp(got, reference)
    worst = int(np.argmax(errors))
    at = ", ".join(str(x[worst]) for x in inputs)
    assert errors[worst] <= bound, f"{name}({at}) = {got[worst]}, not {reference[worst]}: {errors[worst]:.3f} ulp"
    is_zero = (got == 0) & (reference == 0)
    wrong = is_zero & (np.signbit(got) != np.signbit(reference))
    assert not wrong.any(), f"{name}: sign of zero at {[x[wrong][:3] for x in inputs]}"


_ROW = re.compile(r"^\| `(\w+)` \| ([\d.]+|exact) \| ([\d.]+|exact) \|", re.MULTILINE)


def stated_bounds() -> dict[str, dict[str, float]]:
    """Function => type => the bound in ulp that the page states."""
    rows = _ROW.findall(PAGE.read_text(encoding="utf-8"))
    return {name: {"f32": _bound(single), "f64": _bound(double)} for name, single, double in rows}


def _bound(text: str) -> float:
    return 0.0 if text == "exact" else float(text)


def by_mpmath(function: Callable[[Any], Any]) -> Reference:
    """A function that NumPy has not, in 30 digits; it is flat beyond 40."""

    def reference(x: Array) -> Array:
        with mpmath.workdps(30):
            values = [_to_extended(function(mpmath.mpf(float(value)))) for value in np.clip(x, -40, 40)]
        # mpmath has no negative zero.
        result = np.array(values, Extended)
        return np.where(result == 0, np.copysign(result, x), result)

    return reference


def _to_extended(value: Any) -> np.longdouble:
    return Extended(mpmath.nstr(value, 25)) if mpmath.isfinite(value) else Extended(float(value))


# -- functions of one argument -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unary:
    """A function, its reference in extended precision, and the ranges to sample (f64's if other than f32's)."""

    emit: Emit
    reference: Reference
    ranges: tuple[tuple[float, float], ...]
    ranges_f64: tuple[tuple[float, float], ...] = ()
    count: int = 20000


_ALL = (-3.4e38, 3.4e38)
_ALL_F64 = (-1.7e308, 1.7e308)
_EXP = ((-110.0, 95.0), (-1.0, 1.0))
_EXP_F64 = ((-750.0, 715.0), (-1.0, 1.0))
_LOG = ((0.0, 3.4e38), (0.5, 2.0))
_LOG_F64 = ((0.0, 1.7e308), (0.5, 2.0))
_TURNS = ((-10.0, 10.0), (-1e5, 1e5), _ALL)
_TURNS_F64 = ((-10.0, 10.0), (-1e9, 1e9), _ALL_F64)


def _erfc_builder(b: LoopBuilder, operands: Sequence[SSAValue]) -> SSAValue:
    return vector_math.erfc(b, operands[0])


UNARY = {
    "exp": Unary(math_op(math.ExpOp), np.exp, _EXP, _EXP_F64),
    "exp2": Unary(math_op(math.Exp2Op), np.exp2, ((-155.0, 130.0),), ((-1080.0, 1030.0),)),
    "expm1": Unary(math_op(math.ExpM1Op), np.expm1, _EXP, _EXP_F64),
    "log": Unary(math_op(math.LogOp), np.log, _LOG, _LOG_F64),
    "log2": Unary(math_op(math.Log2Op), np.log2, _LOG, _LOG_F64),
    "log10": Unary(math_op(math.Log10Op), np.log10, _LOG, _LOG_F64),
    "log1p": Unary(math_op(math.Log1pOp), np.log1p, ((-1.0, 3.0), (0.0, 3.4e38)), ((-1.0, 3.0), (0.0, 1.7e308))),
    "tanh": Unary(math_op(math.TanhOp), np.tanh, ((-20.0, 20.0), (-1.0, 1.0))),
    "sinh": Unary(math_op(math.SinhOp), np.sinh, ((-95.0, 95.0), (-2.0, 2.0)), ((-715.0, 715.0), (-2.0, 2.0))),
    "cosh": Unary(math_op(math.CoshOp), np.cosh, ((-95.0, 95.0), (-2.0, 2.0)), ((-715.0, 715.0), (-2.0, 2.0))),
    "asinh": Unary(math_op(math.AsinhOp), np.arcsinh, (_ALL, (-3.0, 3.0)), (_ALL_F64, (-3.0, 3.0))),
    "acosh": Unary(math_op(math.AcoshOp), np.arccosh, ((0.9, 3.4e38), (1.0, 3.0)), ((0.9, 1.7e308), (1.0, 3.0))),
    "atanh": Unary(math_op(math.AtanhOp), np.arctanh, ((-1.01, 1.01),)),
    "erf": Unary(math_op(math.ErfOp), by_mpmath(mpmath.erf), ((-6.5, 6.5),), count=3000),
    "erfc": Unary(_erfc_builder, by_mpmath(mpmath.erfc), ((-7.0, 11.0),), ((-7.0, 28.0),), count=3000),
    "sin": Unary(math_op(math.SinOp), np.sin, _TURNS, _TURNS_F64),
    "cos": Unary(math_op(math.CosOp), np.cos, _TURNS, _TURNS_F64),
    "tan": Unary(math_op(math.TanOp), np.tan, _TURNS, _TURNS_F64),
    "asin": Unary(math_op(math.AsinOp), np.arcsin, ((-1.01, 1.01),)),
    "acos": Unary(math_op(math.AcosOp), np.arccos, ((-1.01, 1.01),)),
    "atan": Unary(math_op(math.AtanOp), np.arctan, ((-50.0, 50.0), (-1.1, 1.1))),
    "rsqrt": Unary(math_op(math.RsqrtOp), lambda x: 1 / np.sqrt(x), ((0.0, 100.0),)),
    "cbrt": Unary(math_op(math.CbrtOp), np.cbrt, (_ALL, (-3.0, 3.0)), (_ALL_F64, (-3.0, 3.0))),
}


@pytest.mark.parametrize("type_name", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary_errors(name: str, type_name: str) -> None:
    """Errors stay within the stated bound over the whole range, special values included; all widths agree."""
    function = UNARY[name]
    dtype, element_type = TYPES[type_name]
    ranges = function.ranges_f64 if type_name == "f64" and function.ranges_f64 else function.ranges
    samples = [random_values(dtype, *limits, function.count // len(ranges)) for limits in ranges]
    x = np.concatenate([*samples, special_values(dtype)])
    with np.errstate(all="ignore"):
        reference = function.reference(x.astype(Extended))
    check(name, type_name, evaluate(function.emit, [element_type], [x]), reference, x)


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "sin"])
def test_half_precision_rounds_the_result_once(name: str) -> None:
    """On every f16 number the result is within 0.51 ulp: it was computed in f32."""
    function = UNARY[name]
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        wide = x.astype(np.float32)
        reference = evaluate(function.emit, [f32], [wide], (16,)).astype(np.float16)
    got = evaluate(function.emit, [f16], [x], (16,))
    np.testing.assert_array_equal(got, reference)


def test_bfloat16_is_computed_in_f32() -> None:
    """exp of bf16 is the f32 result, rounded to nearest even; the conversion may flush subnormals, as x86's does."""
    bits = np.arange(1 << 16, dtype=np.uint32)
    wide = (bits << 16).view(np.float32)
    wide = wide[np.isfinite(wide)]
    single = evaluate(math_op(math.ExpOp), [f32], [wide], (16,)).view(np.uint32).astype(np.uint64)
    expected = ((single + 0x7FFF + ((single >> 16) & 1)) >> 16).astype(np.uint16)
    narrow = (wide.view(np.uint32) >> 16).astype(np.uint16)
    got = evaluate(math_op(math.ExpOp), [bf16], [narrow], (16,))
    is_normal = expected >= 0x80
    np.testing.assert_array_equal(got[is_normal], expected[is_normal])


# -- identities that must hold exactly ---------------------------------------------------------------------------------


@pytest.mark.parametrize("type_name", TYPES)
def test_powers_of_two_are_exact(type_name: str) -> None:
    """exp2 of an integer and log2 of a power of two have no error, subnormals included."""
    dtype, element_type = TYPES[type_name]
    lowest, highest = (-149, 128) if type_name == "f32" else (-1074, 1024)
    exponents = np.arange(lowest, highest).astype(dtype)
    powers = np.ldexp(dtype(1), exponents.astype(np.int32)).astype(dtype)
    np.testing.assert_array_equal(evaluate(math_op(math.Exp2Op), [element_type], [exponents]), powers)
    np.testing.assert_array_equal(evaluate(math_op(math.Log2Op), [element_type], [powers]), exponents)


@pytest.mark.parametrize("name", ["tanh", "sin", "asin", "atan", "sinh", "expm1", "log1p", "atanh", "asinh"])
def test_subnormals_map_to_themselves(name: str) -> None:
    """Where f(x) ~ x near zero, nothing is flushed and no bit is lost."""
    x = np.array([1, -1, 5, -77, 1 << 22], np.int32).astype(np.float64) * 2.0**-149
    x = x.astype(np.float32)
    got = evaluate(UNARY[name].emit, [f32], [x])
    np.testing.assert_array_equal(got, x)


def test_huge_and_moderate_arguments_share_a_vector() -> None:
    """A lane beyond the moderate range does not change the others."""
    x = np.linspace(-30, 30, 64).astype(np.float32)
    alone = evaluate(math_op(math.SinOp), [f32], [x], (16,))
    x[::16] = 1e30
    mixed = evaluate(math_op(math.SinOp), [f32], [x], (16,))
    others = np.arange(64) % 16 != 0
    np.testing.assert_array_equal(mixed[others], alone[others])


# -- functions of two arguments ----------------------------------------------------------------------------------------


def grid(values: Array) -> tuple[Array, Array]:
    """All pairs of `values`."""
    x, y = np.meshgrid(values, values)
    return x.ravel(), y.ravel()


def power_arguments(dtype: Any, count: int = 12000) -> tuple[Array, Array]:
    """Bases and exponents whose powers cover the type's range, from wide and narrow bases, and negative ones."""
    rng = np.random.default_rng(1)
    limit = 100.0 if dtype is np.float32 else 740.0
    logarithms = np.concatenate([rng.uniform(-0.8, 0.8, count) * limit, rng.uniform(-1, 1, count) ** 3 * 1e-2])
    x = np.exp(logarithms)
    y = rng.uniform(-1.05, 0.9, 2 * count) * limit / logarithms
    negative = -np.exp(rng.uniform(-3, 3, 1000))
    integers = rng.integers(-30, 30, 1000)
    return np.concatenate([x, negative]).astype(dtype), np.concatenate([y, integers]).astype(dtype)


@pytest.mark.parametrize("type_name", TYPES)
def test_power(type_name: str) -> None:
    """pow over its range, and C's rules on every pair of special values."""
    dtype, element_type = TYPES[type_name]
    x, y = (np.concatenate(parts) for parts in zip(power_arguments(dtype), grid(special_values(dtype)), strict=True))
    with np.errstate(all="ignore"):
        reference = np.power(x.astype(Extended), y.astype(Extended))
    got = evaluate(math_op(math.PowFOp), [element_type, element_type], [x, y])
    check("powf", type_name, got, reference, x, y)


@pytest.mark.parametrize("exponent", [-1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0])
def test_power_with_a_constant_exponent(exponent: float) -> None:
    """A constant exponent takes a shorter way to the same results."""
    x = np.concatenate([random_values(np.float32, -10.0, 10.0, 2000), special_values(np.float32)])

    def emit(b: LoopBuilder, operands: Sequence[SSAValue]) -> SSAValue:
        value = operands[0]
        width = 1 if value.type == f32 else value.type.get_shape()[0]  # pyright: ignore
        return b.float_op(math.PowFOp, value, b.constant(exponent, f32, width))

    with np.errstate(all="ignore"):
        reference = np.power(x.astype(Extended), Extended(exponent))
    errors = errors_in_ulp(evaluate(emit, [f32], [x]), reference)
    assert errors.max() <= 2, f"at {x[np.argmax(errors)]}"


@pytest.mark.parametrize("type_name", TYPES)
def test_power_with_an_integer_exponent(type_name: str) -> None:
    """fpowi agrees with pow, for exponents that f32 cannot hold too."""
    dtype, element_type = TYPES[type_name]
    rng = np.random.default_rng(2)
    specials = special_values(dtype)
    exponents = np.array([0, 1, 2, 3, -1, -2, -3, 2**31 - 1, -(2**31)], np.int32)
    x = np.concatenate([np.repeat(specials, len(exponents)), random_values(dtype, -4.0, 4.0, 4000)])
    random_exponents = rng.integers(-60, 60, len(x) - len(specials) * len(exponents))
    n = np.concatenate([np.tile(exponents, len(specials)), random_exponents]).astype(np.int32)
    with np.errstate(all="ignore"):
        reference = np.power(x.astype(Extended), n.astype(Extended))
    got = evaluate(math_op(math.FPowIOp), [element_type, i32], [x, n])
    check("fpowi", type_name, got, reference, x, n)


@pytest.mark.parametrize("type_name", TYPES)
def test_arc_tangent_of_two(type_name: str) -> None:
    """atan2 in every quadrant, and C's rules on every pair of special values."""
    dtype, element_type = TYPES[type_name]
    rng = np.random.default_rng(3)
    signs = rng.choice([-1, 1], (2, 20000))
    random = (signs * np.exp(rng.uniform(-5, 5, (2, 20000)))).astype(dtype)
    y, x = (np.concatenate(parts) for parts in zip(random, grid(special_values(dtype)), strict=True))
    with np.errstate(all="ignore"):
        reference = np.arctan2(y.astype(Extended), x.astype(Extended))
    got = evaluate(math_op(math.Atan2Op), [element_type, element_type], [y, x])
    check("atan2", type_name, got, reference, y, x)


@pytest.mark.parametrize("type_name", TYPES)
def test_remainder_is_exact(type_name: str) -> None:
    """fmod has no error, whatever the exponents."""
    dtype, element_type = TYPES[type_name]
    rng = np.random.default_rng(4)
    info = np.finfo(dtype)
    lowest, highest = float(np.log(Extended(info.smallest_subnormal))) + 1, float(np.log(Extended(info.max))) - 1
    wide = np.exp(rng.uniform(lowest, highest, (2, 3000))) * rng.choice([-1, 1], (2, 3000))
    near = rng.normal(size=(2, 3000)) * [[100], [1]]
    parts = zip(wide.astype(dtype), near.astype(dtype), grid(special_values(dtype)), strict=True)
    x, y = (np.concatenate(arrays) for arrays in parts)
    with np.errstate(all="ignore"):
        reference = np.fmod(x, y)
    got = evaluate(lambda b, v: vector_math.fmod(b, *v), [element_type, element_type], [x, y], (1, 8))
    check("fmod", type_name, got, reference, x, y)


@pytest.mark.parametrize("element_type", [i32, i64], ids=str)
def test_integer_power_wraps_around(element_type: Attribute) -> None:
    """ipowi is exact modulo the width; negative powers are 0 but for +-1."""
    dtype = DTYPES[element_type]
    bits = np.iinfo(dtype).bits
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.integers(-9, 9, 500), [1, -1, -1, 0, 5, 5]]).astype(dtype)
    n = np.concatenate([rng.integers(0, 40, 500), [-3, -3, -2, 0, -1, 0]]).astype(dtype)

    def expected(base: int, exponent: int) -> int:
        if exponent < 0:
            return {1: 1, -1: (-1) ** -exponent}.get(base, 0)
        wrapped = pow(base, exponent, 1 << bits)
        return wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped

    reference = np.array([expected(int(base), int(exponent)) for base, exponent in zip(x, n, strict=True)], dtype)
    got = evaluate(math_op(math.IPowIOp), [element_type, element_type], [x, n], (1, 4))
    np.testing.assert_array_equal(got, reference)


# -- the table ---------------------------------------------------------------------------------------------------------


def test_every_expansion_is_stated() -> None:
    """The page has a row for each op class of the table, and for the functions that have no op."""
    names = {op_class.name.removeprefix("math.") for op_class in vector_math.EXPANSIONS}  # pyright: ignore
    assert names - {"ipowi"} | {"erfc", "fmod"} == set(stated_bounds())


def test_expansions_use_only_operations_that_targets_have() -> None:
    """Nothing that needs a library remains, and no op class of the table."""
    allowed = {"absf", "sqrt", "floor", "ceil", "trunc", "roundeven", "copysign", "fma"}
    for op_class in vector_math.EXPANSIONS:
        if op_class in (math.IPowIOp, math.FPowIOp):
            continue
        count = 2 if op_class in (math.PowFOp, math.Atan2Op) else 1
        for element_type in (f32, f64):
            block = Block(arg_types=[vector_of(element_type, 8)] * count)
            vector_math.expand(LoopBuilder(block), op_class, block.args)
            for op in block.walk():
                dialect, _, name = op.name.partition(".")
                assert dialect in ("arith", "vector", "cuvil_vector", "scf", "math"), op.name
                assert dialect != "math" or name in allowed, op.name
                assert not isinstance(op, arith.MaximumfOp | arith.MinimumfOp)
