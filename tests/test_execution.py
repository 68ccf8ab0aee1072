"""Execution at every level: what level a module is at, buffers, native code, and the loop level in the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from cuvil.errors import CuvilError
from cuvil.ir_text import parse_module
from cuvil.pass_manager import PassManager
from cuvil.semantics.comparison import compare
from cuvil.semantics.execution import execute
from cuvil.semantics.interpreter import run_function
from cuvil.semantics.levels import level_of
from cuvil.semantics.random_inputs import make_inputs, make_parameters
from cuvil.universe import make_context

STEPS = ("bufferize", "plan-memory", "lower-fused-to-loops", "lower-math", "lower-loops-to-llvm")
LEVELS = ("fused", "buffers", "buffers", "loops", "loops", "llvm")

PROGRAM = """
  cuvil_tensor.global @w : tensor<8xf32>
  cuvil_tensor.global @scale : tensor<8xf32> {
    %0 = cuvil_tensor.parameter @w : tensor<8xf32>
    %1 = cuvil_tensor.binary mul %0, %0 : tensor<8xf32>
    cuvil_tensor.init_yield %1 : tensor<8xf32>
  }
  func.func @main(%x: tensor<2x8xf32>, %p: tensor<2x8xi1>) -> (tensor<2x8xf32>, tensor<2xf32>) {
    %w = cuvil_tensor.parameter @scale : tensor<8xf32>
    %0 = cuvil_fused.kernel @scaled(%a = %x, %s = %w) family = loop
        : (tensor<2x8xf32>, tensor<8xf32>) -> (tensor<2x8xf32>) {
      %1 = cuvil_tensor.broadcast %s axes = [1] : tensor<8xf32> -> tensor<2x8xf32>
      %2 = cuvil_tensor.unary tanh %a : tensor<2x8xf32>
      %3 = cuvil_tensor.binary mul %2, %1 : tensor<2x8xf32>
      cuvil_fused.yield %3 : tensor<2x8xf32>
    }
    %4 = cuvil_fused.kernel @chosen(%a = %0, %b = %x, %c = %p) family = loop
        : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xi1>) -> (tensor<2x8xf32>) {
      %5 = cuvil_tensor.ternary select %c, %a, %b : tensor<2x8xi1>, tensor<2x8xf32>, tensor<2x8xf32>
      cuvil_fused.yield %5 : tensor<2x8xf32>
    }
    %6 = cuvil_fused.kernel @summed(%a = %4) family = loop : (tensor<2x8xf32>) -> (tensor<2xf32>) {
      %7 = cuvil_tensor.reduce add %a axes = [1] : tensor<2x8xf32> -> tensor<2xf32>
      cuvil_fused.yield %7 : tensor<2xf32>
    }
    func.return %4, %6 : tensor<2x8xf32>, tensor<2xf32>
  }
"""


def parse(text: str) -> ModuleOp:
    module = parse_module(make_context(), text)
    module.verify()
    return module


@pytest.mark.parametrize("steps", range(len(STEPS) + 1))
def test_every_level_computes_the_same(steps: int) -> None:
    module = parse(PROGRAM)
    parameters, inputs = make_parameters(module), make_inputs(module, "main")
    computed: dict[str, np.ndarray] = {}
    expected = execute(module, "main", inputs, parameters, computed)
    PassManager(",".join(STEPS[:steps])).run(module)
    assert level_of(module) == LEVELS[steps]
    before = str(module)
    results = execute(module, "main", inputs, parameters, computed)
    assert str(module) == before
    for result, reference in zip(results, expected, strict=True):
        assert result.shape == reference.shape
        assert compare(result, reference).within(1e-6)


def test_values_by_name_are_missed() -> None:
    module = parse(PROGRAM)
    inputs = make_inputs(module, "main")
    with pytest.raises(CuvilError, match="parameter 'w' has no value"):
        execute(module, "main", inputs, {})
    PassManager(",".join(STEPS)).run(module)
    with pytest.raises(CuvilError, match="parameter 'w' has no value"):
        execute(module, "main", inputs, {})
    with pytest.raises(CuvilError, match="parameter 'scale' has no value"):
        execute(module, "main", inputs, {"w": np.ones(8, np.float32)})


def test_a_tensor_level_module() -> None:
    module = parse("""
      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = cuvil_tensor.unary neg %x : tensor<2xf32>
        func.return %0 : tensor<2xf32>
      }
    """)
    assert level_of(module) == "tensor"
    assert execute(module, "main", [np.array([1, 2], np.float32)])[0].tolist() == [-1, -2]


def test_a_buffer_read_after_its_end_shows() -> None:
    module = parse("""
      func.func @main(%x: memref<2xf32>, %out0: memref<2xf32>) attributes {cuvil_fused.outputs = 1 : i64} {
        %a = cuvil_fused.alloc : memref<2xf32>
        cuvil_fused.copy %x, %a : memref<2xf32>, memref<2xf32>
        cuvil_fused.free %a : memref<2xf32>
        cuvil_fused.copy %a, %out0 : memref<2xf32>, memref<2xf32>
        func.return
      }
    """)
    (result,) = execute(module, "main", [np.ones(2, np.float32)])
    assert np.isnan(result).all()


def test_bf16_buffers_hold_bits() -> None:
    module = parse("""
      func.func @main(%x: memref<2xbf16>, %out0: memref<2xbf16>, %arena: memref<64xi8>)
          attributes {cuvil_fused.outputs = 1 : i64, cuvil_fused.arena_bytes = 64 : i64} {
        %a = cuvil_fused.arena_view %arena at 0 : memref<64xi8> to memref<2xbf16>
        cuvil_fused.kernel @k(%v = %x) into(%a) family = loop : (memref<2xbf16>) into (memref<2xbf16>) {
          %0 = cuvil_tensor.binary mul %v, %v : tensor<2xbf16>
          cuvil_fused.yield %0 : tensor<2xbf16>
        }
        cuvil_fused.copy %a, %out0 : memref<2xbf16>, memref<2xbf16>
        func.return
      }
    """)
    (result,) = execute(module, "main", [np.array([1.0078125, 3], np.float32)])
    assert result.tolist() == [1.015625, 9]


def test_the_loop_level_in_the_interpreter() -> None:
    module = parse("""
      func.func @main(%x: memref<10xf32>, %y: memref<10xf32>, %total: memref<1xf32>) {
        %zero = arith.constant 0 : index
        %four = arith.constant 4 : index
        %ten = arith.constant 10 : index
        %start = arith.constant dense<0.0> : vector<4xf32>
        %none = arith.constant 0.0 : f32
        %sum = scf.for %i = %zero to %ten step %four iter_args(%acc = %start) -> (vector<4xf32>) {
          %left = arith.subi %ten, %i : index
          %mask = vector.create_mask %left : vector<4xi1>
          %v = vector.maskedload %x[%i], %mask, %start : memref<10xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
          %w = math.sqrt %v : vector<4xf32>
          %u = vector.fma %w, %w, %v : vector<4xf32>
          vector.maskedstore %y[%i], %mask, %u : memref<10xf32>, vector<4xi1>, vector<4xf32>
          %more = arith.addf %acc, %u : vector<4xf32>
          scf.yield %more : vector<4xf32>
        }
        %all = vector.reduction <add>, %sum : vector<4xf32> into f32
        memref.store %all, %total[%zero] : memref<1xf32>
        func.return
      }
    """)
    x, y, total = np.arange(10, dtype=np.float32), np.zeros(10, np.float32), np.zeros(1, np.float32)
    assert run_function(module, "main", [x, y, total]) == []
    np.testing.assert_allclose(y, 2 * x, rtol=1e-6)
    np.testing.assert_allclose(total, [90], rtol=1e-6)


def test_lanes_outside_a_buffer_are_an_error() -> None:
    module = parse("""
      func.func @main(%x: memref<6xf32>) {
        %i = arith.constant 4 : index
        %v = vector.load %x[%i] : memref<6xf32>, vector<4xf32>
        func.return
      }
    """)
    with pytest.raises(CuvilError, match=r"vector\.load: lanes 4 to 7 are outside a buffer of shape \[6\]"):
        run_function(module, "main", [np.zeros(6, np.float32)])


def test_blocks_jump() -> None:
    module = parse("""
      func.func @main(%n: i64) -> i64 {
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        cf.br ^loop(%zero, %n : i64, i64)
      ^loop(%total: i64, %i: i64):
        %more = arith.cmpi sgt, %i, %zero : i64
        cf.cond_br %more, ^body, ^end(%total : i64)
      ^body:
        %t = arith.addi %total, %i : i64
        %j = arith.subi %i, %one : i64
        cf.br ^loop(%t, %j : i64, i64)
      ^end(%r: i64):
        func.return %r : i64
      }
    """)
    assert run_function(module, "main", [np.int64(4)]) == [10]


def test_comparison() -> None:
    reference = np.array([3.0, 4.0, np.nan, np.inf], np.float32)
    assert compare(reference, reference).is_exact
    near = compare(reference + np.float32(1e-6), reference)
    assert near.within(1e-6)
    assert not near.within(1e-8)
    assert not compare(np.array([3, 4, 0, np.inf], np.float32), reference).within(1)
    assert not compare(np.zeros(3, np.float32), reference).within(1)
    assert not compare(np.array([1, 2]), np.array([1, 3])).within(1)
