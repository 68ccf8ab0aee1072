"""Lower cuvil_gpu kernels to the llvm and nvvm dialects.

```
cuvil_gpu.kernel @copy threads = [128, 1, 1] {
^bb0(%x: memref<512xf32, 1 : i32>, %y: memref<512xf32, 1 : i32>):
  %v = cuvil_gpu.load %x[%i] : memref<512xf32, 1 : i32>, vector<4xf32>
  ...
}
=>
llvm.func @copy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
  ...
}
```

| source                              | target                                                                     |
|-------------------------------------|----------------------------------------------------------------------------|
| `cuvil_gpu.kernel`                  | `llvm.func` with `nvvm.kernel` and `nvvm.reqntid`                          |
| `cuvil_gpu.shared`                  | an internal `llvm.mlir.global` in address space 3                          |
| `cuvil_gpu.load`, `store`           | `llvm.load`, `store`, aligned as the whole vector                          |
| `cuvil_gpu.atomic_add`              | inline PTX: `red.relaxed`, which LLVM's dialect of xDSL has no op for      |
| `cuvil_gpu.warp_reduce`             | five `nvvm.shfl.sync bfly`, each combined with what the lane has           |
| `cuvil_gpu.warp_shuffle`, `warp_sync` | `nvvm.shfl.sync`, `nvvm.bar.warp.sync` over all lanes                    |
| `cuvil_gpu.copy_async`, ...         | `nvvm.cp.async.*`                                                          |
| `cuvil_gpu.mbarrier_*`              | `nvvm.mbarrier.*`                                                          |
| `cuvil_gpu.mma`, `load_matrix`      | `nvvm.mma.sync` on pairs of halves, `nvvm.ldmatrix`                        |
| `gpu.thread_id`, `block_dim`, ...   | special registers, extended with zeros to 64 bits                          |
| `gpu.barrier`                       | `nvvm.barrier0`                                                            |
| arith, math, vector, memref, scf    | as `lower-loops-to-llvm` lowers them                                       |

Requires: `math` expanded by `lower-math`; buffers in the memory spaces of `cuvil_gpu`.
Ensures: only builtin, llvm, `cuvil_llvm` and nvvm ops are left.
Declines (with an error): calls of other functions than kernels' own, ops of other levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    Float16Type,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    UnitAttr,
    VectorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.codegen.llvm_build import NO_FLAGS, function
from cuvil.codegen.llvm_control import CONTROL_RULES
from cuvil.codegen.llvm_function import FunctionLowering, ModuleLowering
from cuvil.codegen.llvm_memory import MEMORY_RULES
from cuvil.codegen.llvm_scalar import SCALAR_RULES, Rule
from cuvil.codegen.llvm_types import llvm_type, memory_type, size_bytes
from cuvil.dialects import gpu as cuvil_gpu
from cuvil.dialects import gpu_async, gpu_matrix, llvm_extra, nvvm_matrix, nvvm_memory
from cuvil.dialects import nvvm_threads as threads
from cuvil.dialects.gpu import ReduceKind, ShuffleKind
from cuvil.dialects.gpu_async import COPY_BYTES
from cuvil.dialects.gpu_base import access_bytes
from cuvil.dialects.nvvm import KERNEL
from cuvil.dialects.nvvm_attributes import SHARED, CacheModifier, MmaLayout, MmaType, ShflKind, pointer
from cuvil.errors import UnsupportedError
from cuvil.targets.cuda import THREAD

_SHARED_ALIGNMENT = 16
_SUSPENSION = 10_000_000
"""Nanoseconds for which the hardware may suspend a thread that waits at an mbarrier, before it looks again."""
_NOT_ATOMIC = IntegerAttr(0, 64)


# -- threads -----------------------------------------------------------------------------------------------------------


def _append(f: FunctionLowering, op: Operation) -> SSAValue:
    f.b.emit(op)
    return op.results[0]


def _read_register(f: FunctionLowering, op: Operation, name: str) -> None:
    value = _append(f, threads.SPECIAL_REGISTERS[name]())
    f.set(op, f.b.op(llvm.ZExtOp, value, result=i64))


def _dimension(register: str) -> Rule:
    def lower(f: FunctionLowering, op: gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp) -> None:
        _read_register(f, op, f"{register}.{op.dimension.data.value}")

    return lower


def _lane_id(f: FunctionLowering, op: gpu.LaneIdOp) -> None:
    _read_register(f, op, "laneid")


def _barrier(f: FunctionLowering, op: gpu.BarrierOp) -> None:
    f.b.emit(threads.Barrier0Op())


_INTRINSICS = {
    (ReduceKind.MAX, True): "llvm.maximum",
    (ReduceKind.MIN, True): "llvm.minimum",
    (ReduceKind.MAX, False): "llvm.smax",
    (ReduceKind.MIN, False): "llvm.smin",
}


def _combine(f: FunctionLowering, kind: ReduceKind, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    is_float = isinstance(lhs.type, AnyFloat)
    if (kind, is_float) in _INTRINSICS:
        return f.b.value_intrinsic(_INTRINSICS[kind, is_float], lhs, rhs, result=lhs.type)
    if is_float:
        return f.b.op(llvm.FAddOp, lhs, rhs, result=lhs.type, fastmathFlags=NO_FLAGS)
    return f.b.op(llvm.AddOp, lhs, rhs, result=lhs.type, overflowFlags=IntegerAttr(0, 32))


def _warp_reduce(f: FunctionLowering, op: cuvil_gpu.WarpReduceOp) -> None:
    value = f.value(op.value)
    everyone, clamp = f.b.constant(-1, i32), f.b.constant(cuvil_gpu.WARP_SIZE - 1, i32)
    distance = cuvil_gpu.WARP_SIZE // 2
    while distance:
        offset = f.b.constant(distance, i32)
        other = _append(f, threads.ShflSyncOp(ShflKind.BFLY, everyone, value, offset, clamp))
        value = _combine(f, op.kind.data, value, other)
        distance //= 2
    f.set(op, value)


_SHUFFLES = {
    ShuffleKind.XOR: (ShflKind.BFLY, cuvil_gpu.WARP_SIZE - 1),
    ShuffleKind.UP: (ShflKind.UP, 0),
    ShuffleKind.DOWN: (ShflKind.DOWN, cuvil_gpu.WARP_SIZE - 1),
    ShuffleKind.INDEX: (ShflKind.IDX, cuvil_gpu.WARP_SIZE - 1),
}
"""How a shuffle is spelt, and the lane at which it stops."""


def _warp_shuffle(f: FunctionLowering, op: cuvil_gpu.WarpShuffleOp) -> None:
    kind, clamp = _SHUFFLES[op.kind.data]
    operands = (f.b.constant(-1, i32), f.value(op.value), f.value(op.offset), f.b.constant(clamp, i32))
    f.set(op, _append(f, threads.ShflSyncOp(kind, *operands)))


def _warp_sync(f: FunctionLowering, op: cuvil_gpu.WarpSyncOp) -> None:
    f.b.emit(threads.BarWarpSyncOp(f.b.constant(-1, i32)))


# -- memory ------------------------------------------------------------------------------------------------------------


def _shared(f: FunctionLowering, op: cuvil_gpu.SharedOp) -> None:
    buffer = op.buffer.type
    assert isinstance(buffer, MemRefType)
    name = f.module.fresh_name(f"{f.name}_shared")
    array = llvm.LLVMArrayType(buffer.element_count(), memory_type(llvm_type(buffer.element_type)))
    f.module.lowered.append(
        llvm.GlobalOp(array, name, "internal", addr_space=SHARED, alignment=_SHARED_ALIGNMENT),
    )
    f.set(op, f.b.op(llvm.AddressOfOp, result=pointer(SHARED), global_name=SymbolRefAttr(name)))


def _place(f: FunctionLowering, buffer: SSAValue, index: SSAValue) -> SSAValue:
    buffer_type = buffer.type
    assert isinstance(buffer_type, MemRefType)
    element = memory_type(llvm_type(buffer_type.element_type))
    return f.b.element_pointer(f.value(buffer), f.value(index), element)


def _access_type(op: Operation, value_type: Attribute) -> Attribute:
    lowered = llvm_type(value_type)
    if memory_type(lowered) != lowered:
        raise UnsupportedError(f"{op.name}: booleans are bytes in memory: expected i8, got {value_type}", op)
    return lowered


def _load(f: FunctionLowering, op: cuvil_gpu.LoadOp) -> None:
    value_type = _access_type(op, op.value.type)
    alignment = IntegerAttr(size_bytes(value_type), 64)
    place = _place(f, op.buffer, op.index)
    f.set(op, f.b.op(llvm.LoadOp, place, result=value_type, ordering=_NOT_ATOMIC, alignment=alignment))


def _store(f: FunctionLowering, op: cuvil_gpu.StoreOp) -> None:
    alignment = IntegerAttr(size_bytes(_access_type(op, op.value.type)), 64)
    operands = (f.value(op.value), _place(f, op.buffer, op.index))
    f.b.emit(llvm.StoreOp.create(operands=operands, properties={"ordering": _NOT_ATOMIC, "alignment": alignment}))


def _atomic_add(f: FunctionLowering, op: cuvil_gpu.AtomicAddOp) -> None:
    is_shared = cuvil_gpu.space_of(op.buffer.type) == cuvil_gpu.SHARED
    scope, space = ("cta", "shared") if is_shared else ("gpu", "global")
    ptx_type, letter = ("s32", "r") if isinstance(op.value.type, IntegerType) else ("f32", "f")
    operands = [_place(f, op.buffer, op.index), f.value(op.value)]
    text = f"red.relaxed.{scope}.{space}.add.{ptx_type} [$0], $1;"
    address = "r" if is_shared else "l"
    f.b.emit(llvm.InlineAsmOp(text, f"{address},{letter},~{{memory}}", operands, has_side_effects=True))


# -- copies and mbarriers ----------------------------------------------------------------------------------------------


def _copy_async(f: FunctionLowering, op: gpu_async.CopyAsyncOp) -> None:
    buffer = op.source.type
    assert isinstance(buffer, MemRefType)
    size = op.elements.value.data * access_bytes(buffer.element_type)
    source, target = _place(f, op.source, op.source_index), _place(f, op.target, op.target_index)
    modifier = CacheModifier.CG if size == COPY_BYTES[-1] else CacheModifier.CA
    f.b.emit(nvvm_memory.CpAsyncOp(target, source, size, modifier))


def _mbarrier_init(f: FunctionLowering, op: gpu_async.MbarrierInitOp) -> None:
    f.b.emit(nvvm_memory.MbarrierInitSharedOp(_place(f, op.barriers, op.index), f.value(op.arrivals)))


def _mbarrier_arrive(f: FunctionLowering, op: gpu_async.MbarrierArriveOp) -> None:
    f.b.emit(nvvm_memory.MbarrierArriveSharedOp(_place(f, op.barriers, op.index)))


def _mbarrier_wait(f: FunctionLowering, op: gpu_async.MbarrierWaitOp) -> None:
    place, ticks = _place(f, op.barriers, op.index), f.b.constant(_SUSPENSION, i32)
    f.b.emit(nvvm_memory.MbarrierTryWaitParitySharedOp(place, f.value(op.parity), ticks))


# -- tensor cores ------------------------------------------------------------------------------------------------------


def _registers(f: FunctionLowering, fragment: SSAValue) -> list[SSAValue]:
    """A fragment of halves as the registers of `mma.sync`: pairs, f16 as such, bf16 as i32."""
    value, fragment_type = f.value(fragment), fragment.type
    assert isinstance(fragment_type, VectorType)
    count = fragment_type.element_count() // 2
    packed = f.b.op(llvm.BitcastOp, value, result=VectorType(i32, [count]))
    words = [f.b.op(llvm_extra.ExtractElementOp, packed, f.b.constant(number), result=i32) for number in range(count)]
    if isinstance(fragment_type.element_type, Float16Type):
        return [f.b.op(llvm.BitcastOp, word, result=nvvm_matrix.HALVES) for word in words]
    return words


def _elements(f: FunctionLowering, fragment: SSAValue) -> list[SSAValue]:
    value, fragment_type = f.value(fragment), fragment.type
    assert isinstance(fragment_type, VectorType)
    element = llvm_type(fragment_type.element_type)
    count = fragment_type.element_count()
    return [f.b.op(llvm_extra.ExtractElementOp, value, f.b.constant(number), result=element) for number in range(count)]


def _vector(f: FunctionLowering, elements: Sequence[SSAValue]) -> SSAValue:
    vector_type = VectorType(elements[0].type, [len(elements)])
    vector = f.b.undef(vector_type)
    for number, element in enumerate(elements):
        vector = f.b.op(llvm.InsertElementOp, vector, element, f.b.constant(number), result=vector_type)
    return vector


def _parts(f: FunctionLowering, struct: SSAValue, element: Attribute, count: int) -> list[SSAValue]:
    if count == 1:
        return [struct]
    places = [DenseArrayBase.from_list(i64, [number]) for number in range(count)]
    return [f.b.op(llvm.ExtractValueOp, struct, result=element, position=place) for place in places]


def _mma(f: FunctionLowering, op: gpu_matrix.MmaOp) -> None:
    a, b, c = _registers(f, op.a), _registers(f, op.b), _elements(f, op.c)
    element = None if a[0].type == nvvm_matrix.HALVES else MmaType.BF16
    result = _append(f, nvvm_matrix.MmaSyncOp(gpu_matrix.MMA_SHAPE, a, b, c, element))
    f.set(op, _vector(f, _parts(f, result, c[0].type, len(c))))


def _load_matrix(f: FunctionLowering, op: gpu_matrix.LoadMatrixOp) -> None:
    count = op.matrices.value.data
    layout = MmaLayout.ROW if op.transposed is None else MmaLayout.COL
    loaded = _append(f, nvvm_matrix.LdMatrixOp(_place(f, op.buffer, op.index), count, layout))
    words = _vector(f, _parts(f, loaded, i32, count))
    f.set(op, f.b.op(llvm.BitcastOp, words, result=llvm_type(op.result.type)))


GPU_RULES: Mapping[type[Operation], Rule] = {
    gpu.ThreadIdOp: _dimension("tid"),
    gpu.BlockDimOp: _dimension("ntid"),
    gpu.BlockIdOp: _dimension("ctaid"),
    gpu.GridDimOp: _dimension("nctaid"),
    gpu.LaneIdOp: _lane_id,
    gpu.BarrierOp: _barrier,
    cuvil_gpu.SharedOp: _shared,
    cuvil_gpu.LoadOp: _load,
    cuvil_gpu.StoreOp: _store,
    cuvil_gpu.AtomicAddOp: _atomic_add,
    cuvil_gpu.WarpReduceOp: _warp_reduce,
    cuvil_gpu.WarpShuffleOp: _warp_shuffle,
    cuvil_gpu.WarpSyncOp: _warp_sync,
    gpu_async.CopyAsyncOp: _copy_async,
    gpu_async.CommitCopiesOp: lambda f, op: f.b.emit(nvvm_memory.CpAsyncCommitGroupOp()),
    gpu_async.WaitCopiesOp: lambda f, op: f.b.emit(nvvm_memory.CpAsyncWaitGroupOp(op.in_flight.value.data)),
    gpu_async.MbarrierInitOp: _mbarrier_init,
    gpu_async.MbarrierArriveOp: _mbarrier_arrive,
    gpu_async.MbarrierWaitOp: _mbarrier_wait,
    gpu_matrix.MmaOp: _mma,
    gpu_matrix.LoadMatrixOp: _load_matrix,
    cuvil_gpu.ReturnOp: lambda f, op: f.b.emit(llvm.ReturnOp()),
}
"""Op class => how it is lowered; beside the rules of the loop level."""


# -- kernels -----------------------------------------------------------------------------------------------------------


def lower_kernel(lowering: ModuleLowering, op: cuvil_gpu.KernelOp) -> None:
    """Lower one kernel to a function."""
    entry, *others = op.body.blocks
    arg_types = [llvm_type(arg.type) for arg in entry.args]
    f = FunctionLowering(lowering, op.sym_name.data, arg_types)
    f.values.update(zip(entry.args, f.b.entry.args, strict=True))
    for block in others:
        made = Block(arg_types=[llvm_type(arg.type) for arg in block.args])
        f.blocks[block] = made
        f.values.update(zip(block.args, made.args, strict=True))
    f.lower_block(entry)
    for block, made in f.blocks.items():
        f.b.start(made)
        f.lower_block(block)
    kernel = function(op.sym_name.data, arg_types, None, f.b.finish(), is_internal=False)
    kernel.attributes |= {**op.attributes, KERNEL: UnitAttr(), "nvvm.reqntid": op.threads}
    lowering.lowered.append(kernel)


def _symbols(module: ModuleOp) -> set[str]:
    return {op.properties["sym_name"].data for op in module.ops if "sym_name" in op.properties}  # pyright: ignore


@dataclass(frozen=True)
class LowerGpuToNvvmPass(ModulePass):
    """cuvil_gpu kernels => llvm and nvvm dialects."""

    name = "lower-gpu-to-nvvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace the module's kernels by functions."""
        rules = {**SCALAR_RULES, **MEMORY_RULES, **CONTROL_RULES, **GPU_RULES}
        lowering = ModuleLowering(THREAD, {}, set(), _symbols(op), rules)
        for inner in op.ops:
            if isinstance(inner, cuvil_gpu.KernelOp):
                lower_kernel(lowering, inner)
            elif inner.dialect_name() in ("llvm", "cuvil_llvm"):
                lowering.lowered.append(inner)
            else:
                raise UnsupportedError(f"{inner.name}: expected kernels at the top of a module", inner)
        lowering.install(op)
