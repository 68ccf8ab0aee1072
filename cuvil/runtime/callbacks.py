"""Functions that compiled code calls back: what stands at their addresses, and the errors that they raise.

Compiled code calls an external symbol with the addresses of its operands' and results' buffers and, where sizes are
symbolic, their symbols' values. A foreign call holds no lock of the interpreter; ctypes takes it for the time of the
function, so that calls from several threads take turns in Python only.

An exception cannot cross compiled code. It is kept for the thread that made the call: results become zeros, no other
call-back is made, and when the compiled entry has returned it is raised as the cause of a `CuvilRuntimeError`; what is
no `Exception` (KeyboardInterrupt) is raised as it is.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cuvil.custom_ops import refused_result
from cuvil.errors import CuvilRuntimeError
from cuvil.semantics.dims import Dim


@dataclass(frozen=True)
class Buffer:
    """What a call-back knows of a tensor before it is called."""

    shape: tuple[Dim, ...]
    dtype: np.dtype[Any]
    is_bfloat: bool = False


@dataclass(frozen=True)
class Callback:
    """A function to be called by compiled code, and the buffers that it is called with."""

    name: str
    function: Callable[..., Any]
    inputs: Sequence[Buffer]
    outputs: Sequence[Buffer]
    symbols: Sequence[str]
    arguments: Mapping[str, Any]


class Callbacks:
    """The call-backs of one piece of compiled code, by symbol."""

    def __init__(self, callbacks: Mapping[str, Callback]) -> None:
        self._raised = threading.local()
        self._thunks = {symbol: self._thunk(callback) for symbol, callback in callbacks.items()}

    @property
    def addresses(self) -> dict[str, int]:
        """Where compiled code finds each symbol."""
        return {symbol: ctypes.cast(thunk, ctypes.c_void_p).value or 0 for symbol, thunk in self._thunks.items()}

    def raise_pending(self) -> None:
        """Raise what a call-back of this thread's last call raised."""
        found = getattr(self._raised, "error", None)
        if found is not None:
            self._raised.error = None
            name, error = found
            if not isinstance(error, Exception):
                raise error  # an interrupt or an exit is no failure of the op
            raise CuvilRuntimeError(f"the call-back of op '{name}' raised {type(error).__name__}: {error}") from error

    def _thunk(self, callback: Callback) -> Any:
        pointers, numbers = len(callback.inputs) + len(callback.outputs), len(callback.symbols)
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers, *[ctypes.c_int64] * numbers)

        def call(*given: Any) -> None:
            results: list[Any] = []
            try:
                sizes = dict(zip(callback.symbols, given[pointers:], strict=True))
                buffers = [*callback.inputs, *callback.outputs]
                arrays = [
                    _array(address, buffer, sizes) for address, buffer in zip(given[:pointers], buffers, strict=True)
                ]
                results = arrays[len(callback.inputs) :]
                if getattr(self._raised, "error", None) is None:
                    _call(callback, arrays[: len(callback.inputs)], results)
                    return
            except BaseException as error:  # it must not get into compiled code, KeyboardInterrupt included
                self._raised.error = (callback.name, error)
            for result in results:
                result[...] = 0

        return prototype(call)


def _call(callback: Callback, arrays: Sequence[Any], results: Sequence[Any]) -> None:
    if isinstance(callback.function, _C_FUNCTION):
        _call_c(callback, arrays, results)
        return
    operands = [
        _from_bits(array) if buffer.is_bfloat else array for array, buffer in zip(arrays, callback.inputs, strict=True)
    ]
    for operand in operands:
        operand.flags.writeable = False  # the memory of arguments and weights, or what others read afterwards
    made = callback.function(*operands, **callback.arguments)
    values = list(made) if isinstance(made, list | tuple) else [made]
    if len(values) != len(results):
        raise ValueError(f"it gave {len(values)} results, expected {len(results)}")
    for value, result, buffer in zip(values, results, callback.outputs, strict=True):
        array = np.asarray(value)
        refused = refused_result(array.dtype, "f" if buffer.is_bfloat else buffer.dtype.kind)
        if refused is not None:
            raise TypeError(refused)
        if array.shape != result.shape:
            raise ValueError(f"it gave shape {list(array.shape)}, expected {list(result.shape)}")
        result[...] = _bits(array) if buffer.is_bfloat else array


_C_FUNCTION: Any = getattr(ctypes, "_CFuncPtr")  # noqa: B009  the base of all foreign functions has no public name


def _call_c(callback: Callback, arrays: Sequence[Any], results: Sequence[Any]) -> None:
    """`int32_t f(void *const *inputs, void *const *outputs, const int64_t *const *shapes)`; 0 is success."""
    every = [*arrays, *results]
    shapes = [(ctypes.c_int64 * max(array.ndim, 1))(*array.shape) for array in every]
    table = (ctypes.c_void_p * len(shapes))(*(ctypes.addressof(shape) for shape in shapes))
    inputs = (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
    outputs = (ctypes.c_void_p * len(results))(*(array.ctypes.data for array in results))
    status = callback.function(
        ctypes.cast(inputs, ctypes.c_void_p), ctypes.cast(outputs, ctypes.c_void_p), ctypes.cast(table, ctypes.c_void_p)
    )
    if status:
        raise RuntimeError(f"it returned the status {status}")


def _array(address: int | None, buffer: Buffer, sizes: Mapping[str, int]) -> Any:
    """The elements at an address, which stay where they are."""
    shape = tuple(dim if isinstance(dim, int) else dim.evaluate(sizes) for dim in buffer.shape)
    size = int(np.prod(shape, dtype=np.int64)) * buffer.dtype.itemsize
    if not address or not size:
        return np.zeros(shape, buffer.dtype)
    memory: Any = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(memory, buffer.dtype).reshape(shape)


def _from_bits(bits: Any) -> Any:
    return np.asarray(bits.astype(np.uint32) << np.uint32(16)).view(np.float32)  # of no dims it would be a scalar


def _bits(array: Any) -> Any:
    """float32 values as bf16's bits, rounded to the nearest, ties to even; NaN stays NaN."""
    wide = np.ascontiguousarray(array, np.float32)
    bits = wide.view(np.uint32)
    rounded = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    return np.where(np.isnan(wide), np.uint32(0x7FC0), rounded).astype(np.uint16)
