"""Inputs of random programs: tensors of any dtype, shape and strides over one flat buffer, and their source text.

Every layout is a buffer seen through `as_strided`, so that a failing input can be printed as it is: contiguous ones,
permuted ones, steps with a gap before and after, dims of stride 0, and windows that overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
_DRAWN_DTYPES = (torch.float32,) * 3 + DTYPES

EXTENTS = (2, 3, 1, 4, 5, 7, 8, 16, 17, 33)
LARGEST = 700
"""Elements of an input: a few vectors and a tail."""

LONGEST_TEXT = 80
"""Values that a failure is shown with; of more, the spec is."""

LAYOUTS = ("contiguous", "contiguous", "permuted", "stepped", "expanded", "overlapping")

_SPECIAL = {
    "f": (float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 30.0, -100.0, 1e-5),
    "i": (0, 1, -1, 2, 7, "min", "max"),
}


@dataclass(frozen=True)
class InputSpec:
    """What an input is, but for its values."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def size(self) -> int:
        """The elements of the buffer beneath."""
        if prod(self.shape) == 0:
            return self.offset
        return self.offset + 1 + sum((extent - 1) * step for extent, step in zip(self.shape, self.strides, strict=True))

    def tensor(self, seed: int, special: bool) -> Tensor:
        """The input with values of a seed; `special` puts NaN, infinities, signed zeros and extremes among them."""
        return _buffer(self.dtype, self.size, seed, special).as_strided(self.shape, self.strides, self.offset)

    def text(self, seed: int, special: bool) -> str:
        """Source that makes `tensor(seed, special)`, with `nan` and `inf` as names."""
        if self.size > LONGEST_TEXT:
            return f"InputSpec({self.dtype}, {self.shape}, {self.strides}, {self.offset}).tensor({seed}, {special})"
        values = _buffer(self.dtype, self.size, seed, special).tolist()
        return f"torch.tensor({values}, dtype={self.dtype}).as_strided({self.shape}, {self.strides}, {self.offset})"


@st.composite
def input_specs(draw: st.DrawFn) -> InputSpec:
    """An input of any dtype, shape and layout."""
    dtype = draw(st.sampled_from(_DRAWN_DTYPES))
    shape = draw(shapes())
    layout = draw(st.sampled_from(LAYOUTS)) if shape else "contiguous"
    if layout == "permuted":
        order = draw(st.permutations(range(len(shape))))
        strides = [0] * len(shape)
        for axis, step in zip(order, _row_major([shape[axis] for axis in order]), strict=True):
            strides[axis] = step
        return InputSpec(dtype, shape, tuple(strides), 0)
    if layout == "stepped":
        steps = [draw(st.sampled_from((1, 2, 3))) for _ in shape]
        whole = _row_major([extent * step for extent, step in zip(shape, steps, strict=True)])
        return InputSpec(dtype, shape, tuple(a * b for a, b in zip(whole, steps, strict=True)), draw(st.integers(0, 3)))
    strides = _row_major(shape)
    if layout == "expanded":
        strides = [0 if draw(st.booleans()) else step for step in strides]
    if layout == "overlapping":
        strides = [draw(st.sampled_from((1, 2, 3))) for _ in shape]
    return InputSpec(dtype, shape, tuple(strides), 0)


@st.composite
def shapes(draw: st.DrawFn, largest: int = LARGEST) -> tuple[int, ...]:
    """A shape of rank 0 to 4; now and then one without elements."""
    extents: list[int] = []
    for _ in range(draw(st.sampled_from((1, 2, 0, 2, 3, 1, 4)))):
        room = [extent for extent in EXTENTS if extent * prod(extents) <= largest]
        extents.append(draw(st.sampled_from(room or (1,))))
    if extents and draw(st.integers(0, 19)) == 19:
        extents[draw(st.integers(0, len(extents) - 1))] = 0
    return tuple(extents)


def _row_major(shape: tuple[int, ...] | list[int]) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _buffer(dtype: torch.dtype, size: int, seed: int, special: bool) -> Tensor:
    random = np.random.default_rng(seed)
    if dtype == torch.bool:
        return torch.from_numpy(random.random(size) < 0.5)
    odd = random.random(size) < (0.3 if special else 0.0)
    if dtype.is_floating_point:
        # Multiples of 1/8, so that values are equal now and then, and some of any size.
        drawn = np.where(
            random.random(size) < 0.5, np.round(random.standard_normal(size) * 8) / 8, 3 * random.random(size)
        )
        special_values = np.array(_SPECIAL["f"])
        return torch.from_numpy(np.where(odd, random.choice(special_values, size), drawn)).to(dtype)
    limits = torch.iinfo(dtype)
    least = max(limits.min, -5)
    drawn = random.integers(least, 8, size)
    named = {"min": limits.min, "max": limits.max}
    values = [named[value] if isinstance(value, str) else value for value in _SPECIAL["i"]]
    chosen = random.choice(np.array([value % (limits.max + 1) if value > 0 else value for value in values]), size)
    return torch.from_numpy(np.where(odd, chosen, drawn)).to(dtype)
