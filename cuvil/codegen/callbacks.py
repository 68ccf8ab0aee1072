"""Custom ops that compiled code calls back for: what the loop level says of them, and what is linked in for that.

Their kernel functions have no body; the module's attribute `cuvil.callbacks` says of each symbol which op it is, on
which tensors and with which other arguments. The attribute survives down to the llvm dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute

from cuvil.custom_ops import registered
from cuvil.dialects.tensor import CustomOp, shape_of
from cuvil.runtime.callbacks import Buffer, Callback, Callbacks
from cuvil.semantics.arrays import dtype_of
from cuvil.semantics.custom_meaning import CALLBACKS, argument_values


def symbol_of(op: CustomOp, number: int) -> str:
    """The symbol that compiled code calls for an op."""
    return f"cuvil_callback_{number}_{''.join(letter if letter.isalnum() else '_' for letter in op.op_name)}"


def declare(module: ModuleOp, symbol: str, op: CustomOp, symbols: Sequence[str]) -> None:
    """Note in the module what a symbol stands for."""
    found = module.attributes.get(CALLBACKS)
    known = dict(found.data) if isinstance(found, DictionaryAttr) else {}
    known[symbol] = DictionaryAttr(
        {
            "op": StringAttr(op.op_name),
            "type": FunctionType.from_lists([each.type for each in op.inputs], [each.type for each in op.outputs]),
            "arguments": op.arguments or DictionaryAttr({}),
            "symbols": ArrayAttr([StringAttr(name) for name in symbols]),
        }
    )
    module.attributes[CALLBACKS] = DictionaryAttr(known)


def callbacks_of(module: ModuleOp) -> Callbacks | None:
    """What code of the module calls back, ready to be linked; None if nothing."""
    found = module.attributes.get(CALLBACKS)
    if not isinstance(found, DictionaryAttr) or not found.data:
        return None
    return Callbacks({symbol: _callback(said) for symbol, said in found.data.items()})


def _callback(said: Attribute) -> Callback:
    assert isinstance(said, DictionaryAttr)
    match said.data:
        case {
            "op": StringAttr(data=name),
            "type": FunctionType() as declared,
            "arguments": DictionaryAttr() as arguments,
            "symbols": ArrayAttr() as symbols,
        }:
            op = registered(name)
            copy = CustomOp(name, [], [], arguments.data)
            assert op.callback is not None
            return Callback(
                name,
                op.callback,
                [_buffer(each) for each in declared.inputs],
                [_buffer(each) for each in declared.outputs],
                [str(each.data) for each in symbols if isinstance(each, StringAttr)],
                argument_values(copy),
            )
        case _:
            raise ValueError(f"malformed {CALLBACKS}: {said}")


def _buffer(declared: Attribute) -> Buffer:
    assert isinstance(declared, TensorType)
    element: Any = declared.element_type
    is_bfloat = isinstance(element, BFloat16Type)
    dtype = np.dtype(np.uint16) if is_bfloat else dtype_of(element)
    return Buffer(shape_of(declared), dtype, is_bfloat)


def call_on_buffers(module: ModuleOp, symbol: str, values: Sequence[Any]) -> tuple[()]:
    """What a call back means to the interpreter: the function runs on the flat buffers."""
    callback = _callback(module.attributes[CALLBACKS].data[symbol])  # pyright: ignore
    count = len(callback.inputs)
    sizes = dict(zip(callback.symbols, (int(value) for value in values[count + len(callback.outputs) :]), strict=True))
    arrays = [
        np.asarray(value).reshape([dim if isinstance(dim, int) else dim.evaluate(sizes) for dim in buffer.shape])
        for value, buffer in zip(values, [*callback.inputs, *callback.outputs], strict=False)
    ]
    made = callback.function(*arrays[:count], **callback.arguments)
    for array, result in zip(arrays[count:], made if isinstance(made, list | tuple) else [made], strict=True):
        array[...] = result
    return ()
