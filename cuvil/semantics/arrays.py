"""NumPy arrays as values of tensor types: which dtype stands for which element type, and how results are rounded.

| element type            | array dtype                       | arithmetic                                |
|-------------------------|-----------------------------------|-------------------------------------------|
| `f64`, `f32`            | float64, float32                  | in that type, each operation rounded once |
| `f16`                   | float16                           | in float32, rounded once per operation    |
| `bf16`                  | float32, every value a bf16 value | in float32, rounded once per operation    |
| `i8` ... `i64`, `index` | int8 ... int64, int64             | wraps                                     |
| `ui8` ... `ui64`        | uint8 ... uint64                  | wraps                                     |
| `i1`                    | bool                              |                                           |

NumPy has no bf16, so callers convert at the boundary: `to_reference` and `bf16_bits` do. Sums and products of
many floats (reduce, contract, convolution, pool, scan) are accumulated in float64 and rounded once: they are nearer to
the exact result than any native order of summation, and what is compared with them is compared by relative norm error.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute

from cuvil.errors import UnsupportedError

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_FLOATS: dict[type[Attribute], Any] = {
    Float64Type: np.float64,
    Float32Type: np.float32,
    Float16Type: np.float16,
    BFloat16Type: np.float32,
}


def dtype_of(element_type: Attribute) -> np.dtype[Any]:
    """The dtype of arrays that stand for tensors of `element_type`. Raises `UnsupportedError` if there is none."""
    if isinstance(element_type, IntegerType):
        width = element_type.width.data
        if width == 1:
            return np.dtype(np.bool_)
        if width in (8, 16, 32, 64):
            unsigned = element_type.signedness.data == Signedness.UNSIGNED
            return np.dtype(f"{'u' if unsigned else ''}int{width}")
    elif isinstance(element_type, IndexType):
        return np.dtype(np.int64)
    elif (found := _FLOATS.get(type(element_type))) is not None:
        return np.dtype(found)
    raise UnsupportedError(f"the reference interpreter has no arrays of {element_type}")


def round_bf16(array: Array) -> Array:
    """float32 values rounded to the nearest bf16, ties to even, kept as float32; NaN stays NaN."""
    bits = np.ascontiguousarray(array, dtype=np.float32).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + (np.uint32(0x7FFF) + odd)) & np.uint32(0xFFFF0000)).view(np.float32)
    result = np.where(np.isnan(array), np.float32(np.nan), rounded)
    return result.reshape(np.shape(array))


def bf16_bits(array: Array) -> Array:
    """The 16-bit patterns (uint16) of an array that stands for a bf16 tensor, as native code stores it."""
    rounded = np.ascontiguousarray(round_bf16(array))
    return (rounded.view(np.uint32) >> np.uint32(16)).astype(np.uint16)


def from_bf16_bits(bits: Array) -> Array:
    """The array that stands for a bf16 tensor with these 16-bit patterns (uint16)."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_reference(array: Array, element_type: Attribute) -> Array:
    """Any array of fitting numbers as the array that stands for a tensor of `element_type`."""
    return rounded(np.asarray(array), element_type)


def rounded(array: Array, element_type: Attribute) -> Array:
    """Float results, computed wider or not, rounded once to `element_type`; other types converted as NumPy does."""
    result = np.asarray(array).astype(dtype_of(element_type), copy=False)
    return round_bf16(result) if isinstance(element_type, BFloat16Type) else result


def widened(array: Array) -> Array:
    """What an operation on float16 computes with: float32. Other dtypes are themselves."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def accumulated(array: Array) -> Array:
    """What long sums are accumulated in: float64 for floats; integers are themselves, since they wrap all the same."""
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def array_of_constant(value: DenseIntOrFPElementsAttr) -> Array:
    """The array of a `dense<...>` attribute; not writable."""
    element_type: Attribute = value.get_element_type()
    shape = value.get_shape()
    data = value.data.data
    dtype = dtype_of(element_type)
    if isinstance(element_type, BFloat16Type):
        return from_bf16_bits(np.frombuffer(data, np.uint16)).reshape(shape)
    if dtype == np.bool_:
        return (np.frombuffer(data, np.uint8) != 0).reshape(shape)
    return np.frombuffer(data, dtype).reshape(shape)


def constant_of_array(array: Array, tensor_type: Any) -> DenseIntOrFPElementsAttr:
    """The `dense<...>` attribute of an array that stands for a value of `tensor_type`; undoes `array_of_constant`."""
    from xdsl.dialects.builtin import BytesAttr

    element_type: Attribute = tensor_type.element_type
    if isinstance(element_type, BFloat16Type):
        data = bf16_bits(array).tobytes()
    elif dtype_of(element_type) == np.bool_:
        # xDSL stores true as a signed one-bit integer, -1.
        data = (-np.asarray(array).astype(np.int8)).tobytes()
    else:
        data = np.ascontiguousarray(array, dtype_of(element_type)).tobytes()
    return DenseIntOrFPElementsAttr(tensor_type, BytesAttr(data))
