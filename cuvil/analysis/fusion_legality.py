"""Whether a group's loops can compute an op too: the predicates behind fusion, and the reasons for saying no.

A `Refusal` is what a remark shows. Nothing here changes a group.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from cuvil.analysis.fusion_groups import Group, Grouping, loop_shape
from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, product


@dataclass(frozen=True)
class Refusal:
    """Why an op does not join a group."""

    reason: str


@dataclass(frozen=True)
class Legality:
    """What may join what, in a block grouped so far by `grouping`."""

    grouping: Grouping
    max_ops: int

    def refuses(self, group: Group, op: Operation) -> Refusal | None:
        """Why `op` (streaming) cannot be computed in `group`'s loops; None if it can."""
        if len(group.members) >= self.max_ops:
            return Refusal(f"the kernel has max-ops={self.max_ops} ops already")
        if (refusal := self.cycle(group, op)) is not None:
            return refusal
        shape = loop_shape(op.results[0])
        if group.family != "loop":
            return self._refuses_epilogue(group, op, shape)
        if group.split is None and not group.is_columns:
            return None if shape == group.shape else Refusal("the shapes of the loops differ")
        return self._refuses_reduced(group, op, shape)

    def cycle(self, group: Group, op: Operation) -> Refusal | None:
        """Whether `op` reads what is only there after `group` has been read: joining would make a cycle."""
        if not group.is_read:
            return None
        for operand in op.operands:
            for base in self.grouping.bases(operand):
                if self.grouping.owner_group(base) is not group and self.grouping.defined_at(base) >= group.position:
                    return Refusal("the kernel is read before another operand of the op is there")
        return None

    def _refuses_epilogue(self, group: Group, op: Operation, shape: tuple[Dim, ...]) -> Refusal | None:
        if shape != group.shape:
            return Refusal("the op's shape is not that of the contraction's result")
        if self._is_for_reduction(group, op):
            return Refusal("its operand is stored anyway, and a reduction reads it next")
        if any(self.grouping.is_read_in_parts(operand) for operand in op.operands):
            return Refusal("the op reads a concat, pad or gather, which ends within vectors")
        for operand in op.operands:
            inside = [base for base in self.grouping.bases(operand) if self.grouping.owner_group(base) is group]
            if not inside:
                continue
            if operand not in group.level or group.level[operand] != group.depth:
                return Refusal("the op reads other elements of the contraction's result than its own")
        return None

    def _is_for_reduction(self, group: Group, op: Operation) -> bool:
        """Whether a reduction alone reads `op`, whose operand in `group` others read too.

        That operand is stored anyway, and the op costs less where the reduction reads it.
        """
        if not isinstance(op.results[0].get_user_of_unique_use(), ct.ReduceOp):
            return False
        inside = [operand for operand in op.operands if self.grouping.owner_group(operand) is group]
        return any(use.operation is not op for operand in inside for use in operand.uses)

    def _refuses_reduced(self, group: Group, op: Operation, shape: tuple[Dim, ...]) -> Refusal | None:
        is_full = shape == group.shape and not group.is_columns
        for operand in op.operands:
            inside = [base for base in self.grouping.bases(operand) if self.grouping.owner_group(base) is group]
            if not inside:
                continue
            if len(inside) == 1 and (operand is inside[0] or self._keeps_rows(operand, group)):
                continue
            if is_full and group.split is not None and all(group.level.get(base, 1) == 0 for base in inside):
                continue
            return Refusal("the op reads a reduced value other than row by row")
        if is_full:
            return None
        rows = product(group.shape[: group.split]) if group.split is not None else None
        operands = [operand for operand in op.operands if self.grouping.owner_group(operand) is group]
        reduced = [operand for operand in operands if group.level.get(operand, 0) > 0 and loop_shape(operand) == shape]
        if not reduced:
            return Refusal("the op is neither of the rows' nor of the reduced shape")
        if rows is not None and product(shape) != rows:
            return Refusal("the op is neither of the rows' nor of the reduced shape")
        return None

    def _keeps_rows(self, value: SSAValue, group: Group) -> bool:
        """Whether a chain of broadcasts and reshapes repeats one element a row along that row only."""
        if group.split is None:
            return False
        rows = product(group.shape[: group.split])
        while isinstance(owner := value.owner, ct.BroadcastOp | ct.ReshapeOp) and owner not in group.members:
            source, result = loop_shape(owner.input), loop_shape(value)
            if isinstance(owner, ct.BroadcastOp):
                pairs = [(dim, axis) for dim, axis in zip(source, ct.numbers(owner.axes), strict=True) if dim != 1]
                if any(axis >= group.split for _, axis in pairs) and result == group.shape:
                    return False
                if product(dim for dim, _ in pairs) != rows:
                    return False
                if result != group.shape and product(result) != rows:
                    return False
            elif product(source) != rows:
                return False
            value = owner.input
        return self.grouping.owner_group(value) is group and product(loop_shape(value)) == rows

    def refuses_reduce(self, group: Group, op: ct.ReduceOp, split: int | None) -> Refusal | None:
        """Why a reduction whose rows' dims end at `split` cannot be computed in `group`'s loops; None if it can."""
        if len(group.members) >= self.max_ops:
            return Refusal(f"the kernel has max-ops={self.max_ops} ops already")
        if (refusal := self.cycle(group, op)) is not None:
            return refusal
        if loop_shape(op.input) != group.shape:
            return Refusal("the reduced operand does not have the loops' shape")
        if group.is_columns or (group.split is not None and group.split != split):
            return Refusal("the kernel reduces other axes")
        if split is None:
            if group.split is not None:
                return Refusal("the kernel reduces other axes")
            members = [*group.members, op]
            if any(use.operation not in members for member in group.members for r in member.results for use in r.uses):
                return Refusal("an unreduced value is used elsewhere, and this kernel could only give reduced ones")
        return None

    def is_absorbed(self, group: Group, other: Group, op: Operation) -> bool:
        """Whether `other`, which nobody has read yet and `op` reads too, can be computed in `group`'s loops."""
        if other.is_read or not other.is_pointwise or group.is_columns or other.shape != group.shape:
            return False
        if len(group.members) + len(other.members) >= self.max_ops:
            return False
        for operand in op.operands:
            if operand.owner not in other.members and any(
                self.grouping.owner_group(b) is other for b in self.grouping.bases(operand)
            ):
                return False
        if group.family != "loop" and not self._fits_epilogue(other, op):
            return False
        if any(self.grouping.owner_group(value) is group for value in other.inputs):
            return False
        return not group.is_read or all(self.grouping.defined_at(value) < group.position for value in other.inputs)

    def _fits_epilogue(self, other: Group, op: Operation) -> bool:
        """Whether a pointwise group gives nothing but what `op` reads, and reads nothing in parts."""
        for member in other.members:
            for result in member.results:
                if any(use.operation is not op and use.operation not in other.members for use in result.uses):
                    return False
            if any(self.grouping.is_read_in_parts(operand) for operand in member.operands):
                return False
        return True
