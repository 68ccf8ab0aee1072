"""Loop-level types as the llvm dialect has them.

| loop level            | llvm dialect                                                   |
|-----------------------|----------------------------------------------------------------|
| `index`               | `i64`                                                          |
| `iN`, floats          | themselves                                                     |
| `bf16`                | `i16`, its bits; see `llvm_bfloat`                             |
| `memref<..>`          | `!llvm.ptr` (a bare pointer to the first element)              |
| `memref<.., N : i32>` | `!llvm.ptr<N>`: the memory space is an address space           |
| `vector<NxT>`, rank 1 | `vector<NxT>`, its elements as above                           |

In memory an `i1` takes one byte (0 or 1); `memory_type` says so.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute

from cuvil.errors import UnsupportedError

PTR = LLVMPointerType()
I1, I8, I32, I64 = i1, i8, i32, i64


def llvm_type(source: Attribute) -> Attribute:
    """The llvm type of a value of type `source`. Raises `UnsupportedError` where there is none."""
    if isinstance(source, IndexType):
        return i64
    if isinstance(source, BFloat16Type):
        return i16
    if isinstance(source, IntegerType | AnyFloat | LLVMPointerType):
        return source
    if isinstance(source, MemRefType):
        space = source.memory_space
        return LLVMPointerType(IntAttr(space.value.data)) if isinstance(space, IntegerAttr) else PTR
    if isinstance(source, VectorType):
        if source.get_num_dims() != 1 or source.get_num_scalable_dims():
            raise UnsupportedError(f"lower-loops-to-llvm: expected a fixed vector of rank 1, got {source}")
        element = llvm_type(source.element_type)
        return source if element is source.element_type else VectorType(element, source.get_shape())
    raise UnsupportedError(f"lower-loops-to-llvm: no llvm type for {source}")


def element_of(source: Attribute) -> Attribute:
    """The element type of a vector or memref; any other type itself."""
    return source.element_type if isinstance(source, VectorType | MemRefType) else source


def with_element(source: Attribute, element: Attribute) -> Attribute:
    """`source` with its element type (or itself, if a scalar) replaced by `element`."""
    return VectorType(element, source.get_shape()) if isinstance(source, VectorType) else element


def memory_type(value_type: Attribute) -> Attribute:
    """The type a value is loaded and stored as: an `i1` is a byte."""
    element = element_of(value_type)
    return with_element(value_type, i8) if element == i1 else value_type


def size_bytes(element: Attribute) -> int:
    """Bytes of one element in memory."""
    if isinstance(element, IndexType | LLVMPointerType):
        return 8
    if isinstance(element, IntegerType):
        return max(1, element.width.data // 8)
    if isinstance(element, AnyFloat):
        return element.bitwidth // 8
    if isinstance(element, VectorType):
        return size_bytes(element.element_type) * element.element_count()
    raise UnsupportedError(f"lower-loops-to-llvm: no element of type {element} in memory")
