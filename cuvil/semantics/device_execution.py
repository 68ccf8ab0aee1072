"""Running a host program whose buffers are flat and whose kernels are `cuvil_gpu`: launches run in the simulator.

What flat buffers do not tell is in the module's `cuvil.host`. Outputs and the arena start out undefined, and a kernel
that reads them before one has written them is a fault.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType, i8
from xdsl.ir import Attribute

from cuvil.dialects.tensor import shape_of
from cuvil.errors import UserError
from cuvil.semantics.arrays import Array, dtype_of, to_reference
from cuvil.semantics.buffer_execution import run_on_buffers
from cuvil.semantics.dims import Dim
from cuvil.semantics.interpreter import Interpreter
from cuvil.semantics.meanings_fused import buffer_dtype, new_buffer, store, value_of_buffer
from cuvil.semantics.signatures import Host, arena_function, host_of
from cuvil.semantics.symbol_binding import bind_symbols


def run_on_device(interpreter: Interpreter, name: str, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of function `name`, with kernels in the simulator."""
    host = host_of(interpreter.module)
    if host is None or host.function != name:
        return run_on_buffers(interpreter, name, inputs)
    if len(inputs) != len(host.inputs):
        raise UserError(f"function @{name} takes {len(host.inputs)} inputs, got {len(inputs)}")
    given = list(zip(host.inputs, inputs, strict=True))
    sizes = bind_symbols(pair for declared, value in given for pair in _dims(declared, value))
    symbols = [np.asarray(sizes[symbol], np.int64) for symbol in host.symbols]
    buffers = [_input(value, declared) for declared, value in given]
    shapes = [[dim if isinstance(dim, int) else dim.evaluate(sizes) for dim in shape_of(each)] for each in host.outputs]
    outputs = [
        new_buffer([int(np.prod(shape))], _element(declared))
        for shape, declared in zip(shapes, host.outputs, strict=True)
    ]
    arena = new_buffer([_arena_bytes(interpreter, host, symbols)], i8)
    interpreter.unwritten.update(buffer.ctypes.data for buffer in outputs)
    interpreter.run(name, [*buffers, *outputs, arena, *symbols])
    return [
        np.array(value_of_buffer(buffer, _element(declared))).reshape(shape)
        for buffer, shape, declared in zip(outputs, shapes, host.outputs, strict=True)
    ]


def _arena_bytes(interpreter: Interpreter, host: Host, symbols: Sequence[Array]) -> int:
    if host.arena_bytes is not None:
        return host.arena_bytes
    function = arena_function(interpreter.function(host.function))
    assert function is not None, "a host without a number of bytes names the function that computes it"
    (size,) = interpreter.run(function, symbols)
    return int(size)


def _dims(declared: Attribute, value: Array) -> list[tuple[Dim, int]]:
    return list(zip(shape_of(declared), np.shape(value), strict=True)) if isinstance(declared, TensorType) else []


def _element(declared: Attribute) -> Attribute:
    assert isinstance(declared, TensorType)
    return declared.element_type


def _input(value: Array, declared: Attribute) -> Array:
    if not isinstance(declared, TensorType):
        return dtype_of(declared).type(value)
    buffer = np.empty(np.size(value), buffer_dtype(declared.element_type))
    store(buffer, to_reference(value, declared.element_type).reshape(-1), declared.element_type)
    return buffer
