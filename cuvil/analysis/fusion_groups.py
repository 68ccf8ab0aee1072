"""Groups of ops that one kernel computes, and what a planner knows of the block while it grows them.

Movement ops (broadcast, reshape, transpose, slice, ...) belong to no group: they are coordinate arithmetic that each
reader repeats. What a value is computed from once that is looked through are its *bases*. A movement op becomes a
kernel of its own, is *materialized*, only where somebody needs its elements in a buffer.

A group is computed at one place in the program, its `position`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim
from cuvil.semantics.splats import is_splat
from cuvil.semantics.views import dims_of

Movement = (
    ct.BroadcastOp
    | ct.ReshapeOp
    | ct.TransposeOp
    | ct.SliceOp
    | ct.ReverseOp
    | ct.IotaOp
    | ct.SizeOp
    | ct.ConcatOp
    | ct.PadOp
    | ct.GatherOp
    | ct.UnpackOp
)
Anchor = ct.ContractOp | ct.ConvolutionOp | ct.PoolOp | ct.AttentionOp
Ordering = ct.SortOp | ct.TopkOp | ct.ScanOp | ct.ArgReduceOp | ct.ScatterOp | ct.PackOp
Streaming = ct.ElementwiseOp | ct.CastOp
ONE_READER = ct.ConcatOp | ct.PadOp | ct.GatherOp
REARRANGING = ct.ConcatOp | ct.PadOp | ct.SliceOp | ct.ReverseOp | ct.TransposeOp | ct.ReshapeOp
"""Movement that reads each element at most once."""

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
    shape: tuple[Dim, ...]
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


def loop_shape(value: SSAValue) -> tuple[Dim, ...]:
    """The shape of a tensor, () where the value is none: ops on such values join nothing by shape."""
    return dims_of(value) if isinstance(value.type, TensorType) else ()


@dataclass
class Grouping:
    """The groups of a block so far, where its ops stand, and what its values are computed from."""

    block: Block
    plan: FusionPlan = field(default_factory=FusionPlan)
    position: dict[Operation, int] = field(default_factory=dict[Operation, int])
    materialized: dict[SSAValue, Group] = field(default_factory=dict[SSAValue, Group])
    _bases: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])

    def ends_at(self, value: SSAValue) -> None:
        """What reads `value` from now on reads it and does not look through what computes it."""
        self._bases[value] = [value]

    def new_group(self, op: Operation, number: int, family: str, shape: tuple[Dim, ...]) -> Group:
        """A group of `op` alone that runs at position `number`."""
        group = Group(number, family, shape)
        self.plan.groups.append(group)
        self.add(group, op)
        return group

    def add(self, group: Group, op: Operation) -> None:
        """Make `op` a member."""
        group.members[op] = None
        self.plan.group_of[op] = group

    def owner_group(self, value: SSAValue) -> Group | None:
        """The group that computes `value`; None for one from outside the block and for lazy movement."""
        if value in self.materialized:
            return self.materialized[value]
        return self.plan.group_of.get(value.owner) if isinstance(value.owner, Operation) else None

    def defined_at(self, value: SSAValue) -> int:
        """The position at which a value is there; -1 for one from outside the block."""
        group = self.owner_group(value)
        if group is not None:
            return group.position
        owner = value.owner
        return self.position.get(owner, -1) if isinstance(owner, Operation) else -1

    def read(self, group: Group, value: SSAValue) -> None:
        """`group` reads `value` from outside of it."""
        group.inputs[value] = None
        owner = self.owner_group(value)
        if owner is not None and owner is not group:
            owner.is_read = True

    def mark_read(self, value: SSAValue) -> None:
        """An op of no group reads `value`."""
        owner = self.owner_group(value)
        if owner is not None:
            owner.is_read = True

    def bases(self, value: SSAValue) -> list[SSAValue]:
        """What `value` is computed from by ops that its readers repeat: itself, if it is not; none for a splat."""
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
        """`value` itself, as something that has a buffer: a movement op that is not yet one becomes a kernel."""
        owner = value.owner
        if not isinstance(value.type, TensorType):
            return value
        lazy = isinstance(owner, Operation) and self.plan.is_repeated(owner) and owner.parent is self.block
        constant = isinstance(owner, ct.ConstantOp) and owner.parent is self.block and is_splat(owner)
        if lazy or constant:
            assert isinstance(owner, Operation)
            if value not in self.materialized:
                self.materialize(owner, value, number)
        return value

    def materialize(self, op: Operation, value: SSAValue, number: int) -> None:
        """Make a kernel of `op` alone, a movement op, inlined op or splat that gives `value`."""
        group = Group(max(self.position.get(op, number), 0), "loop", loop_shape(value))
        self.plan.groups.append(group)
        group.members[op] = None
        self.plan.group_of[op] = group
        for operand in op.operands:
            for base in self.bases(operand):
                self.read(group, base)
        latest = max((self.defined_at(base) for base in group.inputs), default=-1)
        group.position = max(group.position, latest)
        self.materialized[value] = group
        self.plan.inlined.discard(op)
        # Movement that was looked at before may go on reading past `value`: that is as correct.
        self.ends_at(value)

    def ends_view_at(self, value: SSAValue, root: SSAValue) -> None:
        """A view of `root` is read as one: also where its movement was looked at before `root` had a buffer."""
        while value is not root:
            self._bases.pop(value, None)
            assert isinstance(value.owner, Operation)
            value = value.owner.operands[0]

    def is_read_in_parts(self, operand: SSAValue) -> bool:
        """Whether reading `operand` goes through a concat, pad or gather, which vectors can only read within a part."""
        stack, seen = [operand], {operand}
        while stack:
            owner = stack.pop().owner
            if not self.plan.is_repeated(owner):
                continue
            assert isinstance(owner, Operation)
            if isinstance(owner, ONE_READER):
                return True
            for inner in owner.operands:
                if inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        return False
