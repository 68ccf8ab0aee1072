"""PyTorch's dtypes, sizes and tensors as Cuvil's element types, dims and arrays."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from cuvil.dialects.types import tensor_of
from cuvil.errors import UnsupportedError
from cuvil.semantics.dims import Dim, SymbolRange, parse_dim
from cuvil.semantics.size_obligations import is_met

_ELEMENT_TYPES: dict[torch.dtype, Attribute] = {
    torch.float64: f64,
    torch.float32: f32,
    torch.float16: f16,
    torch.bfloat16: bf16,
    torch.bool: i1,
    torch.int8: i8,
    torch.int16: i16,
    torch.int32: i32,
    torch.int64: i64,
    torch.uint8: IntegerType(8, Signedness.UNSIGNED),
    torch.uint16: IntegerType(16, Signedness.UNSIGNED),
    torch.uint32: IntegerType(32, Signedness.UNSIGNED),
    torch.uint64: IntegerType(64, Signedness.UNSIGNED),
}
_DTYPES = {element_type: dtype for dtype, element_type in _ELEMENT_TYPES.items()}


def element_type_of(dtype: torch.dtype) -> Attribute:
    """The element type of a dtype. Raises `UnsupportedError` for complex, quantized and other dtypes."""
    found = _ELEMENT_TYPES.get(dtype)
    if found is None:
        raise UnsupportedError(f"there are no tensors of {dtype}; cast to one of {', '.join(map(str, _ELEMENT_TYPES))}")
    return found


def dtype_of(element_type: Attribute) -> torch.dtype:
    """The dtype of an element type that `element_type_of` gave."""
    return _DTYPES[element_type]


@dataclass(frozen=True)
class KnownSymbols:
    """What is known of torch's symbols: names that they have in the IR, and by these their ranges."""

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    ranges: Mapping[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])


_known_symbols: ContextVar[KnownSymbols] = ContextVar("known_symbols", default=KnownSymbols())  # noqa: B039


@contextmanager
def named_symbols(names: Mapping[str, str], ranges: Mapping[str, SymbolRange]) -> Generator[None]:
    """A context in which torch's symbols (`s77`) become dims of the given names; `ranges` are by torch's names."""
    known = KnownSymbols(names, {names.get(symbol, symbol): found for symbol, found in ranges.items()})
    token = _known_symbols.set(known)
    try:
        yield
    finally:
        _known_symbols.reset(token)


def symbol_name(symbol: object) -> str:
    """What a symbol of torch is called in the IR."""
    return _known_symbols.get().names.get(str(symbol), str(symbol))


def dim_of(size: int | torch.SymInt) -> Dim:
    """A size as a dim: a number, or the expression of a symbolic one."""
    if isinstance(size, int):
        return size
    expression: Any = size.node.expr
    return int(expression) if expression.is_number else _dim_of_expression(expression)


def _dim_of_expression(expression: Any) -> Dim:
    """A sympy expression over sizes as a dim."""
    import sympy

    if expression.is_Integer:
        return int(expression)
    if expression.is_Symbol:
        return parse_dim(symbol_name(expression))
    arguments = [_dim_of_expression(argument) for argument in expression.args]
    if isinstance(expression, sympy.Add):
        total: Dim = 0
        for argument in arguments:
            total = total + argument
        return total
    if isinstance(expression, sympy.Mul):
        return _product(arguments)
    if isinstance(expression, sympy.Pow) and isinstance(arguments[1], int) and arguments[1] > 0:
        return _product([arguments[0]] * arguments[1])
    kind = type(expression).__name__
    if kind in ("FloorDiv", "CleanDiv", "Mod", "PythonMod") and isinstance(arguments[1], int):
        return arguments[0] % arguments[1] if "Mod" in kind else arguments[0] // arguments[1]
    if kind in ("Min", "Max"):
        for one in arguments:
            if all(could_be_size(other - one if kind == "Min" else one - other) for other in arguments):
                return one
    raise UnsupportedError(f"the size {expression} is no polynomial, quotient or remainder by a number")


def could_be_size(dim: Dim) -> bool:
    """Whether a dim is certainly not negative."""
    return is_met(dim, _known_symbols.get().ranges)


def _product(factors: Sequence[Dim]) -> Dim:
    result: Dim = 1
    for factor in factors:
        result = result * factor
    return result


def shape_of_value(value: torch.Tensor) -> tuple[Dim, ...]:
    """The shape of a (fake) tensor as dims."""
    return tuple(dim_of(size) for size in value.shape)


def type_of_value(value: torch.Tensor) -> TensorType[Attribute]:
    """The tensor type of a (fake) tensor."""
    return tensor_of(element_type_of(value.dtype), shape_of_value(value))


def array_of_tensor(tensor: torch.Tensor) -> Any:
    """A tensor's values as the array that stands for it (`cuvil.semantics.arrays`): a view, except of bf16."""
    plain = tensor.detach()
    if plain.device.type != "cpu":
        plain = plain.cpu()
    return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()
