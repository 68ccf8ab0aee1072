"""Cutting a module into parts that compile apart and link to the same program."""

from __future__ import annotations

import re

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region

from cuvil.codegen.jit import LoadedCode, NativeModule, public_signatures
from cuvil.codegen.llvm_partition import partition
from cuvil.codegen.llvm_text import emit_symbols, module_to_text
from cuvil.codegen.loops import LoopBuilder
from cuvil.codegen.object_code import assembly_of, compile_text, compile_texts
from cuvil.errors import CuvilRuntimeError, InternalError
from cuvil.passes.lower_loops_to_llvm import lower_module
from cuvil.targets.cpu import CpuTarget

TARGET = CpuTarget.host()
BUFFER = MemRefType(f32, [64])


def chain(kernels: int, length: int) -> ModuleOp:
    """A lowered host function that calls `kernels` private kernels in turn; kernel k adds k + 1, `length` times."""
    functions: list[func.FuncOp] = []
    for number in range(kernels):
        block = Block(arg_types=[BUFFER])
        b = LoopBuilder(block)
        with b.parallel(4) as row:
            value = b.load(block.args[0], b.mul(row, 16), 16)
            for _ in range(length):
                value = b.add_float(value, b.constant(number + 1, f32, 16))
            b.store(value, block.args[0], b.mul(row, 16))
        block.add_op(func.ReturnOp())
        functions.append(func.FuncOp(f"add{number}", ([BUFFER], []), Region(block), visibility="private"))
    block = Block(arg_types=[BUFFER])
    block.add_ops([func.CallOp(f"add{number}", [block.args[0]], []) for number in range(kernels)])
    block.add_op(func.ReturnOp())
    module = ModuleOp([*functions, func.FuncOp("main", ([BUFFER], []), Region(block))])
    lower_module(module, TARGET)
    return module


def test_parts_link_to_the_whole() -> None:
    module = chain(kernels=6, length=200)
    texts = partition(emit_symbols(module), TARGET, 3)
    assert len(texts) == 3
    native = NativeModule(compile_texts(texts, TARGET), public_signatures(module), "".join(texts))
    for threads in (1, 2):
        native.set_threads(threads)
        x = np.zeros(64, np.float32)
        native.function("main")(x)
        np.testing.assert_array_equal(x, np.full(64, 200 * sum(range(1, 7))))


def test_every_function_is_defined_once_or_is_internal() -> None:
    texts = partition(emit_symbols(chain(kernels=6, length=200)), TARGET, 3)
    defined = [name for text in texts for name in re.findall(r"define (?!internal)[^@]*@([\w.]+)", text)]
    assert sorted(defined) == sorted([*(f"add{number}" for number in range(6)), "main"])
    assert sum(text.count("@cuvil_num_threads = global") for text in texts) == 1


def test_a_small_module_stays_whole() -> None:
    symbols = emit_symbols(chain(kernels=2, length=2))
    assert partition(symbols, TARGET, 8) == [module_to_text(chain(kernels=2, length=2), TARGET)]


def test_object_code_is_the_same_each_time() -> None:
    text = module_to_text(chain(kernels=2, length=8), TARGET)
    assert compile_text(text, TARGET) == compile_text(text, TARGET)


@pytest.mark.parametrize(
    ("name", "register"), [("x86-64-v4", "zmm"), ("x86-64-v3", "ymm"), ("x86-64-v2", "xmm"), ("aarch64", "v0.4s")]
)
def test_other_machines_get_their_own_vectors(name: str, register: str) -> None:
    target = CpuTarget.named(name)
    assert register in assembly_of(module_to_text(chain(kernels=1, length=8), target), target)


def test_text_that_llvm_refuses_is_our_fault() -> None:
    with pytest.raises(InternalError, match="LLVM refuses the emitted text"):
        compile_text("define void @f() { ret i32 }", TARGET)


def test_missing_symbols_are_refused() -> None:
    data = compile_text("declare void @no_such()\ndefine void @f() { call void @no_such() ret void }", TARGET)
    with pytest.raises(CuvilRuntimeError, match="cannot be loaded"):
        LoadedCode([data], ["f"])
    data = compile_text("define void @f() { ret void }", TARGET)
    with pytest.raises(CuvilRuntimeError, match="no symbol 'g'"):
        LoadedCode([data], ["f"]).address("g")
