"""Which buffer holds which value, for `bufferize`: destinations, reuse in place, lifetimes, copies.

At any point a buffer holds the contents of one value, its *holder*. A value may be written to a buffer whose holder
nothing needs any more. Three kinds of buffers:

- *owned*: made by `alloc`; freed after the last use of the last value that it held,
- *carried*: those of a loop's carried values, seen from inside the loop: written at will, freed by whoever is outside,
- *borrowed*: arguments and parameters: inputs are never written, outputs only by the values destined for them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from enum import Enum

from xdsl.ir import Attribute, Block, Operation, SSAValue

from cuvil.dialects.fused import AllocOp, CopyOp, FreeOp, KernelOp, buffer_type_of
from cuvil.semantics.in_place import can_write_over
from cuvil.semantics.liveness import Liveness


class Ownership(Enum):
    """Who frees the buffer of a value that may be written over when it is dead."""

    OWNED = "owned"
    CARRIED = "carried"


class BufferAssignment:
    """The state of the walk over one function; new operations are appended to `block`."""

    block: Block

    def __init__(self, liveness: Liveness, in_place: bool) -> None:
        self.liveness = liveness
        self.in_place = in_place
        self.buffers: dict[SSAValue, SSAValue] = {}
        self.ownership: dict[SSAValue, Ownership] = {}
        self.holders: dict[SSAValue, SSAValue] = {}
        self.wanted: dict[SSAValue, SSAValue] = {}
        self.counts: Counter[str] = Counter()
        self._types: dict[Attribute, Attribute] = {}

    # -- operations --------------------------------------------------------------------------------------------------

    def emit(self, op: Operation, origin: Operation | None = None) -> None:
        """Append `op`, at the location of `origin`."""
        if origin is not None:
            op.location = origin.location
        self.block.add_op(op)

    def alloc(self, buffer_type: Attribute, origin: Operation, name_hint: str | None = None) -> SSAValue:
        """A new buffer."""
        # `create` instead of the constructor: this runs once for every kernel, and is several times faster.
        op = AllocOp.create(result_types=[buffer_type])
        op.results[0].name_hint = name_hint
        self.emit(op, origin)
        self.counts["buffers"] += 1
        return op.results[0]

    def free_dead(self, op: Operation) -> None:
        """End the lifetimes of the owned buffers whose values nothing needs after `op`."""
        for value in self.liveness.dying.get(op, ()):
            if self.ownership.get(value) is Ownership.OWNED:
                self.free(self.buffers[value], op)
                del self.ownership[value]

    def free(self, buffer: SSAValue, origin: Operation) -> None:
        """End the lifetime of a buffer."""
        self.emit(FreeOp.create(operands=[buffer]), origin)

    def copy(self, source: SSAValue, target: SSAValue, origin: Operation) -> None:
        """Copy one buffer's contents into another."""
        self.emit(CopyOp.create(operands=[source, target]), origin)
        self.counts["copies"] += 1

    def copy_in_parallel(self, pairs: Sequence[tuple[SSAValue, SSAValue]], origin: Operation) -> None:
        """Copy each source into its target as if at once: no target is written before all of its readers have read it.

        What is left when every such order is exhausted are cycles, such as a swap: a temporary breaks each.
        """
        pending = {target: source for source, target in pairs if source is not target}
        readers = Counter(pending.values())
        ready = deque(target for target in pending if not readers[target])
        temporaries: list[SSAValue] = []
        while pending:
            if not ready:
                target = next(iter(pending))
                temporary = self.alloc(target.type, origin)
                self.copy(target, temporary, origin)
                temporaries.append(temporary)
                # In a cycle each buffer has one reader: it is further on in `pending`, or it is the last one left.
                self._redirect(pending, target, temporary)
                ready.append(target)
            target = ready.popleft()
            source = pending.pop(target)
            self.copy(source, target, origin)
            readers[source] -= 1
            if source in pending and not readers[source]:
                ready.append(source)
        for temporary in temporaries:
            self.free(temporary, origin)

    @staticmethod
    def _redirect(pending: dict[SSAValue, SSAValue], old: SSAValue, new: SSAValue) -> None:
        # Follow the cycle backwards from `old` to the target that reads it.
        target = old
        while pending[target] is not old:
            target = pending[target]
        pending[target] = new

    def buffer_type(self, value_type: Attribute) -> Attribute:
        """`buffer_type_of`, remembered: functions have few types, and making one costs more than an operation."""
        found = self._types.get(value_type)
        if found is None:
            found = self._types[value_type] = buffer_type_of(value_type)
        return found

    # -- values ------------------------------------------------------------------------------------------------------

    def hold(self, value: SSAValue, buffer: SSAValue, ownership: Ownership | None) -> None:
        """Let `buffer` hold `value` from here on."""
        self.buffers[value] = buffer
        self.holders[buffer] = value
        if ownership is not None:
            self.ownership[value] = ownership

    def destination(self, value: SSAValue, op: Operation, result: int | None = None) -> SSAValue:
        """The buffer that `op` writes its result `value` into; `result` is its number where `op` is a kernel.

        It is the one that wants the value, if that is vacant; else a dead operand's, in place; else a new one.
        """
        wanted = self.wanted.get(value)
        if wanted is not None and self._is_vacant(wanted, op, result):
            self.hold(value, wanted, None)
            return wanted
        if isinstance(op, KernelOp) and result is not None:
            for number, operand in enumerate(op.inputs):
                if self.can_take_over(operand, op) and can_write_over(op, number, result):
                    self.counts["in-place"] += 1
                    return self.take_over(operand, value)
        buffer = self.alloc(self.buffer_type(value.type), op, value.name_hint)
        self.hold(value, buffer, Ownership.OWNED)
        return buffer

    def can_take_over(self, value: SSAValue, op: Operation) -> bool:
        """Whether the buffer of `value` may be written by `op` because nothing needs `value` afterwards."""
        return (
            self.in_place
            and value in self.ownership
            and self.holders.get(self.buffers[value]) is value
            and self.liveness.is_last_use(value, op)
            and not self.liveness.is_captured(value, op)
        )

    def take_over(self, value: SSAValue, successor: SSAValue) -> SSAValue:
        """Let the buffer of the dead `value` hold `successor`, which inherits the ownership."""
        buffer = self.buffers[value]
        self.hold(successor, buffer, self.ownership.pop(value))
        return buffer

    def _is_vacant(self, buffer: SSAValue, op: Operation, result: int | None) -> bool:
        holder = self.holders.get(buffer)
        if holder is None:
            return True
        if holder.owner is op:
            return False
        last = self.liveness.last_use.get(holder)
        if last is None or self.liveness.position[last] < self.liveness.position[op]:
            return True
        if last is not op or not self.in_place or not isinstance(op, KernelOp) or result is None:
            return False
        number = next(number for number, operand in enumerate(op.inputs) if operand is holder)
        return can_write_over(op, number, result)
