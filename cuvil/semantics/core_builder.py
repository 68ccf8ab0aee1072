"""Building core `cuvil_tensor` ops one after the other: broadcasts, constants and means as PyTorch users think them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from cuvil.dialects.tensor import (
    BinaryOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
    ReduceOp,
    ReshapeOp,
    SizeOp,
    TernaryOp,
    UnaryOp,
    element_of,
    shape_of,
    tensor_of,
)
from cuvil.semantics.dims import Dim, product


class CoreBuilder:
    """Appends ops to `block`, all with the same source location; every method gives the op's first result."""

    block: Block
    location: LocationAttr | None

    def __init__(self, location: LocationAttr | None = None, block: Block | None = None) -> None:
        self.block = Block() if block is None else block
        self.location = location

    def add(self, op: Operation) -> SSAValue:
        """Append `op`; its first result."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)
        return op.results[0]

    def unary(self, kind: str, value: SSAValue) -> SSAValue:
        """`kind(value)` at every point."""
        return self.add(UnaryOp(kind, value))

    def binary(self, kind: str, lhs: SSAValue, rhs: SSAValue | float) -> SSAValue:
        """`kind(lhs, rhs)` at every point; a number is repeated to the shape of `lhs`."""
        return self.add(BinaryOp(kind, lhs, self._like(rhs, lhs)))

    def select(self, condition: SSAValue, true: SSAValue | float, false: SSAValue | float, like: SSAValue) -> SSAValue:
        """`true` where `condition` holds, else `false`; numbers are repeated to shape and type of `like`."""
        return self.add(TernaryOp("select", condition, self._like(true, like), self._like(false, like)))

    def cast(self, value: SSAValue, element_type: Attribute) -> SSAValue:
        """`value` in another element type; itself if it has that type."""
        return value if element_of(value) == element_type else self.add(CastOp(value, element_type))

    def constant(self, number: float | bool, element_type: Attribute) -> SSAValue:
        """`number` as a 0-d tensor."""
        return self.add(ConstantOp.splat(number, tensor_of(element_type, ())))

    def full(self, number: float | bool, element_type: Attribute, shape: Sequence[Dim]) -> SSAValue:
        """`number` at every point of `shape`, whose dims may be symbolic."""
        return self.broadcast(self.constant(number, element_type), (), shape)

    def broadcast(self, value: SSAValue, axes: Sequence[int], shape: Sequence[Dim]) -> SSAValue:
        """Dim i of `value` becomes dim axes[i] of `shape`; itself if nothing changes."""
        if shape_of(value.type) == tuple(shape):
            return value
        return self.add(BroadcastOp(value, axes, shape))

    def reshape(self, value: SSAValue, shape: Sequence[Dim]) -> SSAValue:
        """The same elements in another shape; itself if nothing changes."""
        return value if shape_of(value.type) == tuple(shape) else self.add(ReshapeOp(value, shape))

    def reduce(self, kind: str, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        """The reduction along `axes`, repeated there to the shape of `value` again."""
        return self.spread(self.add(ReduceOp(kind, value, axes)), value, axes)

    def spread(self, value: SSAValue, like: SSAValue, axes: Sequence[int]) -> SSAValue:
        """`value`, which lacks `axes`, repeated along them to the shape of `like`."""
        shape = shape_of(like.type)
        return self.broadcast(value, [axis for axis in range(len(shape)) if axis not in axes], shape)

    def mean(self, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        """The mean along `axes`, which the result lacks."""
        total = self.add(ReduceOp("add", value, axes))
        return self.binary("div", total, self._count(value, axes, total))

    def _count(self, value: SSAValue, axes: Sequence[int], like: SSAValue) -> SSAValue | float:
        count = product(shape_of(value.type)[axis] for axis in axes)
        if isinstance(count, int):
            return float(count)
        size = self.add(SizeOp(count, tensor_of(element_of(value), ())))
        return self.broadcast(size, (), shape_of(like.type))

    def _like(self, value: SSAValue | float, like: SSAValue) -> SSAValue:
        if isinstance(value, SSAValue):
            return value
        return self.full(value, element_of(like), shape_of(like.type))
