"""Every core op of `cuvil_tensor` through the whole default pipeline, compared with the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import Attribute, f32, i1, i32, i64

from cuvil.dialects import tensor as ct
from cuvil.semantics.arrays import dtype_of
from cuvil.semantics.scalars import SCALAR_FUNCTIONS, ScalarFunction
from tests.native_ops import BOUNDS, ELEMENTS, FLOATS, INTEGERS, NativeOps, numbers, special

EXACT = {"abs", "neg", "sign", "relu", "floor", "ceil", "round", "trunc", "max", "min", "fmax", "fmin", "copysign", "clamp"}
EXACT |= {"add", "sub", "mul", "div", "sqrt", "reciprocal", "select"}
"""Functions of floats with one correct result, which the compiled code must give."""


def rows_for(element: Attribute) -> list[ScalarFunction]:
    """The scalar functions that are defined on an element type."""
    domain = ct.element_domain(element)
    return [row for row in SCALAR_FUNCTIONS.values() if str(domain) in row.domain]


@pytest.mark.parametrize("name", ELEMENTS)
def test_scalar_functions(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    count = 83
    operands = [special(element, count, seed) for seed in range(3)]
    values = [ops.value(operand, element) for operand in operands]
    condition = ops.value(special(i1, count), i1)
    unit = ops.value(np.clip(operands[0], -1, 1) if name in FLOATS else operands[0], element)
    classes = {1: ct.UnaryOp, 2: ct.BinaryOp, 3: ct.TernaryOp}
    for row in rows_for(element):
        given = values[: row.arity] if row.rule != "second" else [condition, *values[:2]]
        if row.name in ("asin", "acos", "atanh"):
            given = [unit]
        ops.result(f"{row.name} {name}", classes[row.arity](row.name, *given), 0 if row.name in EXACT else None)
    ops.check()


@pytest.mark.parametrize("name", ELEMENTS)
def test_casts_to_every_type(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    array = special(element, 83)
    if name in FLOATS:
        # Beyond the narrower integer types, and beyond 64 bits.
        array[20:30] = np.array([300, -300, 70000, -70000, 3e9, -3e9, 1e19, -1e19, 0.99, -0.99], array.dtype)
    value = ops.value(array, element)
    one = ops.value(array[:1], element)
    scalar = ops.value(array[5], element)
    for target_name, target in ELEMENTS.items():
        for given in (value, one, scalar):
            ops.result(f"cast {name} to {target_name}", ct.CastOp(given, target), 0)
    ops.check()


MOVED = ("f32", "f16", "i64", "ui8", "i1")
"""Element types of every width in memory."""


@pytest.mark.parametrize("name", MOVED)
def test_broadcast_reshape_and_transpose(name: str):
    element, ops = ELEMENTS[name], NativeOps()

    def value(*shape: int):
        return ops.value(numbers(element, shape), element)

    for source, axes, shape in (
        ((), [], (19,)),
        ((7,), [1], (5, 7)),
        ((7,), [0], (7, 5)),
        ((1, 33), [0, 1], (4, 33)),
        ((4, 1), [0, 1], (4, 33)),
        ((3, 5), [1, 3], (2, 3, 4, 5)),
        ((3,), [0], (3, 0)),
        ((2, 1, 3), [0, 2, 3], (2, 4, 17, 3)),
    ):
        ops.result(f"broadcast {source} to {shape}", ct.BroadcastOp(value(*source), axes, shape), 0)
    for source, shape in (
        ((6, 4), (24,)),
        ((24,), (2, 3, 4)),
        ((1,), ()),
        ((), (1, 1)),
        ((5, 0), (0, 3)),
        ((4, 6), (3, 8)),
    ):
        ops.result(f"reshape {source} to {shape}", ct.ReshapeOp(value(*source), shape), 0)
    for source, order in (
        ((17, 33), [1, 0]),
        ((64, 48), [1, 0]),
        ((2, 3, 5, 16), [0, 2, 1, 3]),
        ((2, 3, 8, 8), [0, 2, 3, 1]),
        ((2, 8, 8, 3), [0, 3, 1, 2]),
        ((3, 4, 5), [2, 1, 0]),
        ((3, 40, 50), [2, 0, 1]),
        ((4, 3, 2, 20), [3, 0, 2, 1]),
        ((5, 1, 7), [2, 1, 0]),
        ((4, 0), [1, 0]),
        ((), []),
    ):
        ops.result(f"transpose {source} by {order}", ct.TransposeOp(value(*source), order), 0)
    swapped = ops.made(ct.TransposeOp(value(6, 20), [1, 0]))
    ops.result("transpose then reshape", ct.ReshapeOp(swapped, (8, 15)), 0)
    ops.check()


@pytest.mark.parametrize("name", MOVED)
def test_slice_concat_pad_and_reverse(name: str):
    element, ops = ELEMENTS[name], NativeOps()

    def value(*shape: int):
        return ops.value(numbers(element, shape), element)

    for shape, starts, sizes, steps in (
        ((40,), [3], [33], [1]),
        ((40,), [1], [13], [3]),
        ((8, 40), [2, 5], [4, 32], [1, 1]),
        ((8, 40), [1, 0], [3, 20], [2, 2]),
        ((8, 40), [1, 0], [3, 40], [2, 1]),
        ((3, 4), [0, 0], [3, 0], [1, 1]),
        ((9, 5), [0, 4], [9, 1], [1, 1]),
    ):
        ops.result(f"slice {shape} {starts} {sizes} {steps}", ct.SliceOp(value(*shape), starts, sizes, steps), 0)
    for shapes, axis in (
        (((3,), (5,), (20,)), 0),
        (((3, 5), (2, 5)), 0),
        (((4, 3), (4, 1), (4, 40)), 1),
        (((4, 0), (4, 3)), 1),
        (((2, 8, 16), (2, 8, 16)), 2),
        (((2, 3, 16), (2, 1, 16)), 1),
        (((5,),), 0),
        ([(1, 2)] * 40, 1),
    ):
        ops.result(f"concat {shapes} along {axis}", ct.ConcatOp([value(*shape) for shape in shapes], axis), 0)
    fill = ops.value(numbers(element, ()), element)
    for shape, low, high in (
        ((5,), [2], [30]),
        ((3, 17), [1, 2], [0, 3]),
        ((3, 17), [0, -2], [-1, 4]),
        ((4, 4), [1, -1], [-2, 3]),
        ((0,), [2], [3]),
        ((2, 3, 4), [0, 1, 0], [0, 1, 0]),
        ((), [], []),
        ((5,), [-5], [4]),
    ):
        ops.result(f"pad {shape} {low} {high}", ct.PadOp(value(*shape), fill, low, high), 0)
    for shape, axes in (((37,), [0]), ((3, 20), [1]), ((3, 20), [0]), ((3, 4, 5), [0, 2]), ((0, 2), [1])):
        ops.result(f"reverse {shape} along {axes}", ct.ReverseOp(value(*shape), axes), 0)
    ops.check()


@pytest.mark.parametrize("name", MOVED)
def test_gather_scatter_and_iota(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    random = np.random.default_rng(3)

    def value(*shape: int):
        return ops.value(numbers(element, shape), element)

    def places(extent: int, *shape: int, type_: Attribute = i64):
        return ops.value(random.integers(-extent, extent, shape), type_)

    cases = (((50, 24), [0], (7,)), ((50, 24), [1], (3, 2)), ((6, 7, 5), [0, 2], (40,)), ((9,), [0], (33,)))
    cases += (((9,), [0], ()), ((4, 5), [1, 0], (2, 3)), ((6, 3), [0], (0,)), ((5, 4, 3), [1], (17,)))
    for shape, axes, index_shape in cases:
        for index_type in (i64, i32):
            indices = [places(shape[axis], *index_shape, type_=index_type) for axis in axes]
            ops.result(f"gather {shape} along {axes} {index_shape}", ct.GatherOp(value(*shape), indices, axes), 0)
    for shape, axes, index_shape in cases:
        kinds = ("assign",) if name == "i1" else ("assign", "add", "max")
        for kind in kinds:
            indices = [places(shape[axis], *index_shape) for axis in axes]
            rest = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
            op = ct.ScatterOp(kind, value(*shape), value(*index_shape, *rest), indices, axes)
            ops.result(f"scatter {kind} {shape} along {axes}", op, None if kind == "add" else 0)
    if name != "i1":
        for axis, shape in ((0, (40,)), (0, (3, 20)), (1, (3, 20)), (1, (2, 3, 4)), (0, (0,)), (0, (1,))):
            ops.result(f"iota {shape} along {axis}", ct.IotaOp(axis, element, shape), 0)
    ops.check()


def test_pack_and_unpack():
    ops = NativeOps()
    for shape, axes, tiles, order in (
        ((40, 24), [1], [16], [1, 0]),
        ((40, 24), [0, 1], [16, 8], [1, 0]),
        ((5, 3), [0], [4], [0, 1]),
        ((5, 7, 33), [2], [16], [2, 0, 1]),
    ):
        value = ops.value(numbers(f32, shape), f32)
        packed = ops.made(ct.PackOp(value, axes, tiles, order))
        ops.result(f"pack {shape}", packed, 0)
        given = ops.value(numbers(f32, packed.type.get_shape(), 1), f32)  # pyright: ignore
        ops.result(f"unpack to {shape}", ct.UnpackOp(given, axes, tiles, order, shape), 0)
    ops.check()


REDUCED = (((37,), [0]), ((4, 40), [1]), ((4, 40), [0]), ((3, 5, 20), [0, 2]), ((3, 5, 20), [1]), ((2, 3, 4), [0, 1, 2]))
REDUCED += (((1, 1), [1]), ((5, 0), [1]), ((0, 5), [1]), ((0, 5), [0]), ((5, 3), [1]), ((2, 3, 4, 33), [1, 2]), ((3, 200), [1]))
REDUCED += (((40, 3), [0]), ((), []), ((6,), []), ((300, 17), [0]), ((2, 70, 70), [1, 2]), ((2, 6, 6, 3), [1, 2]))
"""Shapes and axes: rows, columns, both, nothing, one element, below, at and above the vector width."""


@pytest.mark.parametrize("name", ELEMENTS)
def test_reductions(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    kinds = [kind for kind, domain in ct.ReduceOp.KINDS.items() if str(ct.element_domain(element)) in domain]
    for number, (shape, axes) in enumerate(REDUCED):
        array = numbers(element, shape)
        value = ops.value(array, element)
        for kind in kinds if number < 10 else kinds[number % 2 : number % 2 + 2]:
            bound = 0 if kind in ("max", "min") else None
            keepdims = number % 3 == 0
            ops.result(f"reduce {kind} {shape} {axes}", ct.ReduceOp(kind, value, axes, keepdims), bound)
    if name in FLOATS:
        odd = ops.value(special(element, 200).reshape(4, 50), element)
        for kind in ("add", "max", "min"):
            for axes in ([0], [1]):
                ops.result(f"reduce {kind} of NaN and inf along {axes}", ct.ReduceOp(kind, odd, axes))
    ops.check()


@pytest.mark.parametrize("name", ELEMENTS)
def test_orders(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    lines = [((37,), 0), ((4, 40), 1), ((9, 5), 0), ((2, 3, 17), 1), ((1,), 0), ((3, 0), 0), ((6, 2), 1)]
    values = [(ops.value(special(element, int(np.prod(shape))).reshape(shape), element), axis) for shape, axis in lines]
    for number, (value, axis) in enumerate(values):
        for kind in ("max", "min"):
            op = ct.ArgReduceOp(kind, value, axis, keepdims=number % 2 == 0)
            ops.result(f"arg_reduce {kind} {value.type}", op, 0)
        for descending in (False, True):
            ops.result(f"sort {value.type}", ct.SortOp(value, axis, descending), 0)
            k = min(3, value.type.get_shape()[axis])  # pyright: ignore
            ops.result(f"topk {value.type}", ct.TopkOp(value, k, axis, descending), 0)
    ops.check()


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_scans(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    for shape, axis in (((37,), 0), ((4, 40), 1), ((9, 5), 0), ((2, 3, 17), 1), ((1,), 0), ((3, 0), 0), ((0, 3), 0)):
        value = ops.value(numbers(element, shape) if name in INTEGERS else numbers(element, shape) * 0.5, element)
        for kind in ct.ScanOp.KINDS:
            for exclusive, reverse in ((False, False), (True, False), (False, True), (True, True)):
                op = ct.ScanOp(kind, value, axis, exclusive, reverse)
                ops.result(f"scan {kind} {shape} along {axis} {exclusive=} {reverse=}", op)
    ops.check()


def test_orders_of_long_lines():
    ops = NativeOps()
    for count in (20_000, 100_003):
        value = ops.value(np.round(numbers(f32, (count,)) * 1000), f32)
        ops.result("sort", ct.SortOp(value, 0), 0)
        ops.result("topk", ct.TopkOp(value, 5, 0), 0)
        ops.result("arg_reduce", ct.ArgReduceOp("max", value, 0), 0)
        ops.result("scan", ct.ScanOp("add", value, 0), 0)
        ops.result("reduce", ct.ReduceOp("add", value, [0]), 1e-6)
    ops.check(threads=2)
