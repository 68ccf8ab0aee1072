"""Loop-level code as one thread of a GPU runs it.

`GpuLoopBuilder` is a `LoopBuilder` whose parallel loop is shared out over all threads of the grid, one after the other
in strides, so that neighbouring threads have neighbouring items; vectors are moved in one access where their place is
known to be aligned, else element by element.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from xdsl.dialects import arith, gpu, memref, scf
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    f32,
    i1,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from cuvil.codegen.loops import Index, LoopBuilder, element_type_of, vector_of, width_of
from cuvil.dialects import gpu as cuvil_gpu
from cuvil.dialects.gpu_base import ACCESS_BYTES, access_bytes
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment

_X = gpu.DimensionAttr(gpu.DimensionEnum.X)
_INDEX = IndexType()


class GpuLoopBuilder(LoopBuilder):
    """Appends one thread's code; see the module's docstring.

    `threads` is the size of a block. With `is_one_block` the grid is a single block, and all its threads meet behind
    every parallel loop: what comes later sees what the loop has written.
    """

    grain = 1

    def __init__(
        self,
        block: Block,
        threads: int,
        symbols: Mapping[str, SSAValue],
        environment: ShapeEnvironment,
        is_one_block: bool = False,
    ) -> None:
        super().__init__(block, symbols=symbols, environment=environment)
        self.threads = threads
        self.is_one_block = is_one_block
        self.entry = block
        self.parallel_counts: list[Index] = []
        """The number of items of each parallel loop."""
        self.parallel_loops: list[Operation] = []
        self._factors: dict[SSAValue, int] = {}
        self._shared: list[Operation] = []
        self._numbers = [self.insert(op(_X)) for op in (gpu.ThreadIdOp, gpu.BlockIdOp, gpu.GridDimOp)]

    # -- where the thread is -------------------------------------------------------------------------------------------

    def thread(self) -> SSAValue:
        """The thread's number in its block."""
        return self._numbers[0]

    def block_number(self) -> SSAValue:
        """The number of the thread's block."""
        return self._numbers[1]

    def blocks(self) -> SSAValue:
        """The number of blocks."""
        return self._numbers[2]

    def save(self) -> Any:
        """What `restore` needs, parallel loops and shared buffers included."""
        return super().save(), len(self.parallel_counts), len(self.parallel_loops), len(self._shared)

    def restore(self, saved: Any) -> None:
        """Forget what has been made since `save`."""
        constants, counts, loops, shared = saved
        super().restore(constants)
        del self.parallel_counts[counts:], self.parallel_loops[loops:]
        for op in self._shared[shared:]:
            op.detach()
            op.erase(safe_erase=False)
        del self._shared[shared:]

    def barrier(self) -> None:
        """All threads of the block meet."""
        self.block.add_op(gpu.BarrierOp())

    # -- loops ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def parallel(self, count: Index) -> Generator[SSAValue]:
        """Run the body for i in [0, count), shared out over all threads of the grid."""
        self.parallel_counts.append(count)
        if self.is_one_block:
            first, step = self.thread(), self.index(self.threads)
        else:
            first = self.index(self.add(self.mul(self.block_number(), self.threads), self.thread()))
            step = self.index(self.mul(self.blocks(), self.threads))
        with self.for_(first, count, step) as loop:
            yield loop.index
        last = self.block.last_op
        assert isinstance(last, scf.ForOp)
        self.parallel_loops.append(last)
        if self.is_one_block:
            self.barrier()

    def multiple(self, value: Index, factor: int) -> Index:
        """Say that a value is a multiple of `factor`, which nothing but its maker knows."""
        if isinstance(value, SSAValue):
            self._factors[value] = factor
        return value

    def is_multiple(self, value: Index, factor: int) -> bool:
        """Whether a value is certainly a multiple of `factor`."""
        if isinstance(value, int | DimExpr):
            return self.environment.is_multiple_of(value, factor)
        if self._factors.get(value, 1) % factor == 0 or factor == 1:
            return True
        if isinstance(value, BlockArgument):
            return False
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as number):
                return number.value.data % factor == 0
            case arith.AddiOp() | arith.SubiOp() | arith.RemUIOp():
                return all(self.is_multiple(operand, factor) for operand in value.owner.operands)
            case arith.MuliOp():
                return any(self.is_multiple(operand, factor) for operand in value.owner.operands)
            case _:
                return False

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def float_to_integer(self, value: SSAValue, result: Attribute) -> SSAValue:
        """As on the CPU, which gives the smallest integer for what is not in range; a GPU would give the nearest."""
        converted = super().float_to_integer(value, result)
        element, width = element_type_of(value.type), width_of(value.type)
        if isinstance(element, Float16Type | BFloat16Type):
            value = self.op(arith.ExtFOp, value, result=vector_of(f32, width))
            element = f32
        integer = element_type_of(result)
        assert isinstance(integer, IntegerType)
        limit = 1 << (integer.width.data - 1)
        above = self.compare_float("oge", value, self.constant(-float(limit), element, width))
        below = self.compare_float("olt", value, self.constant(float(limit), element, width))
        smallest = self.constant(-limit, integer, width)
        return self.select(self.int_op(arith.AndIOp, above, below), converted, smallest)

    # -- memory --------------------------------------------------------------------------------------------------------

    def _is_wide(self, buffer: SSAValue, position: Index, value_type: Attribute) -> bool:
        element = element_type_of(value_type)
        is_far = cuvil_gpu.space_of(buffer.type) in (cuvil_gpu.GLOBAL, cuvil_gpu.SHARED)
        return (
            is_far
            and element != i1
            and access_bytes(value_type) in ACCESS_BYTES
            and self.is_multiple(position, width_of(value_type))
        )

    def load(self, buffer: SSAValue, position: Index, width: int = 1) -> SSAValue:
        """buffer[position : position + width], in one access if it is aligned."""
        value_type = vector_of(element_type_of(buffer.type), width)
        if width == 1:
            return super().load(buffer, position)
        if self._is_wide(buffer, position, value_type):
            return self.insert(cuvil_gpu.LoadOp(buffer, self.index(position), value_type))
        lanes = [super(GpuLoopBuilder, self).load(buffer, self.add(position, lane)) for lane in range(width)]
        vector = self.broadcast(lanes[0], width)
        for lane, value in enumerate(lanes[1:], 1):
            vector = self.insert_lane(value, vector, lane)
        return vector

    def store(self, value: SSAValue, buffer: SSAValue, position: Index) -> None:
        """buffer[position : position + width] = value, in one access if it is aligned."""
        width = width_of(value.type)
        if width == 1:
            super().store(value, buffer, position)
        elif self._is_wide(buffer, position, value.type):
            self.block.add_op(cuvil_gpu.StoreOp(value, buffer, self.index(position)))
        else:
            for lane in range(width):
                super().store(self.extract(value, lane), buffer, self.add(position, lane))

    def shared(self, element_type: Attribute, size: int) -> SSAValue:
        """A buffer of the block."""
        op = cuvil_gpu.SharedOp(MemRefType(element_type, [size], memory_space=IntegerAttr(cuvil_gpu.SHARED, 32)))
        assert self.entry.first_op is not None, "a kernel begins with the numbers of its thread"
        self.entry.insert_op_before(op, self.entry.first_op)
        self._shared.append(op)
        return op.buffer

    # -- code that is for one thread -----------------------------------------------------------------------------------

    def guard_serial_code(self) -> int:
        """Have what stands beside parallel loops and has effects run on one thread only; the number of such parts."""
        leader: SSAValue | None = None
        parts = 0
        for op in list(self.entry.ops):
            if op in self.parallel_loops or not _has_effects(op):
                continue
            if leader is None:
                leader = self._leader()
            parts += 1
            guarded = scf.IfOp(leader, [], Region([Block()]))
            self.entry.insert_op_before(guarded, op)
            op.detach()
            guarded.true_region.block.add_ops([op, scf.YieldOp()])
            if self.is_one_block:
                self.entry.insert_op_after(gpu.BarrierOp(), guarded)
        return parts

    def _leader(self) -> SSAValue:
        """Whether this is the first thread of all."""
        zero = arith.ConstantOp(IntegerAttr(0, _INDEX))
        ops: list[Operation] = [zero]
        number = self.thread()
        if not self.is_one_block:
            ops.append(arith.OrIOp(number, self.block_number()))
            number = ops[-1].results[0]
        ops.append(arith.CmpiOp(number, zero.result, "eq"))
        last = self.blocks().owner
        assert isinstance(last, Operation)
        self.entry.insert_ops_after(ops, last)
        return ops[-1].results[0]


def _has_effects(op: Operation) -> bool:
    return any(
        isinstance(inner, memref.StoreOp | cuvil_gpu.StoreOp) or inner.name == "vector.store" for inner in op.walk()
    )


def items_of(counts: list[Index]) -> Dim | None:
    """The largest number of items that a parallel loop of the kernel has; None if only the kernel knows."""
    if any(isinstance(count, SSAValue) for count in counts) or len(counts) != 1:
        return None
    (count,) = counts
    assert not isinstance(count, SSAValue)
    return count
