"""Loop-level kernels built with LoopBuilder, compiled and run, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import arith, func, math, memref, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float16Type,
    IndexType,
    MemRefType,
    ModuleOp,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.parser import Parser

from cuvil.codegen.jit import NativeModule, compile_module
from cuvil.codegen.loops import LoopBuilder
from cuvil.errors import CuvilRuntimeError, UnsupportedError
from cuvil.passes.lower_loops_to_llvm import lower_module
from cuvil.targets.cpu import CpuTarget
from cuvil.universe import make_context

INDEX = IndexType()


def buffer(element: Attribute, size: int) -> MemRefType:
    """A flat buffer type."""
    return MemRefType(element, [size])


def kernel(name: str, types: Sequence[Attribute], build: Callable[..., Any], private: bool = False) -> func.FuncOp:
    """A function whose body `build(builder, *arguments)` appends."""
    block = Block(arg_types=types)
    build(LoopBuilder(block), *block.args)
    block.add_op(func.ReturnOp())
    return func.FuncOp(name, (list(types), []), Region(block), visibility="private" if private else None)


def run(
    types: Sequence[Attribute], build: Callable[..., Any], *arguments: Any, target: CpuTarget | None = None
) -> None:
    """Build, lower, compile, call; on both levels the module verifies, and its text parses back to what it was."""
    module = round_trip(ModuleOp([kernel("k", types, build)]))
    lower_module(module, target or CpuTarget.host())
    compile_module(round_trip(module), target).function("k")(*arguments)


def round_trip(module: ModuleOp) -> ModuleOp:
    """The verified module, printed and parsed."""
    module.verify()
    text = str(module)
    parsed = Parser(make_context(), text).parse_module()
    assert str(parsed) == text
    return parsed


def lanes_of(*values: SSAValue) -> int:
    """The lanes of vectors."""
    vector_type = values[0].type
    return vector_type.get_shape()[0] if isinstance(vector_type, VectorType) else 1


NUMPY: dict[Attribute, Any] = {
    f16: np.float16,
    f32: np.float32,
    f64: np.float64,
    i8: np.int8,
    i32: np.int32,
    i64: np.int64,
}


def elementwise(
    function: Callable[..., SSAValue],
    inputs: Sequence[np.ndarray],
    in_types: Sequence[Attribute],
    out_type: Attribute,
    out_numpy: Any,
    width: int,
) -> np.ndarray:
    """Apply `function(builder, *values)` to whole arrays, `width` lanes at a time with a masked tail."""
    size = inputs[0].size
    result = np.zeros(size, out_numpy)

    def build(b: LoopBuilder, *buffers: SSAValue) -> None:
        *ins, out = buffers
        with b.for_(0, size, width) as loop:
            if width == 1:
                b.store(function(b, *(b.load(x, loop.index) for x in ins)), out, loop.index)
            else:
                mask = b.tail_mask(b.sub(size, loop.index), width)
                values = [b.masked_load(x, loop.index, mask, width) for x in ins]
                b.masked_store(function(b, *values), out, loop.index, mask)

    run([*(buffer(t, size) for t in in_types), buffer(out_type, size)], build, *inputs, result)
    return result


def make(op_class: Any, result: Attribute | None = None, **properties: Attribute) -> Callable[..., SSAValue]:
    """A function that appends `op_class`, its result of element type `result` (the first operand's by default)."""

    def apply(b: LoopBuilder, *values: SSAValue) -> SSAValue:
        element = result if result is not None else values[0].type
        width = lanes_of(*values)
        result_type = VectorType(result, [width]) if result is not None and width > 1 else element
        return b.op(op_class, *values, result=result_type, **properties)

    return apply


# -- elementwise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 4, 8, 16, 32, 64])
def test_elementwise_with_masked_tail(width: int) -> None:
    x = np.linspace(-3, 3, 101, dtype=np.float32)

    def relu_doubled(b: LoopBuilder, v: SSAValue) -> SSAValue:
        zero = b.constant(0.0, f32, width)
        positive = b.select(b.compare_float("ogt", v, zero), v, zero)
        return b.add_float(positive, positive)

    got = elementwise(relu_doubled, [x], [f32], f32, np.float32, width)
    np.testing.assert_array_equal(got, 2 * np.maximum(x, 0))


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize(
    ("op_class", "reference"),
    [
        (arith.AddiOp, np.add),
        (arith.SubiOp, np.subtract),
        (arith.MuliOp, np.multiply),
        (arith.DivSIOp, lambda a, b: np.abs(a.astype(np.int64)) // np.abs(b) * np.sign(a) * np.sign(b)),
        (arith.RemSIOp, np.fmod),
        (arith.FloorDivSIOp, np.floor_divide),
        (arith.CeilDivSIOp, lambda a, b: -np.floor_divide(-a.astype(np.int64), b)),
        (arith.MinSIOp, np.minimum),
        (arith.MaxSIOp, np.maximum),
        (arith.AndIOp, np.bitwise_and),
        (arith.OrIOp, np.bitwise_or),
        (arith.XOrIOp, np.bitwise_xor),
    ],
)
def test_integers_wrap_and_divide(op_class: Any, reference: Callable[..., Any], width: int) -> None:
    rng = np.random.default_rng(1)
    lhs = rng.integers(-(2**31) + 1, 2**31 - 1, 67).astype(np.int32)
    rhs = rng.integers(1, 2**31 - 1, 67).astype(np.int32) * rng.choice([-1, 1], 67).astype(np.int32)
    rhs[::3] = rng.integers(1, 9, rhs[::3].size)
    with np.errstate(over="ignore"):
        expected = reference(lhs, rhs).astype(np.int32)
    got = elementwise(lambda b, x, y: b.int_op(op_class, x, y), [lhs, rhs], [i32, i32], i32, np.int32, width)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("width", [1, 8])
def test_unsigned_operations(width: int) -> None:
    lhs = np.array([0, 1, 200, 255, 7, 128, 9, 10, 11], np.uint8)
    rhs = np.array([1, 2, 3, 254, 255, 7, 2, 3, 4], np.uint8)
    for op_class, expected in [
        (arith.DivUIOp, lhs // rhs),
        (arith.RemUIOp, lhs % rhs),
        (arith.MaxUIOp, np.maximum(lhs, rhs)),
        (arith.CeilDivUIOp, (lhs.astype(int) + rhs - 1) // rhs),
        (arith.ShRUIOp, lhs >> (rhs & 7)),
    ]:
        shifts = rhs & 7 if op_class is arith.ShRUIOp else rhs
        got = elementwise(lambda b, x, y, c=op_class: b.int_op(c, x, y), [lhs, shifts], [i8, i8], i8, np.uint8, width)
        np.testing.assert_array_equal(got, expected.astype(np.uint8))


@pytest.mark.parametrize("width", [1, 16])
def test_maximum_and_minimum_treat_nan_by_their_kind(width: int) -> None:
    lhs = np.array([1, np.nan, 3, -np.inf, 0, np.nan], np.float32)
    rhs = np.array([2, 1, np.nan, 5, -1, np.nan], np.float32)
    for op_class, expected in [
        (arith.MaximumfOp, np.maximum(lhs, rhs)),
        (arith.MinimumfOp, np.minimum(lhs, rhs)),
        (arith.MaxnumfOp, np.fmax(lhs, rhs)),
        (arith.MinnumfOp, np.fmin(lhs, rhs)),
    ]:
        got = elementwise(
            lambda b, x, y, c=op_class: b.float_op(c, x, y), [lhs, rhs], [f32, f32], f32, np.float32, width
        )
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize(
    ("op_class", "reference"),
    [
        (math.SqrtOp, np.sqrt),
        (math.AbsFOp, np.abs),
        (math.FloorOp, np.floor),
        (math.CeilOp, np.ceil),
        (math.TruncOp, np.trunc),
        (math.RoundEvenOp, np.rint),
        (math.RsqrtOp, lambda x: 1 / np.sqrt(x)),
        (arith.NegfOp, np.negative),
    ],
)
def test_math_instructions(op_class: Any, reference: Callable[..., Any], width: int) -> None:
    x = np.array([0.5, 1.5, 2.5, 3.49, 7.51, 100.25, 1e10, 4.0, 9.0], np.float64)
    got = elementwise(lambda b, v: b.float_op(op_class, v), [x], [f64], f64, np.float64, width)
    np.testing.assert_array_equal(got, reference(x))


@pytest.mark.parametrize("width", [1, 8])
def test_integer_math(width: int) -> None:
    x = np.array([0, 1, -1, 2**31 - 1, -(2**31), 12, -12, 255, 1 << 20], np.int32)
    bits = [int(v) & 0xFFFFFFFF for v in x]
    for op_class, expected in [
        (math.CtPopOp, [b.bit_count() for b in bits]),
        (math.CountLeadingZerosOp, [32 - b.bit_length() for b in bits]),
        (math.CountTrailingZerosOp, [32 if b == 0 else (b & -b).bit_length() - 1 for b in bits]),
        (math.AbsIOp, np.abs(x)),
    ]:
        got = elementwise(make(op_class), [x], [i32], i32, np.int32, width)
        np.testing.assert_array_equal(got, expected)


# -- casts, narrow floats and bools ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize(
    ("op_class", "source", "target"),
    [
        (arith.ExtSIOp, i8, i32),
        (arith.TruncIOp, i64, i32),
        (arith.TruncIOp, i32, i8),
        (arith.SIToFPOp, i32, f32),
        (arith.SIToFPOp, i64, f64),
        (arith.FPToSIOp, f32, i32),
        (arith.FPToSIOp, f64, i64),
        (arith.ExtFOp, f16, f32),
        (arith.ExtFOp, f32, f64),
        (arith.ExtFOp, f16, f64),
        (arith.TruncFOp, f32, f16),
        (arith.TruncFOp, f64, f32),
        (arith.TruncFOp, f64, f16),
    ],
)
def test_casts(op_class: Any, source: Attribute, target: Attribute, width: int) -> None:
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(45) * 50).astype(NUMPY[source])
    expected = x.astype(np.float32).astype(np.float16) if isinstance(target, Float16Type) else x.astype(NUMPY[target])
    got = elementwise(make(op_class, target), [x], [source], target, NUMPY[target], width)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("width", [1, 8])
def test_unsigned_casts(width: int) -> None:
    x = np.array([0, 1, 127, 128, 255, 254, 3, 4, 5], np.uint8)
    widened = elementwise(make(arith.ExtUIOp, i32), [x], [i8], i32, np.int32, width)
    np.testing.assert_array_equal(widened, x)
    as_float = elementwise(make(arith.UIToFPOp, f32), [x], [i8], f32, np.float32, width)
    np.testing.assert_array_equal(as_float, x)
    back = elementwise(make(arith.FPToUIOp, i8), [as_float], [f32], i8, np.uint8, width)
    np.testing.assert_array_equal(back, x)


def to_bf16(x: np.ndarray) -> np.ndarray:
    """f32 => bits of bf16, rounded to nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0, rounded).astype(np.uint16)


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize("target", ["host", "x86-64-v3"])
def test_bf16_rounds_to_nearest_even(width: int, target: str) -> None:
    x = np.random.default_rng(3).standard_normal(37).astype(np.float32)
    x[:6] = [np.nan, np.inf, -np.inf, 1.00390625, 1.01171875, 3.4e38]
    out, back = np.zeros(37, np.uint16), np.zeros(37, np.float32)

    def build(b: LoopBuilder, source: SSAValue, narrow: SSAValue, wide: SSAValue) -> None:
        with b.for_(0, 37, width) as loop:
            mask = b.tail_mask(b.sub(37, loop.index), width) if width > 1 else None
            value = b.load(source, loop.index) if mask is None else b.masked_load(source, loop.index, mask, width)
            short = make(arith.TruncFOp, bf16)(b, value)
            again = make(arith.ExtFOp, f32)(b, short)
            if mask is None:
                b.store(short, narrow, loop.index)
                b.store(again, wide, loop.index)
            else:
                b.masked_store(short, narrow, loop.index, mask)
                b.masked_store(again, wide, loop.index, mask)

    run([buffer(f32, 37), buffer(bf16, 37), buffer(f32, 37)], build, x, out, back, target=CpuTarget.named(target))
    is_number = ~np.isnan(x)
    np.testing.assert_array_equal(out[is_number], to_bf16(x)[is_number])
    np.testing.assert_array_equal(back, (out.astype(np.uint32) << 16).view(np.float32))
    assert np.isnan(back[0])


@pytest.mark.parametrize("width", [1, 16, 64])
def test_bools_are_bytes(width: int) -> None:
    x = np.random.default_rng(4).standard_normal(99).astype(np.float32)
    flags = np.random.default_rng(5).integers(0, 2, 99).astype(np.bool_)

    def positive_and_flag(b: LoopBuilder, v: SSAValue, flag: SSAValue) -> SSAValue:
        return b.int_op(arith.AndIOp, b.compare_float("ogt", v, b.constant(0.0, f32, width)), flag)

    got = elementwise(positive_and_flag, [x, flags], [f32, i1], i1, np.bool_, width)
    np.testing.assert_array_equal(got, (x > 0) & flags)
    assert set(np.unique(got.view(np.uint8))) <= {0, 1}


# -- vectors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "element", "reference"),
    [
        ("add", f32, np.sum),
        ("mul", f64, np.prod),
        ("maximumf", f32, np.max),
        ("minimumf", f32, np.min),
        ("maxnumf", f32, np.max),
        ("minnumf", f64, np.min),
        ("add", i32, np.sum),
        ("maxsi", i32, np.max),
        ("minsi", i64, np.min),
        ("xor", i32, np.bitwise_xor.reduce),
    ],
)
def test_reductions(kind: str, element: Attribute, reference: Callable[..., Any]) -> None:
    x = (np.random.default_rng(6).standard_normal(16) * 5).astype(NUMPY[element])
    out = np.zeros(1, NUMPY[element])
    run(
        [buffer(element, 16), buffer(element, 1)],
        lambda b, source, result: b.store(b.reduce(kind, b.load(source, 0, 16)), result, 0),
        x,
        out,
    )
    np.testing.assert_allclose(out[0], reference(x), rtol=1e-5)


def test_any_and_all_of_a_mask() -> None:
    x = np.array([0, 0, 1, 0, 0, 0, 0, 0], np.bool_)
    out = np.zeros(2, np.bool_)

    def build(b: LoopBuilder, source: SSAValue, result: SSAValue) -> None:
        mask = b.load(source, 0, 8)
        b.store(b.reduce("or", mask), result, 0)
        b.store(b.reduce("and", mask), result, 1)

    run([buffer(i1, 8), buffer(i1, 2)], build, x, out)
    assert out.tolist() == [True, False]


def test_lanes_are_extracted_inserted_and_shuffled() -> None:
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)

    def build(b: LoopBuilder, source: SSAValue, result: SSAValue) -> None:
        value = b.load(source, 0, 8)
        assert isinstance(value.type, VectorType)
        reversed_ = b.insert(
            vector.ShuffleOp(
                value, value, DenseArrayBase.from_list(i64, [7, 6, 5, 4, 3, 2, 1, 0]), result_type=value.type
            )
        )
        b.store(b.insert_lane(b.extract(value, 3), reversed_, 0), result, 0)

    run([buffer(f32, 8), buffer(f32, 8)], build, x, out)
    np.testing.assert_array_equal(out, [3, 6, 5, 4, 3, 2, 1, 0])


def test_bits_of_floats_as_integers() -> None:
    x = np.array([1.0, -2.5, np.inf, 0.0], np.float32)
    out = np.zeros(4, np.int32)
    run(
        [buffer(f32, 4), buffer(i32, 4)],
        lambda b, source, result: b.store(
            b.op(vector.BitcastOp, b.load(source, 0, 4), result=VectorType(i32, [4])), result, 0
        ),
        x,
        out,
    )
    np.testing.assert_array_equal(out, x.view(np.int32))


@pytest.mark.parametrize("active", [-3, 0, 1, 15, 16, 17, 10**12])
def test_mask_lanes_are_clamped(active: int) -> None:
    out = np.zeros(16, np.bool_)
    run(
        [buffer(i1, 16), INDEX],
        lambda b, result, count: b.store(b.tail_mask(count, 16), result, 0),
        out,
        active,
    )
    np.testing.assert_array_equal(out, np.arange(16) < active)


# -- control flow ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_loop_carries_values(count: int) -> None:
    out = np.zeros(1, np.int64)

    def build(b: LoopBuilder, result: SSAValue, upper: SSAValue) -> None:
        for limit in (upper, count):
            with b.for_(0, limit, init=[b.constant(1, i64)]) as loop:
                doubled = b.int_op(arith.AddiOp, loop.carried[0], loop.carried[0])
                loop.yield_(b.int_op(arith.AddiOp, doubled, b.cast_index(loop.index, i64)))
            total = b.int_op(arith.AddiOp, b.load(result, 0), loop.results[0])
            b.store(total, result, 0)

    run([buffer(i64, 1), INDEX], build, out, count)
    expected = 1
    for i in range(count):
        expected = 2 * expected + i
    assert out[0] == 2 * expected


def test_while_loop_and_if_with_results() -> None:
    """Collatz steps, as nested control flow."""
    text = """
    func.func @steps(%n: i64) -> i64 {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %c2 = arith.constant 2 : i64
      %c3 = arith.constant 3 : i64
      %last, %count = scf.while (%x = %n, %k = %c0) : (i64, i64) -> (i64, i64) {
        %more = arith.cmpi ne, %x, %c1 : i64
        scf.condition(%more) %x, %k : i64, i64
      } do {
      ^bb0(%x: i64, %k: i64):
        %bit = arith.remui %x, %c2 : i64
        %odd = arith.cmpi eq, %bit, %c1 : i64
        %next = scf.if %odd -> (i64) {
          %t = arith.muli %x, %c3 : i64
          %u = arith.addi %t, %c1 : i64
          scf.yield %u : i64
        } else {
          %h = arith.divui %x, %c2 : i64
          scf.yield %h : i64
        }
        %k1 = arith.addi %k, %c1 : i64
        scf.yield %next, %k1 : i64, i64
      }
      func.return %count : i64
    }"""
    steps = parse(text).function("steps")
    assert [steps(n) for n in (1, 2, 3, 6, 27)] == [0, 1, 7, 8, 111]


def test_switch_chooses_a_region() -> None:
    text = """
    func.func @choose(%n: index) -> i32 {
      %r = scf.index_switch %n -> i32
      case 2 { %a = arith.constant 20 : i32 scf.yield %a : i32 }
      case 5 { %b = arith.constant 50 : i32 scf.yield %b : i32 }
      default { %c = arith.constant -1 : i32 scf.yield %c : i32 }
      func.return %r : i32
    }"""
    choose = parse(text).function("choose")
    assert [choose(n) for n in (2, 5, 3)] == [20, 50, -1]


def test_branches_between_blocks() -> None:
    text = """
    func.func @sum_to(%n: i64) -> i64 {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      cf.br ^head(%c0, %c0 : i64, i64)
    ^head(%i: i64, %s: i64):
      %more = arith.cmpi slt, %i, %n : i64
      cf.cond_br %more, ^body, ^done(%s : i64)
    ^body:
      %i1 = arith.addi %i, %c1 : i64
      %s1 = arith.addi %s, %i1 : i64
      cf.br ^head(%i1, %s1 : i64, i64)
    ^done(%r: i64):
      func.return %r : i64
    }"""
    assert parse(text).function("sum_to")(10) == 55


def test_both_edges_of_a_branch_may_meet() -> None:
    text = """
    func.func @pick(%c: i1, %a: f64, %b: f64) -> f64 {
      cf.cond_br %c, ^join(%a : f64), ^join(%b : f64)
    ^join(%r: f64):
      func.return %r : f64
    }"""
    pick = parse(text).function("pick")
    assert (pick(True, 1.5, 2.5), pick(False, 1.5, 2.5)) == (1.5, 2.5)


# -- parallel loops ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 64])
def test_parallel_loop_visits_every_index_once(count: int, threads: int) -> None:
    visits = np.zeros(max(count, 1), np.int32)

    def build(b: LoopBuilder, result: SSAValue, upper: SSAValue) -> None:
        for limit in (upper, count):
            with b.parallel(limit) as i:
                b.store(b.int_op(arith.AddiOp, b.load(result, i), b.constant(1, i32)), result, i)

    native = compile_module(ModuleOp([kernel("k", [buffer(i32, max(count, 1)), INDEX], build)]))
    native.set_threads(threads)
    native.function("k")(visits, count)
    np.testing.assert_array_equal(visits[:count], 2)


@pytest.mark.parametrize("threads", [1, 4])
def test_parallel_sum_with_thread_private_stack(threads: int) -> None:
    x = np.random.default_rng(7).standard_normal(64 * 32).astype(np.float32)
    rows = np.zeros(64, np.float32)

    def build(b: LoopBuilder, source: SSAValue, result: SSAValue) -> None:
        two = b.broadcast(b.constant(2.0, f32), 16)  # captured: a vector from outside
        with b.parallel(64) as row:
            scratch = b.alloca(f32, 32)
            base = b.mul(row, 32)
            for part in (0, 16):
                b.store(b.mul_float(b.load(source, b.add(base, part), 16), two), scratch, part)
            total = b.add_float(b.load(scratch, 0, 16), b.load(scratch, 16, 16))
            b.store(b.reduce("add", total), result, row)

    native = compile_module(ModuleOp([kernel("k", [buffer(f32, x.size), buffer(f32, 64)], build)]))
    native.set_threads(threads)
    for _ in range(20):
        rows[:] = 0
        native.function("k")(x, rows)
        np.testing.assert_allclose(rows, 2 * x.reshape(64, 32).sum(1), rtol=1e-4, atol=1e-5)


# -- buffers, calls and globals ----------------------------------------------------------------------------------------


def test_kernels_call_kernels_on_views() -> None:
    arena = np.zeros(256, np.uint8)

    def fill(b: LoopBuilder, target: SSAValue) -> None:
        with b.for_(0, 8) as loop:
            b.store(b.cast_index(loop.index, i32), target, loop.index)

    def main(b: LoopBuilder, bytes_: SSAValue) -> None:
        view = b.insert(memref.ViewOp.create(operands=[bytes_, b.index(64)], result_types=[buffer(i32, 8)]))
        b.block.add_op(func.CallOp("fill", [view], []))

    module = ModuleOp([kernel("fill", [buffer(i32, 8)], fill, private=True), kernel("main", [buffer(i8, 256)], main)])
    native = compile_module(module)
    native.function("main")(arena)
    np.testing.assert_array_equal(arena.view(np.int32)[16:24], np.arange(8))
    with pytest.raises(CuvilRuntimeError, match="no public function 'fill'"):
        native.function("fill")


def test_buffers_are_copied_and_constants_read() -> None:
    text = """
    "memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<4xf32>, constant,
      initial_value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> ()
    func.func @copy(%out: memref<4xf32>) {
      %t = memref.get_global @table : memref<4xf32>
      "memref.copy"(%t, %out) : (memref<4xf32>, memref<4xf32>) -> ()
      func.return
    }"""
    out = np.zeros(4, np.float32)
    parse(text).function("copy")(out)
    np.testing.assert_array_equal(out, [1, 2, 3, 4])


def test_entry_of_the_c_abi() -> None:
    """Inputs, outputs, arena, parameters and symbols reach the host function in their places."""
    text = """
    "memref.global"() <{sym_name = "w", sym_visibility = "private", type = memref<4xf32>, initial_value}> : () -> ()
    "memref.global"() <{sym_name = "v", sym_visibility = "private", type = memref<4xf32>, initial_value}> : () -> ()
    func.func private @add(%a: memref<4xf32>, %b: memref<4xf32>, %o: memref<4xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %x = memref.load %a[%i] : memref<4xf32>
        %y = memref.load %b[%i] : memref<4xf32>
        %z = arith.addf %x, %y : f32
        memref.store %z, %o[%i] : memref<4xf32>
      }
      func.return
    }
    func.func @main(%x: memref<4xf32>, %n: index, %y: memref<4xf32>, %arena: memref<64xi8>)
        attributes {cuvil.inputs = 1 : i64} {
      %c16 = arith.constant 16 : index
      %t = memref.view %arena[%c16][] : memref<64xi8> to memref<4xf32>
      %w = memref.get_global @w : memref<4xf32>
      %v = memref.get_global @v : memref<4xf32>
      func.call @add(%x, %v, %t, %n) : (memref<4xf32>, memref<4xf32>, memref<4xf32>, index) -> ()
      func.call @add(%t, %w, %y, %n) : (memref<4xf32>, memref<4xf32>, memref<4xf32>, index) -> ()
      func.return
    }"""
    native = parse(text)
    x, w, v = (np.full(4, k, np.float32) for k in (1, 10, 100))
    y, arena = np.zeros(4, np.float32), np.zeros(64, np.uint8)
    pointers = [np.array([a.ctypes.data for a in arrays], np.uintp) for arrays in ([x], [y], [w, v])]
    symbols = np.array([3], np.int64)
    status = native.function("cuvil_entry")(pointers[0], pointers[1], arena, pointers[2], symbols)
    assert status == 0
    np.testing.assert_array_equal(y, [111, 111, 111, 0])
    np.testing.assert_array_equal(arena.view(np.float32)[4:8], [101, 101, 101, 0])
    native.function("main")(x, 4, y, arena, pointers[2])
    np.testing.assert_array_equal(y, [111, 111, 111, 111])


# -- declining ---------------------------------------------------------------------------------------------------------


def parse(text: str) -> NativeModule:
    """Compile loop-level text."""
    return compile_module(Parser(make_context(), text).parse_module())


def test_unexpanded_math_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"math.exp: has no lowering to llvm: run lower-math first"):
        run([buffer(f32, 1)], lambda b, x: b.store(b.float_op(math.ExpOp, b.load(x, 0)), x, 0), np.zeros(1, np.float32))


def test_nested_parallel_loops_are_refused() -> None:
    def build(b: LoopBuilder, x: SSAValue) -> None:
        with b.parallel(2), b.parallel(2) as i:
            b.store(b.constant(0.0, f32), x, i)

    with pytest.raises(UnsupportedError, match=r"scf.parallel: nested in another parallel loop"):
        compile_module(ModuleOp([kernel("k", [buffer(f32, 2)], build)]))


def test_wrong_number_of_arguments_is_refused() -> None:
    native = compile_module(ModuleOp([kernel("k", [buffer(f32, 2)], lambda b, x: None)]))
    with pytest.raises(CuvilRuntimeError, match="k: expected 1 arguments, got 2"):
        native.function("k")(np.zeros(2, np.float32), 1)


def test_a_module_is_not_changed_by_compiling_it() -> None:
    module = ModuleOp([kernel("k", [buffer(f32, 2)], lambda b, x: b.store(b.constant(1.0, f32), x, 0))])
    before = str(module)
    compile_module(module)
    assert str(module) == before


@pytest.mark.parametrize("width", [1, 8])
def test_divisions_never_trap(width: int) -> None:
    lhs = np.array([7, -(2**31), -(2**31), 0], np.int32)
    rhs = np.array([0, 0, -1, 0], np.int32)
    for op_class in (arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp, arith.DivUIOp, arith.RemUIOp):
        elementwise(lambda b, x, y, c=op_class: b.int_op(c, x, y), [lhs, rhs], [i32, i32], i32, np.int32, width)


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize("target", ["host", "x86-64-v3"])
def test_bf16_computes_in_f32_and_rounds_once(width: int, target: str) -> None:
    rng = np.random.default_rng(8)
    lhs, rhs = (to_bf16(rng.standard_normal(32).astype(np.float32)) for _ in range(2))
    wide = [(bits.astype(np.uint32) << 16).view(np.float32) for bits in (lhs, rhs)]
    out = np.zeros(32, np.uint16)

    def build(b: LoopBuilder, x: SSAValue, y: SSAValue, result: SSAValue) -> None:
        half = b.constant(0.5, bf16, width)
        with b.for_(0, 32, width) as loop:
            total = b.add_float(b.load(x, loop.index, width), b.load(y, loop.index, width))
            is_small = b.compare_float("olt", total, half)
            b.store(b.select(is_small, half, b.float_op(arith.NegfOp, total)), result, loop.index)

    run([buffer(bf16, 32)] * 3, build, lhs, rhs, out, target=CpuTarget.named(target))
    total = (to_bf16(wide[0] + wide[1]).astype(np.uint32) << 16).view(np.float32)
    np.testing.assert_array_equal(out, to_bf16(np.where(total < 0.5, np.float32(0.5), -total)))
