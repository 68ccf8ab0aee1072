"""What the operations of `cuvil_gpu` share: memory spaces, checks of buffers and of accesses."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import EqAttrConstraint, base
from xdsl.utils.exceptions import VerifyException

GLOBAL, SHARED = 1, 3
"""Memory spaces of buffers."""
ACCESS_BYTES = (1, 2, 4, 8, 16)
"""What one thread can move in one access."""
WARP_SIZE = 32
WORD = base(Float32Type) | EqAttrConstraint(i32)


def space_of(buffer: Attribute) -> int:
    """The memory space of a buffer's type; 0 for the thread's own."""
    space = buffer.memory_space if isinstance(buffer, MemRefType) else NoneAttr()
    return space.value.data if isinstance(space, IntegerAttr) else 0


def check_buffer(op: Operation, buffer: Attribute, *spaces: int) -> MemRefType:
    """The type of a flat buffer. Raises `VerifyException` for another shape or memory space."""
    assert isinstance(buffer, MemRefType)
    if buffer.get_num_dims() != 1 or not isinstance(buffer.layout, NoneAttr):
        raise VerifyException(f"{op.name}: expected a flat buffer, got {buffer}")
    if space_of(buffer) not in spaces:
        raise VerifyException(f"{op.name}: expected a buffer in memory space {_or(spaces)}, got {buffer}")
    return buffer


def _or(numbers: Sequence[int]) -> str:
    return " or ".join(str(number) for number in numbers)


def access_bytes(value: Attribute) -> int:
    """The bytes that a value of this type, a scalar or a vector, takes in memory."""
    element = value.element_type if isinstance(value, VectorType) else value
    lanes = value.element_count() if isinstance(value, VectorType) else 1
    width = element.bitwidth if isinstance(element, IntegerType | AnyFloat) else 64
    return lanes * max(width, 8) // 8
