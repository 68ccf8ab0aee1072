"""Running a bufferized function in the interpreter: outputs and the arena are made here, results are what it wrote.

`bufferize` turns results into trailing arguments (`cuvil_fused.outputs` counts them), `plan-memory` appends the arena.
Both start out poisoned, so that an element that nothing writes is seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from cuvil.dialects.tensor import shape_of
from cuvil.dialects.types import is_nameless
from cuvil.errors import UserError
from cuvil.semantics.arrays import Array, dtype_of, to_reference
from cuvil.semantics.dims import Dim
from cuvil.semantics.interpreter import Interpreter
from cuvil.semantics.meanings_fused import buffer_dtype, new_buffer, store, value_of_buffer
from cuvil.semantics.signatures import OUTPUTS, arena_function, extra_arguments, number_attribute
from cuvil.semantics.symbol_binding import bind_symbols


def run_on_buffers(interpreter: Interpreter, name: str, inputs: Sequence[Array]) -> list[Array]:
    """The outputs, then the scalar results, of the bufferized function `name`."""
    function = interpreter.function(name)
    types = list(function.function_type.inputs)
    count = len(types) - extra_arguments(function)
    if len(inputs) != count:
        raise UserError(f"function @{name} takes {count} inputs, got {len(inputs)}", function)
    buffers = [_input(value, declared) for value, declared in zip(inputs, types, strict=False)]
    sizes = bind_symbols(_dims(types, buffers))
    extra = [new_buffer(_shape(declared, sizes), _element(declared)) for declared in types[count:]]
    if (size_function := arena_function(function)) is not None:
        extra[-1] = new_buffer([int(interpreter.evaluate(size_function, sizes))], _element(types[-1]))
    interpreter.unwritten.update(buffer.ctypes.data for buffer in extra)
    scalars = interpreter.run(name, [*buffers, *extra])
    outputs = extra[: number_attribute(function, OUTPUTS) or 0]
    values = [np.array(value_of_buffer(b, _element(t))) for b, t in zip(outputs, types[count:], strict=False)]
    return [*values, *scalars]


def _input(value: Array, declared: Attribute) -> Array:
    if not isinstance(declared, MemRefType):
        return dtype_of(declared).type(value)
    buffer = np.empty(np.shape(value), buffer_dtype(declared.element_type))
    store(buffer, to_reference(value, declared.element_type), declared.element_type)
    return buffer


def _element(declared: Attribute) -> Attribute:
    assert isinstance(declared, MemRefType)
    return declared.element_type


def _shape(declared: Attribute, sizes: Mapping[str, int]) -> tuple[int, ...]:
    if is_nameless(declared):
        return (0,)
    return tuple(dim if isinstance(dim, int) else dim.evaluate(sizes) for dim in shape_of(declared))


def _dims(types: Sequence[Attribute], buffers: Sequence[Array]) -> list[tuple[Dim, int]]:
    pairs: list[tuple[Dim, int]] = []
    for declared, buffer in zip(types, buffers, strict=False):
        if isinstance(declared, MemRefType) and not is_nameless(declared):
            pairs += zip(shape_of(declared), buffer.shape, strict=False)
    return pairs
