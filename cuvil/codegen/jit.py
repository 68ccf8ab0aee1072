"""Loading object code into this process, and the short way from a module to functions that Python can call.

`compile_module` is the short way, for tests and experiments:

    native = compile_module(module)          # a loop-level or llvm-level module
    native.function("relu")(x, y)            # NumPy arrays as bare pointers, ints as index, floats as floats

Loaded objects see the OpenMP runtime of the process and what C offers (`memcpy`), but not each other.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as binding
from xdsl.dialects import llvm
from xdsl.dialects.builtin import Float32Type, Float64Type, IntegerType, ModuleOp
from xdsl.ir import Attribute

from cuvil.codegen.llvm_host import ARENA_BYTES, ENTRY
from cuvil.codegen.llvm_partition import partition
from cuvil.codegen.llvm_text import emit_symbols, module_to_text
from cuvil.codegen.object_code import LEVEL, compile_text, compile_texts, core_count, target_machine
from cuvil.errors import CuvilRuntimeError
from cuvil.runtime.callbacks import Callbacks
from cuvil.runtime.executable import Executable
from cuvil.runtime.threads import NUM_THREADS, openmp, thread_count
from cuvil.targets.cpu import CpuTarget

# -- object code to running code ---------------------------------------------------------------------------------------


class LoadedCode:
    """Object code in memory; it is unmapped when this object dies, so whoever uses an address must keep this."""

    def __init__(
        self, objects: Sequence[bytes], exports: Iterable[str], imports: Mapping[str, int] | None = None
    ) -> None:
        """Link `objects` together, apart from all other loaded code; `imports` are symbols at known addresses.

        Raises `CuvilRuntimeError` if an exported symbol is not defined, or one that is used cannot be found.
        """
        library = binding.JITLibraryBuilder().add_current_process()
        for data in objects:
            library.add_object_img(data)
        for name, address in ({**openmp().addresses, **(imports or {})}).items():
            library.import_symbol(name, address)
        for name in exports:
            library.export_symbol(name)
        try:
            self._tracker = library.link(_linker(), f"cuvil.{next(_library_numbers)}")
        except RuntimeError as error:
            raise CuvilRuntimeError(f"compiled code cannot be loaded: {error}") from error

    def address(self, name: str) -> int:
        """The address of an exported symbol.

        Raises `CuvilRuntimeError` if it was not exported.
        """
        try:
            return int(self._tracker[name])
        except KeyError:
            raise CuvilRuntimeError(f"no symbol '{name}' was exported by the compiled code") from None


_library_numbers = itertools.count()


@cache
def _linker() -> binding.LLJIT:
    """The process's JIT linker. JITLink maps an object's sections as one block and reaches everything else by stubs."""
    return binding.create_lljit_compiler(target_machine(CpuTarget.host()), use_jit_link=True)


def compile_objects(module: ModuleOp, target: CpuTarget, parts: int | None = None, level: int = LEVEL) -> list[bytes]:
    """Object code of an llvm-level module, cut into as many parts as there are cores where that pays."""
    symbols = emit_symbols(module)
    return compile_texts(partition(symbols, target, parts or core_count()), target, level)


def load_executable(
    objects: Sequence[bytes],
    *,
    input_count: int,
    output_count: int,
    arena_bytes: int | Callable[[Sequence[int]], int] | None,
    parameters: Sequence[Any] = (),
    symbol_count: int = 0,
    callbacks: Callbacks | None = None,
) -> Executable:
    """Load a program with an `@cuvil_entry`; `parameters` follow the order of its external `memref.global`s.

    `arena_bytes` is None where the program's `@cuvil_arena_bytes` computes it.
    """
    has_threads = any(NUM_THREADS.encode() in data for data in objects)
    exports = [ENTRY, *([NUM_THREADS] if has_threads else []), *([ARENA_BYTES] if arena_bytes is None else [])]
    code = LoadedCode(objects, exports, callbacks.addresses if callbacks is not None else None)
    return Executable(
        code.address(ENTRY),
        input_count=input_count,
        output_count=output_count,
        arena_bytes=arena_bytes or 0,
        arena_function=code.address(ARENA_BYTES) if arena_bytes is None else 0,
        parameters=parameters,
        symbol_count=symbol_count,
        thread_address=code.address(NUM_THREADS) if has_threads else 0,
        keep=code,
        callbacks=callbacks,
    )


# -- the short way -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """Types of an llvm function's arguments and result."""

    arguments: tuple[Attribute, ...]
    result: Attribute


class NativeModule:
    """Compiled code whose public functions can be called from Python."""

    def __init__(self, objects: Sequence[bytes], signatures: dict[str, Signature], text: str = "") -> None:
        self.objects = tuple(objects)
        self.signatures = signatures
        self.text = text
        """The LLVM IR that was compiled."""
        self._has_threads = NUM_THREADS in text
        self.code = LoadedCode(objects, [*signatures, *([NUM_THREADS] if self._has_threads else [])])
        self.set_threads(thread_count())

    def set_threads(self, count: int) -> None:
        """How many threads parallel loops use from now on."""
        if self._has_threads:
            ctypes.c_int32.from_address(self.code.address(NUM_THREADS)).value = count

    def address(self, name: str) -> int:
        """Where the public function `name` is."""
        return self.code.address(name)

    def function(self, name: str) -> Callable[..., Any]:
        """A callable that takes NumPy arrays (or addresses) for pointers and numbers for the rest.

        Raises `CuvilRuntimeError` if there is no public function of this name.
        """
        if name not in self.signatures:
            raise CuvilRuntimeError(f"no public function '{name}': there are {', '.join(self.signatures) or 'none'}")
        signature = self.signatures[name]
        prototype = ctypes.CFUNCTYPE(_ctype(signature.result), *(_ctype(arg) for arg in signature.arguments))
        native = prototype(self.address(name))
        count = len(signature.arguments)

        def call(*arguments: Any) -> Any:
            if len(arguments) != count:
                raise CuvilRuntimeError(f"{name}: expected {count} arguments, got {len(arguments)}")
            return native(*(_argument(argument) for argument in arguments))

        call.module = self  # pyright: ignore[reportFunctionMemberAccess]
        return call


def _argument(argument: Any) -> Any:
    return argument.ctypes.data if hasattr(argument, "ctypes") else argument


def _ctype(source: Attribute) -> Any:
    if isinstance(source, llvm.LLVMVoidType):
        return None
    if isinstance(source, llvm.LLVMPointerType):
        return ctypes.c_void_p
    if isinstance(source, Float32Type):
        return ctypes.c_float
    if isinstance(source, Float64Type):
        return ctypes.c_double
    if isinstance(source, IntegerType):
        sizes = {1: ctypes.c_bool, 8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32, 64: ctypes.c_int64}
        if source.width.data in sizes:
            return sizes[source.width.data]
    raise CuvilRuntimeError(f"a value of type {source} cannot be passed from Python")


def compile_module(module: ModuleOp, target: CpuTarget | None = None) -> NativeModule:
    """Compile a loop-level or llvm-level module and load it. `module` stays as it is.

    Its functions must be public to be called; the target is the machine at hand by default.
    """
    from cuvil.passes.lower_loops_to_llvm import lower_module

    target = target or CpuTarget.host()
    module = module.clone()
    if any(op.dialect_name() == "func" for op in module.ops):
        lower_module(module, target)
    text = module_to_text(module, target)
    return NativeModule([compile_text(text, target)], public_signatures(module), text)


def public_signatures(module: ModuleOp) -> dict[str, Signature]:
    """Signatures of the functions that an llvm-level module defines and exports."""
    return {
        op.sym_name.data: Signature(tuple(op.function_type.inputs), op.function_type.output)
        for op in module.ops
        if isinstance(op, llvm.FuncOp) and op.body.blocks and op.linkage.linkage.data == "external"
    }
