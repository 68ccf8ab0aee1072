"""An executable called with NumPy arrays: checked against what each input and output must be.

This is the face of compiled code where torch is not: the artifact loader and tests. A symbol (a dynamic dim) gets its
value from the input dim that has its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cuvil.errors import CuvilRuntimeError
from cuvil.runtime.executable import Executable
from cuvil.runtime.memory import aligned_empty

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True)
class BufferSpec:
    """An input or an output: its name, shape (a symbol's name where a dim is dynamic) and NumPy dtype name."""

    name: str
    shape: tuple[int | str, ...]
    dtype: str


@dataclass(frozen=True)
class Program:
    """`outputs = program(*arrays)`; `symbols` are names in the order that the executable expects their values."""

    executable: Executable
    inputs: tuple[BufferSpec, ...]
    outputs: tuple[BufferSpec, ...]
    symbols: tuple[str, ...] = ()

    def __call__(self, *arrays: Array, outputs: Sequence[Array] | None = None) -> tuple[Array, ...]:
        """Run on NumPy arrays; `outputs` are written if given, else made.

        Raises `CuvilRuntimeError` if an array does not match its spec.
        """
        if len(arrays) != len(self.inputs):
            raise CuvilRuntimeError(f"expected {len(self.inputs)} inputs, got {len(arrays)}")
        sizes: dict[str, int] = {}
        inputs = [_checked(array, spec, sizes) for array, spec in zip(arrays, self.inputs, strict=True)]
        if missing := [name for name in self.symbols if name not in sizes]:
            raise CuvilRuntimeError(f"no input has the dynamic dim {', '.join(missing)}")
        if outputs is None:
            outputs = [aligned_empty(_shape(spec, sizes), spec.dtype) for spec in self.outputs]
        elif len(outputs) != len(self.outputs):
            raise CuvilRuntimeError(f"expected {len(self.outputs)} outputs, got {len(outputs)}")
        results = [_checked(array, spec, sizes) for array, spec in zip(outputs, self.outputs, strict=True)]
        if any(result is not given for result, given in zip(results, outputs, strict=True)):
            raise CuvilRuntimeError("outputs must be contiguous")
        symbols = [sizes[name] for name in self.symbols]
        self.executable.call([a.ctypes.data for a in inputs], [a.ctypes.data for a in results], symbols)
        return tuple(results)


def _shape(spec: BufferSpec, sizes: dict[str, int]) -> tuple[int, ...]:
    unknown = [dim for dim in spec.shape if isinstance(dim, str) and dim not in sizes]
    if unknown:
        raise CuvilRuntimeError(f"{spec.name}: the dim {unknown[0]} is not an input's: pass `outputs`")
    return tuple(sizes[dim] if isinstance(dim, str) else dim for dim in spec.shape)


def _checked(array: Array, spec: BufferSpec, sizes: dict[str, int]) -> Array:
    """`array`, made contiguous, after comparing it with its spec; sizes of dynamic dims are noted at first sight."""
    if array.dtype != np.dtype(spec.dtype):
        raise CuvilRuntimeError(f"{spec.name}: expected dtype {spec.dtype}, got {array.dtype}")
    fits = len(spec.shape) == array.ndim
    for want, have in zip(spec.shape, array.shape, strict=False):
        fits = fits and (sizes.setdefault(want, have) if isinstance(want, str) else want) == have
    if not fits:
        shape = ", ".join(map(str, spec.shape))
        raise CuvilRuntimeError(f"{spec.name}: expected shape [{shape}], got [{', '.join(map(str, array.shape))}]")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)
