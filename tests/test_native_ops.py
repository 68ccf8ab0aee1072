"""Every core op of `cuvil_tensor` through the whole default pipeline, compared with the reference interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from cuvil.dialects import tensor as ct
from cuvil.semantics.scalars import SCALAR_FUNCTIONS, ScalarFunction
from tests.native_ops import ELEMENTS, FLOATS, INTEGERS, NativeOps, numbers, special

EXACT = {
    "abs",
    "neg",
    "sign",
    "relu",
    "floor",
    "ceil",
    "round",
    "trunc",
    "max",
    "min",
    "fmax",
    "fmin",
    "copysign",
    "clamp",
    "add",
    "sub",
    "mul",
    "div",
    "sqrt",
    "reciprocal",
    "select",
}
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


REDUCED = (
    ((37,), [0]),
    ((4, 40), [1]),
    ((4, 40), [0]),
    ((3, 5, 20), [0, 2]),
    ((3, 5, 20), [1]),
    ((2, 3, 4), [0, 1, 2]),
    ((1, 1), [1]),
    ((5, 0), [1]),
    ((0, 5), [1]),
    ((0, 5), [0]),
    ((5, 3), [1]),
    ((2, 3, 4, 33), [1, 2]),
    ((3, 200), [1]),
    ((40, 3), [0]),
    ((), []),
    ((6,), []),
    ((300, 17), [0]),
    ((2, 70, 70), [1, 2]),
    ((2, 6, 6, 3), [1, 2]),
)
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
    # The longest lines are read as vectors.
    lines = [((37,), 0), ((3, 173), 1), ((4, 40), 1), ((9, 5), 0), ((2, 3, 17), 1), ((1,), 0), ((3, 0), 0), ((6, 2), 1)]
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


PRODUCTS = ("f32", "f64", "f16", "bf16", "i32", "i64", "i8")
"""Element types that sums of products are tested with."""

CONTRACTIONS = (
    # (lhs shape, rhs shape, lhs_batch, rhs_batch, lhs_contract, rhs_contract)
    ((5, 7), (7, 9), (), (), (1,), (0,)),
    ((7, 5), (9, 7), (), (), (0,), (1,)),
    ((33, 40), (40, 65), (), (), (1,), (0,)),
    ((16,), (16,), (), (), (0,), (0,)),
    ((16,), (16, 33), (), (), (0,), (0,)),
    ((12, 16), (16,), (), (), (1,), (0,)),
    ((3,), (5,), (), (), (), ()),
    ((4, 5, 6), (4, 6, 7), (0,), (0,), (2,), (1,)),
    ((4, 5, 6), (6, 7, 4), (0,), (2,), (2,), (0,)),
    ((2, 3, 5, 8), (2, 3, 8, 17), (0, 1), (0, 1), (3,), (2,)),
    ((2, 5, 3, 8), (3, 8, 2, 17), (0, 2), (2, 0), (3,), (1,)),
    ((4, 5, 6, 7), (6, 7, 9), (), (), (2, 3), (0, 1)),
    ((4, 6, 5, 7), (7, 9, 6), (), (), (1, 3), (2, 0)),
    ((4, 5, 6), (6, 3, 9), (), (), (2,), (0,)),
    ((4, 6, 5), (3, 6, 9), (), (), (1,), (1,)),
    ((0, 7), (7, 9), (), (), (1,), (0,)),
    ((5, 0), (0, 9), (), (), (1,), (0,)),
    ((1, 1), (1, 1), (), (), (1,), (0,)),
    ((3, 4, 2, 5), (4, 3, 5, 6), (0, 1), (1, 0), (3,), (2,)),
)


@pytest.mark.parametrize("name", PRODUCTS)
def test_contractions(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    for left, right, lhs_batch, rhs_batch, lhs_contract, rhs_contract in CONTRACTIONS:
        lhs = ops.value(numbers(element, left), element)
        rhs = ops.value(numbers(element, right, 1), element)
        weight = ops.weight(numbers(element, right, 1), element)
        for other in (rhs, weight):
            op = ct.ContractOp(
                lhs,
                other,
                lhs_batch=lhs_batch,
                rhs_batch=rhs_batch,
                lhs_contract=lhs_contract,
                rhs_contract=rhs_contract,
            )
            ops.result(f"contract {left} {right} {lhs_contract} {rhs_contract}", op)
    ops.check()


def test_contractions_of_views():
    """Operands that are transposed, cut, repeated or reversed, and results that are stored elsewhere."""
    ops = NativeOps()

    def value(*shape: int):
        return ops.value(numbers(f32, shape), f32)

    def product(label: str, lhs: SSAValue, rhs: SSAValue, **dims: list[int]):
        ops.result(label, ct.ContractOp(lhs, rhs, **dims))

    plain = {"lhs_contract": [1], "rhs_contract": [0]}
    product("transposed lhs", ops.made(ct.TransposeOp(value(20, 9), [1, 0])), value(20, 33), **plain)
    product("transposed rhs", value(9, 20), ops.made(ct.TransposeOp(value(33, 20), [1, 0])), **plain)
    product("sliced lhs", ops.made(ct.SliceOp(value(30, 40), [3, 4], [9, 20], [2, 1])), value(20, 33), **plain)
    product("lhs with gaps", ops.made(ct.SliceOp(value(9, 40), [0, 1], [9, 20], [1, 2])), value(20, 33), **plain)
    product("rhs with gaps", value(9, 20), ops.made(ct.SliceOp(value(20, 70), [0, 1], [20, 33], [1, 2])), **plain)
    product("reversed rhs", value(9, 20), ops.made(ct.ReverseOp(value(20, 33), [0])), **plain)
    product("repeated rhs", value(9, 20), ops.made(ct.BroadcastOp(value(33), [1], (20, 33))), **plain)
    product("reshaped lhs", ops.made(ct.ReshapeOp(value(3, 3, 4, 5), (9, 20))), value(20, 33), **plain)
    heads = ops.made(ct.TransposeOp(ops.made(ct.ReshapeOp(value(2, 10, 24), (2, 10, 3, 8))), [0, 2, 1, 3]))
    keys = ops.made(ct.TransposeOp(ops.made(ct.ReshapeOp(value(2, 10, 24), (2, 10, 3, 8))), [0, 2, 3, 1]))
    scores = ct.ContractOp(heads, keys, lhs_batch=[0, 1], rhs_batch=[0, 1], lhs_contract=[3], rhs_contract=[2])
    ops.result("heads", scores)
    back = ops.made(
        ct.ContractOp(scores.result, heads, lhs_batch=[0, 1], rhs_batch=[0, 1], lhs_contract=[3], rhs_contract=[2])
    )
    merged = ops.made(ct.TransposeOp(back, [0, 2, 1, 3]))
    ops.result("heads merged", ct.ReshapeOp(merged, (2, 10, 24)))
    summed = ops.made(ct.ContractOp(value(9, 20), value(20, 33), **plain))
    bias = ops.made(ct.BroadcastOp(value(33), [1], (9, 33)))
    ops.result("transposed result", ct.TransposeOp(ops.made(ct.BinaryOp("add", summed, bias)), [1, 0]))
    ops.check()


WINDOWED = (
    # (channels-first input, kernel, strides, low, high, dilation, input_dilation, groups, output channels)
    ((2, 3, 20), (3,), (1,), (1,), (1,), (1,), (1,), 1, 5),
    ((1, 4, 20), (3,), (2,), (0,), (2,), (2,), (1,), 2, 6),
    ((1, 3, 9, 8), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), 1, 16),
    ((2, 16, 7, 7), (3, 3), (2, 2), (1, 0), (0, 1), (1, 1), (1, 1), 1, 17),
    ((1, 16, 5, 6), (1, 1), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), 1, 33),
    ((1, 32, 6, 6), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), 32, 32),
    ((1, 6, 6, 6), (3, 2), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), 3, 9),
    ((1, 8, 9, 9), (3, 3), (1, 1), (2, 2), (2, 2), (2, 2), (1, 1), 1, 8),
    ((1, 4, 5, 5), (3, 3), (1, 1), (2, 2), (2, 2), (1, 1), (2, 2), 1, 8),
    ((1, 4, 5, 5), (4, 4), (1, 1), (1, 1), (1, 1), (1, 1), (2, 2), 2, 6),
    ((1, 2, 5, 6, 7), (2, 3, 3), (1, 2, 1), (1, 1, 1), (0, 1, 1), (1, 1, 1), (1, 1, 1), 1, 4),
    ((0, 3, 5, 5), (3, 3), (1, 1), (0, 0), (0, 0), (1, 1), (1, 1), 1, 2),
)


def channels_last(array: np.ndarray) -> np.ndarray:
    """The array with dim 1 moved to the end."""
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


@pytest.mark.parametrize("name", PRODUCTS)
def test_convolutions(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    for shape, kernel, strides, low, high, dilation, input_dilation, groups, out in WINDOWED:
        rank = len(shape)
        image = numbers(element, shape)
        given = numbers(element, (out, shape[1] // groups, *kernel), 1)
        weights = (
            [ops.weight(given, element)] if name != "f32" else [ops.weight(given, element), ops.value(given, element)]
        )
        orders = [(image, list(range(rank))), (channels_last(image), [0, rank - 1, *range(1, rank - 1)])]
        for weight in weights:
            for array, order in orders:
                op = ct.ConvolutionOp(
                    ops.value(array, element),
                    weight,
                    input_order=order,
                    strides=strides,
                    low=low,
                    high=high,
                    dilation=dilation,
                    input_dilation=input_dilation,
                    groups=groups,
                )
                ops.result(f"convolution {shape} {kernel} {order} {groups=}", op, 1e-5 if name == "f32" else None)
    ops.check()


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_pools(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    # The loops are the same for all types: one of them sees every window.
    first = [*FLOATS, *INTEGERS].index(name)
    for shape, kernel, strides, low, high, dilation, *_ in WINDOWED if name == "f32" else WINDOWED[first % 3 :: 3]:
        rank = len(shape)
        for kind in ("max", "min", "add"):
            image = numbers(element, shape)
            if kind != "add":
                # Which of two zeros is the larger is nobody's business, so that there is no -0.0.
                image.reshape(-1)[:60] = special(element, 60)[: image.size] + image.dtype.type(0)
            for array, order in (
                (image, list(range(rank))),
                (channels_last(image), [0, rank - 1, *range(1, rank - 1)]),
            ):
                op = ct.PoolOp(
                    kind,
                    ops.value(array, element),
                    kernel=kernel,
                    input_order=order,
                    strides=strides,
                    low=low,
                    high=high,
                    dilation=dilation,
                )
                ops.result(f"pool {kind} {shape} {kernel} {order}", op, 0 if kind != "add" else None)
    ops.check()


@pytest.mark.parametrize("name", FLOATS)
def test_attention(name: str):
    element, ops = ELEMENTS[name], NativeOps()
    for batch, heads, kv_heads, queries, keys, depth, value_depth, mask, causal in (
        ((), 2, 2, 5, 7, 16, 16, None, False),
        ((2,), 2, 2, 17, 17, 32, 32, None, True),
        ((1,), 4, 2, 9, 33, 16, 24, "bool", False),
        ((2,), 4, 1, 9, 9, 8, 8, "float", False),
        ((1, 2), 2, 2, 3, 4, 5, 7, None, False),
        ((1,), 2, 2, 1, 40, 64, 64, "float", False),
    ):
        query = ops.value(numbers(element, (*batch, heads, queries, depth)), element)
        key = ops.value(numbers(element, (*batch, kv_heads, keys, depth), 1), element)
        value = ops.value(numbers(element, (*batch, kv_heads, keys, value_depth), 2), element)
        given = None
        if mask is not None:
            kind = element if mask == "float" else i1
            array = numbers(kind, (*batch, heads, queries, keys), 3)
            if mask == "bool":
                array[..., 0] = True
            given = ops.value(array, kind)
        op = ct.AttentionOp(query, key, value, 0.25, mask=given, causal=causal)
        ops.result(f"attention {batch} {heads}/{kv_heads} {queries}x{keys} {mask=} {causal=}", op)
    ops.check()
