"""What a function takes and gives, at every level: a bufferized one has its outputs and the arena as last arguments."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from cuvil.dialects.fused import tensor_type_of

OUTPUTS = "cuvil_fused.outputs"
"""The function attribute that counts the trailing arguments which are outputs, set by `bufferize`."""

ARENA_BYTES = "cuvil_fused.arena_bytes"
"""The function attribute that says how large the arena is, which is then the last argument, set by `plan-memory`."""


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
