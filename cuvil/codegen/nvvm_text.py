"""nvvm ops as LLVM IR text: an intrinsic's call where LLVM has one, inline PTX where it does not.

| op                                             | LLVM IR                                                        |
|------------------------------------------------|----------------------------------------------------------------|
| `nvvm.read.ptx.sreg.*`, `shfl.sync`, ...       | the intrinsic of that name                                     |
| `nvvm.barrier0`, `barrier`, `barrier.arrive`   | `llvm.nvvm.barrier.cta.*.aligned`                              |
| `nvvm.mma.sync`                                | `llvm.nvvm.mma.SHAPE.row.col.TYPES`                            |
| `nvvm.mbarrier.try_wait.parity.shared`         | inline PTX: a loop around the instruction                      |
| `nvvm.wgmma.mma_async`                         | inline PTX, its accumulators tied to the operands              |
| `nvvm.cp.async.bulk.tensor.shared.cluster...`  | `llvm.nvvm.cp.async.bulk.tensor.g2s.tile.Nd`                   |

LLVM aborts the process where an architecture lacks what an intrinsic needs: `least_capability` is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.codegen.llvm_text import Emit, FunctionEmitter
from cuvil.dialects import nvvm_matrix as matrix
from cuvil.dialects import nvvm_memory as memory
from cuvil.dialects import nvvm_threads as threads
from cuvil.dialects.nvvm_attributes import (
    SHARED,
    MmaIntOverflow,
    MmaLayout,
    MmaType,
    ProxyKind,
    RegisterAction,
    WgmmaScaleIn,
    WgmmaScaleOut,
    space_of,
)


def _call(e: FunctionEmitter, op: Operation, name: str, args: Sequence[str] = ()) -> str:
    call = f"@llvm.nvvm.{name}({', '.join(args)})"
    if not op.results:
        return f"  call void {call}"
    result = op.results[0]
    return f"  {e.names[result]} = call {e.type_text(result.type)} {call}"


def _typed(e: FunctionEmitter, values: Sequence[SSAValue]) -> list[str]:
    return [e.typed(value) for value in values]


def _intrinsic(name: str) -> Emit:
    """All operands in order, and the result."""
    return lambda e, op: _call(e, op, name, _typed(e, op.operands))


# -- threads -----------------------------------------------------------------------------------------------------------


def _shuffle(e: FunctionEmitter, op: threads.ShflSyncOp) -> str:
    element = "f32" if op.val.type == f32 else "i32"
    is_valid = "p" if op.return_value_and_is_valid is not None else ""
    return _call(e, op, f"shfl.sync.{op.kind.data.value}.{element}{is_valid}", _typed(e, op.operands))


def _vote(e: FunctionEmitter, op: threads.VoteSyncOp) -> str:
    return _call(e, op, f"vote.{op.kind.data.value}.sync", _typed(e, op.operands))


def _redux(e: FunctionEmitter, op: threads.ReduxSyncOp) -> str:
    return _call(e, op, f"redux.sync.{op.kind.data.value}", _typed(e, op.operands))


def _elect(e: FunctionEmitter, op: threads.ElectSyncOp) -> str:
    name = e.names[op.pred]
    return (
        f"  {name}.elected = call {{i32, i1}} @llvm.nvvm.elect.sync(i32 -1)\n"
        f"  {name} = extractvalue {{i32, i1}} {name}.elected, 1"
    )


def _barrier0(e: FunctionEmitter, op: threads.Barrier0Op) -> str:
    return _call(e, op, "barrier.cta.sync.aligned.all", ["i32 0"])


def _barrier(e: FunctionEmitter, op: threads.BarrierOp) -> str:
    if op.barrier_id is None:
        return _call(e, op, "barrier.cta.sync.aligned.all", ["i32 0"])
    kind = "all" if op.number_of_threads is None else "count"
    return _call(e, op, f"barrier.cta.sync.aligned.{kind}", _typed(e, op.operands))


def _cluster_barrier(name: str) -> Emit:
    def emit(e: FunctionEmitter, op: threads.ClusterBarrierOp) -> str:
        return _call(e, op, f"barrier.cluster.{name}{'.aligned' if op.aligned is not None else ''}")

    return emit


def _set_max_register(e: FunctionEmitter, op: threads.SetMaxRegisterOp) -> str:
    direction = "inc" if op.action.data == RegisterAction.INCREASE else "dec"
    return _call(e, op, f"setmaxnreg.{direction}.sync.aligned.u32", [f"i32 {op.reg_count.value.data}"])


def _grid_dependency(e: FunctionEmitter, op: threads.GridDependencyControlOp) -> str:
    return _call(e, op, f"griddepcontrol.{op.kind.data.value.replace('_', '.')}")


# -- memory ------------------------------------------------------------------------------------------------------------


def _expect_bytes(e: FunctionEmitter, op: memory.MbarrierArriveExpectTxSharedOp) -> str:
    name = "llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta"
    return f"  call i64 @{name}({', '.join(_typed(e, op.operands))})"


def _wait_for_parity(e: FunctionEmitter, op: memory.MbarrierTryWaitParitySharedOp) -> str:
    text = (
        "{\\0A.reg .pred done;\\0AAGAIN:\\0Ambarrier.try_wait.parity.shared::cta.b64 done, [$0], $1, $2;"
        "\\0A@!done bra.uni AGAIN;\\0A}"
    )
    return f'  call void asm sideeffect "{text}", "r,r,r,~{{memory}}"({", ".join(_typed(e, op.operands))}) convergent'


_PROXIES = {
    ProxyKind.ALIAS: "alias",
    ProxyKind.ASYNC: "async",
    ProxyKind.ASYNC_GLOBAL: "async.global",
    ProxyKind.ASYNC_SHARED: "async.shared_",
}


def _proxy_fence(e: FunctionEmitter, op: memory.FenceProxyOp) -> str:
    space = op.space.data.value if op.space is not None else ""
    return _call(e, op, f"fence.proxy.{_PROXIES[op.kind.data]}{space}")


def _copy(e: FunctionEmitter, op: memory.CpAsyncOp) -> str:
    zero_fill = ".s" if op.cp_size is not None else ""
    name = f"cp.async.{op.modifier.data.value}.shared.global.{op.size.value.data}{zero_fill}"
    return _call(e, op, name, _typed(e, op.operands))


def _wait_group(name: str, width: int) -> Emit:
    return lambda e, op: _call(e, op, name, [f"i{width} {op.n.value.data}"])


def _bulk_wait(e: FunctionEmitter, op: memory.CpAsyncBulkWaitGroupOp) -> str:
    read = ".read" if op.read is not None else ""
    return _call(e, op, f"cp.async.bulk.wait.group{read}", [f"i32 {op.group.value.data}"])


def _tensor_load(e: FunctionEmitter, op: memory.CpAsyncBulkTensorLoadOp) -> str:
    lines: list[str] = []
    destination = e.typed(op.dst_mem)
    if space_of(op.dst_mem.type) == SHARED:
        cast = f"{e.fresh()}.cluster"
        lines.append(f"  {cast} = addrspacecast {destination} to ptr addrspace(7)")
        destination = f"ptr addrspace(7) {cast}"
    mask, hint = op.multicast_mask, op.l2_cache_hint
    args = [
        destination,
        e.typed(op.mbar),
        e.typed(op.tma_descriptor),
        *_typed(e, op.coordinates),
        "i16 0" if mask is None else e.typed(mask),
        "i64 0" if hint is None else e.typed(hint),
        f"i1 {int(mask is not None)}",
        f"i1 {int(hint is not None)}",
        "i32 0",
    ]
    name = f"cp.async.bulk.tensor.g2s.tile.{len(op.coordinates)}d"
    return "\n".join([*lines, _call(e, op, name, args)])


def _tensor_store(e: FunctionEmitter, op: memory.CpAsyncBulkTensorStoreOp) -> str:
    args = [e.typed(op.src_mem), e.typed(op.tma_descriptor), *_typed(e, op.coordinates), "i64 0", "i1 0"]
    return _call(e, op, f"cp.async.bulk.tensor.s2g.tile.{len(op.coordinates)}d", args)


# -- tensor cores ------------------------------------------------------------------------------------------------------


def _matrices(instruction: str, count: int, layout: MmaLayout) -> str:
    transposed = ".trans" if layout == MmaLayout.COL else ""
    return f"{instruction}.sync.aligned.m8n8.x{count}{transposed}.b16"


def _load_matrix(e: FunctionEmitter, op: matrix.LdMatrixOp) -> str:
    return _call(e, op, _matrices("ldmatrix", op.num.value.data, op.layout.data), [e.typed(op.ptr)])


def _store_matrix(e: FunctionEmitter, op: matrix.StMatrixOp) -> str:
    return _call(e, op, _matrices("stmatrix", len(op.sources), op.layout.data), _typed(e, op.operands))


def _float_name(register: Attribute) -> str:
    return "f16" if isinstance(register, VectorType) else "f32"


def _mma(e: FunctionEmitter, op: matrix.MmaSyncOp) -> str:
    if op.element == MmaType.F16:
        types = f"{_float_name(next(iter(op.res.type.types)))}.{_float_name(op.operand_c[0].type)}"  # pyright: ignore
    else:
        names = [attr.data.value for attr in (op.type_a, op.type_b) if attr is not None]
        types = names[0] if len(set(names)) == 1 else ".".join(names)
    if op.overflow is not None and op.overflow.data == MmaIntOverflow.SATFINITE:
        types = f"satfinite.{types}"
    return _call(e, op, f"mma.{op.shape}.row.col.{types}", _typed(e, op.operands))


def _wgmma(e: FunctionEmitter, op: matrix.WgmmaMmaAsyncOp) -> str:
    """The accumulators go in and out one register each; descriptors follow them."""
    count, result = op.shape.sizes[1] // 2, e.names[op.res]
    struct = e.type_text(op.res.type)
    lines = [f"  {result}.{n} = extractvalue {e.typed(op.inouts)}, {n}" for n in range(count)]
    registers = ", ".join(f"${n}" for n in range(count))
    first, second = 2 * count, 2 * count + 1
    scales = [-1 if attr.data == WgmmaScaleIn.NEG else 1 for attr in (op.scale_a, op.scale_b)]
    flags = ", ".join(str(flag) for flag in [*scales, *_transposes(op)])
    text = (
        f"{{\\0A.reg .pred p;\\0Asetp.ne.b32 p, {int(op.scale_d.data == WgmmaScaleOut.ONE)}, 0;\\0A"
        f"wgmma.mma_async.sync.aligned.{op.shape}.{op.type_d.data.value}.{op.type_a.data.value}.{op.type_b.data.value} "
        f"{{{registers}}}, ${first}, ${second}, p, {flags};\\0A}}"
    )
    constraints = ",".join([*["=f"] * count, *[str(n) for n in range(count)], "l,l"])
    args = [f"float {result}.{n}" for n in range(count)] + _typed(e, [op.descriptor_a, op.descriptor_b])
    call = f'{struct} asm sideeffect "{text}", "{constraints}"({", ".join(args)}) convergent'
    return "\n".join([*lines, f"  {result} = call {call}"])


def _transposes(op: matrix.WgmmaMmaAsyncOp) -> list[int]:
    """Which operands have K running slowest; only 16-bit types can say so."""
    if op.shape.sizes[2] != 16:
        return []
    return [int(op.layout_a.data != MmaLayout.ROW), int(op.layout_b.data != MmaLayout.COL)]


NVVM_ROWS: Mapping[type[Operation], Emit] = {
    **{op: _intrinsic(f"read.ptx.sreg.{name}") for name, op in threads.SPECIAL_REGISTERS.items()},
    threads.BarWarpSyncOp: _intrinsic("bar.warp.sync"),
    threads.Barrier0Op: _barrier0,
    threads.BarrierArriveOp: _intrinsic("barrier.cta.arrive.aligned.count"),
    threads.BarrierOp: _barrier,
    threads.ClusterArriveOp: _cluster_barrier("arrive"),
    threads.ClusterArriveRelaxedOp: _cluster_barrier("arrive.relaxed"),
    threads.ClusterWaitOp: _cluster_barrier("wait"),
    threads.ElectSyncOp: _elect,
    threads.GridDependencyControlOp: _grid_dependency,
    threads.RcpApproxFtzFOp: _intrinsic("rcp.approx.ftz.f"),
    threads.ReduxSyncOp: _redux,
    threads.SetMaxRegisterOp: _set_max_register,
    threads.ShflSyncOp: _shuffle,
    threads.VoteSyncOp: _vote,
    memory.CpAsyncBulkCommitGroupOp: _intrinsic("cp.async.bulk.commit.group"),
    memory.CpAsyncBulkTensorLoadOp: _tensor_load,
    memory.CpAsyncBulkTensorStoreOp: _tensor_store,
    memory.CpAsyncBulkWaitGroupOp: _bulk_wait,
    memory.CpAsyncCommitGroupOp: _intrinsic("cp.async.commit.group"),
    memory.CpAsyncMbarrierArriveSharedOp: _intrinsic("cp.async.mbarrier.arrive.shared"),
    memory.CpAsyncOp: _copy,
    memory.CpAsyncWaitGroupOp: _wait_group("cp.async.wait.group", 32),
    memory.FenceMbarrierInitOp: _intrinsic("fence.mbarrier_init.release.cluster"),
    memory.FenceProxyOp: _proxy_fence,
    memory.FenceScClusterOp: _intrinsic("fence.sc.cluster"),
    memory.MapaOp: _intrinsic("mapa.shared.cluster"),
    memory.MbarrierArriveExpectTxSharedOp: _expect_bytes,
    memory.MbarrierArriveSharedOp: _intrinsic("mbarrier.arrive.shared"),
    memory.MbarrierInitSharedOp: _intrinsic("mbarrier.init.shared"),
    memory.MbarrierInvalSharedOp: _intrinsic("mbarrier.inval.shared"),
    memory.MbarrierTestWaitSharedOp: _intrinsic("mbarrier.test.wait.shared"),
    memory.MbarrierTryWaitParitySharedOp: _wait_for_parity,
    memory.PrefetchTensorMapOp: _intrinsic("prefetch.tensormap"),
    matrix.LdMatrixOp: _load_matrix,
    matrix.MmaSyncOp: _mma,
    matrix.StMatrixOp: _store_matrix,
    matrix.WgmmaFenceAlignedOp: _intrinsic("wgmma.fence.sync.aligned"),
    matrix.WgmmaGroupSyncAlignedOp: _intrinsic("wgmma.commit_group.sync.aligned"),
    matrix.WgmmaMmaAsyncOp: _wgmma,
    matrix.WgmmaWaitGroupSyncOp: _wait_group("wgmma.wait_group.sync.aligned", 64),
}
"""Op class => its text; added to the rows of the llvm dialect."""

ACCELERATED: frozenset[type[Operation]] = frozenset(
    (
        threads.SetMaxRegisterOp,
        matrix.WgmmaFenceAlignedOp,
        matrix.WgmmaGroupSyncAlignedOp,
        matrix.WgmmaMmaAsyncOp,
        matrix.WgmmaWaitGroupSyncOp,
    )
)
"""Ops that want an architecture with an `a`: `sm_90a`."""

_HOPPER: frozenset[type[Operation]] = ACCELERATED | {
    threads.ClusterArriveOp,
    threads.ClusterArriveRelaxedOp,
    threads.ClusterWaitOp,
    threads.ElectSyncOp,
    threads.GridDependencyControlOp,
    memory.CpAsyncBulkCommitGroupOp,
    memory.CpAsyncBulkTensorLoadOp,
    memory.CpAsyncBulkTensorStoreOp,
    memory.CpAsyncBulkWaitGroupOp,
    memory.FenceMbarrierInitOp,
    memory.FenceProxyOp,
    memory.FenceScClusterOp,
    memory.MapaOp,
    memory.MbarrierArriveExpectTxSharedOp,
    memory.MbarrierTryWaitParitySharedOp,
    memory.PrefetchTensorMapOp,
    matrix.StMatrixOp,
}


def least_capability(op: Operation) -> int:
    """The compute capability from which on the op exists."""
    if isinstance(op, threads.SpecialRegisterOp):
        return 90 if "cluster" in op.name else 80
    return 90 if type(op) in _HOPPER else 80


def uses_of_nvvm(op: Operation) -> list[Operation]:
    """The nvvm ops inside `op`, in order."""
    return [inner for inner in op.walk() if inner.name.startswith("nvvm.")]
