"""Lifetimes of buffers: each `cuvil_fused.alloc` has its one `free`, nothing is used outside the two, and when that is.

Lifetimes are explicit, and structured: a buffer is freed in the block that allocates it, hence exactly once on every
path through it. A buffer allocated in a loop's body is a new one in each iteration. Buffers do not flow through the
results or block arguments of operations, nor are they returned, so that their name is the only way to them.

Time is the place in the pre-order walk over the function. Two buffers are live at once only if their intervals overlap:
an operation with regions stands before everything in them, so a buffer that is live across a loop covers all of the
loop's body, and buffers of two branches of an `if` never meet.

    for lifetime in lifetimes_of(function):
        print(lifetime.begin, lifetime.end, lifetime.alloc.buffer.type)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator

from cuvil.dialects.fused import AllocOp, FreeOp
from cuvil.errors import Diagnostic, VerificationError, source_location


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A buffer is live from `begin` up to `end`, the places of its `alloc` and its `free` in the pre-order walk."""

    alloc: AllocOp
    free: FreeOp
    begin: int
    end: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether the two buffers are live at once."""
        return self.begin < other.end and other.begin < self.end


def verify_lifetimes(function: FuncOp) -> None:
    """Check the lifetimes of the buffers of a function. Raises `VerificationError` at the operation at fault."""
    lifetimes_of(function)


def lifetimes_of(function: FuncOp) -> list[Lifetime]:
    """The lifetimes of the buffers that a function allocates, by `begin`. Raises as `verify_lifetimes` does."""
    walk = _Walk()
    walk.region(function.body)
    return sorted(walk.lifetimes, key=lambda lifetime: lifetime.begin)


@dataclass
class _Walk:
    """The state of the walk: which buffers are live, since when, and which are dead."""

    time: int = 0
    live: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    dead: dict[SSAValue, FreeOp] = field(default_factory=dict[SSAValue, FreeOp])
    lifetimes: list[Lifetime] = field(default_factory=list[Lifetime])

    def region(self, region: Region) -> None:
        for block in region.blocks:
            self.block(block)

    def block(self, block: Block) -> None:
        allocated: list[AllocOp] = []
        for op in block.ops:
            self.time += 1
            if isinstance(op, AllocOp):
                self.live[op.buffer] = self.time
                allocated.append(op)
            elif isinstance(op, FreeOp):
                self.free(op, block)
            else:
                self.check_uses(op)
                # A kernel's region computes on tensors: there are no buffers in it.
                if op.regions and not op.has_trait(IsolatedFromAbove):
                    for region in op.regions:
                        self.region(region)
        for op in allocated:
            if op.buffer in self.live:
                raise VerificationError(
                    f"{op.name}: {_name(op.buffer)} : {op.buffer.type} is never freed: add a cuvil_fused.free "
                    "after its last use, in the same block",
                    op,
                )

    def free(self, op: FreeOp, block: Block) -> None:
        buffer = op.buffer
        alloc = buffer.owner
        if not isinstance(alloc, AllocOp):
            raise VerificationError(f"{op.name}: {_name(buffer)} is not the result of a cuvil_fused.alloc", op)
        if (earlier := self.dead.get(buffer)) is not None:
            raise VerificationError(f"{op.name}: {_name(buffer)} is freed twice", op, _notes(earlier, "freed here"))
        if alloc.parent is not block:
            message = (
                f"{op.name}: {_name(buffer)} is allocated outside of this region: free it in the block of its alloc"
            )
            raise VerificationError(message, op, _notes(alloc, "allocated here"))
        if buffer not in self.live:
            raise VerificationError(f"{op.name}: {_name(buffer)} is freed before it is allocated", op)
        self.lifetimes.append(Lifetime(alloc, op, self.live.pop(buffer), self.time))
        self.dead[buffer] = op

    def check_uses(self, op: Operation) -> None:
        for operand in op.operands:
            if (free := self.dead.get(operand)) is not None:
                raise VerificationError(
                    f"{op.name}: {_name(operand)} is used after it is freed", op, _notes(free, "freed here")
                )
            if operand in self.live and _lets_escape(op):
                raise VerificationError(
                    f"{op.name}: {_name(operand)} leaves the block of its lifetime: copy it into a buffer from outside",
                    op,
                )


def _lets_escape(op: Operation) -> bool:
    """Whether an operation makes its operands' buffers known by other names."""
    return op.has_trait(IsTerminator) or any(isinstance(result.type, MemRefType) for result in op.results)


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "the buffer"


def _notes(op: Operation, message: str) -> Iterable[Diagnostic]:
    location = source_location(op)
    return [Diagnostic("note", message, location)] if location is not None else []
