"""Reference meaning of the loop level: memref and vector ops, scalar by scalar, for small functions in tests.

A memref is an array, as in `cuvil_fused`: bf16 is its bits there, and what a load gives is its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, BFloat16Type, DenseIntOrFPElementsAttr, MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from cuvil.semantics.arrays import Array, array_of_constant, bf16_bits, from_bf16_bits, rounded
from cuvil.semantics.interpreter import Frame, Meaning
from cuvil.semantics.meanings_fused import new_buffer, view_bytes
from cuvil.semantics.meanings_scalar import MEANINGS as SCALAR_MEANINGS

Values = Sequence[Any]


def _element_type(buffer: SSAValue) -> Attribute:
    assert isinstance(buffer.type, MemRefType)
    return buffer.type.element_type


def _read(data: Any, element_type: Attribute) -> Any:
    return from_bf16_bits(np.asarray(data)) if isinstance(element_type, BFloat16Type) else data


def _written(value: Any, element_type: Attribute) -> Any:
    return bf16_bits(np.asarray(value)) if isinstance(element_type, BFloat16Type) else value


def _place(array: Array, indices: Values) -> tuple[int, ...]:
    place = tuple(int(index) for index in indices)
    if any(not 0 <= index < size for index, size in zip(place, array.shape, strict=True)):
        raise IndexError(f"index {list(place)} is outside a buffer of shape {list(array.shape)}")
    return place


# -- memref ------------------------------------------------------------------------------------------------------------


def _load(frame: Frame, op: memref.LoadOp, operands: Values) -> Values:
    buffer, *indices = operands
    return [np.asarray(_read(buffer[_place(buffer, indices)], _element_type(op.memref)))[()]]


def _store(frame: Frame, op: memref.StoreOp, operands: Values) -> Values:
    value, buffer, *indices = operands
    buffer[_place(buffer, indices)] = _written(value, _element_type(op.memref))
    return ()


def _allocate(frame: Frame, op: Operation, operands: Values) -> Values:
    (result,) = op.results
    assert isinstance(result.type, MemRefType)
    sizes = iter(operands)
    shape = [int(next(sizes)) if size == DYNAMIC_INDEX else size for size in result.type.get_shape()]
    return [new_buffer(shape, result.type.element_type)]


def _nothing(frame: Frame, op: Operation, operands: Values) -> Values:
    return ()


def _same(frame: Frame, op: Operation, operands: Values) -> Values:
    return [operands[0]]


def _view(frame: Frame, op: memref.ViewOp, operands: Values) -> Values:
    source, offset, *sizes = operands
    result = op.results[0].type
    assert isinstance(result, MemRefType)
    rest = iter(sizes)
    shape = [int(next(rest)) if size == DYNAMIC_INDEX else size for size in result.get_shape()]
    return [view_bytes(source, int(offset), shape, result.element_type)]


def _copy(frame: Frame, op: memref.CopyOp, operands: Values) -> Values:
    operands[1][...] = operands[0]
    return ()


def _dim(frame: Frame, op: memref.DimOp, operands: Values) -> Values:
    return [np.int64(operands[0].shape[int(operands[1])])]


def _get_global(frame: Frame, op: memref.GetGlobalOp, operands: Values) -> Values:
    name = op.name_.string_value()
    declared = op.memref.type
    assert isinstance(declared, MemRefType)
    for other in frame.interpreter.module.ops:
        if isinstance(other, memref.GlobalOp) and other.sym_name.data == name:
            if isinstance(other.initial_value, DenseIntOrFPElementsAttr):
                return [_written(array_of_constant(other.initial_value), declared.element_type)]
    value = rounded(frame.interpreter.global_value(name, op), declared.element_type)
    return [np.asarray(_written(value, declared.element_type)).reshape(declared.get_shape())]


# -- vector ------------------------------------------------------------------------------------------------------------


def _lanes(vector_type: Attribute) -> int:
    assert isinstance(vector_type, VectorType)
    (count,) = vector_type.get_shape()
    return count


def _window(buffer: Array, indices: Values, lanes: int) -> tuple[Any, ...]:
    """The elements of a buffer that a vector at `indices` covers."""
    *outer, last = (int(index) for index in indices)
    if last < 0 or last + lanes > buffer.shape[-1]:
        raise IndexError(f"lanes {last} to {last + lanes - 1} are outside a buffer of shape {list(buffer.shape)}")
    return (*outer, slice(last, last + lanes))


def _vector_load(frame: Frame, op: vector.LoadOp, operands: Values) -> Values:
    buffer, *indices = operands
    window = buffer[_window(buffer, indices, _lanes(op.result.type))]
    return [np.array(_read(window, _element_type(op.base)))]


def _vector_store(frame: Frame, op: vector.StoreOp, operands: Values) -> Values:
    value, buffer, *indices = operands
    buffer[_window(buffer, indices, len(value))] = _written(value, _element_type(op.base))
    return ()


def _active(buffer: Array, start: int, mask: Array) -> Array:
    """The positions of the lanes whose mask bit is set."""
    places = start + np.flatnonzero(mask)
    if places.size and not (places.min() >= 0 and places.max() < buffer.shape[-1]):
        raise IndexError(f"lanes {places.min()} to {places.max()} are outside a buffer of shape {list(buffer.shape)}")
    return places


def _masked_load(frame: Frame, op: vector.MaskedLoadOp, operands: Values) -> Values:
    buffer, index, mask, otherwise = operands
    result = np.array(otherwise)
    result[mask] = _read(buffer[_active(buffer, int(index), mask)], _element_type(op.base))
    return [result]


def _masked_store(frame: Frame, op: vector.MaskedStoreOp, operands: Values) -> Values:
    buffer, index, mask, value = operands
    buffer[_active(buffer, int(index), mask)] = _written(value[mask], _element_type(op.base))
    return ()


def _broadcast(frame: Frame, op: vector.BroadcastOp, operands: Values) -> Values:
    return [np.full(_lanes(op.vector.type), operands[0])]


def _extract(frame: Frame, op: vector.ExtractOp, operands: Values) -> Values:
    return [operands[0][_positions(op.static_position, operands[1:])]]


def _insert(frame: Frame, op: vector.InsertOp, operands: Values) -> Values:
    result = np.array(operands[1])
    result[_positions(op.static_position, operands[2:])] = operands[0]
    return [result]


def _positions(static: Any, dynamic: Values) -> tuple[int, ...]:
    rest = iter(dynamic)
    return tuple(int(next(rest)) if place == DYNAMIC_INDEX else place for place in static.get_values())


def _shuffle(frame: Frame, op: vector.ShuffleOp, operands: Values) -> Values:
    return [np.concatenate(operands)[list(op.mask.get_values())]]


def _create_mask(frame: Frame, op: vector.CreateMaskOp, operands: Values) -> Values:
    return [np.arange(_lanes(op.mask_vector.type)) < operands[0]]


REDUCTIONS: Mapping[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
}
"""How `vector.reduction` combines two numbers, by kind; unsigned kinds look at other types."""


def _reduction(frame: Frame, op: vector.ReductionOp, operands: Values) -> Values:
    kind = op.kind.data.value
    lanes = operands[0]
    if kind in ("minui", "maxui"):
        unsigned = lanes.view(f"u{lanes.dtype.itemsize}")
        return [(unsigned.min() if kind == "minui" else unsigned.max()).astype(lanes.dtype)]
    combine = REDUCTIONS[kind]
    result = combine.reduce(lanes, dtype=lanes.dtype)
    if len(operands) > 1:
        result = combine(result, operands[1])
    return [rounded(result, op.dest.type)[()]]


def _vector_bitcast(frame: Frame, op: vector.BitcastOp, operands: Values) -> Values:
    source, target = op.source.type, op.result.type
    assert isinstance(source, VectorType)
    assert isinstance(target, VectorType)
    bits = np.ascontiguousarray(_written(operands[0], source.element_type))
    if isinstance(target.element_type, BFloat16Type):
        return [from_bf16_bits(bits.view(np.uint16))]
    return [bits.view(rounded(np.zeros(()), target.element_type).dtype)]


# Lane by lane, every op means what the arith op of its name means.
_LANE_WISE = {
    f"cuvil_vector.{name}": SCALAR_MEANINGS[f"arith.{name}"]
    for name in ("cmpf cmpi extsi extui fptosi fptoui index_cast sitofp select trunci uitofp".split())
}

MEANINGS: dict[str, Meaning] = {
    "memref.load": _load,
    "memref.store": _store,
    "memref.alloc": _allocate,
    "memref.alloca": _allocate,
    "memref.dealloc": _nothing,
    "memref.view": _view,
    "memref.cast": _same,
    "memref.copy": _copy,
    "memref.dim": _dim,
    "memref.get_global": _get_global,
    "cuvil_vector.prefetch": _nothing,
    "vector.load": _vector_load,
    "vector.store": _vector_store,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.shuffle": _shuffle,
    "vector.create_mask": _create_mask,
    "vector.fma": SCALAR_MEANINGS["math.fma"],
    "vector.reduction": _reduction,
    "vector.bitcast": _vector_bitcast,
    **_LANE_WISE,
}
