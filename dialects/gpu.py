"""`cuvil_gpu`: kernels as every thread of a block runs them, above any one GPU's instructions.

Level: below `cuvil_fused`, above `nvvm` and `llvm`. Produced by `lower-fused-to-gpu`, consumed by `lower-gpu-to-nvvm`
and by the simulator. A `kernel`'s body is the loop level (arith, math, scf, vector, memref on flat buffers) on one
thread's values, upstream's `gpu.thread_id`, `gpu.block_id`, `gpu.block_dim`, `gpu.grid_dim`, `gpu.lane_id` and
`gpu.barrier`, and the operations here.

- Buffers say where they lie by their memory space: `memref<1024xf32, 1 : i32>` global, `3 : i32` the block's shared
  memory, none the thread's own stack.
- `load` and `store` move a vector in one access: its first element lies at a multiple of the vector's size. A global
  buffer starts at a multiple of 16 bytes, a shared one too.
- A warp's operations (`warp_reduce`, `warp_shuffle`, `mma`, ...) are executed by its 32 lanes together.
- Asynchronous copies and mbarriers are in `gpu_async`, products on tensor cores in `gpu_matrix`.

Not verified (the simulator finds it in a run): that addresses are aligned and inside the buffer, that all threads of a
block reach a barrier and all lanes a warp's operation, and that a barrier stands between one thread's write and
another's read of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    VectorType,
    i32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, Region, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    EqAttrConstraint,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    MemoryReadEffect,
    MemoryWriteEffect,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from cuvil.dialects.gpu_async import ASYNC_OPERATIONS
from cuvil.dialects.gpu_base import (
    ACCESS_BYTES,
    GLOBAL,
    SHARED,
    WARP_SIZE,
    WORD,
    access_bytes,
    check_buffer,
    space_of,
)
from cuvil.dialects.gpu_matrix import MATRIX_OPERATIONS

# -- kernels -----------------------------------------------------------------------------------------------------------


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A function that the host launches over a grid of blocks of `threads` each.

    ```
    cuvil_gpu.kernel @scale threads = [128, 1, 1] {
    ^bb0(%x: memref<1024xf32, 1 : i32>):
      ...
      cuvil_gpu.return
    }
    ```
    """

    name = "cuvil_gpu.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    threads = prop_def(DenseArrayBase.constr(i32))
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    assembly_format = "$sym_name `threads` `=` $threads attr-dict-with-keyword $body"

    MOST_THREADS: ClassVar = 1024

    def __init__(self, name: str, threads: Sequence[int], body: Region) -> None:
        properties = {"sym_name": StringAttr(name), "threads": DenseArrayBase.from_list(i32, threads)}
        super().__init__(properties=properties, regions=[body])

    @property
    def block_shape(self) -> tuple[int, ...]:
        """Threads of a block along x, y, z."""
        return tuple(int(size) for size in self.threads.get_values())

    def verify_(self) -> None:
        shape = self.block_shape
        if len(shape) != 3 or min(shape) < 1:
            raise VerifyException(f"{self.name}: expected three sizes of a block, got {list(shape)}")
        if (count := shape[0] * shape[1] * shape[2]) > self.MOST_THREADS:
            raise VerifyException(f"{self.name}: expected at most {self.MOST_THREADS} threads in a block, got {count}")
        if not self.body.blocks:
            raise VerifyException(f"{self.name}: expected a body")
        for arg in self.body.blocks[0].args:
            if isinstance(arg.type, MemRefType):
                check_buffer(self, arg.type, GLOBAL)
            elif not isinstance(arg.type, IntegerType | IndexType | AnyFloat):
                raise VerifyException(
                    f"{self.name}: expected arguments to be global buffers or scalars, got {arg.type}"
                )


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The end of a kernel."""

    name = "cuvil_gpu.return"

    traits = traits_def(IsTerminator(), HasParent(KernelOp))

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """The host starts a kernel over a grid of blocks; its meaning is that the kernel has then run.

    `cuvil_gpu.launch @scale blocks = (%x, %y, %z) (%a, %n) : memref<1024xf32, 1 : i32>, index`
    """

    name = "cuvil_gpu.launch"

    kernel = prop_def(SymbolRefAttr)
    blocks_x = operand_def(IndexType)
    blocks_y = operand_def(IndexType)
    blocks_z = operand_def(IndexType)
    arguments = var_operand_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = (
        "$kernel `blocks` `=` `(` $blocks_x `,` $blocks_y `,` $blocks_z `)` `(` $arguments `)` attr-dict "
        "`:` type($arguments)"
    )

    def __init__(self, kernel: str, blocks: Sequence[SSAValue], arguments: Sequence[SSAValue]) -> None:
        super().__init__(operands=[*blocks, arguments], properties={"kernel": SymbolRefAttr(kernel)})

    def verify_(self) -> None:
        module = self.get_toplevel_object()
        if not isinstance(module, ModuleOp):
            return
        kernel = SymbolTable.lookup_symbol(module, self.kernel)
        if not isinstance(kernel, KernelOp):
            raise VerifyException(f"{self.name}: there is no kernel {self.kernel}")
        expected = [arg.type for arg in kernel.body.blocks[0].args]
        got = [value.type for value in self.arguments]
        if got != expected:
            raise VerifyException(f"{self.name}: kernel {self.kernel} takes {_listed(expected)}, got {_listed(got)}")


def _listed(types: Sequence[Attribute]) -> str:
    return "(" + ", ".join(str(each) for each in types) + ")"


# -- memory ------------------------------------------------------------------------------------------------------------


@irdl_op_definition
class SharedOp(IRDLOperation):
    """A buffer that the block's threads share, as long as the block: `cuvil_gpu.shared : memref<128xf32, 3 : i32>`."""

    name = "cuvil_gpu.shared"

    buffer = result_def(MemRefType)

    assembly_format = "attr-dict `:` type($buffer)"

    def __init__(self, buffer: MemRefType) -> None:
        super().__init__(result_types=[buffer])

    def verify_(self) -> None:
        buffer = check_buffer(self, self.buffer.type, SHARED)
        if not buffer.has_static_shape():
            raise VerifyException(f"{self.name}: expected a static size, got {buffer}")


class _AccessOp(IRDLOperation):
    """One thread's access to a buffer, as wide as its value."""

    def _check_access(self, value: Attribute, buffer_type: Attribute) -> None:
        buffer = check_buffer(self, buffer_type, GLOBAL, SHARED)
        element = value.element_type if isinstance(value, VectorType) else value
        if element != buffer.element_type:
            raise VerifyException(f"{self.name}: expected elements of {buffer.element_type}, got {value}")
        if (size_bytes := access_bytes(value)) not in ACCESS_BYTES:
            raise VerifyException(f"{self.name}: expected an access of 1, 2, 4, 8 or 16 bytes, got {size_bytes}")


@irdl_op_definition
class LoadOp(_AccessOp):
    """Read a vector in one access: `cuvil_gpu.load %x[%i] : memref<1024xf32, 1 : i32>, vector<4xf32>`."""

    name = "cuvil_gpu.load"

    buffer = operand_def(MemRefType)
    index = operand_def(IndexType)
    value = result_def(AnyAttr())

    traits = traits_def(MemoryReadEffect())

    assembly_format = "$buffer `[` $index `]` attr-dict `:` type($buffer) `,` type($value)"

    def __init__(self, buffer: SSAValue, index: SSAValue, value_type: Attribute) -> None:
        super().__init__(operands=[buffer, index], result_types=[value_type])

    def verify_(self) -> None:
        self._check_access(self.value.type, self.buffer.type)


@irdl_op_definition
class StoreOp(_AccessOp):
    """Write a vector in one access: `cuvil_gpu.store %v, %x[%i] : vector<4xf32>, memref<1024xf32, 1 : i32>`."""

    name = "cuvil_gpu.store"

    value = operand_def(AnyAttr())
    buffer = operand_def(MemRefType)
    index = operand_def(IndexType)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$value `,` $buffer `[` $index `]` attr-dict `:` type($value) `,` type($buffer)"

    def __init__(self, value: SSAValue, buffer: SSAValue, index: SSAValue) -> None:
        super().__init__(operands=[value, buffer, index])

    def verify_(self) -> None:
        self._check_access(self.value.type, self.buffer.type)


@irdl_op_definition
class AtomicAddOp(_AccessOp):
    """Add to an element, no other thread in between: `cuvil_gpu.atomic_add %v, %x[%i] : f32, memref<8xf32, 1 : i32>`.

    Float sums depend on the order in which threads come.
    """

    name = "cuvil_gpu.atomic_add"

    value = operand_def(WORD)
    buffer = operand_def(MemRefType)
    index = operand_def(IndexType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$value `,` $buffer `[` $index `]` attr-dict `:` type($value) `,` type($buffer)"

    def __init__(self, value: SSAValue, buffer: SSAValue, index: SSAValue) -> None:
        super().__init__(operands=[value, buffer, index])

    def verify_(self) -> None:
        self._check_access(self.value.type, self.buffer.type)


# -- warps -------------------------------------------------------------------------------------------------------------


class ReduceKind(StrEnum):
    """How values are combined; `max` and `min` give NaN where any value is NaN, integers are signed."""

    ADD = "add"
    MAX = "max"
    MIN = "min"


@irdl_attr_definition
class ReduceKindAttr(EnumAttribute[ReduceKind], SpacedOpaqueSyntaxAttribute):
    """How a warp's values are combined."""

    name = "cuvil_gpu.reduce_kind"


@irdl_op_definition
class WarpReduceOp(IRDLOperation):
    """Combine the values of a warp's lanes; every lane gets the same result: `cuvil_gpu.warp_reduce add %v : f32`.

    Lanes are combined as a butterfly, in distances 16, 8, 4, 2, 1: the sum of floats is that of this tree.
    """

    name = "cuvil_gpu.warp_reduce"

    T: ClassVar = VarConstraint("T", WORD)
    kind = prop_def(ReduceKindAttr)
    value = operand_def(T)
    result = result_def(T)

    assembly_format = "$kind $value attr-dict `:` type($value)"

    def __init__(self, kind: ReduceKind, value: SSAValue) -> None:
        super().__init__(operands=[value], properties={"kind": ReduceKindAttr(kind)}, result_types=[value.type])


class ShuffleKind(StrEnum):
    """Whose value a lane gets: that of its number with bits flipped, of a lane so far up or down, or of a number.

    Where there is no such lane, it gets its own.
    """

    XOR = "xor"
    UP = "up"
    DOWN = "down"
    INDEX = "index"


@irdl_attr_definition
class ShuffleKindAttr(EnumAttribute[ShuffleKind], SpacedOpaqueSyntaxAttribute):
    """Whose value a lane gets."""

    name = "cuvil_gpu.shuffle_kind"


@irdl_op_definition
class WarpShuffleOp(IRDLOperation):
    """Another lane's value: `cuvil_gpu.warp_shuffle xor %v, %distance : f32`; every lane of the warp takes part."""

    name = "cuvil_gpu.warp_shuffle"

    T: ClassVar = VarConstraint("T", WORD)
    kind = prop_def(ShuffleKindAttr)
    value = operand_def(T)
    offset = operand_def(EqAttrConstraint(i32))
    result = result_def(T)

    assembly_format = "$kind $value `,` $offset attr-dict `:` type($value)"

    def __init__(self, kind: ShuffleKind, value: SSAValue, offset: SSAValue) -> None:
        super().__init__(
            operands=[value, offset], properties={"kind": ShuffleKindAttr(kind)}, result_types=[value.type]
        )


@irdl_op_definition
class WarpSyncOp(IRDLOperation):
    """The warp's lanes meet: what one has written before, the others read after it. `cuvil_gpu.warp_sync`."""

    name = "cuvil_gpu.warp_sync"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


__all__ = ["ACCESS_BYTES", "GLOBAL", "SHARED", "WARP_SIZE", "CuvilGpu", "space_of"]

CuvilGpu = Dialect(
    "cuvil_gpu",
    [
        AtomicAddOp,
        KernelOp,
        LaunchOp,
        LoadOp,
        ReturnOp,
        SharedOp,
        StoreOp,
        WarpReduceOp,
        WarpShuffleOp,
        WarpSyncOp,
        *ASYNC_OPERATIONS,
        *MATRIX_OPERATIONS,
    ],
    [ReduceKindAttr, ShuffleKindAttr],
)
