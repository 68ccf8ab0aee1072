"""When tensor values die: the last operation of its own block that needs each value, uses in nested regions included.

Pure analysis of structured control flow (one block a region), one walk. A kernel's region is isolated from above and
has its own values: it is not entered.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from cuvil.errors import UnsupportedError

_NOTHING: dict[SSAValue, None] = {}


def is_tensor(value: SSAValue) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value.type, TensorType)


def block_of(value: SSAValue) -> Block | None:
    """The block that a value belongs to: that of its argument, or of the operation that defines it."""
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent


@dataclass
class Liveness:
    """The last uses of the tensor values of a region."""

    last_use: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    """For each value with a use: the last operation of the value's own block that uses it, itself or in a region."""

    position: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The place of each operation in its block."""

    dying: dict[Operation, list[SSAValue]] = field(default_factory=dict[Operation, "list[SSAValue]"])
    """For each operation, the values of its block that nothing needs after it, in order of definition."""

    captured: dict[Operation, dict[SSAValue, None]] = field(default_factory=dict[Operation, "dict[SSAValue, None]"])
    """For each operation with regions, the values from outside that its regions use, in order of first use."""

    @staticmethod
    def of(region: Region) -> Liveness:
        """The liveness in `region`. Raises `UnsupportedError` where a region has several blocks."""
        liveness = Liveness()
        liveness._scan_region(region)
        return liveness

    def is_last_use(self, value: SSAValue, op: Operation) -> bool:
        """Whether `value` belongs to the block of `op` and nothing needs it afterwards."""
        return self.last_use.get(value) is op

    def is_captured(self, value: SSAValue, op: Operation) -> bool:
        """Whether the regions of `op` use `value` from outside."""
        return value in self.captured.get(op, _NOTHING)

    def _scan_region(self, region: Region) -> dict[SSAValue, None]:
        if not region.blocks:
            return {}
        if region.first_block is not region.last_block:
            raise UnsupportedError(
                "expected structured control flow (scf), got a region of several blocks", region.parent
            )
        return self._scan_block(region.block)

    def _scan_block(self, block: Block) -> dict[SSAValue, None]:
        """Record the uses in a block; those of values from outside it are returned."""
        outside: dict[SSAValue, None] = {}
        for number, op in enumerate(block.ops):
            self.position[op] = number
            used = {operand: None for operand in op.operands if is_tensor(operand)}
            if op.regions and not op.has_trait(IsolatedFromAbove):
                captured: dict[SSAValue, None] = {}
                for region in op.regions:
                    captured.update(self._scan_region(region))
                self.captured[op] = captured
                used.update(captured)
            for value in used:
                if block_of(value) is block:
                    self.last_use[value] = op
                else:
                    outside[value] = None
        self._record_deaths(block)
        return outside

    def _record_deaths(self, block: Block) -> None:
        def record(value: SSAValue, unused: Operation | None) -> None:
            op = self.last_use.get(value, unused)
            if op is not None and is_tensor(value):
                self.dying.setdefault(op, []).append(value)

        for argument in block.args:
            record(argument, None)
        for op in block.ops:
            for result in op.results:
                record(result, op)
