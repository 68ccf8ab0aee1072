"""Numbers that are known when the compiled function runs: what `.item()` gives, or a loop counter.

They are 0-d tensors inside (int64, float64, bool) that compute as Python numbers do: `/` of two integers is exact to
double precision, and a number never raises the dtype of a tensor that it meets more than a Python number would.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cuvil.errors import UnsupportedError

DTYPES: dict[type, torch.dtype] = {bool: torch.bool, int: torch.int64, float: torch.float64}
_KINDS: dict[torch.dtype, type] = {dtype: kind for kind, dtype in DTYPES.items()}
_EXAMPLES: dict[torch.dtype, Any] = {torch.bool: True, torch.int64: 1, torch.float64: 1.0}


class Number:
    """A Python number whose value only the running program knows."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def kind(self) -> type:
        """bool, int or float."""
        return _KINDS[self.tensor.dtype]

    def __repr__(self) -> str:
        return f"<{self.kind.__name__} known at run time>"

    def __bool__(self) -> bool:
        raise UnsupportedError("code that is not read needs a number that only the running program knows")

    def _refuse(self) -> Any:
        raise UnsupportedError(
            "a number that depends on tensor values is used where one must be known ahead (a size, an index, a range)"
        )

    __index__ = __int__ = __float__ = __hash__ = _refuse


def number_of_tensor(tensor: Tensor, kind: type | None = None) -> Number:
    """What `.item()`, `int()`, `float()` or `bool()` of a tensor of one element gives."""
    if tensor.numel() != 1:
        raise UnsupportedError(f"a tensor of {tensor.numel()} elements has no single value; reduce it first")
    if kind is None:
        kind = bool if tensor.dtype == torch.bool else float if tensor.dtype.is_floating_point else int
    flat = tensor.reshape(())
    return Number(flat != 0 if kind is bool and flat.dtype != torch.bool else flat.to(DTYPES[kind]))


def as_number(value: Any) -> Number:
    """A Python number as one known at run time."""
    return value if isinstance(value, Number) else Number(torch.full((), value, dtype=DTYPES[type(value)]))


def converted(value: Number, kind: type) -> Number:
    """`int()`, `float()` or `bool()` of a number."""
    return number_of_tensor(value.tensor, kind)


def binary(function: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
    """An operator of which at least one side is a `Number`."""
    for one, other in ((lhs, rhs), (rhs, lhs)):
        if isinstance(one, Tensor):
            joined = torch.result_type(one, _EXAMPLES[other.tensor.dtype])
            weak = other.tensor.to(joined)
            return function(one, weak) if one is lhs else function(weak, one)
    kinds = {side.kind if isinstance(side, Number) else type(side) for side in (lhs, rhs)}
    if not kinds <= {bool, int, float}:
        return NotImplemented
    left, right = as_number(lhs).tensor, as_number(rhs).tensor
    if function is operator.pow and float not in kinds:
        raise UnsupportedError("a power of whole numbers known at run time; make the base a float")
    wide = torch.float64 if float in kinds or function is operator.truediv else torch.int64
    if not (kinds == {bool} and function in (operator.and_, operator.or_, operator.xor)):
        left, right = left.to(wide), right.to(wide)
    return Number(function(left, right))


def unary(function: Callable[[Any], Any], value: Number) -> Number:
    """-, + or ~ of a number."""
    tensor = value.tensor.to(torch.int64) if value.kind is bool else value.tensor
    return Number(function(tensor))


def logical_not(value: Number) -> Number:
    """`not value`."""
    return Number(torch.logical_not(value.tensor))
