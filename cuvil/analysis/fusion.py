"""Which core ops share a kernel: groups grown in program order, by access pattern.

An op joins a group that computes one of its operands if the group's loops can compute it too:

    streaming into streaming            pointwise group, same shape
    streaming into a reduction          a reduce joins the pointwise group of its operand
    out of a reduction, back to rows    an op on the rows' shape that reads row values by a row broadcast (softmax)
    into a contraction's epilogue       an op on the anchor's shape; then a transpose or reshape of it as last steps

Movement ops (broadcast, reshape, transpose, slice, ...) belong to no group: they are coordinate arithmetic that each
reader repeats. They become kernels of their own only where somebody needs their elements in a buffer.

A group is computed at one place in the program, its `position`. Joining must not make a cycle: an op joins a group
either if everything else it reads is there before that position (the op moves up), or if nothing has read the group
yet (the group moves down to the op). Both are constant time an operand, so that the whole analysis is linear.

What a group is, and what is known of the block, is in `fusion_groups`; which op may join which group, in
`fusion_legality`; which operands contractions and the like read as views, in `operand_views`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from cuvil.analysis.fusion_groups import (
    FAMILY,
    ONE_READER,
    REARRANGING,
    Anchor,
    FusionPlan,
    Group,
    Grouping,
    Movement,
    Ordering,
    Streaming,
    loop_shape,
)
from cuvil.analysis.fusion_legality import Legality, Refusal
from cuvil.analysis.operand_views import contraction_dims, merged_stride, takes_view
from cuvil.dialects import tensor as ct
from cuvil.instrument import remarks
from cuvil.semantics.dims import Dim
from cuvil.semantics.splats import is_splat
from cuvil.semantics.views import view_of

__all__ = ["FusionPlan", "Group", "Movement", "contraction_dims", "merged_stride", "plan_fusion"]

_MAX_BASES = 32
"""How many values the lazy movement behind one value may lead to; each becomes an operand of the kernels reading it."""
_MAX_DEPTH = 24
"""How many movement ops in a row kernels repeat; each of their readers copies them."""
_CHEAP_FLOPS = 10
"""From how many operations an element on an element-wise op is stored rather than inlined."""


def plan_fusion(block: Block, max_ops: int) -> FusionPlan:
    """Group the ops of `block` (nested regions are blocks of their own)."""
    grouping = Grouping(block)
    planner = _Planner(grouping, Legality(grouping, max_ops))
    for number, op in enumerate(block.ops):
        grouping.position[op] = number
        planner.visit(op, number)
    plan = grouping.plan
    plan.groups = [group for group in plan.groups if group.members]
    return plan


@dataclass
class _Planner:
    grouping: Grouping
    legality: Legality
    _depth: dict[Operation | Block, int] = field(default_factory=dict["Operation | Block", int])
    """How many lazy movement ops in a row end with an op."""

    def visit(self, op: Operation, number: int) -> None:
        """Put `op`, the next in program order, into a group, or note what it needs."""
        if isinstance(op, ct.ConstantOp) and is_splat(op):
            return
        if isinstance(op, ct.SizeOp) and not isinstance(op.result.type, TensorType):
            return
        if isinstance(op, Movement):
            self._visit_movement(op, number)
        elif isinstance(op, Streaming):
            self._visit_streaming(op, number)
        elif isinstance(op, ct.ReduceOp):
            self._visit_reduce(op, number)
        elif isinstance(op, Anchor):
            self._visit_anchor(op, number)
        elif isinstance(op, Ordering | ct.CustomOp):
            family = "callback" if isinstance(op, ct.CustomOp) else "ordering"
            group = self.grouping.new_group(op, number, family, loop_shape(op.results[0]))
            for operand in op.operands:
                self.grouping.read(group, self.grouping.buffer(operand, number))
        else:
            for value in self._values_used(op):
                self.grouping.mark_read(self.grouping.buffer(value, number))

    def _values_used(self, op: Operation) -> Iterator[SSAValue]:
        """Tensor values of this block that an op outside of any group uses, in its regions too."""
        for inner in op.walk():
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner.parent is self.grouping.block and owner is not op:
                    yield operand

    def _visit_movement(self, op: Operation, number: int) -> None:
        value = op.results[0]
        if isinstance(op, ONE_READER) and not self._has_one_streaming_reader(value):
            self.grouping.materialize(op, value, number)
            return
        self._depth[op] = 1 + max((self._depth.get(operand.owner, 0) for operand in op.operands), default=0)
        if self._depth[op] > _MAX_DEPTH or len(self.grouping.bases(value)) > _MAX_BASES:
            self._depth[op] = 0
            self.grouping.materialize(op, value, number)
            return
        if isinstance(op, ct.TransposeOp | ct.ReshapeOp):
            self._join_tail(op)

    def _has_one_streaming_reader(self, value: SSAValue) -> bool:
        """Whether exactly one element-wise op or reduce reads a value, through lazy movement or directly."""
        while (use := value.get_user_of_unique_use()) is not None:
            if isinstance(use, Streaming | ct.ReduceOp):
                return True
            if not isinstance(use, ct.ReshapeOp | ct.TransposeOp | ct.BroadcastOp | ct.SliceOp):
                return False
            value = use.results[0]
        return False

    def _join_tail(self, op: ct.TransposeOp | ct.ReshapeOp) -> None:
        """A transpose or reshape of an anchored group's one result is how the group stores it."""
        source = op.input
        group = self.grouping.owner_group(source)
        if group is None or group.family in ("loop", "ordering") or group.is_read:
            return
        if group.level.get(source) != group.depth or not source.has_one_use():
            return
        if isinstance(op, ct.ReshapeOp) and not self._reshape_belongs(op, group):
            return
        open_values = [
            value
            for member in group.members
            for value in member.results
            if value is not source and any(use.operation not in group.members for use in value.uses)
        ]
        if open_values:
            return
        self.grouping.add(group, op)
        self.grouping.ends_at(op.result)
        group.depth += 1
        group.level[op.result] = group.depth
        group.shape = loop_shape(op.result)

    def _reshape_belongs(self, op: ct.ReshapeOp, group: Group) -> bool:
        """After a transpose always; else only if what reads it is element-wise or needs a buffer of that shape."""
        if group.depth:
            return True
        return all(
            isinstance(use.operation, Streaming) or not isinstance(use.operation, Movement | Anchor)
            for use in op.result.uses
        )

    def _visit_streaming(self, op: Operation, number: int) -> None:
        refusals: list[tuple[Group, Refusal]] = []
        candidates = self._candidates(op)
        for group in candidates:
            refusal = self.legality.refuses(group, op)
            if refusal is None:
                for other in candidates:
                    if other is not group and self.legality.is_absorbed(group, other, op):
                        self._absorb(group, other, number)
                self._join(group, op, number)
                return
            refusals.append((group, refusal))
        if self._is_inlined(op):
            self.grouping.plan.inlined.add(op)
            return
        for group, refusal in refusals:
            self._remark(op, group, refusal)
        group = self.grouping.new_group(op, number, "loop", loop_shape(op.results[0]))
        group.level[op.results[0]] = 0
        for operand in op.operands:
            for base in self.grouping.bases(operand):
                self.grouping.read(group, base)

    def _is_inlined(self, op: Operation) -> bool:
        """Whether `op` is cheap, and its one reader, behind movement that repeats nothing, a streaming op."""
        if isinstance(op, ct.ElementwiseOp) and op.function.flops >= _CHEAP_FLOPS:
            return False
        value = op.results[0]
        user = value.get_user_of_unique_use()
        if not isinstance(user, REARRANGING):
            return False
        while isinstance(user, REARRANGING):
            value = user.results[0]
            user = value.get_user_of_unique_use()
        return isinstance(user, Streaming) and len({base for o in op.operands for base in self.grouping.bases(o)}) <= 4

    def _candidates(self, op: Operation) -> list[Group]:
        """The groups that compute what `op` reads: anchored ones first, then rows, the latest first."""
        found: dict[Group, None] = {}
        for operand in op.operands:
            for base in self.grouping.bases(operand):
                group = self.grouping.owner_group(base)
                if group is not None and group.family != "ordering" and base not in self.grouping.materialized:
                    found[group] = None
        return sorted(found, key=lambda group: (group.family == "loop", group.is_pointwise, -group.position))

    def _absorb(self, group: Group, other: Group, number: int) -> None:
        for member in other.members:
            self.grouping.add(group, member)
            for result in member.results:
                group.level[result] = 0 if group.family == "loop" else group.depth
        group.inputs.update(other.inputs)
        other.members.clear()
        if not group.is_read:
            group.position = number

    def _join(self, group: Group, op: Operation, number: int) -> None:
        before = all(
            self.grouping.owner_group(base) is group or self.grouping.defined_at(base) < group.position
            for operand in op.operands
            for base in self.grouping.bases(operand)
        )
        if not before:
            group.position = number
        self.grouping.add(group, op)
        for operand in op.operands:
            for base in self.grouping.bases(operand):
                if self.grouping.owner_group(base) is not group:
                    self.grouping.read(group, base)
        if group.family == "loop":
            level = max(
                (group.level.get(base, 0) for operand in op.operands for base in self.grouping.bases(operand)),
                default=0,
            )
            for result in op.results:
                group.level[result] = level
        else:
            for result in op.results:
                group.level[result] = group.depth

    def _visit_reduce(self, op: ct.ReduceOp, number: int) -> None:
        shape, axes = loop_shape(op.input), sorted(ct.numbers(op.axes))
        split = len(shape) - len(axes) if axes == list(range(len(shape) - len(axes), len(shape))) and axes else None
        group = self.grouping.owner_group(op.input)
        if group is not None and group.family == "loop" and op.input not in self.grouping.materialized:
            refusal = self.legality.refuses_reduce(group, op, split)
            if refusal is None:
                self._join(group, op, number)
                group.split, group.is_columns = split, split is None
                group.level[op.result] = group.level.get(op.input, 0) + 1
                return
            self._remark(op, group, refusal)
        elif group is not None and group.family != "ordering":
            self._remark(op, group, Refusal("a reduction cannot live in a contraction's epilogue"))
        joined = self._row_group_reading(op, shape, split)
        if (
            joined is not None
            and self.legality.cycle(joined, op) is None
            and len(joined.members) < self.legality.max_ops
        ):
            self._join(joined, op, number)
            joined.level[op.result] = 1
            return
        group = self.grouping.new_group(op, number, "loop", shape)
        group.split, group.is_columns = split, split is None
        group.level[op.result] = 1
        for base in self.grouping.bases(op.input):
            self.grouping.read(group, base)

    def _row_group_reading(self, op: ct.ReduceOp, shape: tuple[Dim, ...], split: int | None) -> Group | None:
        """A row group that already reduces the same operand along the same axes."""
        for use in op.input.uses:
            other = use.operation
            group = self.grouping.plan.group_of.get(other)
            if isinstance(other, ct.ReduceOp) and other is not op and group is not None and split is not None:
                if group.family == "loop" and group.split == split and group.shape == shape:
                    return group
        return None

    def _visit_anchor(self, op: Operation, number: int) -> None:
        family = next(name for anchor, name in FAMILY.items() if isinstance(op, anchor))
        operands = [self._readable(op, index, operand, number) for index, operand in enumerate(op.operands)]
        group = self.grouping.new_group(op, number, family, loop_shape(op.results[0]))
        group.level[op.results[0]] = 0
        for operand in operands:
            for base in self.grouping.bases(operand):
                self.grouping.read(group, base)

    def _readable(self, op: Operation, index: int, operand: SSAValue, number: int) -> SSAValue:
        """An anchor's operand: as a strided view of a buffer if the anchor's emitter takes it, else as a buffer."""
        view = view_of(operand, lambda value: self.grouping.owner_group(value) is not None)
        if not takes_view(op, index, view):
            return self.grouping.buffer(operand, number)
        self.grouping.buffer(view.root, number)
        self.grouping.ends_view_at(operand, view.root)
        return operand

    def _remark(self, op: Operation, group: Group, refusal: Refusal) -> None:
        if not remarks.is_enabled():
            return
        remarks.emit(
            kind="missed",
            pass_name="fuse",
            op=op,
            message=f"{op.name} not fused into its {group.family} producer: {refusal.reason}",
            args={"family": group.family, "reason": refusal.reason},
        )
