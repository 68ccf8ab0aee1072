"""Costs: operations and bytes of ops, kernels and whole modules."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from cuvil.ir_text import parse_module
from cuvil.semantics.costs import Cost, cost_of, total_cost
from cuvil.semantics.dims import symbol
from cuvil.universe import make_context


def op_of(text: str, arguments: str) -> Operation:
    module = parse_module(make_context(), f"func.func @main({arguments}) {{\n {text}\n func.return }}")
    module.verify()
    return next(op for op in module.walk() if op.name.startswith("cuvil_"))


@pytest.mark.parametrize(
    ("text", "arguments", "flops", "size_bytes"),
    [
        ("%0 = cuvil_tensor.binary add %x, %x : tensor<4x8xf32>", "%x: tensor<4x8xf32>", 32, 3 * 128),
        ("%0 = cuvil_tensor.unary exp %x : tensor<4xf16>", "%x: tensor<4xf16>", 48, 16),
        (
            "%0 = cuvil_tensor.reduce add %x axes = [0] : tensor<4x8xf32> -> tensor<8xf32>",
            "%x: tensor<4x8xf32>",
            32,
            160,
        ),
        ("%0 = cuvil_tensor.reshape %x : tensor<4x8xf32> -> tensor<32xf32>", "%x: tensor<4x8xf32>", 0, 256),
        ("%0 = cuvil_tensor.cast %x : tensor<8xi1> -> tensor<8xf32>", "%x: tensor<8xi1>", 0, 40),
        (
            "%0 = cuvil_tensor.contract %x, %y lhs_batch = [] rhs_batch = [] lhs_contract = [1] rhs_contract = [0]"
            " : tensor<4x8xf32>, tensor<8x2xf32> -> tensor<4x2xf32>",
            "%x: tensor<4x8xf32>, %y: tensor<8x2xf32>",
            2 * 4 * 8 * 2,
            4 * (32 + 16 + 8),
        ),
        (
            "%0 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2] strides = [1] low = [0] high = [0]"
            " dilation = [1] input_dilation = [1] groups = 2"
            " : tensor<1x4x8xf32>, tensor<6x2x3xf32> -> tensor<1x6x6xf32>",
            "%x: tensor<1x4x8xf32>, %w: tensor<6x2x3xf32>",
            2 * 36 * 2 * 3,
            4 * (32 + 36 + 36),
        ),
        # Sigmoid and product.
        ("%0 = cuvil_tensor.silu %x : tensor<4xf32> -> tensor<4xf32>", "%x: tensor<4xf32>", 4 * 15, 32),
    ],
)
def test_cost_of_an_op(text: str, arguments: str, flops: int, size_bytes: int) -> None:
    assert cost_of(op_of(text, arguments)) == Cost(flops, size_bytes)


def test_a_kernel_moves_only_what_it_reads_and_writes() -> None:
    kernel = op_of(
        """%0 = cuvil_fused.kernel @k(%a = %x) family = loop : (tensor<4xf32>) -> (tensor<4xf32>) {
          %1 = cuvil_tensor.binary add %a, %a : tensor<4xf32>
          %2 = cuvil_tensor.binary mul %1, %1 : tensor<4xf32>
          cuvil_fused.yield %2 : tensor<4xf32>
        }""",
        "%x: tensor<4xf32>",
    )
    assert cost_of(kernel) == Cost(8, 32)
    assert total_cost(kernel) == Cost(8, 32)


def test_symbolic_costs() -> None:
    cost = cost_of(
        op_of(
            '%0 = cuvil_tensor.binary add %x, %x : tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>',
            '%x: tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>',
        )
    )
    assert cost == Cost(symbol("s0") * 8, symbol("s0") * 96)
    assert cost.intensity is None
    assert Cost(6, 3).intensity == 2
