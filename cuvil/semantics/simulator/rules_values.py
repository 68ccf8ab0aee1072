"""What a lane computes without memory: arith and math as the reference interpreter has them, vectors by rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, BFloat16Type, VectorType
from xdsl.ir import Attribute, Operation

from cuvil.semantics.arrays import bf16_bits, from_bf16_bits, rounded
from cuvil.semantics.interpreter import Meaning
from cuvil.semantics.meanings_loops import REDUCTIONS
from cuvil.semantics.meanings_scalar import MEANINGS as SCALAR_MEANINGS
from cuvil.semantics.simulator.memory import WARP_SIZE, Array
from cuvil.semantics.simulator.warp import Rule, Warp

Values = Sequence[Any]

_PARTIAL = ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui", "shli", "shrsi", "shrui")
"""Operations that have no meaning for some operands, which masked-off lanes may hold."""


def _by_lanes(meaning: Meaning) -> Rule:
    def rule(warp: Warp, op: Operation, operands: Values) -> Values:
        return meaning(warp.frame, op, operands) or ()

    return rule


def _by_active_lanes(meaning: Meaning) -> Rule:
    def rule(warp: Warp, op: Operation, operands: Values) -> Values:
        lhs, rhs = operands
        mask = warp.mask if rhs.ndim == 1 else warp.mask[:, None]
        return meaning(warp.frame, op, [lhs, np.where(mask, rhs, rhs.dtype.type(1))]) or ()

    return rule


def _constant(warp: Warp, op: arith.ConstantOp, operands: Values) -> Values:
    results = SCALAR_MEANINGS["arith.constant"](warp.frame, op, operands)
    value = np.asarray(results[0] if results else 0)
    return [np.broadcast_to(value, (WARP_SIZE, *value.shape))]


def _select(warp: Warp, op: Operation, operands: Values) -> Values:
    condition, true, false = operands
    if condition.ndim < true.ndim:
        condition = condition[:, None]
    return [np.where(condition, true, false)]


# -- vectors -----------------------------------------------------------------------------------------------------------


def lanes_of(vector_type: Attribute) -> int:
    """The lanes of a rank-1 vector; 1 of a scalar."""
    return vector_type.get_shape()[0] if isinstance(vector_type, VectorType) else 1


def _broadcast(warp: Warp, op: vector.BroadcastOp, operands: Values) -> Values:
    value = operands[0]
    lanes = lanes_of(op.vector.type)
    return [np.repeat(value[:, None] if value.ndim == 1 else value, lanes // (value.shape[1:] or (1,))[0], axis=1)]


def _position(static: Any, dynamic: Values) -> Array | int:
    (place,) = static.get_values()
    return dynamic[0] if place == DYNAMIC_INDEX else int(place)


_ROWS = np.arange(WARP_SIZE)


def _extract(warp: Warp, op: vector.ExtractOp, operands: Values) -> Values:
    return [operands[0][_ROWS, _position(op.static_position, operands[1:])]]


def _insert(warp: Warp, op: vector.InsertOp, operands: Values) -> Values:
    result = np.array(operands[1])
    result[_ROWS, _position(op.static_position, operands[2:])] = operands[0]
    return [result]


def _shuffle(warp: Warp, op: vector.ShuffleOp, operands: Values) -> Values:
    return [np.concatenate(operands, axis=1)[:, list(op.mask.get_values())]]


def _create_mask(warp: Warp, op: vector.CreateMaskOp, operands: Values) -> Values:
    return [np.arange(lanes_of(op.mask_vector.type)) < operands[0][:, None]]


def _on_bits(function: np.ufunc) -> Callable[[Array, Array], Array]:
    """A function of numbers read as unsigned."""

    def combined(lhs: Array, rhs: Array) -> Array:
        if lhs.dtype.kind != "i":
            return function(lhs, rhs)
        unsigned = f"u{lhs.dtype.itemsize}"
        return np.asarray(function(lhs.view(unsigned), rhs.view(unsigned))).view(lhs.dtype)

    return combined


_COMBINE: Mapping[str, Callable[[Array, Array], Array]] = {
    **REDUCTIONS,
    "minui": _on_bits(np.minimum),
    "maxui": _on_bits(np.maximum),
}


def _reduction(warp: Warp, op: vector.ReductionOp, operands: Values) -> Values:
    lanes = operands[0]
    result = np.ascontiguousarray(lanes[:, 0])
    for lane in range(1, lanes.shape[1]):
        result = rounded(_COMBINE[op.kind.data.value](result, np.ascontiguousarray(lanes[:, lane])), op.dest.type)
    if len(operands) > 1:
        result = rounded(_COMBINE[op.kind.data.value](result, operands[1]), op.dest.type)
    return [result]


def _bitcast(warp: Warp, op: vector.BitcastOp, operands: Values) -> Values:
    source, target = op.source.type, op.result.type
    assert isinstance(source, VectorType)
    assert isinstance(target, VectorType)
    bits = np.ascontiguousarray(operands[0])
    if isinstance(source.element_type, BFloat16Type):
        bits = bf16_bits(bits)
    if isinstance(target.element_type, BFloat16Type):
        return [from_bf16_bits(bits.view(np.uint16))]
    return [bits.view(rounded(np.zeros(()), target.element_type).dtype)]


RULES: dict[str, Rule] = {
    **{
        name: (_by_active_lanes if name.removeprefix("arith.") in _PARTIAL else _by_lanes)(meaning)
        for name, meaning in SCALAR_MEANINGS.items()
    },
    **{
        f"cuvil_vector.{name}": _by_lanes(SCALAR_MEANINGS[f"arith.{name}"])
        for name in "cmpf cmpi extsi extui fptosi fptoui index_cast sitofp trunci uitofp".split()
    },
    "arith.constant": _constant,
    "arith.select": _select,
    "cuvil_vector.select": _select,
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.insert": _insert,
    "vector.shuffle": _shuffle,
    "vector.create_mask": _create_mask,
    "vector.fma": _by_lanes(SCALAR_MEANINGS["math.fma"]),
    "vector.reduction": _reduction,
    "vector.bitcast": _bitcast,
}
