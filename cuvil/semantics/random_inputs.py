"""Random inputs and weights for a module that its computations stay healthy on: finite, of unit size, indices in range.

Each value depends on the seed and on its symbol or position alone, so that it stays the same while passes rewrite the
module. What a value is good for follows from its uses (`value_flow.py`), and from names where uses say nothing.

| value                                                    | distribution                               |
|----------------------------------------------------------|--------------------------------------------|
| float input                                              | N(0, 1)                                    |
| float weight of a contraction or convolution             | N(0, 1 / fan-in)                           |
| float table that is gathered from                        | N(0, 1)                                    |
| variance (batch_norm's, under a root, `var` in its name) | uniform in [0.5, 1.5]                      |
| other float weights of rank 1: `weight` in the name      | 1 + N(0, 0.1)                              |
| other float weights                                      | N(0, 0.1)                                  |
| integer used as index of gather or scatter               | uniform in the range of the axis           |
| other integer                                            | uniform in [-8, 8], a count or a mask >= 0 |
| bool                                                     | true in 3 of 4                             |
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from cuvil.dialects.tensor import (
    BatchNormOp,
    ContractOp,
    ConvolutionOp,
    GatherOp,
    LinearOp,
    ScatterOp,
    UnaryOp,
    element_domain,
    numbers,
    shape_of,
)
from cuvil.dialects.tensor_symbols import symbols_of
from cuvil.dialects.types import is_nameless
from cuvil.errors import UnsupportedError, UserError
from cuvil.semantics.arrays import Array, dtype_of, to_reference
from cuvil.semantics.dims import Dim, DimExpr, SymbolRange
from cuvil.semantics.signatures import host_of, input_types
from cuvil.semantics.value_flow import Use, ValueFlow, external_globals

_POSITIVE_FOR = ("sqrt", "rsqrt", "log", "log2", "log10")


def make_inputs(module: ModuleOp, name: str, seed: int = 0, sizes: Mapping[str, int] | None = None) -> list[Array]:
    """Random arguments for function `name`; `sizes` are those of symbolic dims, small ones by default.

    Raises `UserError` if there is no such function.
    """
    host = host_of(module)
    if host is not None and host.function == name:
        # Flat code: uses tell nothing any more.
        known = _symbol_sizes(host.inputs, host.symbols, sizes or {})
        return [
            _input(declared, _Chosen([], "", known), _generator(seed, f"{name}#{number}"))
            for number, declared in enumerate(host.inputs)
        ]
    function = next((op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name), None)
    if function is None:
        raise UserError(f"there is no function @{name} in the module")
    flow = ValueFlow(module)
    known = _symbol_sizes(function.function_type.inputs.data, symbols_of(function), sizes or {})
    arguments = function.body.block.args[: len(input_types(function))] if function.body.blocks else ()
    result: list[Array] = []
    for number, argument in enumerate(arguments):
        chosen = _Chosen(list(flow.uses([argument])), argument.name_hint or "", known)
        result.append(_input(argument.type, chosen, _generator(seed, f"{name}#{number}")))
    return result


def make_parameters(module: ModuleOp, seed: int = 0) -> dict[str, Array]:
    """Random values for all globals without an initializer, by name."""
    if (host := host_of(module)) is not None:
        return {
            name: _parameter(declared, _Chosen([], name, {}), _generator(seed, f"@{name}"))
            for name, declared in zip(host.parameters, host.parameter_types, strict=True)
        }
    flow = ValueFlow(module)
    return {
        name: _parameter(
            op.value_type, _Chosen(list(flow.uses_of_global(name)), name, {}), _generator(seed, f"@{name}")
        )
        for name, op in external_globals(module).items()
    }


class _Chosen:
    """What is known of a value: its uses, its name, and the sizes of symbolic dims."""

    def __init__(self, uses: list[Use], name: str, sizes: Mapping[str, int]) -> None:
        self.uses = uses
        self.name = name.lower()
        self.sizes = sizes

    def index_range(self) -> tuple[int, int] | None:
        """The half-open range in which the value is a legal index wherever it is used as one; None if it never is."""
        low, high = 0, math.inf
        for use in self.uses:
            if not isinstance(use.op, GatherOp | ScatterOp):
                continue
            first = 1 if isinstance(use.op, GatherOp) else 2
            if use.index < first:
                continue
            axis = numbers(use.op.axes)[use.index - first]
            extent = _size(shape_of(use.op.input.type)[axis], self.sizes)
            low, high = max(low, -use.offset), min(high, extent - use.offset)
        return None if math.isinf(high) else (low, max(int(high), low + 1))

    def is_positive(self) -> bool:
        """Whether negative values would give NaN."""
        return any(
            (isinstance(use.op, BatchNormOp) and use.index == 2)
            or (isinstance(use.op, UnaryOp) and use.op.kind.data in _POSITIVE_FOR)
            for use in self.uses
        )

    def fan_in(self) -> int | None:
        """How many products of the value's elements are added up for one result; None if none are."""
        counts: list[int] = []
        for use in self.uses:
            op = use.op
            if isinstance(op, ConvolutionOp) and use.index == 1:
                counts.append(_product(shape_of(op.weight.type)[1:], self.sizes))
            elif isinstance(op, LinearOp) and use.index == 1:
                counts.append(_product(shape_of(op.weight.type)[1:], self.sizes))
            elif isinstance(op, ContractOp):
                axes = numbers(op.rhs_contract if use.index else op.lhs_contract)
                shape = shape_of(op.operands[use.index].type)
                counts.append(_product([shape[axis] for axis in axes], self.sizes))
        return max(counts) if counts else None

    def is_table(self) -> bool:
        """Whether it is gathered from."""
        return any(isinstance(use.op, GatherOp) and use.index == 0 for use in self.uses)


def _input(declared: Attribute, chosen: _Chosen, random: np.random.Generator) -> Array:
    if isinstance(declared, TensorType | MemRefType):
        shape = tuple(_size(dim, chosen.sizes) for dim in shape_of(declared))
        return _of_type(declared.element_type, shape, chosen, random, lambda: random.standard_normal(shape))
    return _of_type(declared, (), chosen, random, lambda: random.standard_normal(()))


def _parameter(declared: Attribute, chosen: _Chosen, random: np.random.Generator) -> Array:
    assert isinstance(declared, TensorType)
    shape = tuple(_size(dim, {}) for dim in shape_of(declared))

    def floats() -> Any:
        if chosen.is_positive() or "var" in chosen.name.replace("variant", ""):
            return random.uniform(0.5, 1.5, shape)
        normal = random.standard_normal(shape, np.float32)
        if (fan_in := chosen.fan_in()) is not None:
            return normal * np.float32(1 / math.sqrt(max(fan_in, 1)))
        if chosen.is_table():
            return normal
        return normal * np.float32(0.1) + np.float32(1 if len(shape) == 1 and "weight" in chosen.name else 0)

    return _of_type(declared.element_type, shape, chosen, random, floats)


def _of_type(
    element_type: Attribute, shape: tuple[int, ...], chosen: _Chosen, random: np.random.Generator, floats: Any
) -> Array:
    domain = element_domain(element_type)
    if domain == "f":
        return to_reference(np.asarray(floats()), element_type)
    if domain == "b":
        return np.asarray(random.random(shape) < 0.75)
    dtype = dtype_of(element_type)
    low, high = chosen.index_range() or _integer_range(element_type, shape, chosen.name)
    return np.asarray(random.integers(low, high, shape, np.int64)).astype(dtype)


def _integer_range(element_type: Attribute, shape: tuple[int, ...], name: str) -> tuple[int, int]:
    if "mask" in name:
        return 0, 2
    if not shape:
        return 1, 9
    is_unsigned = isinstance(element_type, IntegerType) and dtype_of(element_type).kind == "u"
    return (0, 17) if is_unsigned else (-8, 9)


def _generator(seed: int, name: str) -> np.random.Generator:
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


def _symbol_sizes(
    types: Iterable[Attribute], ranges: Mapping[str, SymbolRange], given: Mapping[str, int]
) -> dict[str, int]:
    """A size for every symbol of the arguments' types: the given one, or a small one by its name, in its range."""
    names: set[str] = set()
    for declared in types:
        if isinstance(declared, TensorType | MemRefType) and not is_nameless(declared):
            for dim in shape_of(declared):
                names |= dim.symbols() if isinstance(dim, DimExpr) else set()
    small = {name: _small_size(name, ranges.get(name, SymbolRange())) for name in names}
    return {**small, **{name: size for name, size in given.items() if name in names}}


def _small_size(name: str, known: SymbolRange) -> int:
    wanted = max(3 + hashlib.blake2b(name.encode(), digest_size=1).digest()[0] % 4, known.minimum)
    if known.maximum is not None:
        wanted = min(wanted, known.maximum)
    size = -(-wanted // known.multiple_of) * known.multiple_of
    return size if known.maximum is None or size <= known.maximum else size - known.multiple_of


def _size(dim: Dim, sizes: Mapping[str, int]) -> int:
    if isinstance(dim, int):
        return dim
    try:
        return max(dim.evaluate(sizes), 0)
    except KeyError as error:
        raise UnsupportedError(f"dim {dim}: the size of {error.args[0]} follows from no argument") from error


def _product(dims: Iterable[Dim], sizes: Mapping[str, int]) -> int:
    return math.prod(_size(dim, sizes) for dim in dims)
