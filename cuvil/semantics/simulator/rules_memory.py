"""How a lane reaches memory: global and shared buffers through the checks of `Memory`, its own stack directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import BFloat16Type, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.dialects import gpu as cuvil_gpu
from cuvil.semantics.arrays import bf16_bits, from_bf16_bits
from cuvil.semantics.meanings_fused import new_buffer
from cuvil.semantics.simulator.faults import FaultKind, SimulationFault, Thread
from cuvil.semantics.simulator.memory import WARP_SIZE, Array, Memory
from cuvil.semantics.simulator.rules_values import lanes_of
from cuvil.semantics.simulator.warp import Local, Rule, Warp, undefined

Values = Sequence[Any]

_ROWS = np.arange(WARP_SIZE)


def _buffer_type(buffer: SSAValue) -> MemRefType[Attribute]:
    assert isinstance(buffer.type, MemRefType)
    return buffer.type


def _places(warp: Warp, first: Array, value_type: Attribute) -> Array:
    """The elements that the active lanes access: [active], or [active, lanes] for a vector."""
    start = first[warp.mask]
    lanes = lanes_of(value_type)
    is_vector = undefined(value_type).ndim == 2
    return start[:, None] + np.arange(lanes) if is_vector else start


def read(warp: Warp, op: Operation, buffer: Memory | Local, first: Array, value_type: Attribute) -> Array:
    """What the active lanes find at `first` and after it."""
    result = undefined(value_type)
    places = _places(warp, first, value_type)
    if isinstance(buffer, Memory):
        result[warp.mask] = buffer.read(places, warp.access(op))
        return result
    rows = _local_rows(warp, op, buffer, places)
    if not buffer.written[rows, places].all():
        missing: Array = ~buffer.written[rows, places].reshape(len(places), -1)
        _local_fault(FaultKind.UNINITIALISED, warp, op, np.asarray(missing.any(axis=1)))
    data = buffer.data[rows, places]
    result[warp.mask] = from_bf16_bits(data) if isinstance(buffer.element_type, BFloat16Type) else data
    return result


def write(warp: Warp, op: Operation, buffer: Memory | Local, first: Array, value: Array, value_type: Attribute) -> None:
    """Store the active lanes' values at `first` and after it."""
    places = _places(warp, first, value_type)
    if isinstance(buffer, Memory):
        buffer.write(places, value[warp.mask], warp.access(op))
        return
    rows = _local_rows(warp, op, buffer, places)
    data = value[warp.mask]
    buffer.data[rows, places] = bf16_bits(data) if isinstance(buffer.element_type, BFloat16Type) else data
    buffer.written[rows, places] = True


def _local_rows(warp: Warp, op: Operation, buffer: Local, places: Array) -> Array:
    outside = (places < 0) | (places >= buffer.data.shape[1])
    if outside.any():
        _local_fault(FaultKind.OUT_OF_BOUNDS, warp, op, outside.reshape(len(places), -1).any(axis=1))
    rows = _ROWS[warp.mask]
    return rows[:, None] if places.ndim == 2 else rows


def _local_fault(kind: FaultKind, warp: Warp, op: Operation, wrong: Array) -> None:
    who = Thread(warp.block.number, int(warp.threads[warp.mask][np.argmax(wrong)]))
    raise SimulationFault(kind, f"{who} in a buffer on its stack", op)


# -- operations --------------------------------------------------------------------------------------------------------


def _load(warp: Warp, op: memref.LoadOp, operands: Values) -> Values:
    return [read(warp, op, operands[0], operands[1], op.res.type)]


def _store(warp: Warp, op: memref.StoreOp, operands: Values) -> Values:
    write(warp, op, operands[1], operands[2], operands[0], op.value.type)
    return ()


def _vector_load(warp: Warp, op: vector.LoadOp, operands: Values) -> Values:
    return [read(warp, op, operands[0], operands[1], op.result.type)]


def _vector_store(warp: Warp, op: vector.StoreOp, operands: Values) -> Values:
    write(warp, op, operands[1], operands[2], operands[0], op.vector.type)
    return ()


def _masked_places(warp: Warp, first: Array, mask: Array) -> tuple[Array, Array, Array]:
    """Lane, element of its vector, and place of every element that is set."""
    lanes, elements = np.nonzero(mask & warp.mask[:, None])
    return lanes, elements, first[lanes] + elements


def _masked_load(warp: Warp, op: vector.MaskedLoadOp, operands: Values) -> Values:
    buffer, first, mask, otherwise = operands
    result = np.array(otherwise)
    lanes, elements, places = _masked_places(warp, first, mask)
    if isinstance(buffer, Local):
        result[lanes, elements] = buffer.data[lanes, places]
    elif lanes.size:
        access = warp.access(op)
        result[lanes, elements] = buffer.read(places, _at(access, warp.threads[lanes]))
    return [result]


def _masked_store(warp: Warp, op: vector.MaskedStoreOp, operands: Values) -> Values:
    buffer, first, mask, value = operands
    lanes, elements, places = _masked_places(warp, first, mask)
    if isinstance(buffer, Local):
        buffer.data[lanes, places] = value[lanes, elements]
        buffer.written[lanes, places] = True
    elif lanes.size:
        buffer.write(places, value[lanes, elements], _at(warp.access(op), warp.threads[lanes]))
    return ()


def _at(access: Any, threads: Array) -> Any:
    from dataclasses import replace

    return replace(access, threads=threads)


def _alloca(warp: Warp, op: Operation, operands: Values) -> Values:
    buffer = _buffer_type(op.results[0])
    shape = (WARP_SIZE, buffer.element_count())
    return [Local(new_buffer(shape, buffer.element_type), np.zeros(shape, np.bool_), buffer.element_type)]


def _shared(warp: Warp, op: cuvil_gpu.SharedOp, operands: Values) -> Values:
    return [warp.block.shared(op)]


def _wide_load(warp: Warp, op: cuvil_gpu.LoadOp, operands: Values) -> Values:
    _check_aligned(warp, op, operands[0], operands[1], op.value.type)
    return [read(warp, op, operands[0], operands[1], op.value.type)]


def _wide_store(warp: Warp, op: cuvil_gpu.StoreOp, operands: Values) -> Values:
    _check_aligned(warp, op, operands[1], operands[2], op.value.type)
    write(warp, op, operands[1], operands[2], operands[0], op.value.type)
    return ()


def _check_aligned(warp: Warp, op: Operation, buffer: Memory, first: Array, value_type: Attribute) -> None:
    lanes = lanes_of(value_type)
    if lanes > 1:
        buffer.check_aligned(first[warp.mask], lanes, warp.access(op))


def _atomic_add(warp: Warp, op: cuvil_gpu.AtomicAddOp, operands: Values) -> Values:
    value, buffer, index = operands
    buffer.add(index[warp.mask], value[warp.mask], warp.access(op))
    return ()


RULES: dict[str, Rule] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.alloca": _alloca,
    "vector.load": _vector_load,
    "vector.store": _vector_store,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "cuvil_vector.prefetch": lambda warp, op, operands: (),
    "cuvil_gpu.shared": _shared,
    "cuvil_gpu.load": _wide_load,
    "cuvil_gpu.store": _wide_store,
    "cuvil_gpu.atomic_add": _atomic_add,
}
