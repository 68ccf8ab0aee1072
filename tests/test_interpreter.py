"""The reference interpreter against PyTorch, op by op; the expected values of composites come from float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32, f64, i1, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from cuvil.dialects import tensor as t
from cuvil.semantics.arrays import round_bf16
from cuvil.semantics.interpreter import InterpretationError, run_function
from cuvil.universe import make_context

RANDOM = np.random.default_rng(0)
NP_TYPES: dict[str, Attribute] = {
    "float32": f32,
    "float64": f64,
    "float16": f16,
    "int64": i64,
    "int32": i32,
    "bool": i1,
}


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def run_op(
    build: Callable[..., Operation], *arrays: Any, types: Sequence[Attribute | None] = ()
) -> list[np.ndarray[Any, Any]]:
    """What the interpreter gives for one op built from the values of function arguments that hold `arrays`."""
    elements = [
        (types[number] if number < len(types) else None) or NP_TYPES[str(array.dtype)]
        for number, array in enumerate(arrays)
    ]
    arguments = [TensorType(element, array.shape) for element, array in zip(elements, arrays, strict=True)]
    function = FuncOp("main", (arguments, []))
    block = function.body.block
    op = build(*block.args)
    block.add_ops([op, ReturnOp(*op.results)])
    function.update_function_type()
    module = ModuleOp([function])
    module.verify()
    return run_function(module, "main", arrays)


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(dtype)


def tensor(array: np.ndarray[Any, Any], dtype: torch.dtype | None = None) -> torch.Tensor:
    made = torch.from_numpy(np.ascontiguousarray(array))
    return made.to(dtype) if dtype is not None else made


def check(got: np.ndarray[Any, Any], expected: torch.Tensor, tolerance: float = 1e-6) -> None:
    wanted = expected.double().numpy()
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~finite], wanted[~finite])
    error = np.linalg.norm(got[finite].astype(np.float64) - wanted[finite])
    assert error <= tolerance * max(float(np.linalg.norm(wanted[finite])), 1e-30)


def same(got: np.ndarray[Any, Any], expected: torch.Tensor) -> None:
    wanted = expected.numpy()
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


# -- movement ----------------------------------------------------------------------------------------------------------


def test_broadcast() -> None:
    x = normal(3, 1)
    (got,) = run_op(lambda v: t.BroadcastOp(v, [1, 2], [2, 3, 4]), x)
    same(got, tensor(x).expand(2, 3, 4))


def test_reshape_and_transpose() -> None:
    x = normal(2, 3, 4)
    same(run_op(lambda v: t.ReshapeOp(v, [6, 4]), x)[0], tensor(x).reshape(6, 4))
    same(run_op(lambda v: t.TransposeOp(v, [2, 0, 1]), x)[0], tensor(x).permute(2, 0, 1))
    same(run_op(lambda v: t.ReshapeOp(v, []), normal(1, 1) * 0)[0], torch.tensor(0.0))


def test_slice() -> None:
    x = normal(5, 9)
    same(run_op(lambda v: t.SliceOp(v, [1, 2], [3, 3], [1, 3]), x)[0], tensor(x)[1:4, 2:9:3])
    same(run_op(lambda v: t.SliceOp(v, [2, 0], [0, 9], [1, 1]), x)[0], tensor(x)[2:2])


def test_concat_and_reverse() -> None:
    x, y = normal(2, 3), normal(2, 1)
    same(run_op(lambda a, b: t.ConcatOp([a, b], 1), x, y)[0], torch.cat([tensor(x), tensor(y)], 1))
    same(run_op(lambda v: t.ReverseOp(v, [0, 1]), x)[0], tensor(x).flip(0, 1))


@pytest.mark.parametrize(("low", "high"), [([1, 0], [0, 2]), ([-1, 1], [0, -2]), ([0, 0], [-3, 3]), ([-3, 0], [1, 0])])
def test_pad(low: list[int], high: list[int]) -> None:
    x, fill = normal(3, 4), np.float32(7)
    (got,) = run_op(lambda v, f: t.PadOp(v, f, low, high), x, np.array(fill))
    same(got, F.pad(tensor(x), [low[1], high[1], low[0], high[0]], value=7.0))


def test_gather() -> None:
    x, i, j = normal(5, 6, 7), np.array([[0, -1], [4, 2]]), np.array([[1, 1], [0, -6]])
    same(run_op(lambda v, a: t.GatherOp(v, [a], [1]), x, i)[0], tensor(x)[:, tensor(i)].permute(1, 2, 0, 3))
    same(run_op(lambda v, a, b: t.GatherOp(v, [a, b], [0, 1]), x, i, j)[0], tensor(x)[tensor(i), tensor(j)])


def test_gather_outside_is_a_located_error() -> None:
    with pytest.raises(InterpretationError, match=r"cuvil_tensor\.gather: index 5 is out of bounds"):
        run_op(lambda v, a: t.GatherOp(v, [a], [0]), normal(5), np.array([5]))


@pytest.mark.parametrize("kind", ["assign", "add", "mul", "max", "min"])
def test_scatter(kind: str) -> None:
    x, u, i = normal(5, 3), normal(2, 3), np.array([3, -5])
    (got,) = run_op(lambda v, w, a: t.ScatterOp(kind, v, w, [a], [0]), x, u, i)
    expected = tensor(x).clone()
    if kind == "assign":
        expected[tensor(i)] = tensor(u)
    else:
        reduction = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}[kind]
        index = tensor(i % 5)[:, None].expand(2, 3)
        expected = expected.scatter_reduce(0, index, tensor(u), reduction)
    check(got, expected)


def test_scatter_assigns_the_last_and_adds_all() -> None:
    x, u, i = np.zeros(3, np.float32), np.array([1, 2, 3], np.float32), np.array([1, 1, 1])
    assert run_op(lambda v, w, a: t.ScatterOp("assign", v, w, [a], [0]), x, u, i)[0].tolist() == [0, 3, 0]
    assert run_op(lambda v, w, a: t.ScatterOp("add", v, w, [a], [0]), x, u, i)[0].tolist() == [0, 6, 0]


def test_iota() -> None:
    (got,) = run_op(lambda v: t.IotaOp(1, i32, [2, 3]), normal(1))
    assert got.dtype == np.int32
    assert got.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_pack_and_unpack() -> None:
    x = normal(5, 40)
    (packed,) = run_op(lambda v: t.PackOp(v, [1], [16], [1, 0]), x)
    assert packed.shape == (3, 5, 16)
    np.testing.assert_array_equal(packed[1], x[:, 16:32])
    np.testing.assert_array_equal(packed[2, :, 8:], 0)
    (back,) = run_op(lambda v: t.UnpackOp(v, [1], [16], [1, 0], [5, 40]), packed)
    np.testing.assert_array_equal(back, x)
    (both,) = run_op(lambda v: t.PackOp(v, [1, 0], [16, 4], [0, 1]), x)
    assert both.shape == (2, 3, 16, 4)
    np.testing.assert_array_equal(run_op(lambda v: t.UnpackOp(v, [1, 0], [16, 4], [0, 1], [5, 40]), both)[0], x)


# -- reduction ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keepdims", [False, True])
def test_float_reductions(keepdims: bool) -> None:
    x = normal(3, 4, 5)
    for kind, function in {"add": torch.sum, "max": torch.amax, "min": torch.amin}.items():
        (got,) = run_op(lambda v, k=kind: t.ReduceOp(k, v, [0, 2], keepdims), x)
        check(got, function(tensor(x).double(), dim=(0, 2), keepdim=keepdims), 1e-7)
    check(run_op(lambda v: t.ReduceOp("mul", v, [1]), x)[0], tensor(x).double().prod(1))


def test_reductions_of_nothing() -> None:
    x = np.zeros((2, 0), np.float32)
    results = {kind: run_op(lambda v, k=kind: t.ReduceOp(k, v, [1]), x)[0][0] for kind in ("add", "mul", "max", "min")}
    assert results == {"add": 0, "mul": 1, "max": -np.inf, "min": np.inf}
    integers = np.zeros((2, 0), np.int32)
    assert run_op(lambda v: t.ReduceOp("max", v, [1]), integers)[0][0] == -(2**31)


def test_integer_sums_wrap_and_nan_propagates() -> None:
    x = np.array([2**31 - 1, 1], np.int32)
    (got,) = run_op(lambda v: t.ReduceOp("add", v, [0]), x)
    assert got == -(2**31)
    assert got.dtype == np.int32
    assert np.isnan(run_op(lambda v: t.ReduceOp("max", v, [0]), np.array([1, np.nan, 3], np.float32))[0])


def test_bool_reductions() -> None:
    x = np.array([[True, False], [True, True]])
    assert run_op(lambda v: t.ReduceOp("and", v, [1]), x)[0].tolist() == [False, True]
    assert run_op(lambda v: t.ReduceOp("or", v, [1]), x)[0].tolist() == [True, True]
    assert run_op(lambda v: t.ReduceOp("xor", v, [1]), x)[0].tolist() == [True, False]
    assert run_op(lambda v: t.ReduceOp("min", v, [1]), x)[0].tolist() == [False, True]


def test_arg_reduce() -> None:
    x = np.array([[1, 3, 3], [np.nan, 5, np.nan]], np.float32)
    same(run_op(lambda v: t.ArgReduceOp("max", v, 1), x)[0], tensor(x).argmax(1))
    same(run_op(lambda v: t.ArgReduceOp("min", v, 1, True), x)[0], tensor(x).argmin(1, keepdim=True))


def test_scan() -> None:
    x = normal(3, 4)
    check(run_op(lambda v: t.ScanOp("add", v, 1), x)[0], tensor(x).double().cumsum(1))
    check(run_op(lambda v: t.ScanOp("mul", v, 0), x)[0], tensor(x).double().cumprod(0))
    same(run_op(lambda v: t.ScanOp("max", v, 1), x)[0], tensor(x).cummax(1).values)
    (got,) = run_op(lambda v: t.ScanOp("add", v, 0, exclusive=True, reverse=True), np.array([1, 2, 3], np.float32))
    assert got.tolist() == [5, 3, 0]
    (got,) = run_op(lambda v: t.ScanOp("add", v, 0), np.array([2**31 - 1, 1], np.int32))
    assert got.tolist() == [2**31 - 1, -(2**31)]


@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_and_nan_is_largest(descending: bool) -> None:
    x = np.array([[3, 1, np.nan, 1, -np.inf, 3]], np.float32)
    values, indices = run_op(lambda v: t.SortOp(v, 1, descending), x)
    expected = tensor(x).sort(dim=1, descending=descending, stable=True)
    same(values, expected.values)
    same(indices, expected.indices)


def test_topk() -> None:
    x = normal(3, 7)
    values, indices = run_op(lambda v: t.TopkOp(v, 2, 1), x)
    expected = tensor(x).topk(2, 1)
    same(values, expected.values)
    same(indices, expected.indices)
    values, _ = run_op(lambda v: t.TopkOp(v, 3, 0, descending=False), x)
    same(values, tensor(x).topk(3, 0, largest=False).values)


# -- contraction -------------------------------------------------------------------------------------------------------


def test_contract() -> None:
    a, b = normal(2, 3, 4, 5), normal(5, 2, 6, 3)
    (got,) = run_op(
        lambda x, y: t.ContractOp(x, y, lhs_batch=[1], rhs_batch=[3], lhs_contract=[0, 3], rhs_contract=[1, 0]), a, b
    )
    check(got, torch.einsum("bacd,dbea->ace", tensor(a).double(), tensor(b).double()), 1e-7)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8])
def test_integer_contractions_wrap(dtype: Any) -> None:
    limits = np.iinfo(dtype)
    a = RANDOM.integers(limits.min, limits.max, (3, 50), dtype)
    b = RANDOM.integers(limits.min, limits.max, (50, 4), dtype)
    from xdsl.dialects.builtin import IntegerType, Signedness

    unsigned = Signedness.UNSIGNED if limits.min == 0 else Signedness.SIGNLESS
    element = IntegerType(limits.bits, unsigned)
    (got,) = run_op(lambda x, y: t.ContractOp(x, y, lhs_contract=[1], rhs_contract=[0]), a, b, types=[element, element])
    same(got, (tensor(a).long() @ tensor(b).long()).to(tensor(a).dtype))


def test_contract_of_nothing() -> None:
    a, b = normal(3, 0), normal(0, 4)
    (got,) = run_op(lambda x, y: t.ContractOp(x, y, lhs_contract=[1], rhs_contract=[0]), a, b)
    same(got, torch.zeros(3, 4))


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_convolution(groups: int) -> None:
    x, w = normal(2, 4, 9, 11), normal(8, 4 // groups, 3, 2)
    (got,) = run_op(
        lambda a, b: t.ConvolutionOp(a, b, strides=[2, 1], low=[1, 2], high=[1, 2], dilation=[2, 3], groups=groups),
        x,
        w,
    )
    expected = F.conv2d(tensor(x).double(), tensor(w).double(), None, (2, 1), (1, 2), (2, 3), groups)
    check(got, expected, 1e-7)


def test_convolution_channels_last_and_one_spatial_dim() -> None:
    x, w = normal(2, 9, 11, 4), normal(8, 4, 3, 3)
    (got,) = run_op(lambda a, b: t.ConvolutionOp(a, b, input_order=[0, 3, 1, 2], low=[1, 0], high=[0, 1]), x, w)
    padded = F.pad(tensor(x).double().permute(0, 3, 1, 2), (0, 1, 1, 0))
    check(got, F.conv2d(padded, tensor(w).double()).permute(0, 2, 3, 1), 1e-7)
    x, w = normal(1, 3, 10), normal(5, 3, 4)
    check(run_op(lambda a, b: t.ConvolutionOp(a, b, strides=[3]), x, w)[0], F.conv1d(tensor(x), tensor(w), stride=3))


def test_transposed_convolution() -> None:
    x, w = normal(1, 4, 5, 5), normal(4, 6, 3, 3)
    turned = np.ascontiguousarray(w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    (got,) = run_op(lambda a, b: t.ConvolutionOp(a, b, low=[1, 1], high=[2, 2], input_dilation=[2, 2]), x, turned)
    expected = F.conv_transpose2d(tensor(x).double(), tensor(w).double(), None, 2, 1, 1)
    check(got, expected, 1e-7)


def test_pool() -> None:
    x = normal(2, 3, 9, 8)
    x[0, 0, 4, 4] = np.nan
    window = {"kernel": [3, 2], "strides": [2, 2], "low": [1, 1], "high": [1, 1]}
    same(run_op(lambda v: t.PoolOp("max", v, **window), x)[0], F.max_pool2d(tensor(x), (3, 2), 2, 1))
    (got,) = run_op(lambda v: t.PoolOp("add", v, **window), x)
    check(got, F.avg_pool2d(tensor(x).double(), (3, 2), 2, 1, divisor_override=1))
    same(run_op(lambda v: t.PoolOp("max", v, kernel=[2, 2], strides=[1, 1], dilation=[2, 1]), x)[0],
         F.max_pool2d(tensor(x), 2, 1, 0, (2, 1)))  # fmt: skip


# -- casts -------------------------------------------------------------------------------------------------------------


def test_casts() -> None:
    x = np.array([-1.7, 0.0, 2.5, 300.0, np.nan], np.float32)
    same(run_op(lambda v: t.CastOp(v, i1), x)[0], tensor(x).bool())
    same(run_op(lambda v: t.CastOp(v, i64), x[:4])[0], tensor(x)[:4].long())
    same(run_op(lambda v: t.CastOp(v, f16), x)[0], tensor(x).half())
    numbers = np.array([-1, 300, 2**40 + 5])
    same(run_op(lambda v: t.CastOp(v, i32), numbers)[0], tensor(numbers).int())
    same(run_op(lambda v: t.CastOp(v, f32), np.array([True, False]))[0], torch.tensor([1.0, 0.0]))
    (got,) = run_op(lambda v: t.CastOp(v, bf16), normal(100))
    assert np.array_equal(got, round_bf16(got))


def test_bf16_rounds_as_pytorch() -> None:
    x = np.concatenate([normal(1000), np.array([np.nan, np.inf, -np.inf, 3.4e38, -0.0, 1e-40, 1.00390625], np.float32)])
    expected = tensor(x).bfloat16().float().numpy()
    np.testing.assert_array_equal(round_bf16(x), expected)
    np.testing.assert_array_equal(np.signbit(round_bf16(x[1001:])), np.signbit(expected[1001:]))


# -- structure ---------------------------------------------------------------------------------------------------------


def test_globals_are_computed_once_from_parameters() -> None:
    module = parse("""
      cuvil_tensor.global @w : tensor<2xf32>
      cuvil_tensor.global @doubled : tensor<2xf32> {
        %w = cuvil_tensor.parameter @w : tensor<2xf32>
        %s = cuvil_tensor.binary add %w, %w : tensor<2xf32>
        cuvil_tensor.init_yield %s : tensor<2xf32>
      }
      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %w = cuvil_tensor.parameter @doubled : tensor<2xf32>
        %y = cuvil_tensor.binary mul %w, %x : tensor<2xf32>
        func.return %y : tensor<2xf32>
      }
    """)
    (got,) = run_function(module, "main", [np.array([1, 2], np.float32)], {"w": np.array([3, 4], np.float32)})
    assert got.tolist() == [6, 16]
    with pytest.raises(Exception, match="parameter 'w' has no value"):
        run_function(module, "main", [np.array([1, 2], np.float32)])


def test_control_flow_on_tensors() -> None:
    module = parse("""
      func.func @main(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
        %zero = cuvil_tensor.constant dense<0> : tensor<i64>
        %one = cuvil_tensor.constant dense<1> : tensor<i64>
        %r:2 = scf.while (%i = %zero, %v = %x) : (tensor<i64>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>) {
          %t = cuvil_tensor.binary lt %i, %n : tensor<i64>
          %c = tensor.extract %t[] : tensor<i1>
          scf.condition(%c) %i, %v : tensor<i64>, tensor<2xf32>
        } do {
        ^bb0(%i: tensor<i64>, %v: tensor<2xf32>):
          %next = cuvil_tensor.binary add %i, %one : tensor<i64>
          %w = func.call @double(%v) : (tensor<2xf32>) -> tensor<2xf32>
          scf.yield %next, %w : tensor<i64>, tensor<2xf32>
        }
        %big = cuvil_tensor.binary gt %n, %one : tensor<i64>
        %c = tensor.extract %big[] : tensor<i1>
        %y = scf.if %c -> (tensor<2xf32>) {
          scf.yield %r#1 : tensor<2xf32>
        } else {
          %m = cuvil_tensor.unary neg %r#1 : tensor<2xf32>
          scf.yield %m : tensor<2xf32>
        }
        %low = arith.constant 0 : index
        %step = arith.constant 1 : index
        %high = arith.constant 3 : index
        %z = scf.for %k = %low to %high step %step iter_args(%s = %y) -> (tensor<2xf32>) {
          %q = cuvil_tensor.binary add %s, %x : tensor<2xf32>
          scf.yield %q : tensor<2xf32>
        }
        func.return %z : tensor<2xf32>
      }
      func.func @double(%x: tensor<2xf32>) -> tensor<2xf32> {
        %y = cuvil_tensor.binary add %x, %x : tensor<2xf32>
        func.return %y : tensor<2xf32>
      }
    """)
    x = np.array([1, 2], np.float32)
    assert run_function(module, "main", [np.array(3), x])[0].tolist() == [11, 22]
    assert run_function(module, "main", [np.array(1), x])[0].tolist() == [1, 2]


def test_symbolic_dims_are_bound_by_the_arguments() -> None:
    module = parse("""
      func.func @main(%x: tensor<?x2xf32, #cuvil_tensor.dims<"2*s0 + 1", 2>>, %c: tensor<f32>)
          -> tensor<?xf32, #cuvil_tensor.dims<"s0">> {
        %y = cuvil_tensor.broadcast %c axes = [] : tensor<f32> -> tensor<?xf32, #cuvil_tensor.dims<"s0">>
        func.return %y : tensor<?xf32, #cuvil_tensor.dims<"s0">>
      }
    """)
    assert run_function(module, "main", [normal(7, 2), np.float32(1)])[0].shape == (3,)
    with pytest.raises(Exception, match="a dim of size 6 is declared as 2\\*s0 \\+ 1"):
        run_function(module, "main", [normal(6, 2), np.float32(1)])


def test_arguments_must_fit() -> None:
    module = parse("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { func.return %x : tensor<2xf32> }")
    with pytest.raises(Exception, match="argument 0 of @main has shape 3, expected tensor<2xf32>"):
        run_function(module, "main", [normal(3)])
    with pytest.raises(Exception, match="function @main takes 1 arguments, got 0"):
        run_function(module, "main", [])
    with pytest.raises(Exception, match="there is no function @f in the module; it has @main"):
        run_function(module, "f", [])


def test_an_operation_without_meaning_is_named() -> None:
    module = parse("""
      func.func @main(%x: index) -> index { %y = arith.constant 1 : index
        %z = "irdl.any"() : () -> !irdl.attribute
        func.return %y : index }
    """)
    with pytest.raises(InterpretationError, match=r"irdl\.any: the reference interpreter has no meaning"):
        run_function(module, "main", [np.array(1)])
