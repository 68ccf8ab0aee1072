"""`@cuvil_entry`: the C ABI around the host function.

The host function is a `func.func` with the attribute `cuvil.inputs = N`: its first N buffer arguments are the inputs,
the last one is the arena, those between are the outputs; its `index` arguments, wherever they stand, are the symbols
in order. It keeps its name and its bare-pointer arguments (the array of parameters comes last), so that it can be
called directly.

    i32 cuvil_entry(void **inputs, void **outputs, void *arena, void **parameters, const int64_t *symbols)

`parameters` follows the order of the module's external `memref.global`s. The status is 0.

Where the host function's `cuvil_fused.arena_bytes` names a function of the symbols, the caller asks that one first:

    i64 cuvil_arena_bytes(const int64_t *symbols)
"""

from __future__ import annotations

from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, SymbolRefAttr
from xdsl.ir import SSAValue

from cuvil.codegen.llvm_build import LlvmBuilder, function
from cuvil.codegen.llvm_function import ModuleLowering
from cuvil.codegen.llvm_types import I32, I64, PTR
from cuvil.errors import UnsupportedError

ENTRY = "cuvil_entry"
ARENA_BYTES = "cuvil_arena_bytes"
INPUTS = "cuvil.inputs"
_ARENA_FUNCTION = "cuvil_fused.arena_bytes"


def add_entry(module: ModuleLowering, host: func.FuncOp) -> None:
    """Append `@cuvil_entry` for the host function `host`."""
    inputs, outputs, arena, parameters, symbols = range(5)
    b = LlvmBuilder([PTR] * 5)
    args = b.entry.args
    count = _input_count(host)
    buffers = sum(isinstance(arg.type, MemRefType) for arg in host.body.block.args)
    if buffers <= count:
        raise UnsupportedError(f"@{host.sym_name.data}: {INPUTS} is {count}, but there are {buffers} buffers", host)
    values = []
    buffer_number = symbol_number = 0
    for arg in host.body.block.args:
        if isinstance(arg.type, IndexType):
            values.append(_symbol(b, args[symbols], symbol_number))
            symbol_number += 1
            continue
        if not isinstance(arg.type, MemRefType):
            raise UnsupportedError(f"@{host.sym_name.data}: expected memref and index arguments, got {arg.type}", host)
        if buffer_number == buffers - 1:
            values.append(args[arena])
        else:
            is_input = buffer_number < count
            array, number = (args[inputs], buffer_number) if is_input else (args[outputs], buffer_number - count)
            values.append(b.load(b.element_pointer(array, b.constant(number), PTR), PTR))
        buffer_number += 1
    if host.sym_name.data in module.needs_parameters:
        values.append(args[parameters])
    b.call(host.sym_name.data, values)
    b.emit(llvm.ReturnOp(b.constant(0, I32)))
    module.lowered.append(function(ENTRY, [PTR] * 5, I32, b.finish(), is_internal=False))
    size_function = host.attributes.get(_ARENA_FUNCTION)
    if isinstance(size_function, SymbolRefAttr):
        _add_arena_bytes(module, size_function.string_value(), symbol_number)


def _add_arena_bytes(module: ModuleLowering, name: str, symbol_count: int) -> None:
    """Append `@cuvil_arena_bytes`, which calls the function `name` of all symbols."""
    b = LlvmBuilder([PTR])
    values = [_symbol(b, b.entry.args[0], number) for number in range(symbol_count)]
    (size_bytes,) = b.call(name, values, I64)
    b.emit(llvm.ReturnOp(size_bytes))
    module.lowered.append(function(ARENA_BYTES, [PTR], I64, b.finish(), is_internal=False))


def _symbol(b: LlvmBuilder, symbols: SSAValue, number: int) -> SSAValue:
    return b.load(b.element_pointer(symbols, b.constant(number), I64), I64)


def _input_count(host: func.FuncOp) -> int:
    attribute = host.attributes[INPUTS]
    if not isinstance(attribute, IntegerAttr):
        raise UnsupportedError(f"@{host.sym_name.data}: {INPUTS}: expected an integer, got {attribute}", host)
    return attribute.value.data
