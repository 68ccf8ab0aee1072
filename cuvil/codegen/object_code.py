"""From LLVM IR text to object code, several modules at a time.

The code is position-independent with the small code model: it reaches what other objects define through stubs and the
GOT, so that objects may lie anywhere in the address space. It is `bytes`: it can be cached and loaded later.

No pass pipeline runs. The text is vector code whose loops are unrolled, blocked and register-allocated on purpose,
and what code generation does by itself (address modes, strength reduction, common subexpressions, hoisting out of
loops) is what it lacks. Measured on Zen 5, one thread, compile time in ms and run time in us:

| kernel                 | no passes, level 1 | instcombine + simplifycfg, 2 | O1 without vectorizers, 2 | O2, 3     |
|------------------------|--------------------|------------------------------|---------------------------|-----------|
| matmul 384x512x512     | 9.9,  753          | 11.2, 758                    | 29.0, 764                 | 30.6, 759 |
| convolution 3x3, 64    | 13.1, 880          | 14.6, 876                    | 30.0, 879                 | 34.4, 883 |
| convolution 3x3/2, 128 | 10.4, 223          | 13.1, 223                    | 26.5, 219                 | 29.7, 220 |

llvmlite guards each call into LLVM by one lock; emission, which is nearly all of the time, is called without it:
modules are compiled on several Python threads, each in an LLVM context of its own.
"""

from __future__ import annotations

import ctypes
import importlib.resources
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import llvmlite.binding as binding

from cuvil.errors import InternalError
from cuvil.targets.cpu import CpuTarget

LEVEL = 1
"""LLVM's code generation level for kernels."""
QUICK_LEVEL = 0
"""The level for code that runs for less time than the call of it takes."""


@cache
def initialize() -> None:
    """Make LLVM's targets known, once."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def target_machine(target: CpuTarget, level: int = LEVEL) -> binding.TargetMachine:
    """LLVM's target machine for `target`; `level` is the effort of code generation, 0 to 3."""
    initialize()
    return binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=level, reloc="pic", codemodel="small", jit=True
    )


def compile_text(text: str, target: CpuTarget, level: int = LEVEL) -> bytes:
    """Object code of one LLVM module.

    Raises `InternalError` if LLVM refuses the text.
    """
    machine = target_machine(target, level)
    return _emit(_parse(text, target), machine)


def compile_texts(texts: Sequence[str], target: CpuTarget, level: int = LEVEL) -> list[bytes]:
    """Object code of several LLVM modules, compiled at the same time where there are cores."""
    if len(texts) < 2:
        return [compile_text(text, target, level) for text in texts]
    with ThreadPoolExecutor(min(len(texts), core_count()), "cuvil-compile") as pool:
        return list(pool.map(lambda text: compile_text(text, target, level), texts))


def assembly_of(text: str, target: CpuTarget, level: int = LEVEL) -> str:
    """The assembler text of one LLVM module, to read."""
    return target_machine(target, level).emit_assembly(_parse(text, target))


def core_count() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parse(text: str, target: CpuTarget) -> binding.ModuleRef:
    try:
        module = binding.parse_assembly(text, binding.create_context())
        module.triple = target.triple
        module.verify()
    except RuntimeError as error:
        raise InternalError(f"LLVM refuses the emitted text: {error}") from error
    return module


def _emit(module: binding.ModuleRef, machine: binding.TargetMachine) -> bytes:
    emit = _unlocked_emission()
    if emit is None:
        return machine.emit_object(module)
    message = ctypes.c_char_p()
    buffer = emit(_pointer(machine), _pointer(module), 1, ctypes.byref(message))
    if not buffer:
        raise InternalError(f"LLVM cannot emit object code: {(message.value or b'').decode()}")
    library = _library()
    assert library is not None
    try:
        return ctypes.string_at(library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer))
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


def _pointer(reference: Any) -> Any:
    return ctypes.cast(reference._as_parameter_, ctypes.c_void_p)  # pyright: ignore[reportPrivateUsage]


@cache
def _library() -> ctypes.CDLL | None:
    """llvmlite's library once more, without its lock; None where it is not to be found."""
    for name in ("libllvmlite.so", "libllvmlite.dylib"):
        path = importlib.resources.files("llvmlite.binding") / name
        if path.is_file():
            library = ctypes.CDLL(str(path))
            library.LLVMPY_GetBufferStart.argtypes = [ctypes.c_void_p]
            library.LLVMPY_GetBufferStart.restype = ctypes.c_void_p
            library.LLVMPY_GetBufferSize.argtypes = [ctypes.c_void_p]
            library.LLVMPY_GetBufferSize.restype = ctypes.c_size_t
            library.LLVMPY_DisposeMemoryBuffer.argtypes = [ctypes.c_void_p]
            library.LLVMPY_DisposeMemoryBuffer.restype = None
            return library
    return None


@cache
def _unlocked_emission() -> Any:
    library = _library()
    if library is None:
        return None
    emit = library.LLVMPY_TargetMachineEmitToMemory
    emit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    emit.restype = ctypes.c_void_p
    return emit
