"""Sums of products and windows in `cuvil_tensor`: contract, convolution, pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def

from cuvil.dialects.base import int_attr, ints
from cuvil.dialects.tensor_movement import MovementOp, element_of, numbers
from cuvil.dialects.tensor_reduction import KindedOp
from cuvil.dialects.types import element_domain, shape_of, tensor_of
from cuvil.semantics import shape_rules


class ProductOp(MovementOp):
    """Base: two operands of one numeric element type, which is the result's too; sums of f16/bf16 are kept in f32."""

    def check(self) -> None:
        first, second = (element_of(operand) for operand in self.operands)
        if first != second:
            raise self.fault(f"operands differ in element type: {first}, {second}; cast first")
        if element_domain(first) not in ("f", "i"):
            raise self.fault(f"products are not defined on {first}")


@irdl_op_definition
class ContractOp(ProductOp):
    """Every matmul and einsum: the sum over the contracted dims of lhs * rhs.

    `lhs_batch[i]` and `rhs_batch[i]` are one dim of the result, `lhs_contract[i]` and `rhs_contract[i]` are summed
    over. The result has the batch dims, then the lhs's other dims (M), then the rhs's other dims (N).

    `%2 = cuvil_tensor.contract %0, %1 lhs_batch = [0] rhs_batch = [0] lhs_contract = [2] rhs_contract = [1]
      : tensor<8x4x16xf32>, tensor<8x16x32xf32> -> tensor<8x4x32xf32>`
    """

    name = "cuvil_tensor.contract"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    lhs_batch = prop_def(DenseArrayBase.constr(I64))
    rhs_batch = prop_def(DenseArrayBase.constr(I64))
    lhs_contract = prop_def(DenseArrayBase.constr(I64))
    rhs_contract = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        *,
        lhs_batch: Sequence[int] = (),
        rhs_batch: Sequence[int] = (),
        lhs_contract: Sequence[int],
        rhs_contract: Sequence[int],
    ):
        left, right = SSAValue.get(lhs), SSAValue.get(rhs)
        shape = shape_rules.contract(
            shape_of(left.type), shape_of(right.type), lhs_batch, rhs_batch, lhs_contract, rhs_contract
        )
        super().__init__(
            operands=[left, right],
            properties={
                "lhs_batch": ints(lhs_batch),
                "rhs_batch": ints(rhs_batch),
                "lhs_contract": ints(lhs_contract),
                "rhs_contract": ints(rhs_contract),
            },
            result_types=[tensor_of(element_of(left), shape)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.contract(
                shape_of(self.lhs.type),
                shape_of(self.rhs.type),
                numbers(self.lhs_batch),
                numbers(self.rhs_batch),
                numbers(self.lhs_contract),
                numbers(self.rhs_contract),
            )
        )


@irdl_op_definition
class ConvolutionOp(ProductOp):
    """Cross-correlation over any number of spatial dims, as PyTorch's convN_d; weight is [O, I / groups, spatial...].

    `input_order[i]` is the place in the input's (and the result's) shape of dim i of (batch, channels, spatial...):
    [0, 1, 2, 3] is NCHW, [0, 3, 1, 2] is NHWC. `low` and `high` pad each spatial dim with zeros. `input_dilation` puts
    zeros between input elements: a transposed convolution is one with the weight reversed in space.

    `%2 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] strides = [2, 2] low = [1, 1] high = [1, 1]
      dilation = [1, 1] input_dilation = [1, 1] groups = 1
      : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x4x4xf32>`
    """

    name = "cuvil_tensor.convolution"

    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    input_order = prop_def(DenseArrayBase.constr(I64))
    strides = prop_def(DenseArrayBase.constr(I64))
    low = prop_def(DenseArrayBase.constr(I64))
    high = prop_def(DenseArrayBase.constr(I64))
    dilation = prop_def(DenseArrayBase.constr(I64))
    input_dilation = prop_def(DenseArrayBase.constr(I64))
    groups = prop_def(IntegerAttr[I64])
    result = result_def(TensorType)

    def __init__(
        self,
        input: SSAValue | Operation,
        weight: SSAValue | Operation,
        *,
        input_order: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        low: Sequence[int] | None = None,
        high: Sequence[int] | None = None,
        dilation: Sequence[int] | None = None,
        input_dilation: Sequence[int] | None = None,
        groups: int = 1,
    ):
        value, kernel = SSAValue.get(input), SSAValue.get(weight)
        rank = len(shape_of(value.type))
        order = list(range(rank)) if input_order is None else list(input_order)
        ones, zeros = [1] * (rank - 2), [0] * (rank - 2)
        strides, dilation, input_dilation = strides or ones, dilation or ones, input_dilation or ones
        low, high = low or zeros, high or zeros
        shape = shape_rules.convolution(
            shape_of(value.type), shape_of(kernel.type), order, strides, low, high, dilation, input_dilation, groups
        )
        super().__init__(
            operands=[value, kernel],
            properties={
                "input_order": ints(order),
                "strides": ints(strides),
                "low": ints(low),
                "high": ints(high),
                "dilation": ints(dilation),
                "input_dilation": ints(input_dilation),
                "groups": int_attr(groups),
            },
            result_types=[tensor_of(element_of(value), shape)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.convolution(
                shape_of(self.input.type),
                shape_of(self.weight.type),
                numbers(self.input_order),
                numbers(self.strides),
                numbers(self.low),
                numbers(self.high),
                numbers(self.dilation),
                numbers(self.input_dilation),
                self.groups.value.data,
            )
        )


@irdl_op_definition
class PoolOp(KindedOp):
    """A reduction over windows of the spatial dims; padding counts as the reduction's neutral element.

    An average is `add` followed by a division. `input_order` as in `convolution`; `max` and `min` propagate NaN.

    `%1 = cuvil_tensor.pool max %x input_order = [0, 1, 2, 3] kernel = [3, 3] strides = [2, 2] low = [1, 1]
      high = [1, 1] dilation = [1, 1] : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>`
    """

    name = "cuvil_tensor.pool"
    KINDS: ClassVar[dict[str, str]] = {"max": "fi", "min": "fi", "add": "fi"}

    kind = prop_def(StringAttr)
    input = operand_def(TensorType)
    input_order = prop_def(DenseArrayBase.constr(I64))
    kernel = prop_def(DenseArrayBase.constr(I64))
    strides = prop_def(DenseArrayBase.constr(I64))
    low = prop_def(DenseArrayBase.constr(I64))
    high = prop_def(DenseArrayBase.constr(I64))
    dilation = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(
        self,
        kind: str,
        input: SSAValue | Operation,
        *,
        kernel: Sequence[int],
        input_order: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        low: Sequence[int] | None = None,
        high: Sequence[int] | None = None,
        dilation: Sequence[int] | None = None,
    ):
        value = SSAValue.get(input)
        rank = len(shape_of(value.type))
        order = list(range(rank)) if input_order is None else list(input_order)
        strides, dilation = strides or kernel, dilation or [1] * len(kernel)
        low, high = low or [0] * len(kernel), high or [0] * len(kernel)
        shape = shape_rules.pool(shape_of(value.type), order, kernel, strides, low, high, dilation)
        super().__init__(
            operands=[value],
            properties={
                "kind": StringAttr(kind),
                "input_order": ints(order),
                "kernel": ints(kernel),
                "strides": ints(strides),
                "low": ints(low),
                "high": ints(high),
                "dilation": ints(dilation),
            },
            result_types=[tensor_of(element_of(value), shape)],
        )

    def check(self) -> None:
        self.check_kind(self.kind.data)
        if any(size < 1 for size in numbers(self.kernel)):
            raise self.fault(f"kernel sizes are >= 1, got {list(numbers(self.kernel))}")

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.pool(
                shape_of(self.input.type),
                numbers(self.input_order),
                numbers(self.kernel),
                numbers(self.strides),
                numbers(self.low),
                numbers(self.high),
                numbers(self.dilation),
            )
        )
