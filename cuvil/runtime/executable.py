"""A compiled entry with the memory that it works in, to be called with addresses: one foreign call per inference.

The runtime knows no compiler: it is given the address of the entry (`cuvil.codegen.llvm_host` says what it is)

    i32 entry(void **inputs, void **outputs, void *arena, void **parameters, const int64_t *symbols)

(where sizes are symbolic, also that of a function which gives the arena's size: `i64 f(const int64_t *symbols)`)

and whatever keeps that address valid. Each call takes a *frame*: the arrays of pointers that the entry reads and an
arena of its own. Frames are kept and taken again, so that a call allocates nothing, and as many exist as calls ever
ran at the same time: calls from several threads do not wait for each other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cuvil.errors import CuvilRuntimeError
from cuvil.runtime.memory import aligned, aligned_empty
from cuvil.runtime.threads import allowed_threads

if TYPE_CHECKING:
    from cuvil.runtime.callbacks import Callbacks

_ENTRY = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)

_ARENA_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)


class Frame:
    """What one call at a time works with."""

    __slots__ = ("arena", "arguments", "inputs", "outputs", "symbols")

    def __init__(self, executable: Executable) -> None:
        # An address as an integer is stored faster than through c_void_p, and takes the same eight bytes.
        self.inputs = (ctypes.c_uint64 * executable.input_count)()
        self.outputs = (ctypes.c_uint64 * executable.output_count)()
        self.symbols = (ctypes.c_int64 * executable.symbol_count)()
        self.arena = aligned_empty((0,), np.uint8)
        self.arguments = (
            ctypes.addressof(self.inputs),
            ctypes.addressof(self.outputs),
            self.arena.ctypes.data,
            executable.parameter_table,
            ctypes.addressof(self.symbols),
        )

    def reserve(self, size_bytes: int) -> None:
        """Make the arena at least `size_bytes` long; what it held is lost."""
        if self.arena.size < size_bytes:
            # Of an arena that grows again and again, as with every token of a text, a quarter is kept in reserve.
            spare = size_bytes // 4 if self.arena.size else 0
            self.arena = aligned_empty((size_bytes + spare,), np.uint8)
            inputs, outputs, _, parameters, symbols = self.arguments
            self.arguments = (inputs, outputs, self.arena.ctypes.data, parameters, symbols)


class Executable:
    """The entry at `address`, with its parameters bound.

    `parameters` are the weights in the order that the entry expects; they are kept (as aligned copies where they are
    not aligned), and so is `keep` (the code itself). `arena_bytes` is the size of the arena, or a function of the
    symbols that gives it; a compiled one is given by its address, `arena_function`, instead. `thread_address` is where
    the code reads how many threads to use; 0 where it has no parallel loop. `callbacks` are what the code calls back.
    """

    def __init__(
        self,
        address: int,
        *,
        input_count: int,
        output_count: int,
        arena_bytes: int | Callable[[Sequence[int]], int],
        parameters: Sequence[np.ndarray[Any, Any]] = (),
        symbol_count: int = 0,
        arena_function: int = 0,
        thread_address: int = 0,
        keep: Any = None,
        callbacks: Callbacks | None = None,
    ) -> None:
        self.input_count = input_count
        self.output_count = output_count
        self.symbol_count = symbol_count
        self.arena_bytes = arena_bytes
        self._arena_function = _ARENA_FUNCTION(arena_function) if arena_function else None
        self.parameters = tuple(aligned(parameter) for parameter in parameters)
        self._keep = keep
        self._callbacks = callbacks
        self._entry = _ENTRY(address)
        self._pointers = (ctypes.c_uint64 * len(self.parameters))(*(each.ctypes.data for each in self.parameters))
        self.parameter_table = ctypes.addressof(self._pointers)
        self._free: list[Frame] = []
        self._threads = ctypes.c_int32.from_address(thread_address) if thread_address else None
        self._fixed_threads: int | None = None

    def set_threads(self, count: int | None) -> None:
        """Use `count` threads from now on; None: at each call, as many as torch does, or as there are cores."""
        self._fixed_threads = count

    def take_frame(self) -> Frame:
        """A frame that no other call uses; give it back by `give_back`."""
        try:
            return self._free.pop()  # one bytecode under the interpreter's lock, so that two threads never get the same
        except IndexError:
            frame = Frame(self)
            if not callable(self.arena_bytes):
                frame.reserve(self.arena_bytes)
            return frame

    def give_back(self, frame: Frame) -> None:
        """Let another call have the frame."""
        self._free.append(frame)

    def run(self, frame: Frame) -> None:
        """Run the entry on what the arrays of `frame` say. Raises `CuvilRuntimeError` if it fails."""
        if self._arena_function is not None:
            frame.reserve(self._arena_function(frame.arguments[-1]))
        elif callable(self.arena_bytes):
            frame.reserve(self.arena_bytes(list(frame.symbols)))
        if self._threads is not None:
            self._threads.value = allowed_threads(self._fixed_threads)
        status = self._entry(*frame.arguments)
        if self._callbacks is not None:
            self._callbacks.raise_pending()
        if status:
            raise CuvilRuntimeError(f"compiled code failed with status {status}")

    def arena_size(self, symbols: Sequence[int] = ()) -> int:
        """The bytes of the arena where the symbols have these values."""
        if self._arena_function is not None:
            return self._arena_function(ctypes.addressof((ctypes.c_int64 * len(symbols))(*symbols)))
        return self.arena_bytes(symbols) if callable(self.arena_bytes) else self.arena_bytes

    def call(self, inputs: Sequence[int], outputs: Sequence[int], symbols: Sequence[int] = ()) -> None:
        """Run the entry on buffers given by their addresses; `symbols` are the dynamic dims' values, in order.

        The caller vouches for sizes, types and contiguity, and that no output overlaps another buffer.
        Raises `CuvilRuntimeError` if the numbers of addresses are wrong or the entry fails.
        """
        frame = self.take_frame()
        try:
            frame.inputs[:] = inputs
            frame.outputs[:] = outputs
            frame.symbols[:] = symbols
            self.run(frame)
        except ValueError as error:
            raise CuvilRuntimeError(
                f"expected {self.input_count} inputs, {self.output_count} outputs and {self.symbol_count} symbols, "
                f"got {len(inputs)}, {len(outputs)} and {len(symbols)}"
            ) from error
        finally:
            self.give_back(frame)
