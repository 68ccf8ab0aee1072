"""What a function takes and gives, at every level: a bufferized one has its outputs and the arena as last arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from cuvil.dialects.fused import tensor_type_of
from cuvil.dialects.tensor_symbols import ranges_of, symbols_attribute
from cuvil.semantics.dims import SymbolRange

OUTPUTS = "cuvil_fused.outputs"
"""The function attribute that counts the trailing arguments which are outputs, set by `bufferize`."""

ARENA_BYTES = "cuvil_fused.arena_bytes"
"""The function attribute that says how large the arena is, which is then the last argument, set by `plan-memory`: a
number, or the function that computes it from the symbols."""

HOST = "cuvil.host"
"""The module attribute that describes the host function once buffers are flat, set by `lower-fused-to-loops`."""


def input_types(function: FuncOp) -> list[Attribute]:
    """The types of a function's inputs, as tensors and scalars, whether it is bufferized or not."""
    types = list(function.function_type.inputs)
    return [tensor_type_of(declared) for declared in types[: len(types) - extra_arguments(function)]]


def output_types(function: FuncOp) -> list[Attribute]:
    """The types of a function's results, as tensors and scalars; of a bufferized one the tensors come first."""
    types = list(function.function_type.inputs)
    extra = extra_arguments(function)
    outputs = types[len(types) - extra :][: number_attribute(function, OUTPUTS) or 0]
    return [*(tensor_type_of(declared) for declared in outputs), *function.function_type.outputs]


def extra_arguments(function: FuncOp) -> int:
    """How many of the last arguments are outputs and the arena."""
    outputs = number_attribute(function, OUTPUTS)
    return 0 if outputs is None else outputs + (ARENA_BYTES in function.attributes)


def number_attribute(function: FuncOp, attribute: str) -> int | None:
    """The integer that a function's attribute is; None without one."""
    value = function.attributes.get(attribute)
    return value.value.data if isinstance(value, IntegerAttr) else None


def arena_function(function: FuncOp) -> str | None:
    """The name of the function that computes the arena's size; None where that is a number."""
    value = function.attributes.get(ARENA_BYTES)
    return value.string_value() if isinstance(value, SymbolRefAttr) else None


@dataclass(frozen=True)
class Host:
    """What is no longer seen in flat code: kept as the module's attribute `cuvil.host` from the loop level on."""

    function: str
    inputs: tuple[Attribute, ...]
    """Types of the inputs, as tensors."""
    outputs: tuple[Attribute, ...]
    arena_bytes: int | None
    """None where compiled code computes it (`cuvil_arena_bytes`)."""
    parameters: tuple[str, ...]
    """The external globals in the order in which the entry takes them."""
    parameter_types: tuple[Attribute, ...]
    """Their types, as tensors."""
    symbols: Mapping[str, SymbolRange] = field(default_factory=dict[str, SymbolRange])
    """The symbols in the order in which the entry takes them."""

    def attach(self, module: ModuleOp) -> None:
        """Write it into the module."""
        said: dict[str, Attribute] = {
            "function": StringAttr(self.function),
            "type": FunctionType.from_lists(self.inputs, self.outputs),
            "arena_bytes": UnitAttr() if self.arena_bytes is None else IntegerAttr(self.arena_bytes, i64),
            "parameters": ArrayAttr([StringAttr(name) for name in self.parameters]),
            "parameter_types": ArrayAttr(self.parameter_types),
        }
        if self.symbols:
            said["symbols"] = symbols_attribute(self.symbols)
        module.attributes[HOST] = DictionaryAttr(said)


def host_of(module: ModuleOp) -> Host | None:
    """What `Host.attach` wrote into a module; None if nothing did."""
    found = module.attributes.get(HOST)
    if not isinstance(found, DictionaryAttr):
        return None
    match found.data:
        case {
            "function": StringAttr() as function,
            "type": FunctionType() as declared,
            "arena_bytes": IntegerAttr() | UnitAttr() as arena,
            "parameters": ArrayAttr() as parameters,
            "parameter_types": ArrayAttr() as types,
        }:
            names = tuple(name.data for name in parameters if isinstance(name, StringAttr))
            inputs, outputs = declared.inputs.data, declared.outputs.data
            arena_bytes = arena.value.data if isinstance(arena, IntegerAttr) else None
            symbols = ranges_of(found.data.get("symbols"), module)
            return Host(function.data, inputs, outputs, arena_bytes, names, tuple(types), symbols)
        case _:
            return None
