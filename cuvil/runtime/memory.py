"""Memory that vector code likes: NumPy arrays that start on a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np

ALIGNMENT_BYTES = 64
"""A cache line, and the widest vector register: a load from an aligned buffer never spans two lines."""


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """An uninitialized array whose first element is aligned to `ALIGNMENT_BYTES`."""
    kind = np.dtype(dtype)
    size_bytes = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    memory = np.empty(size_bytes + ALIGNMENT_BYTES, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT_BYTES
    return memory[start : start + size_bytes].view(kind).reshape(shape)


def aligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array` itself if it is contiguous and aligned, else a copy that is."""
    if array.flags.c_contiguous and array.ctypes.data % ALIGNMENT_BYTES == 0:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy
