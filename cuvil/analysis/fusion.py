"""Which core ops share a kernel: groups grown in program order, by access pattern.

An op joins a group that computes one of its operands if the group's loops can compute it too:

    streaming into streaming            pointwise group, same shape
    streaming into a reduction          a reduce joins the pointwise group of its operand
    out of a reduction, back to rows    an op on the rows' shape that reads row values by a row broadcast (softmax,
    norms) into a contraction's epilogue       an op on the anchor's shape; then a transpose or reshape of it as the
    last steps

Movement ops (broadcast, reshape, transpose, slice, ...) belong to no group: they are coordinate arithmetic that each
reader repeats. They become kernels of their own only where somebody needs their elements in a buffer.

A group is computed at one place in the program, its `position`. Joining must not make a cycle: an op joins a group
either if everything else it reads is there before that position (the op moves up), or if nothing has read the group
yet (the group moves down to the op). Both are constant time an operand, so that the whole analysis is linear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from cuvil.dialects import tensor as ct
from cuvil.instrument import remarks
from cuvil.semantics.splats import is_splat
from cuvil.semantics.views import View, reshaped_strides, static_shape, view_of

Movement = (
    ct.BroadcastOp
    | ct.ReshapeOp
    | ct.TransposeOp
    | ct.SliceOp
    | ct.ReverseOp
    | ct.IotaOp
    | ct.ConcatOp
    | ct.PadOp
    | ct.GatherOp
    | ct.UnpackOp
)
Anchor = ct.ContractOp | ct.ConvolutionOp | ct.PoolOp | ct.AttentionOp
Ordering = ct.SortOp | ct.TopkOp | ct.ScanOp | ct.ArgReduceOp | ct.ScatterOp | ct.PackOp
Streaming = ct.ElementwiseOp | ct.CastOp
_ONE_READER = ct.ConcatOp | ct.PadOp | ct.GatherOp
_REARRANGING = ct.ConcatOp | ct.PadOp | ct.SliceOp | ct.ReverseOp | ct.TransposeOp | ct.ReshapeOp
"""Movement that reads each element at most once."""
_MAX_BASES = 32
_MAX_DEPTH = 24
"""How many movement ops in a row kernels repeat; each of their readers copies them."""
_CHEAP_FLOPS = 10

FAMILY: dict[type[Operation], str] = {
    ct.ContractOp: "contraction",
    ct.ConvolutionOp: "convolution",
    ct.PoolOp: "pool",
    ct.AttentionOp: "attention",
}


@dataclass(eq=False)
class Group:
    """Ops that one kernel computes. `position` is the index in its block of the op at which the kernel runs."""

    position: int
    family: str
    shape: tuple[int, ...]
    members: dict[Operation, None] = field(default_factory=dict[Operation, None])
    inputs: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    level: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Of a loop group: how many reductions a member is behind. Of an anchored group: how many tail movements."""
    depth: int = 0
    """Of an anchored group: the number of tail movements so far; ops join at that level only."""
    split: int | None = None
    """Of a loop group with reductions over trailing axes: where the rows' dims end."""
    is_columns: bool = False
    """Of a loop group: whether it reduces other axes; then only reduced values leave it."""
    is_read: bool = False

    @property
    def is_pointwise(self) -> bool:
        """Whether it is a loop group without reductions."""
        return self.family == "loop" and self.split is None and not self.is_columns


@dataclass(frozen=True)
class Refusal:
    """Why an op does not join a group."""

    reason: str


@dataclass
class FusionPlan:
    """The groups of one block, and the ops that every kernel computes again that reads them."""

    groups: list[Group] = field(default_factory=list[Group])
    group_of: dict[Operation, Group] = field(default_factory=dict[Operation, Group])
    inlined: set[Operation] = field(default_factory=set[Operation])
    """Streaming ops that belong to no group: their one reader computes them where it reads."""

    def is_repeated(self, op: Operation | Block) -> bool:
        """Whether kernels that read `op` compute it themselves: movement ops that have no buffer, and inlined ops."""
        return (isinstance(op, Movement) and op not in self.group_of) or op in self.inlined


def plan_fusion(block: Block, max_ops: int) -> FusionPlan:
    """Group the ops of `block` (nested regions are blocks of their own)."""
    planner = _Planner(block, max_ops)
    for number, op in enumerate(block.ops):
        planner.position[op] = number
        planner.visit(op, number)
    planner.plan.groups = [group for group in planner.plan.groups if group.members]
    return planner.plan


@dataclass
class _Planner:
    block: Block
    max_ops: int
    plan: FusionPlan = field(default_factory=FusionPlan)
    position: dict[Operation, int] = field(default_factory=dict[Operation, int])
    materialized: dict[SSAValue, Group] = field(default_factory=dict[SSAValue, Group])
    _bases: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    _depth: dict[Operation | Block, int] = field(default_factory=dict["Operation | Block", int])

    # -- what an op is -------------------------------------------------------------------------------------------------

    def visit(self, op: Operation, number: int) -> None:
        """Put `op`, the next in program order, into a group, or note what it needs."""
        if isinstance(op, ct.ConstantOp) and is_splat(op):
            return
        if isinstance(op, Movement):
            self._visit_movement(op, number)
        elif isinstance(op, Streaming):
            self._visit_streaming(op, number)
        elif isinstance(op, ct.ReduceOp):
            self._visit_reduce(op, number)
        elif isinstance(op, Anchor):
            self._visit_anchor(op, number)
        elif isinstance(op, Ordering):
            group = self._new_group(op, number, "ordering", self._shape(op.results[0]))
            for operand in op.operands:
                self._read(group, self.buffer(operand, number))
        else:
            for value in self._values_used(op):
                self._mark_read(self.buffer(value, number))

    def _values_used(self, op: Operation) -> Iterator[SSAValue]:
        """Tensor values of this block that an op outside of any group uses, in its regions too."""
        for inner in op.walk():
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner.parent is self.block and owner is not op:
                    yield operand

    def _shape(self, value: SSAValue) -> tuple[int, ...]:
        return static_shape(value) or ()

    # -- groups --------------------------------------------------------------------------------------------------------

    def _new_group(self, op: Operation, number: int, family: str, shape: tuple[int, ...]) -> Group:
        group = Group(number, family, shape)
        self.plan.groups.append(group)
        self._add(group, op)
        return group

    def _add(self, group: Group, op: Operation) -> None:
        group.members[op] = None
        self.plan.group_of[op] = group

    def _owner_group(self, value: SSAValue) -> Group | None:
        if value in self.materialized:
            return self.materialized[value]
        return self.plan.group_of.get(value.owner) if isinstance(value.owner, Operation) else None

    def _defined_at(self, value: SSAValue) -> int:
        """The position at which a value is there; -1 for one from outside the block."""
        group = self._owner_group(value)
        if group is not None:
            return group.position
        owner = value.owner
        return self.position.get(owner, -1) if isinstance(owner, Operation) else -1

    def _read(self, group: Group, value: SSAValue) -> None:
        """`group` reads `value` from outside of it."""
        group.inputs[value] = None
        owner = self._owner_group(value)
        if owner is not None and owner is not group:
            owner.is_read = True

    def _mark_read(self, value: SSAValue) -> None:
        owner = self._owner_group(value)
        if owner is not None:
            owner.is_read = True

    def bases(self, value: SSAValue) -> list[SSAValue]:
        """`bases_of`, remembered, and ending at movement ops that are kernels of their own."""
        if (known := self._bases.get(value)) is not None:
            return known
        owner = value.owner
        if isinstance(owner, ct.ConstantOp) and is_splat(owner):
            found: list[SSAValue] = []
        elif not self.plan.is_repeated(owner):
            found = [value]
        else:
            assert isinstance(owner, Operation)
            found = list(dict.fromkeys(base for operand in owner.operands for base in self.bases(operand)))
        self._bases[value] = found
        return found

    def buffer(self, value: SSAValue, number: int) -> SSAValue:
        """`value` as something that has a buffer: a movement op that is not yet one becomes a kernel."""
        owner = value.owner
        lazy = isinstance(owner, Operation) and self.plan.is_repeated(owner) and owner.parent is self.block
        constant = isinstance(owner, ct.ConstantOp) and owner.parent is self.block and is_splat(owner)
        if lazy or constant:
            assert isinstance(owner, Operation)
            if value not in self.materialized:
                self._materialize(owner, value, number)
        return value

    def _materialize(self, op: Operation, value: SSAValue, number: int) -> None:
        group = Group(max(self.position.get(op, number), 0), "loop", self._shape(value))
        self.plan.groups.append(group)
        group.members[op] = None
        self.plan.group_of[op] = group
        for operand in op.operands:
            for base in self.bases(operand):
                self._read(group, base)
        latest = max((self._defined_at(base) for base in group.inputs), default=-1)
        group.position = max(group.position, latest)
        self.materialized[value] = group
        self.plan.inlined.discard(op)
        # Movement that was looked at before may go on reading past `value`: that is as correct.
        self._bases[value] = [value]

    # -- movement ------------------------------------------------------------------------------------------------------

    def _visit_movement(self, op: Operation, number: int) -> None:
        value = op.results[0]
        if isinstance(op, _ONE_READER) and not self._has_one_streaming_reader(value):
            self._materialize(op, value, number)
            return
        self._depth[op] = 1 + max((self._depth.get(operand.owner, 0) for operand in op.operands), default=0)
        if self._depth[op] > _MAX_DEPTH or len(self.bases(value)) > _MAX_BASES:
            self._depth[op] = 0
            self._materialize(op, value, number)
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
        group = self._owner_group(source)
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
        self._add(group, op)
        self._bases[op.result] = [op.result]
        group.depth += 1
        group.level[op.result] = group.depth
        group.shape = self._shape(op.result)

    def _reshape_belongs(self, op: ct.ReshapeOp, group: Group) -> bool:
        """After a transpose always; else only if what reads it is element-wise or needs a buffer of that shape."""
        if group.depth:
            return True
        return all(isinstance(use.operation, Streaming) or not isinstance(use.operation, Movement | Anchor) for use in
        op.result.uses)

    # -- streaming -----------------------------------------------------------------------------------------------------

    def _visit_streaming(self, op: Operation, number: int) -> None:
        refusals: list[tuple[Group, Refusal]] = []
        candidates = self._candidates(op)
        for group in candidates:
            refusal = self._refuses(group, op, number)
            if refusal is None:
                for other in candidates:
                    if other is not group and self._is_absorbed(group, other, op):
                        self._absorb(group, other, number)
                self._join(group, op, number)
                return
            refusals.append((group, refusal))
        if self._is_inlined(op):
            self.plan.inlined.add(op)
            return
        for group, refusal in refusals:
            self._remark(op, group, refusal)
        group = self._new_group(op, number, "loop", self._shape(op.results[0]))
        group.level[op.results[0]] = 0
        for operand in op.operands:
            for base in self.bases(operand):
                self._read(group, base)

    def _is_inlined(self, op: Operation) -> bool:
        """Whether `op` is cheap, and read through movement that repeats nothing by one streaming op, which computes it.
        """
        if isinstance(op, ct.ElementwiseOp) and op.function.flops >= _CHEAP_FLOPS:
            return False
        value = op.results[0]
        user = value.get_user_of_unique_use()
        if not isinstance(user, _REARRANGING):
            return False
        while isinstance(user, _REARRANGING):
            value = user.results[0]
            user = value.get_user_of_unique_use()
        return isinstance(user, Streaming) and len({base for o in op.operands for base in self.bases(o)}) <= 4

    def _candidates(self, op: Operation) -> list[Group]:
        """The groups that compute what `op` reads: anchored ones first, then rows, the latest first."""
        found: dict[Group, None] = {}
        for operand in op.operands:
            for base in self.bases(operand):
                group = self._owner_group(base)
                if group is not None and group.family != "ordering" and base not in self.materialized:
                    found[group] = None
        return sorted(found, key=lambda group: (group.family == "loop", group.is_pointwise, -group.position))

    # -- groups that become one ----------------------------------------------------------------------------------------

    def _is_absorbed(self, group: Group, other: Group, op: Operation) -> bool:
        """Whether `other`, which nobody has read yet and `op` reads too, can be computed in `group`'s loops."""
        if other.is_read or not other.is_pointwise or group.is_columns or other.shape != group.shape:
            return False
        if len(group.members) + len(other.members) >= self.max_ops:
            return False
        for operand in op.operands:
            if operand.owner not in other.members and any(self._owner_group(b) is other for b in self.bases(operand)):
                return False
        if group.family != "loop" and not self._fits_epilogue(other, op):
            return False
        if any(self._owner_group(value) is group for value in other.inputs):
            return False
        return not group.is_read or all(self._defined_at(value) < group.position for value in other.inputs)

    def _fits_epilogue(self, other: Group, op: Operation) -> bool:
        """Whether a pointwise group gives nothing but what `op` reads, and reads nothing in parts."""
        for member in other.members:
            for result in member.results:
                if any(use.operation is not op and use.operation not in other.members for use in result.uses):
                    return False
            if any(self._is_read_in_parts(operand) for operand in member.operands):
                return False
        return True

    def _absorb(self, group: Group, other: Group, number: int) -> None:
        for member in other.members:
            self._add(group, member)
            for result in member.results:
                group.level[result] = 0 if group.family == "loop" else group.depth
        group.inputs.update(other.inputs)
        other.members.clear()
        if not group.is_read:
            group.position = number

    def _is_read_in_parts(self, operand: SSAValue) -> bool:
        """Whether reading `operand` goes through a concat, pad or gather, which vectors can only read within a part."""
        stack, seen = [operand], {operand}
        while stack:
            owner = stack.pop().owner
            if not self.plan.is_repeated(owner):
                continue
            assert isinstance(owner, Operation)
            if isinstance(owner, _ONE_READER):
                return True
            for inner in owner.operands:
                if inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        return False

    def _refuses(self, group: Group, op: Operation, number: int) -> Refusal | None:
        """Why `op` (streaming) cannot be computed in `group`'s loops; None if it can."""
        if len(group.members) >= self.max_ops:
            return Refusal(f"the kernel has max-ops={self.max_ops} ops already")
        if (refusal := self._cycle(group, op, number)) is not None:
            return refusal
        shape = self._shape(op.results[0])
        if group.family != "loop":
            return self._refuses_epilogue(group, op, shape)
        if group.split is None and not group.is_columns:
            return None if shape == group.shape else Refusal("the shapes of the loops differ")
        return self._refuses_reduced(group, op, shape)

    def _cycle(self, group: Group, op: Operation, number: int) -> Refusal | None:
        if not group.is_read:
            return None
        for operand in op.operands:
            for base in self.bases(operand):
                if self._owner_group(base) is not group and self._defined_at(base) >= group.position:
                    return Refusal("the kernel is read before another operand of the op is there")
        return None

    def _refuses_epilogue(self, group: Group, op: Operation, shape: tuple[int, ...]) -> Refusal | None:
        if shape != group.shape:
            return Refusal("the op's shape is not that of the contraction's result")
        if self._is_for_reduction(group, op):
            return Refusal("its operand is stored anyway, and a reduction reads it next")
        if any(self._is_read_in_parts(operand) for operand in op.operands):
            return Refusal("the op reads a concat, pad or gather, which ends within vectors")
        for operand in op.operands:
            inside = [base for base in self.bases(operand) if self._owner_group(base) is group]
            if not inside:
                continue
            if operand not in group.level or group.level[operand] != group.depth:
                return Refusal("the op reads other elements of the contraction's result than its own")
        return None

    def _is_for_reduction(self, group: Group, op: Operation) -> bool:
        """Whether a reduction alone reads `op`, whose operand in `group` others read too: it costs less behind the
        store.
        """
        if not isinstance(op.results[0].get_user_of_unique_use(), ct.ReduceOp):
            return False
        inside = [operand for operand in op.operands if self._owner_group(operand) is group]
        return any(use.operation is not op for operand in inside for use in operand.uses)

    def _refuses_reduced(self, group: Group, op: Operation, shape: tuple[int, ...]) -> Refusal | None:
        is_full = shape == group.shape and not group.is_columns
        for operand in op.operands:
            inside = [base for base in self.bases(operand) if self._owner_group(base) is group]
            if not inside:
                continue
            if len(inside) == 1 and (operand is inside[0] or self._keeps_rows(operand, group)):
                continue
            if is_full and group.split is not None and all(group.level.get(base, 1) == 0 for base in inside):
                continue
            return Refusal("the op reads a reduced value other than row by row")
        if is_full:
            return None
        rows = prod(group.shape[: group.split]) if group.split is not None else None
        operands = [operand for operand in op.operands if self._owner_group(operand) is group]
        reduced = [operand for operand in operands if group.level.get(operand, 0) > 0 and self._shape(operand) == shape]
        if not reduced:
            return Refusal("the op is neither of the rows' nor of the reduced shape")
        if rows is not None and prod(shape) != rows:
            return Refusal("the op is neither of the rows' nor of the reduced shape")
        return None

    def _keeps_rows(self, value: SSAValue, group: Group) -> bool:
        """Whether a chain of broadcasts and reshapes repeats one element a row along that row only."""
        if group.split is None:
            return False
        rows = prod(group.shape[: group.split])
        while isinstance(owner := value.owner, ct.BroadcastOp | ct.ReshapeOp) and owner not in group.members:
            source, result = self._shape(owner.input), self._shape(value)
            if isinstance(owner, ct.BroadcastOp):
                pairs = [(dim, axis) for dim, axis in zip(source, ct.numbers(owner.axes), strict=True) if dim != 1]
                if any(axis >= group.split for _, axis in pairs) and result == group.shape:
                    return False
                if prod(dim for dim, _ in pairs) != rows:
                    return False
                if result != group.shape and prod(result) != rows:
                    return False
            elif prod(source) != rows:
                return False
            value = owner.input
        return self._owner_group(value) is group and prod(self._shape(value)) == rows

    def _join(self, group: Group, op: Operation, number: int) -> None:
        before = all(
            self._owner_group(base) is group or self._defined_at(base) < group.position
            for operand in op.operands
            for base in self.bases(operand)
        )
        if not before:
            group.position = number
        self._add(group, op)
        for operand in op.operands:
            for base in self.bases(operand):
                if self._owner_group(base) is not group:
                    self._read(group, base)
        if group.family == "loop":
            level = max(
                (group.level.get(base, 0) for operand in op.operands for base in self.bases(operand)), default=0
            )
            for result in op.results:
                group.level[result] = level
        else:
            for result in op.results:
                group.level[result] = group.depth

    # -- reductions ----------------------------------------------------------------------------------------------------

    def _visit_reduce(self, op: ct.ReduceOp, number: int) -> None:
        shape, axes = self._shape(op.input), sorted(ct.numbers(op.axes))
        split = len(shape) - len(axes) if axes == list(range(len(shape) - len(axes), len(shape))) and axes else None
        group = self._owner_group(op.input)
        if group is not None and group.family == "loop" and op.input not in self.materialized:
            refusal = self._refuses_reduce(group, op, number, shape, split)
            if refusal is None:
                self._join(group, op, number)
                group.split, group.is_columns = split, split is None
                group.level[op.result] = group.level.get(op.input, 0) + 1
                return
            self._remark(op, group, refusal)
        elif group is not None and group.family != "ordering":
            self._remark(op, group, Refusal("a reduction cannot live in a contraction's epilogue"))
        joined = self._row_group_reading(op, shape, split)
        if joined is not None and self._cycle(joined, op, number) is None and len(joined.members) < self.max_ops:
            self._join(joined, op, number)
            joined.level[op.result] = 1
            return
        group = self._new_group(op, number, "loop", shape)
        group.split, group.is_columns = split, split is None
        group.level[op.result] = 1
        for base in self.bases(op.input):
            self._read(group, base)

    def _row_group_reading(self, op: ct.ReduceOp, shape: tuple[int, ...], split: int | None) -> Group | None:
        """A row group that already reduces the same operand along the same axes."""
        for use in op.input.uses:
            other = use.operation
            group = self.plan.group_of.get(other)
            if isinstance(other, ct.ReduceOp) and other is not op and group is not None and split is not None:
                if group.family == "loop" and group.split == split and group.shape == shape:
                    return group
        return None

    def _refuses_reduce(
        self, group: Group, op: ct.ReduceOp, number: int, shape: tuple[int, ...], split: int | None
    ) -> Refusal | None:
        if len(group.members) >= self.max_ops:
            return Refusal(f"the kernel has max-ops={self.max_ops} ops already")
        if (refusal := self._cycle(group, op, number)) is not None:
            return refusal
        if shape != group.shape:
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

    # -- anchors -------------------------------------------------------------------------------------------------------

    def _visit_anchor(self, op: Operation, number: int) -> None:
        family = next(name for anchor, name in FAMILY.items() if isinstance(op, anchor))
        operands = [self._readable(op, index, operand, number) for index, operand in enumerate(op.operands)]
        group = self._new_group(op, number, family, self._shape(op.results[0]))
        group.level[op.results[0]] = 0
        for operand in operands:
            for base in self.bases(operand):
                self._read(group, base)

    def _readable(self, op: Operation, index: int, operand: SSAValue, number: int) -> SSAValue:
        """An anchor's operand as a strided view of a buffer that the anchor's emitter takes; else as a buffer itself.
        """
        view = view_of(operand, lambda value: self._owner_group(value) is not None)
        if view is None or not self._takes(op, index, view):
            return self.buffer(operand, number)
        self.buffer(view.root, number)
        return operand

    def _takes(self, op: Operation, index: int, view: View) -> bool:
        match op:
            case ct.ContractOp():
                return _contraction_takes(op, index, view)
            case ct.ConvolutionOp():
                return view.is_identity
            case ct.PoolOp():
                return view.is_identity
            case ct.AttentionOp():
                lead = range(len(view.shape) - 3)
                is_merged = not lead or merged_stride(view, lead) is not None
                return is_merged and (index >= 3 or view.strides[-1] == 1 or view.shape[-1] == 1)
            case _:
                return False

    # -- remarks -------------------------------------------------------------------------------------------------------

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


def contraction_dims(op: ct.ContractOp, index: int) -> tuple[list[int], list[int], list[int]]:
    """(batch, free, contracted) dims of operand `index` of a contraction, in the order that the result and sums use."""
    batch = list(ct.numbers(op.lhs_batch if index == 0 else op.rhs_batch))
    summed = list(ct.numbers(op.lhs_contract if index == 0 else op.rhs_contract))
    rank = len(ct.shape_of(op.operands[index].type))
    return batch, [dim for dim in range(rank) if dim not in batch and dim not in summed], summed


def merged_stride(view: View, dims: Sequence[int]) -> int | None:
    """The one stride of several dims of a view taken as one, None if there is none."""
    shape = [view.shape[dim] for dim in dims]
    merged = reshaped_strides(shape, [view.strides[dim] for dim in dims], [prod(shape)])
    return None if merged is None else merged[0]


def _contraction_takes(op: ct.ContractOp, index: int, view: View) -> bool:
    """Free dims and summed dims each have one stride; of the right operand one of the two is contiguous."""
    _, free, summed = contraction_dims(op, index)
    strides = merged_stride(view, free), merged_stride(view, summed)
    if None in strides or any(stride < 0 for stride in view.strides):
        return False
    extents = [prod(view.shape[dim] for dim in dims) for dims in (free, summed)]
    return index == 0 or any(stride == 1 or extent == 1 for stride, extent in zip(strides, extents, strict=True))
