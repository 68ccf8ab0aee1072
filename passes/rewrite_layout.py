"""Compute convolutions channels-last: move the transposes to where channels-first values enter and leave.

    %1 = cuvil_tensor.convolution %x, %w input_order = [0, 1, 2, 3] ...
    %2 = cuvil_tensor.unary relu %1
    %3 = cuvil_tensor.pool max %2 input_order = [0, 1, 2, 3] ...
=>
    %t = cuvil_tensor.transpose %x input_order = [0, 2, 3, 1]
    %1 = cuvil_tensor.convolution %t, %w input_order = [0, 3, 1, 2] ...
    %2 = cuvil_tensor.unary relu %1
    %3 = cuvil_tensor.pool max %2 input_order = [0, 3, 1, 2] ...         and a transpose back where someone needs it

One walk in program order. Every value may have a *twin*: the same elements with the channels last. Convolutions and
pools ask for their input's twin and give one; element-wise ops, reductions, concat, pad, slice and reshapes of the
spatial dims go on with twins; a transpose of a twin is composed with it, and often nothing is left of both.

Requires: cuvil_tensor core.   Ensures: bit-identical results; convolutions and pools are channels-last.
Declines: blocks without convolutions or pools stay as they are.
Source: the layout propagation of Liu et al., Optimizing CNN Model Inference on CPUs (USENIX ATC 2019), 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct
from cuvil.instrument import statistics
from cuvil.semantics.splats import repeated_number
from cuvil.semantics.window_ops import convolution_like, pool_like


@dataclass(frozen=True)
class RewriteLayoutPass(ModulePass):
    """Channels-last convolutions and pools."""

    name: ClassVar[str] = "rewrite-layout"
    function_local: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        blocks = {inner.parent: None for inner in op.walk() if isinstance(inner, ct.ConvolutionOp | ct.PoolOp)}
        for block in blocks:
            if block is not None:
                _Rewriter(block).rewrite()


def last_order(rank: int) -> list[int]:
    """The transpose from channels-first to channels-last: [0, 2, 3, 1] for rank 4."""
    return [0, *range(2, rank), 1]


def first_order(rank: int) -> list[int]:
    """The transpose from channels-last to channels-first: [0, 3, 1, 2] for rank 4."""
    return [0, rank - 1, *range(1, rank - 1)]


def _moved(values: Sequence[int]) -> list[int]:
    """Per-dim numbers of a channels-first shape in channels-last order."""
    return [values[dim] for dim in last_order(len(values))]


def _place(axis: int, rank: int) -> int:
    """Where dim `axis` of a channels-first shape is in the channels-last one."""
    return last_order(rank).index(axis)


@dataclass
class _Rewriter:
    block: Block
    twins: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def rewrite(self) -> None:
        operations = list(self.block.ops)
        for op in operations:
            made = self._twin_of(op)
            if made is not None:
                self.twins[op.results[0]] = made
            elif isinstance(op, ct.TransposeOp | ct.ReduceOp | ct.ReshapeOp) and op.results[0].first_use is None:
                self.block.erase_op(op)
        replaced = [value for value in self.twins if isinstance(value.owner, Operation)]
        for value in reversed(replaced):
            self._leave(value)
        for op in reversed(operations):
            if isinstance(op, ct.BroadcastOp | ct.ConstantOp) and op.results[0].first_use is None:
                self.block.erase_op(op)

    def _insert(self, op: Operation, before: Operation) -> SSAValue:
        op.location = before.location
        self.block.insert_op_before(op, before)
        op.results[0].name_hint = before.results[0].name_hint if before.results else None
        return op.results[0]

    # -- twins ---------------------------------------------------------------------------------------------------------

    def _twin(self, value: SSAValue, before: Operation) -> SSAValue:
        """The channels-last twin of `value`, made by a transpose if there is none."""
        if value not in self.twins:
            owner = value.owner
            made: Operation | None = None
            if isinstance(owner, ct.ConstantOp) and (number := repeated_number(value)) is not None:
                made = ct.ConstantOp.splat(number, ct.tensor_of(ct.element_of(value), _moved_shape(value)))
            elif isinstance(owner, ct.BroadcastOp):
                made = self._moved_broadcast(owner)
            if made is None:
                made = ct.TransposeOp(value, last_order(len(ct.shape_of(value.type))))
                statistics.count("rewrite-layout", "transposes")
            twin = self._insert(made, before)
            if not isinstance(owner, ct.ConstantOp | ct.BroadcastOp):
                self.twins[value] = twin
            return twin
        return self.twins[value]

    def _moved_broadcast(self, op: ct.BroadcastOp) -> Operation | None:
        rank = len(ct.shape_of(op.result.type))
        axes = [_place(axis, rank) for axis in ct.numbers(op.axes)]
        if axes != sorted(axes):
            return None
        return ct.BroadcastOp(op.input, axes, _moved_shape(op.result))

    def _twin_of(self, op: Operation) -> SSAValue | None:
        """The twin of the op's result if the op goes on with twins; None if it keeps to channels-first values."""
        match op:
            case ct.ConvolutionOp() if _is_first(op):
                return self._insert(convolution_like(op, self._twin(op.input, op), order=_order_of_last(op)), op)
            case ct.PoolOp() if _is_first(op):
                return self._insert(pool_like(op, self._twin(op.input, op), order=_order_of_last(op)), op)
            case ct.TransposeOp():
                return self._transpose(op)
            case ct.ElementwiseOp() | ct.CastOp() if any(operand in self.twins for operand in op.operands):
                return self._insert(self._elementwise(op), op)
            case ct.ConcatOp() if any(operand in self.twins for operand in op.operands):
                rank = len(ct.shape_of(op.result.type))
                operands = [self._twin(operand, op) for operand in op.inputs]
                return self._insert(ct.ConcatOp(operands, _place(op.axis.value.data, rank)), op)
            case ct.PadOp() if op.input in self.twins:
                low, high = _moved(ct.numbers(op.low)), _moved(ct.numbers(op.high))
                return self._insert(ct.PadOp(self.twins[op.input], op.fill, low, high), op)
            case ct.SliceOp() if op.input in self.twins:
                starts, steps = _moved(ct.numbers(op.starts)), _moved(ct.numbers(op.steps))
                return self._insert(ct.SliceOp(self.twins[op.input], starts, _moved_shape(op.result), steps), op)
            case ct.ReduceOp() if op.input in self.twins:
                return self._reduce(op)
            case ct.ReshapeOp() if op.input in self.twins:
                return self._reshape(op)
            case _:
                return None

    def _elementwise(self, op: Operation) -> Operation:
        operands = [self._twin(operand, op) for operand in op.operands]
        match op:
            case ct.UnaryOp():
                return ct.UnaryOp(op.kind.data, operands[0])
            case ct.BinaryOp():
                return ct.BinaryOp(op.kind.data, operands[0], operands[1])
            case ct.TernaryOp():
                return ct.TernaryOp(op.kind.data, operands[0], operands[1], operands[2])
            case _:
                return ct.CastOp(operands[0], ct.element_of(op.results[0]))

    def _transpose(self, op: ct.TransposeOp) -> SSAValue | None:
        """A transpose to channels-first has its source as twin; one of a twin is composed with it."""
        order = list(ct.numbers(op.input_order))
        rank = len(order)
        if rank >= 3 and order == first_order(rank) and op.input not in self.twins:
            return op.input
        if op.input not in self.twins:
            return None
        composed = [_place(axis, rank) for axis in order]
        twin = self.twins[op.input]
        if composed != list(range(rank)):
            twin = self._insert(ct.TransposeOp(twin, composed), op)
        op.result.replace_all_uses_with(twin)
        return None

    def _reduce(self, op: ct.ReduceOp) -> SSAValue | None:
        shape = ct.shape_of(op.input.type)
        rank, axes = len(shape), ct.numbers(op.axes)
        moved = sorted(_place(axis, rank) for axis in axes)
        kept = [dim for dim in last_order(rank) if dim not in axes]
        if op.keepdims is not None:
            return self._insert(ct.ReduceOp(op.kind.data, self.twins[op.input], moved, True), op)
        reduced = self._insert(ct.ReduceOp(op.kind.data, self.twins[op.input], moved), op)
        if kept != sorted(kept):
            reduced = self._insert(ct.TransposeOp(reduced, [kept.index(dim) for dim in sorted(kept)]), op)
        op.result.replace_all_uses_with(reduced)
        return None

    def _reshape(self, op: ct.ReshapeOp) -> SSAValue | None:
        """A reshape of the spatial dims alone goes on with the twin; one of [N, C, 1...] has the twin's own order."""
        source, result = ct.shape_of(op.input.type), ct.shape_of(op.result.type)
        if len(result) >= 3 and source[:2] == result[:2]:
            return self._insert(ct.ReshapeOp(self.twins[op.input], (result[0], *result[2:], result[1])), op)
        if all(dim == 1 for dim in source[2:]) or source[1] == 1:
            op.result.replace_all_uses_with(self._insert(ct.ReshapeOp(self.twins[op.input], result), op))
        return None

    # -- leaving -------------------------------------------------------------------------------------------------------

    def _leave(self, value: SSAValue) -> None:
        """Whoever still reads the channels-first value reads the twin transposed back; the old op goes."""
        owner, twin = value.owner, self.twins[value]
        assert isinstance(owner, Operation)
        computed = not isinstance(owner, ct.TransposeOp) and not _is_made_from(twin, value)
        if not computed:
            if value.first_use is None:
                self.block.erase_op(owner)
            return
        if value.first_use is not None:
            back = ct.TransposeOp(twin, first_order(len(ct.shape_of(value.type))))
            self._insert(back, owner)
            value.replace_all_uses_with(back.result)
            statistics.count("rewrite-layout", "transposes")
        if value.first_use is None:
            self.block.erase_op(owner)


def _is_made_from(twin: SSAValue, value: SSAValue) -> bool:
    """Whether the twin is only `value` transposed, so that `value` itself must stay."""
    return isinstance(twin.owner, ct.TransposeOp) and twin.owner.input is value


def _order_of_last(op: ct.ConvolutionOp | ct.PoolOp) -> list[int]:
    return first_order(len(ct.numbers(op.input_order)))


def _moved_shape(value: SSAValue):
    shape = ct.shape_of(value.type)
    return [shape[dim] for dim in last_order(len(shape))]


def _is_first(op: ct.ConvolutionOp | ct.PoolOp) -> bool:
    order = ct.numbers(op.input_order)
    return order == tuple(range(len(order)))
