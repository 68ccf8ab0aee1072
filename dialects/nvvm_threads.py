"""Operations of `nvvm` on threads: who a thread is, warps, barriers, clusters, approximate math."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I1, I32, Float32Type, IntegerAttr, UnitAttr, f32, i1, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
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
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.nvvm_attributes import (
    GridDependency,
    GridDependencyAttr,
    ReduxKind,
    ReduxKindAttr,
    RegisterAction,
    RegisterActionAttr,
    ShflKind,
    ShflKindAttr,
    VoteKind,
    VoteKindAttr,
    i32_attr,
)

# -- special registers -------------------------------------------------------------------------------------------------


class SpecialRegisterOp(IRDLOperation):
    """A special register: `nvvm.read.ptx.sreg.tid.x : i32`."""

    res = result_def(I32)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


def _special_register(name: str, meaning: str) -> type[SpecialRegisterOp]:
    class_name = "Read" + "".join(part.capitalize() for part in name.split(".")) + "Op"
    members = {"name": f"nvvm.read.ptx.sreg.{name}", "__doc__": meaning, "__module__": __name__}
    return irdl_op_definition(type(class_name, (SpecialRegisterOp,), members))


_TRIPLES = {
    "tid": "The thread's number in its block",
    "ntid": "The threads of a block",
    "ctaid": "The block's number in the grid",
    "nctaid": "The blocks of the grid",
    "clusterid": "The cluster's number in the grid",
    "nclusterid": "The clusters of the grid",
    "cluster.ctaid": "The block's number in its cluster",
    "cluster.nctaid": "The blocks of a cluster",
}
_SINGLES = {
    "laneid": "The thread's number in its warp",
    "warpid": "The warp's number in its block, as the scheduler sees it",
    "nwarpid": "The warps that a multiprocessor can hold",
    "smid": "The multiprocessor that the block runs on",
    "warpsize": "The threads of a warp",
    "clock": "A counter of cycles",
    "cluster.ctarank": "The block's rank in its cluster, over all dimensions",
    "cluster.nctarank": "The blocks of a cluster, over all dimensions",
}
SPECIAL_REGISTERS = {
    **{
        f"{name}.{axis}": _special_register(f"{name}.{axis}", f"{meaning}, along {axis}.")
        for name, meaning in _TRIPLES.items()
        for axis in "xyz"
    },
    **{name: _special_register(name, f"{meaning}.") for name, meaning in _SINGLES.items()},
}
"""PTX's name of a special register => the operation that reads it."""


# -- warps -------------------------------------------------------------------------------------------------------------


@irdl_op_definition
class ShflSyncOp(IRDLOperation):
    """Read another lane's value: `nvvm.shfl.sync bfly %mask, %value, %offset, %clamp : f32 -> f32`.

    With `return_value_and_is_valid` the result also says whether that lane was in range.
    """

    name = "nvvm.shfl.sync"

    thread_mask = operand_def(I32)
    val = operand_def(I32 | Float32Type)
    offset = operand_def(I32)
    mask_and_clamp = operand_def(I32)
    kind = prop_def(ShflKindAttr)
    return_value_and_is_valid = opt_prop_def(UnitAttr)
    res = result_def(AnyAttr())

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$kind $thread_mask `,` $val `,` $offset `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)"
    )

    def __init__(self, kind: ShflKind, mask: SSAValue, value: SSAValue, offset: SSAValue, clamp: SSAValue) -> None:
        properties = {"kind": ShflKindAttr(kind)}
        super().__init__(operands=[mask, value, offset, clamp], properties=properties, result_types=[value.type])

    def verify_(self) -> None:
        expected: Attribute = self.val.type
        if self.return_value_and_is_valid is not None:
            expected = LLVMStructType.from_type_list([expected, i1])
        if self.res.type != expected:
            raise VerifyException(f"{self.name}: expected a result of type {expected}, got {self.res.type}")


@irdl_op_definition
class VoteSyncOp(IRDLOperation):
    """What the lanes of `mask` say of a predicate: `nvvm.vote.sync ballot %mask, %pred -> i32`.

    Kinds other than `ballot` give an `i1`.
    """

    name = "nvvm.vote.sync"

    mask = operand_def(I32)
    pred = operand_def(I1)
    kind = prop_def(VoteKindAttr)
    res = result_def(I1 | I32)

    assembly_format = "$kind $mask `,` $pred attr-dict `->` type($res)"

    def __init__(self, kind: VoteKind, mask: SSAValue, pred: SSAValue) -> None:
        result = i32 if kind == VoteKind.BALLOT else i1
        super().__init__(operands=[mask, pred], properties={"kind": VoteKindAttr(kind)}, result_types=[result])

    def verify_(self) -> None:
        expected = i32 if self.kind.data == VoteKind.BALLOT else i1
        if self.res.type != expected:
            raise VerifyException(f"{self.name}: '{self.kind.data}' gives {expected}, got {self.res.type}")


@irdl_op_definition
class ReduxSyncOp(IRDLOperation):
    """Combine the integers of a warp's lanes: `nvvm.redux.sync add %value, %mask : i32 -> i32`. sm_80 and up."""

    name = "nvvm.redux.sync"

    val = operand_def(I32)
    mask_and_clamp = operand_def(I32)
    kind = prop_def(ReduxKindAttr)
    res = result_def(I32)

    assembly_format = "$kind $val `,` $mask_and_clamp attr-dict `:` type($val) `->` type($res)"

    def __init__(self, kind: ReduxKind, value: SSAValue, mask: SSAValue) -> None:
        super().__init__(operands=[value, mask], properties={"kind": ReduxKindAttr(kind)}, result_types=[i32])


@irdl_op_definition
class BarWarpSyncOp(IRDLOperation):
    """Wait for the lanes of a mask: `nvvm.bar.warp.sync %mask : i32`."""

    name = "nvvm.bar.warp.sync"

    mask = operand_def(I32)

    assembly_format = "$mask attr-dict `:` type($mask)"

    def __init__(self, mask: SSAValue) -> None:
        super().__init__(operands=[mask])


@irdl_op_definition
class ElectSyncOp(IRDLOperation):
    """True in one lane of the warp: `nvvm.elect.sync -> i1`. sm_90 and up."""

    name = "nvvm.elect.sync"

    pred = result_def(I1)

    assembly_format = "attr-dict `->` type($pred)"

    def __init__(self) -> None:
        super().__init__(result_types=[i1])


# -- blocks and clusters -----------------------------------------------------------------------------------------------


@irdl_op_definition
class Barrier0Op(IRDLOperation):
    """Wait for all threads of the block, at barrier 0: `nvvm.barrier0`."""

    name = "nvvm.barrier0"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Wait at a barrier of the block: `nvvm.barrier id = %id number_of_threads = %count`.

    Without an id it is barrier 0; without a count, all threads of the block.
    """

    name = "nvvm.barrier"

    barrier_id = opt_operand_def(I32)
    number_of_threads = opt_operand_def(I32)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "(`id` `=` $barrier_id^)? (`number_of_threads` `=` $number_of_threads^)? attr-dict"

    def __init__(self, barrier_id: SSAValue | None = None, number_of_threads: SSAValue | None = None) -> None:
        super().__init__(operands=[barrier_id, number_of_threads])

    def verify_(self) -> None:
        if self.number_of_threads is not None and self.barrier_id is None:
            raise VerifyException(f"{self.name}: a number of threads needs a barrier id")


@irdl_op_definition
class BarrierArriveOp(IRDLOperation):
    """Arrive at a barrier without waiting: `nvvm.barrier.arrive id = %id number_of_threads = %count`."""

    name = "nvvm.barrier.arrive"

    barrier_id = operand_def(I32)
    number_of_threads = operand_def(I32)

    assembly_format = "`id` `=` $barrier_id `number_of_threads` `=` $number_of_threads attr-dict"

    def __init__(self, barrier_id: SSAValue, number_of_threads: SSAValue) -> None:
        super().__init__(operands=[barrier_id, number_of_threads])


class ClusterBarrierOp(IRDLOperation):
    """A half of the cluster's barrier; `aligned` promises that whole warps execute it."""

    aligned = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"

    def __init__(self, *, aligned: bool = False) -> None:
        super().__init__(properties={"aligned": UnitAttr() if aligned else None})


@irdl_op_definition
class ClusterArriveOp(ClusterBarrierOp):
    """Arrive at the cluster's barrier and release what was written: `nvvm.cluster.arrive`."""

    name = "nvvm.cluster.arrive"


@irdl_op_definition
class ClusterArriveRelaxedOp(ClusterBarrierOp):
    """Arrive at the cluster's barrier without ordering memory: `nvvm.cluster.arrive.relaxed`."""

    name = "nvvm.cluster.arrive.relaxed"


@irdl_op_definition
class ClusterWaitOp(ClusterBarrierOp):
    """Wait for all threads of the cluster to arrive: `nvvm.cluster.wait`."""

    name = "nvvm.cluster.wait"


@irdl_op_definition
class SetMaxRegisterOp(IRDLOperation):
    """Give registers up or take them, warpgroup by warpgroup: `nvvm.setmaxregister decrease 40`. sm_90a."""

    name = "nvvm.setmaxregister"

    reg_count = prop_def(IntegerAttr[I32], prop_name="regCount")
    action = prop_def(RegisterActionAttr)

    assembly_format = "$action $regCount attr-dict"

    LIMITS: ClassVar = (24, 256)

    def __init__(self, action: RegisterAction, registers: int) -> None:
        super().__init__(properties={"action": RegisterActionAttr(action), "regCount": i32_attr(registers)})

    def verify_(self) -> None:
        count, (low, high) = self.reg_count.value.data, self.LIMITS
        if not low <= count <= high or count % 8:
            raise VerifyException(f"{self.name}: expected a multiple of 8 in {low}..{high}, got {count}")


@irdl_op_definition
class GridDependencyControlOp(IRDLOperation):
    """Programmatic dependent launch: `nvvm.griddepcontrol wait`, or `launch_dependents`. sm_90 and up."""

    name = "nvvm.griddepcontrol"

    kind = prop_def(GridDependencyAttr)

    assembly_format = "$kind attr-dict"

    def __init__(self, kind: GridDependency) -> None:
        super().__init__(properties={"kind": GridDependencyAttr(kind)})


# -- math --------------------------------------------------------------------------------------------------------------


@irdl_op_definition
class RcpApproxFtzFOp(IRDLOperation):
    """1 / x within 1 ulp, subnormals as zero: `nvvm.rcp.approx.ftz.f %x : f32`."""

    name = "nvvm.rcp.approx.ftz.f"

    arg = operand_def(Float32Type)
    res = result_def(Float32Type)

    traits = traits_def(Pure())

    assembly_format = "$arg attr-dict `:` type($res)"

    def __init__(self, arg: SSAValue) -> None:
        super().__init__(operands=[arg], result_types=[f32])


OPERATIONS: list[type[Operation]] = [
    *SPECIAL_REGISTERS.values(),
    BarWarpSyncOp,
    Barrier0Op,
    BarrierArriveOp,
    BarrierOp,
    ClusterArriveOp,
    ClusterArriveRelaxedOp,
    ClusterWaitOp,
    ElectSyncOp,
    GridDependencyControlOp,
    RcpApproxFtzFOp,
    ReduxSyncOp,
    SetMaxRegisterOp,
    ShflSyncOp,
    VoteSyncOp,
]
