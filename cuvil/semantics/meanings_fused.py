"""Reference meaning of `cuvil_fused`: kernels on values and in destination style, buffers and views of the arena.

A buffer is a writable array. One of bf16 holds the 16-bit patterns (uint16), as memory does; a kernel's region computes
with what they stand for. Memory that is allocated or freed is poisoned, so that a buffer that is read before it is
written, or after its lifetime, shows in the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, MemRefType
from xdsl.ir import Attribute

from cuvil.dialects.fused import AllocOp, ArenaViewOp, CopyOp, FreeOp, KernelOp, ParameterOp
from cuvil.semantics.arrays import Array, bf16_bits, dtype_of, from_bf16_bits
from cuvil.semantics.interpreter import Frame, Meaning

Arrays = Sequence[Array]

_POISON_BYTE = 0xFF
"""Floats of these bytes are NaN, integers -1."""


def buffer_dtype(element_type: Attribute) -> np.dtype[Any]:
    """The dtype of the array that stands for a buffer of `element_type`."""
    return np.dtype(np.uint16) if isinstance(element_type, BFloat16Type) else dtype_of(element_type)


def value_of_buffer(buffer: Array, element_type: Attribute) -> Array:
    """The array that stands for the tensor in a buffer."""
    return from_bf16_bits(buffer) if isinstance(element_type, BFloat16Type) else buffer


def store(buffer: Array, value: Array, element_type: Attribute) -> None:
    """Write a tensor into a buffer."""
    buffer[...] = bf16_bits(value) if isinstance(element_type, BFloat16Type) else value


def new_buffer(shape: Sequence[int], element_type: Attribute) -> Array:
    """A buffer with undefined, that is poisoned, contents."""
    buffer = np.empty(shape, buffer_dtype(element_type))
    poison(buffer)
    return buffer


def poison(buffer: Array) -> None:
    """Overwrite a buffer's contents with what no program computes on purpose."""
    if buffer.dtype.kind == "f":
        buffer.fill(np.nan)
    else:
        buffer.fill(True if buffer.dtype.kind == "b" else np.array(-1).astype(buffer.dtype))


def _kernel(frame: Frame, op: KernelOp, operands: Arrays) -> Arrays:
    count = len(op.inputs)
    arguments = [
        value_of_buffer(value, operand.type.element_type) if isinstance(operand.type, MemRefType) else value
        for operand, value in zip(op.inputs, operands[:count], strict=True)
    ]
    inner = frame.nested([argument.type for argument in op.body.block.args], arguments)
    results = inner.run(op.body, arguments)
    if not op.is_destination_style:
        return results
    # All values are computed before any is written: a kernel may work in place.
    for target, buffer, value in zip(op.into, operands[count:], [np.array(value) for value in results], strict=True):
        assert isinstance(target.type, MemRefType)
        store(buffer, value, target.type.element_type)
    return ()


def _alloc(frame: Frame, op: AllocOp, operands: Arrays) -> Arrays:
    return [new_buffer(frame.shape(op.buffer.type), op.buffer.type.element_type)]


def _free(frame: Frame, op: FreeOp, operands: Arrays) -> Arrays:
    poison(operands[0])
    return ()


def _copy(frame: Frame, op: CopyOp, operands: Arrays) -> Arrays:
    operands[1][...] = operands[0]
    return ()


def _parameter(frame: Frame, op: ParameterOp, operands: Arrays) -> Arrays:
    value = frame.interpreter.global_value(op.symbol.string_value(), op)
    buffer = bf16_bits(value) if isinstance(op.buffer.type.element_type, BFloat16Type) else value.view()
    buffer.flags.writeable = False
    return [buffer]


def _arena_view(frame: Frame, op: ArenaViewOp, operands: Arrays) -> Arrays:
    offset_bytes = op.offset_bytes.value.data + sum(int(offset) for offset in operands[1:])
    return [view_bytes(operands[0], offset_bytes, frame.shape(op.buffer.type), op.buffer.type.element_type)]


def view_bytes(arena: Array, offset_bytes: int, shape: Sequence[int], element_type: Attribute) -> Array:
    """A buffer of `shape` whose memory is a byte array's from an offset on."""
    dtype = buffer_dtype(element_type)
    size_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if offset_bytes + size_bytes > arena.size:
        raise IndexError(f"{size_bytes} bytes at {offset_bytes} do not fit an arena of {arena.size} bytes")
    return arena[offset_bytes : offset_bytes + size_bytes].view(dtype).reshape(shape)


MEANINGS: dict[str, Meaning] = {
    "cuvil_fused.kernel": _kernel,
    "cuvil_fused.alloc": _alloc,
    "cuvil_fused.free": _free,
    "cuvil_fused.copy": _copy,
    "cuvil_fused.parameter": _parameter,
    "cuvil_fused.arena_view": _arena_view,
}
