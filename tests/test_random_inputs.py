"""Random inputs and weights: in range where they are indices, positive where variances, of unit size in sums."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from cuvil.ir_text import parse_module
from cuvil.semantics.interpreter import run_function
from cuvil.semantics.random_inputs import make_inputs, make_parameters
from cuvil.universe import make_context


def parse(text: str) -> ModuleOp:
    module = parse_module(make_context(), text)
    module.verify()
    return module


def test_indices_are_in_range_through_movement_arithmetic_and_calls() -> None:
    module = parse("""
      cuvil_tensor.global @table : tensor<5x3xf32>
      func.func @main(%i: tensor<400xi32>, %j: tensor<400xi64>) -> (tensor<400x3xf32>, tensor<400xf32>) {
        %t = cuvil_tensor.parameter @table : tensor<5x3xf32>
        %two = cuvil_tensor.constant dense<2> : tensor<400xi64>
        %k = cuvil_tensor.cast %i : tensor<400xi32> -> tensor<400xi64>
        %l = cuvil_tensor.binary add %k, %two : tensor<400xi64>
        %r = func.call @look_up(%t, %l) : (tensor<5x3xf32>, tensor<400xi64>) -> tensor<400x3xf32>
        %s = cuvil_tensor.gather %t, %k, %j axes = [0, 1]
          : tensor<5x3xf32>, tensor<400xi64>, tensor<400xi64> -> tensor<400xf32>
        func.return %r, %s : tensor<400x3xf32>, tensor<400xf32>
      }
      func.func private @look_up(%t: tensor<5x3xf32>, %i: tensor<400xi64>) -> tensor<400x3xf32> {
        %0 = cuvil_tensor.gather %t, %i axes = [0] : tensor<5x3xf32>, tensor<400xi64> -> tensor<400x3xf32>
        func.return %0 : tensor<400x3xf32>
      }
    """)
    i, j = make_inputs(module, "main", 0)
    assert i.dtype == np.int32
    assert set(i.tolist()) == {0, 1, 2}
    assert set(j.tolist()) == {0, 1, 2}
    run_function(module, "main", [i, j], make_parameters(module, 0))


def test_activations_stay_of_unit_size() -> None:
    module = parse("""
      cuvil_tensor.global @first : tensor<512x256xf32>
      cuvil_tensor.global @second : tensor<64x512x3xf32>
      cuvil_tensor.global @running_var : tensor<64xf32>
      cuvil_tensor.global @running_mean : tensor<64xf32>
      func.func @main(%x: tensor<8x256xf32>) -> (tensor<8x512xf32>, tensor<1x64x6xf32>) {
        %w = cuvil_tensor.parameter @first : tensor<512x256xf32>
        %v = cuvil_tensor.parameter @second : tensor<64x512x3xf32>
        %var = cuvil_tensor.parameter @running_var : tensor<64xf32>
        %mean = cuvil_tensor.parameter @running_mean : tensor<64xf32>
        %0 = cuvil_tensor.linear %x, %w : tensor<8x256xf32>, tensor<512x256xf32> -> tensor<8x512xf32>
        %1 = cuvil_tensor.transpose %0 input_order = [1, 0] : tensor<8x512xf32> -> tensor<512x8xf32>
        %2 = cuvil_tensor.reshape %1 : tensor<512x8xf32> -> tensor<1x512x8xf32>
        %3 = cuvil_tensor.convolution %2, %v input_order = [0, 1, 2] strides = [1] low = [0] high = [0] dilation = [1]
          input_dilation = [1] groups = 1 : tensor<1x512x8xf32>, tensor<64x512x3xf32> -> tensor<1x64x6xf32>
        %4 = cuvil_tensor.batch_norm %3, %mean, %var axis = 1 eps = 1.0e-05
          : tensor<1x64x6xf32>, tensor<64xf32>, tensor<64xf32> -> tensor<1x64x6xf32>
        func.return %0, %4 : tensor<8x512xf32>, tensor<1x64x6xf32>
      }
    """)
    parameters = make_parameters(module, 0)
    assert parameters["running_var"].min() > 0
    for result in run_function(module, "main", make_inputs(module, "main", 0), parameters):
        assert 0.6 < result.std() < 1.6


def test_values_depend_on_seed_and_name_alone() -> None:
    text = """
      cuvil_tensor.global @a : tensor<4xf32>
      cuvil_tensor.global @b : tensor<4xf32>
    """
    one, other = make_parameters(parse(text), 0), make_parameters(parse("cuvil_tensor.global @b : tensor<4xf32>"), 0)
    assert np.array_equal(one["b"], other["b"])
    assert not np.array_equal(one["a"], one["b"])
    assert not np.array_equal(make_parameters(parse(text), 1)["a"], one["a"])


def test_symbolic_sizes() -> None:
    module = parse("""
      func.func @main(%x: tensor<?x?xf32, #cuvil_tensor.dims<"s0", "2*s0 + 1">>) { func.return }
    """)
    (small,) = make_inputs(module, "main", 0)
    assert small.shape[1] == 2 * small.shape[0] + 1
    (given,) = make_inputs(module, "main", 0, {"s0": 10})
    assert given.shape == (10, 21)


def test_every_element_type() -> None:
    module = parse("""
      func.func @main(%a: tensor<50xbf16>, %b: tensor<50xi1>, %c: tensor<50xui8>, %d: tensor<i64>,
                      %mask: tensor<50xi64>,
                      %e: f32, %f: index) { func.return }
    """)
    a, b, c, d, mask, e, f = make_inputs(module, "main", 0)
    assert (a.dtype, b.dtype, c.dtype, d.dtype) == (np.float32, np.bool_, np.uint8, np.int64)
    assert np.array_equal((a.view(np.uint32) & 0xFFFF), np.zeros(50))
    assert set(mask.tolist()) == {0, 1}
    assert np.shape(d) == np.shape(e) == np.shape(f) == ()
