"""Arrays of other libraries as torch tensors on the same memory: NumPy's, and whatever speaks DLPack.

What comes in is not copied where torch can see its memory: compiled code reads it where it lies. A read-only NumPy
array is seen without a copy too where the caller vouches that nothing writes to it; torch has no read-only tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor


class ForeignError(TypeError):
    """An object whose memory cannot be seen as a tensor; the message says why, for the end of a sentence."""


def is_foreign(value: Any) -> bool:
    """Whether a value is an array of another library."""
    return isinstance(value, np.ndarray) or (hasattr(value, "__dlpack__") and not isinstance(value, Tensor))


def tensor_of(value: Any, only_read: bool) -> Tensor:
    """The tensor on the memory of an array, or on a copy where torch cannot have that.

    `only_read`: nobody writes to the tensor, so that a read-only array need not be copied. Raises `ForeignError` for
    element types that tensors lack, for masked arrays, and for memory of another device.
    """
    if isinstance(value, np.ndarray | np.generic):
        if isinstance(value, np.ma.MaskedArray):
            raise ForeignError("a masked NumPy array, whose mask would be lost")
        return _of_array(np.asarray(value), only_read)
    try:
        made = torch.from_dlpack(value)
    except Exception as error:  # whatever the other library raises
        raise ForeignError(
            f"a {type(value).__name__} that gives no tensor by DLPack ({type(error).__name__}: {error})"
        ) from error
    if not made.is_cpu:
        raise ForeignError(f"a {type(value).__name__} on {made.device}; copy it to the CPU")
    return made


def check_apart(arrays: Sequence[tuple[np.ndarray[Any, Any], Tensor]]) -> None:
    """Raise `ForeignError` if arrays share memory, and a copy of one is used in its place."""
    for (one, first), (other, second) in combinations(arrays, 2):
        if not (one.flags.writeable or other.flags.writeable) or not np.may_share_memory(one, other):
            continue
        if not (_is_on(one, first) and _is_on(other, second)):
            raise ForeignError("an array that shares memory with another one, in a form that torch does not have")


def put_back(array: np.ndarray[Any, Any], tensor: Tensor) -> None:
    """Values that were computed in a copy of an array, where torch could not have its memory, put into the array.

    Raises `ForeignError` where a read-only array would change.
    """
    if _is_on(array, tensor):
        return
    changed = tensor.detach().numpy()
    if array.astype(changed.dtype, copy=False).tobytes() == changed.tobytes():
        return
    if not array.flags.writeable:
        raise ForeignError("a read-only array")
    array[...] = changed


def _is_on(array: np.ndarray[Any, Any], tensor: Tensor) -> bool:
    return np.shares_memory(array, tensor.detach().numpy())


def _of_array(array: np.ndarray[Any, Any], only_read: bool) -> Tensor:
    native = array.dtype.newbyteorder("=")
    if array.dtype != native or any(stride < 0 for stride in array.strides):
        array = np.array(array, native, order="C")
    elif not array.flags.writeable:
        array = np.asarray(_Writable(array)) if only_read and array.size else np.array(array, order="C")
    try:
        return torch.from_numpy(array)
    except TypeError:
        raise ForeignError(f"a NumPy array of {array.dtype}, which is no element type of tensors") from None
    except ValueError:  # strides that are no multiples of the element's size
        return torch.from_numpy(np.array(array, order="C"))


class _Writable:
    """A read-only array's memory, without the promise not to write: torch warns of every array that has it."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array  # keeps the memory
        interface = dict(array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface
