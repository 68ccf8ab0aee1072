"""Asynchronous copies of `cuvil_gpu`, and the mbarriers that threads and copies arrive at.

A thread's copies from global to shared memory run behind its back: `commit_copies` closes a group of them,
`wait_copies` waits for all groups but the latest few. Until then nobody may touch the destination, and after it only
the thread itself: others need a barrier. A warp executes these operations as a whole.

An mbarrier is an element of a shared buffer of `i64`. It counts arrivals; when all that a phase expects have come, the
phase is over and the next one begins. `mbarrier_wait` waits until the phase of a parity (0 for the first) is over:
what arriving threads did before happens before what the waiting ones do next.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import EqAttrConstraint, IRDLOperation, irdl_op_definition, operand_def, prop_def, traits_def
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.gpu_base import GLOBAL, SHARED, access_bytes, check_buffer

COPY_BYTES = (4, 8, 16)
"""What one asynchronous copy can move."""
_I32 = EqAttrConstraint(i32)


@irdl_op_definition
class CopyAsyncOp(IRDLOperation):
    """Begin to copy `elements` consecutive elements, 4, 8 or 16 bytes in all, to shared memory.

    `cuvil_gpu.copy_async %x[%i], %s[%j] elements = 4 : memref<1024xf32, 1 : i32>, memref<128xf32, 3 : i32>`. Both
    places lie at multiples of `elements`.
    """

    name = "cuvil_gpu.copy_async"

    source = operand_def(MemRefType)
    source_index = operand_def(IndexType)
    target = operand_def(MemRefType)
    target_index = operand_def(IndexType)
    elements = prop_def(IntegerAttr.constr(type=_I32))

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$source `[` $source_index `]` `,` $target `[` $target_index `]` `elements` `=` $elements attr-dict "
        "`:` type($source) `,` type($target)"
    )

    def __init__(
        self, source: SSAValue, source_index: SSAValue, target: SSAValue, target_index: SSAValue, elements: int
    ) -> None:
        super().__init__(
            operands=[source, source_index, target, target_index], properties={"elements": IntegerAttr(elements, i32)}
        )

    def verify_(self) -> None:
        source = check_buffer(self, self.source.type, GLOBAL)
        target = check_buffer(self, self.target.type, SHARED)
        if source.element_type != target.element_type:
            raise VerifyException(f"{self.name}: expected buffers of one element type, got {source} and {target}")
        size_bytes = self.elements.value.data * access_bytes(source.element_type)
        if size_bytes not in COPY_BYTES:
            raise VerifyException(f"{self.name}: expected a copy of 4, 8 or 16 bytes, got {size_bytes}")


@irdl_op_definition
class CommitCopiesOp(IRDLOperation):
    """Close a group of the thread's asynchronous copies: `cuvil_gpu.commit_copies`."""

    name = "cuvil_gpu.commit_copies"

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class WaitCopiesOp(IRDLOperation):
    """Wait until at most so many of the thread's groups are in flight: `cuvil_gpu.wait_copies in_flight = 1`."""

    name = "cuvil_gpu.wait_copies"

    in_flight = prop_def(IntegerAttr.constr(type=_I32))

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "`in_flight` `=` $in_flight attr-dict"

    def __init__(self, in_flight: int) -> None:
        super().__init__(properties={"in_flight": IntegerAttr(in_flight, i32)})

    def verify_(self) -> None:
        if self.in_flight.value.data < 0:
            raise VerifyException(f"{self.name}: expected a number of groups, got {self.in_flight.value.data}")


# -- mbarriers ---------------------------------------------------------------------------------------------------------


class _MbarrierOp(IRDLOperation):
    """An operation on one mbarrier, an element of a shared buffer; the buffer is the first operand."""

    def verify_(self) -> None:
        buffer = check_buffer(self, self.operands[0].type, SHARED)
        if buffer.element_type != i64:
            raise VerifyException(f"{self.name}: expected mbarriers to be elements of i64, got {buffer}")


@irdl_op_definition
class MbarrierInitOp(_MbarrierOp):
    """One thread starts an mbarrier that expects `arrivals` a phase; a barrier makes it known to the others.

    `cuvil_gpu.mbarrier_init %b[%i], %arrivals : memref<2xi64, 3 : i32>`
    """

    name = "cuvil_gpu.mbarrier_init"

    barriers = operand_def(MemRefType)
    index = operand_def(IndexType)
    arrivals = operand_def(_I32)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$barriers `[` $index `]` `,` $arrivals attr-dict `:` type($barriers)"

    def __init__(self, barriers: SSAValue, index: SSAValue, arrivals: SSAValue) -> None:
        super().__init__(operands=[barriers, index, arrivals])


@irdl_op_definition
class MbarrierArriveOp(_MbarrierOp):
    """The thread arrives: `cuvil_gpu.mbarrier_arrive %b[%i] : memref<2xi64, 3 : i32>`."""

    name = "cuvil_gpu.mbarrier_arrive"

    barriers = operand_def(MemRefType)
    index = operand_def(IndexType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$barriers `[` $index `]` attr-dict `:` type($barriers)"

    def __init__(self, barriers: SSAValue, index: SSAValue) -> None:
        super().__init__(operands=[barriers, index])


@irdl_op_definition
class MbarrierWaitOp(_MbarrierOp):
    """Wait until the phase of parity 0 or 1 is over: `cuvil_gpu.mbarrier_wait %b[%i], %p : memref<2xi64, 3 : i32>`."""

    name = "cuvil_gpu.mbarrier_wait"

    barriers = operand_def(MemRefType)
    index = operand_def(IndexType)
    parity = operand_def(_I32)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$barriers `[` $index `]` `,` $parity attr-dict `:` type($barriers)"

    def __init__(self, barriers: SSAValue, index: SSAValue, parity: SSAValue) -> None:
        super().__init__(operands=[barriers, index, parity])


ASYNC_OPERATIONS: Sequence[type[Operation]] = (
    CommitCopiesOp,
    CopyAsyncOp,
    MbarrierArriveOp,
    MbarrierInitOp,
    MbarrierWaitOp,
    WaitCopiesOp,
)
