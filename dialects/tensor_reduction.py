"""Ops of `cuvil_tensor` that combine or order elements along axes: reduce, arg_reduce, scan, sort, topk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, StringAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from cuvil.dialects.base import TensorOp, int_attr, ints
from cuvil.dialects.tensor_movement import MovementOp, element_of, numbers
from cuvil.dialects.types import element_domain, shape_of, tensor_of
from cuvil.semantics import shape_rules
from cuvil.semantics.dims import Dim


class KindedOp(MovementOp):
    """Base: `kind` is one of a closed set, each defined on some element domains (`f`, `i`, `b`)."""

    KINDS: ClassVar[dict[str, str]]

    def check_kind(self, kind: str) -> None:
        """Refuse a kind that does not exist or does not fit the element type."""
        if kind not in self.KINDS:
            raise self.fault(f"unknown kind '{kind}'; it is one of {', '.join(self.KINDS)}")
        domain = element_domain(element_of(self.operands[0]))
        if domain is None or domain not in self.KINDS[kind]:
            raise self.fault(f"kind '{kind}' is not defined on {element_of(self.operands[0])}")


REDUCTIONS: dict[str, str] = {
    "add": "fi",
    "mul": "fi",
    "max": "fib",
    "min": "fib",
    "and": "ib",
    "or": "ib",
    "xor": "ib",
}
"""Reductions and the domains they are defined on. max and min propagate NaN; of nothing they are the type's
extremes."""


@irdl_op_definition
class ReduceOp(KindedOp):
    """All elements along `axes` combined; of none: the neutral element (0, 1, -inf or the smallest integer, ...).

    The order of a float `add` or `mul` is free. `keepdims` keeps reduced dims as 1.

    `%1 = cuvil_tensor.reduce add %0 axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>`
    """

    name = "cuvil_tensor.reduce"
    KINDS: ClassVar[dict[str, str]] = REDUCTIONS

    kind = prop_def(StringAttr)
    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    keepdims = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    def __init__(self, kind: str, input: SSAValue | Operation, axes: Sequence[int], keepdims: bool = False):
        value = SSAValue.get(input)
        shape = shape_rules.reduce(shape_of(value.type), axes, keepdims)
        super().__init__(
            operands=[value],
            properties={"kind": StringAttr(kind), "axes": ints(axes), "keepdims": UnitAttr() if keepdims else None},
            result_types=[tensor_of(element_of(value), shape)],
        )

    def check(self) -> None:
        self.check_kind(self.kind.data)

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.reduce(shape_of(self.input.type), numbers(self.axes), self.keepdims is not None)
        )


@irdl_op_definition
class ArgReduceOp(KindedOp):
    """The position along `axis` of the largest or smallest element: the first one, and the first NaN if there is any.

    `%1 = cuvil_tensor.arg_reduce max %0 axis = 1 : tensor<4x8xf32> -> tensor<4xi64>`
    """

    name = "cuvil_tensor.arg_reduce"
    KINDS: ClassVar[dict[str, str]] = {"max": "fib", "min": "fib"}

    kind = prop_def(StringAttr)
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    keepdims = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    def __init__(self, kind: str, input: SSAValue | Operation, axis: int, keepdims: bool = False):
        value = SSAValue.get(input)
        shape = shape_rules.reduce(shape_of(value.type), [axis], keepdims)
        super().__init__(
            operands=[value],
            properties={"kind": StringAttr(kind), "axis": int_attr(axis), "keepdims": UnitAttr() if keepdims else None},
            result_types=[tensor_of(i64, shape)],
        )

    def check(self) -> None:
        self.check_kind(self.kind.data)

    def infer_types(self) -> Sequence[Attribute]:
        (shaped,) = self.shaped(
            lambda: shape_rules.reduce(shape_of(self.input.type), [self.axis.value.data], self.keepdims is not None)
        )
        return [tensor_of(i64, shape_of(shaped))]


@irdl_op_definition
class ScanOp(KindedOp):
    """Running combination along `axis`, each element with all before it; `exclusive` leaves the element itself out,
    `reverse` runs from the end. `%1 = cuvil_tensor.scan add %0 axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>`."""

    name = "cuvil_tensor.scan"
    KINDS: ClassVar[dict[str, str]] = {"add": "fi", "mul": "fi", "max": "fi", "min": "fi"}

    kind = prop_def(StringAttr)
    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    def __init__(
        self, kind: str, input: SSAValue | Operation, axis: int, exclusive: bool = False, reverse: bool = False
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value],
            properties={
                "kind": StringAttr(kind),
                "axis": int_attr(axis),
                "exclusive": UnitAttr() if exclusive else None,
                "reverse": UnitAttr() if reverse else None,
            },
            result_types=[value.type],
        )

    def check(self) -> None:
        self.check_kind(self.kind.data)

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(lambda: _same(shape_of(self.input.type), self.axis.value.data))


def _same(shape: tuple[Dim, ...], axis: int) -> tuple[Dim, ...]:
    shape_rules.check_axes([axis], len(shape), "axis")
    return shape


class SortingOp(TensorOp):
    """Base of the ops that give values and the i64 positions they had along `axis`."""

    input = operand_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    descending = opt_prop_def(UnitAttr)
    values = result_def(TensorType)
    indices = result_def(TensorType)

    traits = traits_def(Pure())

    def sorted_shape(self) -> tuple[Dim, ...]:
        """The shape of both results."""
        return shape_of(self.input.type)

    def check(self) -> None:
        try:
            shape_rules.check_axes([self.axis.value.data], len(shape_of(self.input.type)), "axis")
        except shape_rules.ShapeError as error:
            raise self.fault(str(error)) from error
        if element_domain(element_of(self.input)) is None:
            raise self.fault(f"element type {element_of(self.input)} has no order")

    def infer_types(self) -> Sequence[Attribute]:
        shape = self.sorted_shape()
        return [tensor_of(element_of(self.input), shape), tensor_of(i64, shape)]


@irdl_op_definition
class SortOp(SortingOp):
    """Stable sort along `axis`; NaN counts as largest.

    `%v, %i = cuvil_tensor.sort %0 axis = 1 descending : tensor<4x8xf32> -> (tensor<4x8xf32>, tensor<4x8xi64>)`
    """

    name = "cuvil_tensor.sort"

    def __init__(self, input: SSAValue | Operation, axis: int, descending: bool = False):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value],
            properties={"axis": int_attr(axis), "descending": UnitAttr() if descending else None},
            result_types=[value.type, tensor_of(i64, shape_of(value.type))],
        )


@irdl_op_definition
class TopkOp(SortingOp):
    """The `k` largest (`descending`) or smallest elements along `axis`, sorted; NaN counts as largest.

    `%v, %i = cuvil_tensor.topk %0 axis = 1 descending k = 3 : tensor<4x8xf32> -> (tensor<4x3xf32>, tensor<4x3xi64>)`
    """

    name = "cuvil_tensor.topk"

    k = prop_def(IntegerAttr[I64])

    def __init__(self, input: SSAValue | Operation, k: int, axis: int, descending: bool = True):
        value = SSAValue.get(input)
        shape = list(shape_of(value.type))
        shape[axis] = k
        super().__init__(
            operands=[value],
            properties={
                "axis": int_attr(axis),
                "k": int_attr(k),
                "descending": UnitAttr() if descending else None,
            },
            result_types=[tensor_of(element_of(value), shape), tensor_of(i64, shape)],
        )

    def check(self) -> None:
        super().check()
        extent = shape_of(self.input.type)[self.axis.value.data]
        if self.k.value.data < 0 or (isinstance(extent, int) and self.k.value.data > extent):
            raise self.fault(f"k is {self.k.value.data}, the axis has {extent} elements")

    def sorted_shape(self) -> tuple[Dim, ...]:
        shape = list(shape_of(self.input.type))
        shape[self.axis.value.data] = self.k.value.data
        return tuple(shape)
