"""Operations of `nvvm` on memory: mbarriers, fences, asynchronous copies, tensor maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I1, I16, I32, I64, IntegerAttr, UnitAttr, i1, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.nvvm_attributes import (
    GENERIC,
    GLOBAL,
    SHARED,
    SHARED_CLUSTER,
    CacheModifier,
    CacheModifierAttr,
    ProxyKind,
    ProxyKindAttr,
    SharedSpace,
    SharedSpaceAttr,
    i32_attr,
    pointer,
    require_space,
)

# -- mbarriers ---------------------------------------------------------------------------------------------------------


class MbarrierOp(IRDLOperation):
    """An operation on an mbarrier, eight bytes of shared memory; its address is the first operand.

    Every subclass declares the address itself: xDSL puts a class's own operands before its base's.
    """

    def verify_(self) -> None:
        require_space(self.name, "an mbarrier", self.operands[0].type, SHARED)


@irdl_op_definition
class MbarrierInitSharedOp(MbarrierOp):
    """Start an mbarrier that expects so many arrivals a phase.

    `nvvm.mbarrier.init.shared %b, %n : !llvm.ptr<3>, i32`
    """

    name = "nvvm.mbarrier.init.shared"

    addr = operand_def(LLVMPointerType)
    count = operand_def(I32)

    assembly_format = "$addr `,` $count attr-dict `:` type($addr) `,` type($count)"

    def __init__(self, addr: SSAValue, count: SSAValue) -> None:
        super().__init__(operands=[addr, count])


@irdl_op_definition
class MbarrierInvalSharedOp(MbarrierOp):
    """End an mbarrier, so that its memory can be used again: `nvvm.mbarrier.inval.shared %b : !llvm.ptr<3>`."""

    name = "nvvm.mbarrier.inval.shared"

    addr = operand_def(LLVMPointerType)
    assembly_format = "$addr attr-dict `:` type($addr)"

    def __init__(self, addr: SSAValue) -> None:
        super().__init__(operands=[addr])


@irdl_op_definition
class MbarrierArriveSharedOp(MbarrierOp):
    """Arrive; the result names the phase: `nvvm.mbarrier.arrive.shared %b : !llvm.ptr<3> -> i64`."""

    name = "nvvm.mbarrier.arrive.shared"

    addr = operand_def(LLVMPointerType)
    res = result_def(I64)

    assembly_format = "$addr attr-dict `:` type($addr) `->` type($res)"

    def __init__(self, addr: SSAValue) -> None:
        super().__init__(operands=[addr], result_types=[i64])


@irdl_op_definition
class MbarrierArriveExpectTxSharedOp(MbarrierOp):
    """Arrive, and expect bytes of asynchronous copies in this phase.

    `nvvm.mbarrier.arrive.expect_tx.shared %b, %bytes : !llvm.ptr<3>, i32`. sm_90 and up.
    """

    name = "nvvm.mbarrier.arrive.expect_tx.shared"

    addr = operand_def(LLVMPointerType)
    txcount = operand_def(I32)

    assembly_format = "$addr `,` $txcount attr-dict `:` type($addr) `,` type($txcount)"

    def __init__(self, addr: SSAValue, byte_count: SSAValue) -> None:
        super().__init__(operands=[addr, byte_count])


@irdl_op_definition
class MbarrierTestWaitSharedOp(MbarrierOp):
    """Whether a phase is over: `nvvm.mbarrier.test.wait.shared %b, %state : !llvm.ptr<3>, i64 -> i1`."""

    name = "nvvm.mbarrier.test.wait.shared"

    addr = operand_def(LLVMPointerType)
    state = operand_def(I64)
    res = result_def(I1)

    assembly_format = "$addr `,` $state attr-dict `:` type($addr) `,` type($state) `->` type($res)"

    def __init__(self, addr: SSAValue, state: SSAValue) -> None:
        super().__init__(operands=[addr, state], result_types=[i1])


@irdl_op_definition
class MbarrierTryWaitParitySharedOp(MbarrierOp):
    """Wait until the phase of a parity is over.

    `nvvm.mbarrier.try_wait.parity.shared %b, %parity, %ticks : !llvm.ptr<3>, i32, i32`; `ticks` is the time in
    nanoseconds for which the hardware may suspend the thread before it looks again. sm_90 and up.
    """

    name = "nvvm.mbarrier.try_wait.parity.shared"

    addr = operand_def(LLVMPointerType)
    phase = operand_def(I32)
    ticks = operand_def(I32)

    assembly_format = "$addr `,` $phase `,` $ticks attr-dict `:` type($addr) `,` type($phase) `,` type($ticks)"

    def __init__(self, addr: SSAValue, phase: SSAValue, ticks: SSAValue) -> None:
        super().__init__(operands=[addr, phase, ticks])


@irdl_op_definition
class MapaOp(IRDLOperation):
    """The address of the same place in another block of the cluster. sm_90 and up.

    `nvvm.mapa %p, %rank : !llvm.ptr<3> -> !llvm.ptr<7>`
    """

    name = "nvvm.mapa"

    a = operand_def(LLVMPointerType)
    b = operand_def(I32)
    res = result_def(LLVMPointerType)

    traits = traits_def(Pure())

    assembly_format = "$a `,` $b attr-dict `:` type($a) `->` type($res)"

    def __init__(self, address: SSAValue, rank: SSAValue) -> None:
        super().__init__(operands=[address, rank], result_types=[pointer(SHARED_CLUSTER)])

    def verify_(self) -> None:
        require_space(self.name, "an address", self.a.type, SHARED)
        require_space(self.name, "a result", self.res.type, SHARED_CLUSTER)


# -- fences ------------------------------------------------------------------------------------------------------------


class BareOp(IRDLOperation):
    """An operation that its name says all of."""

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class FenceMbarrierInitOp(BareOp):
    """Show initialized mbarriers to the cluster and the copy engine: `nvvm.fence.mbarrier.init`. sm_90 and up."""

    name = "nvvm.fence.mbarrier.init"


@irdl_op_definition
class FenceScClusterOp(BareOp):
    """A sequentially consistent fence over the cluster: `nvvm.fence.sc.cluster`. sm_90 and up."""

    name = "nvvm.fence.sc.cluster"


@irdl_op_definition
class FenceProxyOp(IRDLOperation):
    """Order ordinary accesses before those of the copy engine or the tensor cores.

    `nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}`
    """

    name = "nvvm.fence.proxy"

    kind = prop_def(ProxyKindAttr)
    space = opt_prop_def(SharedSpaceAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def __init__(self, kind: ProxyKind, space: SharedSpace | None = None) -> None:
        place = None if space is None else SharedSpaceAttr(space)
        super().__init__(properties={"kind": ProxyKindAttr(kind), "space": place})

    def verify_(self) -> None:
        is_shared = self.kind.data == ProxyKind.ASYNC_SHARED
        if is_shared and self.space is None:
            raise VerifyException(f"{self.name}: 'async.shared' needs a space")
        if not is_shared and self.space is not None:
            raise VerifyException(f"{self.name}: only 'async.shared' has a space, got '{self.kind.data}'")


# -- asynchronous copies -----------------------------------------------------------------------------------------------


@irdl_op_definition
class CpAsyncOp(IRDLOperation):
    """Copy 4, 8 or 16 bytes to shared memory, asynchronously.

    `nvvm.cp.async.shared.global %dst, %src, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>`. With a fourth operand only so
    many bytes are read, and zeros fill the rest.
    """

    name = "nvvm.cp.async.shared.global"

    dst = operand_def(LLVMPointerType)
    src = operand_def(LLVMPointerType)
    size = prop_def(IntegerAttr[I32])
    modifier = prop_def(CacheModifierAttr)
    cp_size = opt_operand_def(I32)

    assembly_format = (
        "$dst `,` $src `,` $size `,` `cache` `=` $modifier (`,` $cp_size^)? attr-dict `:` type($dst) `,` type($src)"
    )

    def __init__(
        self, dst: SSAValue, src: SSAValue, size_bytes: int, modifier: CacheModifier, read_bytes: SSAValue | None = None
    ) -> None:
        properties = {"size": i32_attr(size_bytes), "modifier": CacheModifierAttr(modifier)}
        super().__init__(operands=[dst, src, read_bytes], properties=properties)

    def verify_(self) -> None:
        require_space(self.name, "a destination", self.dst.type, SHARED)
        require_space(self.name, "a source", self.src.type, GLOBAL)
        size = self.size.value.data
        if size not in (4, 8, 16):
            raise VerifyException(f"{self.name}: expected a size of 4, 8 or 16 bytes, got {size}")
        if self.modifier.data == CacheModifier.CG and size != 16:
            raise VerifyException(f"{self.name}: 'cg' copies 16 bytes, got {size}")


@irdl_op_definition
class CpAsyncCommitGroupOp(BareOp):
    """Close a group of asynchronous copies: `nvvm.cp.async.commit.group`."""

    name = "nvvm.cp.async.commit.group"


class WaitGroupOp(IRDLOperation):
    """Wait until at most so many groups are in flight."""

    assembly_format: ClassVar = "$n attr-dict"

    n = prop_def(IntegerAttr[I32])

    def __init__(self, in_flight: int) -> None:
        super().__init__(properties={"n": i32_attr(in_flight)})

    def verify_(self) -> None:
        if self.n.value.data < 0:
            raise VerifyException(f"{self.name}: expected a number of groups, got {self.n.value.data}")


@irdl_op_definition
class CpAsyncWaitGroupOp(WaitGroupOp):
    """Wait until at most so many groups of this thread's copies are in flight: `nvvm.cp.async.wait.group 1`."""

    name = "nvvm.cp.async.wait.group"


@irdl_op_definition
class CpAsyncMbarrierArriveSharedOp(MbarrierOp):
    """Arrive at an mbarrier when this thread's copies are done.

    `nvvm.cp.async.mbarrier.arrive.shared %b : !llvm.ptr<3>`
    """

    name = "nvvm.cp.async.mbarrier.arrive.shared"

    addr = operand_def(LLVMPointerType)
    assembly_format = "$addr attr-dict `:` type($addr)"

    def __init__(self, addr: SSAValue) -> None:
        super().__init__(operands=[addr])


# -- bulk tensor copies ------------------------------------------------------------------------------------------------


def _check_coordinates(op: Operation, count: int) -> None:
    if not 1 <= count <= 5:
        raise VerifyException(f"{op.name}: expected 1 to 5 coordinates, got {count}")


@irdl_op_definition
class CpAsyncBulkTensorLoadOp(IRDLOperation):
    """Copy a box of a tensor to shared memory; the mbarrier counts its bytes.

    `nvvm.cp.async.bulk.tensor.shared.cluster.global %dst, %map, %barrier, box[%c0, %c1] multicast_mask = %m
    l2_cache_hint = %h : !llvm.ptr<7>, !llvm.ptr`. A multicast mask names the blocks of the cluster that get it. sm_90.
    """

    name = "nvvm.cp.async.bulk.tensor.shared.cluster.global"

    dst_mem = operand_def(LLVMPointerType)
    tma_descriptor = operand_def(LLVMPointerType)
    coordinates = var_operand_def(I32)
    mbar = operand_def(pointer(SHARED))
    multicast_mask = opt_operand_def(I16)
    l2_cache_hint = opt_operand_def(I64)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$dst_mem `,` $tma_descriptor `,` $mbar `,` `box` `[` $coordinates `]` "
        "(`multicast_mask` `=` $multicast_mask^)? (`l2_cache_hint` `=` $l2_cache_hint^)? attr-dict "
        "`:` type($dst_mem) `,` type($tma_descriptor)"
    )

    def __init__(
        self,
        destination: SSAValue,
        tensor_map: SSAValue,
        mbarrier: SSAValue,
        coordinates: Sequence[SSAValue],
        multicast_mask: SSAValue | None = None,
        l2_cache_hint: SSAValue | None = None,
    ) -> None:
        super().__init__(operands=[destination, tensor_map, coordinates, mbarrier, multicast_mask, l2_cache_hint])

    def verify_(self) -> None:
        require_space(self.name, "a destination", self.dst_mem.type, SHARED, SHARED_CLUSTER)
        require_space(self.name, "a tensor map", self.tma_descriptor.type, GENERIC)
        _check_coordinates(self, len(self.coordinates))


@irdl_op_definition
class CpAsyncBulkTensorStoreOp(IRDLOperation):
    """Copy a box from shared memory to a tensor.

    `nvvm.cp.async.bulk.tensor.global.shared.cta %map, %src, box[%c0, %c1] : !llvm.ptr, !llvm.ptr<3>`. sm_90 and up.
    """

    name = "nvvm.cp.async.bulk.tensor.global.shared.cta"

    tma_descriptor = operand_def(LLVMPointerType)
    src_mem = operand_def(LLVMPointerType)
    coordinates = var_operand_def(I32)

    assembly_format = (
        "$tma_descriptor `,` $src_mem `,` `box` `[` $coordinates `]` attr-dict "
        "`:` type($tma_descriptor) `,` type($src_mem)"
    )

    def __init__(self, tensor_map: SSAValue, source: SSAValue, coordinates: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tensor_map, source, coordinates])

    def verify_(self) -> None:
        require_space(self.name, "a tensor map", self.tma_descriptor.type, GENERIC)
        require_space(self.name, "a source", self.src_mem.type, SHARED)
        _check_coordinates(self, len(self.coordinates))


@irdl_op_definition
class CpAsyncBulkCommitGroupOp(BareOp):
    """Close a group of bulk stores: `nvvm.cp.async.bulk.commit.group`."""

    name = "nvvm.cp.async.bulk.commit.group"


@irdl_op_definition
class CpAsyncBulkWaitGroupOp(IRDLOperation):
    """Wait for bulk stores: `nvvm.cp.async.bulk.wait_group 1 {read}`; with `read`, until their sources are read."""

    name = "nvvm.cp.async.bulk.wait_group"

    group = prop_def(IntegerAttr[I32])
    read = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$group attr-dict"

    def __init__(self, in_flight: int, *, read: bool = False) -> None:
        super().__init__(properties={"group": i32_attr(in_flight), "read": UnitAttr() if read else None})

    def verify_(self) -> None:
        if self.group.value.data < 0:
            raise VerifyException(f"{self.name}: expected a number of groups, got {self.group.value.data}")


@irdl_op_definition
class PrefetchTensorMapOp(IRDLOperation):
    """Bring a tensor map near before its first use: `nvvm.prefetch.tensormap %map : !llvm.ptr`. sm_90 and up."""

    name = "nvvm.prefetch.tensormap"

    tma_descriptor = operand_def(LLVMPointerType)

    assembly_format = "$tma_descriptor attr-dict `:` type($tma_descriptor)"

    def __init__(self, tensor_map: SSAValue) -> None:
        super().__init__(operands=[tensor_map])


OPERATIONS: list[type[Operation]] = [
    CpAsyncBulkCommitGroupOp,
    CpAsyncBulkTensorLoadOp,
    CpAsyncBulkTensorStoreOp,
    CpAsyncBulkWaitGroupOp,
    CpAsyncCommitGroupOp,
    CpAsyncMbarrierArriveSharedOp,
    CpAsyncOp,
    CpAsyncWaitGroupOp,
    FenceMbarrierInitOp,
    FenceProxyOp,
    FenceScClusterOp,
    MapaOp,
    MbarrierArriveExpectTxSharedOp,
    MbarrierArriveSharedOp,
    MbarrierInitSharedOp,
    MbarrierInvalSharedOp,
    MbarrierTestWaitSharedOp,
    MbarrierTryWaitParitySharedOp,
    PrefetchTensorMapOp,
]
