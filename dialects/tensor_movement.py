"""Movement ops of `cuvil_tensor`: results are elements of the operands, rearranged, repeated, cut or joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from cuvil.dialects.base import TensorOp, int_attr, ints, numbers
from cuvil.dialects.types import element_domain, shape_of, tensor_of
from cuvil.semantics import shape_rules
from cuvil.semantics.dims import Dim
from cuvil.semantics.shape_rules import ShapeError

Values = Sequence[SSAValue | Operation]


class MovementOp(TensorOp):
    """Base: the element type stays; shape rules' errors become verification errors that name the op."""

    traits = traits_def(Pure())

    def shaped(self, rule: Callable[[], Sequence[Dim] | None]) -> list[Attribute]:
        """The first operand's element type with the shape that `rule` gives (None: it checked the declared one)."""
        try:
            shape = rule()
        except ShapeError as error:
            raise self.fault(str(error)) from error
        return [tensor_of(element_of(self.operands[0]), shape_of(self.results[0].type) if shape is None else shape)]


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type.element_type


@irdl_op_definition
class BroadcastOp(MovementOp):
    """Repeat along dims: source dim i becomes result dim `axes[i]`, equal there or 1.

    `%1 = cuvil_tensor.broadcast %0 axes = [1] : tensor<8xf32> -> tensor<4x8xf32>`
    """

    name = "cuvil_tensor.broadcast"

    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, axes: Sequence[int], shape: Sequence[Dim]):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value], properties={"axes": ints(axes)}, result_types=[tensor_of(element_of(value), shape)]
        )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.broadcast(shape_of(self.input.type), numbers(self.axes), shape_of(self.result.type))
        )


@irdl_op_definition
class ReshapeOp(MovementOp):
    """The same elements in row-major order under another shape: `%1 = cuvil_tensor.reshape %0 : tensor<2x4xf32> ->
    tensor<8xf32>`."""

    name = "cuvil_tensor.reshape"

    input = operand_def(TensorType)
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, shape: Sequence[Dim]):
        value = SSAValue.get(input)
        super().__init__(operands=[value], result_types=[tensor_of(element_of(value), shape)])

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(lambda: shape_rules.reshape(shape_of(self.input.type), shape_of(self.result.type)))


@irdl_op_definition
class TransposeOp(MovementOp):
    """Result dim i is source dim `input_order[i]`.

    `%1 = cuvil_tensor.transpose %0 input_order = [0, 2, 1] : tensor<2x3x4xf32> -> tensor<2x4x3xf32>`
    """

    name = "cuvil_tensor.transpose"

    input = operand_def(TensorType)
    input_order = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, input_order: Sequence[int]):
        value = SSAValue.get(input)
        shape = shape_rules.transpose(shape_of(value.type), input_order)
        super().__init__(
            operands=[value],
            properties={"input_order": ints(input_order)},
            result_types=[tensor_of(element_of(value), shape)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(lambda: shape_rules.transpose(shape_of(self.input.type), numbers(self.input_order)))


@irdl_op_definition
class SliceOp(MovementOp):
    """Elements `starts + i * steps` of each dim; the sizes are the result's shape.

    `%1 = cuvil_tensor.slice %0 starts = [0, 1] steps = [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>`
    """

    name = "cuvil_tensor.slice"

    input = operand_def(TensorType)
    starts = prop_def(DenseArrayBase.constr(I64))
    steps = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(
        self,
        input: SSAValue | Operation,
        starts: Sequence[int],
        sizes: Sequence[Dim],
        steps: Sequence[int] | None = None,
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value],
            properties={"starts": ints(starts), "steps": ints([1] * len(starts) if steps is None else steps)},
            result_types=[tensor_of(element_of(value), sizes)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.slice_(
                shape_of(self.input.type), numbers(self.starts), numbers(self.steps), shape_of(self.result.type)
            )
        )


@irdl_op_definition
class ConcatOp(MovementOp):
    """Operands one after the other along `axis`.

    `%2 = cuvil_tensor.concat %0, %1 axis = 0 : tensor<2x4xf32>, tensor<3x4xf32> -> tensor<5x4xf32>`
    """

    name = "cuvil_tensor.concat"

    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr[I64])
    result = result_def(TensorType)

    def __init__(self, inputs: Values, axis: int):
        values = [SSAValue.get(value) for value in inputs]
        shape = shape_rules.concat([shape_of(value.type) for value in values], axis)
        super().__init__(
            operands=[values],
            properties={"axis": int_attr(axis)},
            result_types=[tensor_of(element_of(values[0]), shape)],
        )

    def check(self) -> None:
        if not self.inputs:
            raise self.fault("at least one operand is needed")
        if len({element_of(value) for value in self.inputs}) > 1:
            raise self.fault("operands differ in element type; cast first")

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.concat([shape_of(value.type) for value in self.inputs], self.axis.value.data)
        )


@irdl_op_definition
class PadOp(MovementOp):
    """`low` elements before and `high` after each dim, all equal to the 0-d operand `value`; negative counts crop.

    `%1 = cuvil_tensor.pad %0, %v low = [0, 1] high = [0, 2] : tensor<4x8xf32>, tensor<f32> -> tensor<4x11xf32>`
    """

    name = "cuvil_tensor.pad"

    input = operand_def(TensorType)
    fill = operand_def(TensorType)
    low = prop_def(DenseArrayBase.constr(I64))
    high = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(
        self, input: SSAValue | Operation, fill: SSAValue | Operation, low: Sequence[int], high: Sequence[int]
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value, SSAValue.get(fill)],
            properties={"low": ints(low), "high": ints(high)},
            result_types=[tensor_of(element_of(value), shape_rules.pad(shape_of(value.type), low, high))],
        )

    def check(self) -> None:
        if self.fill.type != tensor_of(element_of(self.input), ()):
            raise self.fault(
                f"the fill value has type {self.fill.type}, expected {tensor_of(element_of(self.input), ())}"
            )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(lambda: shape_rules.pad(shape_of(self.input.type), numbers(self.low), numbers(self.high)))


@irdl_op_definition
class GatherOp(MovementOp):
    """Elements at computed positions: index operand j (i64, all of one shape) picks along source dim `axes[j]`.

    The result has the indices' dims first, then the source dims that `axes` leaves out, in order. An index outside
    [-n, n) picks any element; front ends that must check do so before. Negative indices count from the end.

    `%1 = cuvil_tensor.gather %table, %i axes = [0] : tensor<100x8xf32>, tensor<2x5xi64> -> tensor<2x5x8xf32>`
    """

    name = "cuvil_tensor.gather"

    input = operand_def(TensorType)
    indices = var_operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, indices: Values, axes: Sequence[int]):
        value = SSAValue.get(input)
        places = [SSAValue.get(index) for index in indices]
        shape = shape_rules.gather(shape_of(value.type), [shape_of(place.type) for place in places], axes)
        super().__init__(
            operands=[value, places],
            properties={"axes": ints(axes)},
            result_types=[tensor_of(element_of(value), shape)],
        )

    def check(self) -> None:
        for number, index in enumerate(self.indices):
            if element_domain(element_of(index)) != "i":
                raise self.fault(f"index {number} has element type {element_of(index)}, expected an integer")

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.gather(
                shape_of(self.input.type), [shape_of(index.type) for index in self.indices], numbers(self.axes)
            )
        )


@irdl_op_definition
class ScatterOp(MovementOp):
    """A copy of `input` with `updates` combined in at the positions that `gather` reads with the same indices.

    `kind` is `assign`, `add`, `mul`, `max` or `min`; of several assigned to one place, the last in row-major order
    stays.

    `%1 = cuvil_tensor.scatter add %x, %u, %i axes = [0] : tensor<9x8xf32>, tensor<5x8xf32>, tensor<5xi64> ->
      tensor<9x8xf32>`
    """

    name = "cuvil_tensor.scatter"

    kind = prop_def(StringAttr)
    input = operand_def(TensorType)
    updates = operand_def(TensorType)
    indices = var_operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    KINDS: ClassVar[tuple[str, ...]] = ("assign", "add", "mul", "max", "min")

    def __init__(
        self,
        kind: str,
        input: SSAValue | Operation,
        updates: SSAValue | Operation,
        indices: Values,
        axes: Sequence[int],
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value, SSAValue.get(updates), [SSAValue.get(index) for index in indices]],
            properties={"kind": StringAttr(kind), "axes": ints(axes)},
            result_types=[value.type],
        )

    def check(self) -> None:
        if self.kind.data not in self.KINDS:
            raise self.fault(f"unknown kind '{self.kind.data}'; it is one of {', '.join(self.KINDS)}")
        for number, index in enumerate(self.indices):
            if element_domain(element_of(index)) != "i":
                raise self.fault(f"index {number} has element type {element_of(index)}, expected an integer")
        places = [shape_of(index.type) for index in self.indices]
        wanted = self.shaped(lambda: shape_rules.gather(shape_of(self.input.type), places, numbers(self.axes)))[0]
        try:
            expected = tensor_of(
                element_of(self.input), shape_rules.gather(shape_of(self.input.type), places, numbers(self.axes))
            )
        except ShapeError as error:
            raise self.fault(str(error)) from error
        if self.updates.type != expected:
            raise self.fault(f"updates have type {self.updates.type}, expected {wanted}")

    def infer_types(self) -> Sequence[Attribute]:
        return [self.input.type]


@irdl_op_definition
class IotaOp(TensorOp):
    """Every element is its own position along `axis`: `%0 = cuvil_tensor.iota axis = 0 : tensor<4xi64>`."""

    name = "cuvil_tensor.iota"

    axis = prop_def(IntegerAttr[I64])
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(self, axis: int, element_type: Attribute, shape: Sequence[Dim]):
        super().__init__(properties={"axis": int_attr(axis)}, result_types=[tensor_of(element_type, shape)])

    def check(self) -> None:
        try:
            shape_rules.check_axes([self.axis.value.data], len(shape_of(self.result.type)), "axis")
        except ShapeError as error:
            raise self.fault(str(error)) from error
        if element_domain(element_of(self.result)) not in ("i", "f"):
            raise self.fault(f"positions are numbers, got element type {element_of(self.result)}")


@irdl_op_definition
class ReverseOp(MovementOp):
    """The order of elements turned round along `axes`: `%1 = cuvil_tensor.reverse %0 axes = [1] : tensor<2x4xf32> ->
    tensor<2x4xf32>`."""

    name = "cuvil_tensor.reverse"

    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(self, input: SSAValue | Operation, axes: Sequence[int]):
        value = SSAValue.get(input)
        super().__init__(operands=[value], properties={"axes": ints(axes)}, result_types=[value.type])

    def infer_types(self) -> Sequence[Attribute]:
        shape_ = shape_of(self.input.type)

        def rule() -> Sequence[Dim]:
            shape_rules.check_axes(numbers(self.axes), len(shape_))
            return shape_

        return self.shaped(rule)


@irdl_op_definition
class PackOp(MovementOp):
    """Cut dims into tiles laid innermost: each of `axes` is padded with zeros to a multiple of its tile and split.

    The outer dims come first in `input_order`, then the tiles in order of `axes`. Weights are laid out so for the CPU's
    micro-kernels.

    `%1 = cuvil_tensor.pack %0 axes = [1] tiles = [16] input_order = [1, 0] : tensor<64x40xf32> -> tensor<3x64x16xf32>`
    """

    name = "cuvil_tensor.pack"

    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    tiles = prop_def(DenseArrayBase.constr(I64))
    input_order = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(
        self, input: SSAValue | Operation, axes: Sequence[int], tiles: Sequence[int], input_order: Sequence[int]
    ):
        value = SSAValue.get(input)
        shape = shape_rules.pack(shape_of(value.type), axes, tiles, input_order)
        super().__init__(
            operands=[value],
            properties={"axes": ints(axes), "tiles": ints(tiles), "input_order": ints(input_order)},
            result_types=[tensor_of(element_of(value), shape)],
        )

    def infer_types(self) -> Sequence[Attribute]:
        return self.shaped(
            lambda: shape_rules.pack(
                shape_of(self.input.type), numbers(self.axes), numbers(self.tiles), numbers(self.input_order)
            )
        )


@irdl_op_definition
class UnpackOp(MovementOp):
    """The inverse of `pack` with the same attributes: the padding is dropped.

    `%1 = cuvil_tensor.unpack %0 axes = [1] tiles = [16] input_order = [1, 0] : tensor<3x64x16xf32> ->
      tensor<64x40xf32>`
    """

    name = "cuvil_tensor.unpack"

    input = operand_def(TensorType)
    axes = prop_def(DenseArrayBase.constr(I64))
    tiles = prop_def(DenseArrayBase.constr(I64))
    input_order = prop_def(DenseArrayBase.constr(I64))
    result = result_def(TensorType)

    def __init__(
        self,
        input: SSAValue | Operation,
        axes: Sequence[int],
        tiles: Sequence[int],
        input_order: Sequence[int],
        shape: Sequence[Dim],
    ):
        value = SSAValue.get(input)
        super().__init__(
            operands=[value],
            properties={"axes": ints(axes), "tiles": ints(tiles), "input_order": ints(input_order)},
            result_types=[tensor_of(element_of(value), shape)],
        )

    def check(self) -> None:
        try:
            packed = shape_rules.pack(
                shape_of(self.result.type), numbers(self.axes), numbers(self.tiles), numbers(self.input_order)
            )
        except ShapeError as error:
            raise self.fault(str(error)) from error
        if tensor_of(element_of(self.result), packed) != self.input.type:
            raise self.fault(
                f"input has type {self.input.type}, packing {self.result.type} gives "
                f"{tensor_of(element_of(self.result), packed)}"
            )
