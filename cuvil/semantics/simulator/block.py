"""A block: its warps taking turns, its shared memory, its barriers; and the launch that runs a grid of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from cuvil.dialects import gpu as cuvil_gpu
from cuvil.errors import UnsupportedError, UserError
from cuvil.semantics.interpreter import Frame
from cuvil.semantics.meanings_fused import new_buffer
from cuvil.semantics.simulator.faults import FaultKind, SimulationFault
from cuvil.semantics.simulator.memory import WARP_SIZE, Array, Clocks, Memory
from cuvil.semantics.simulator.warp import Steps, Wait, Warp

Grid = tuple[int, int, int]


@dataclass
class Launch:
    """One kernel over a grid of blocks, which run one after the other."""

    frame: Frame
    kernel: cuvil_gpu.KernelOp
    grid: Grid
    arguments: Sequence[Any]
    """A `Memory` for a buffer, a number for a scalar."""

    @property
    def block_shape(self) -> Grid:
        """Threads of a block along x, y, z."""
        x, y, z = self.kernel.block_shape
        return x, y, z

    def run(self) -> None:
        """Run every block. Raises `SimulationFault` for what has no meaning on a GPU."""
        if len(self.kernel.body.blocks) != 1:
            raise UnsupportedError(
                f"{self.kernel.name}: the simulator runs structured control flow; got several blocks", self.kernel
            )
        with np.errstate(all="ignore"):
            for number, (z, y, x) in enumerate(product(*(range(size) for size in reversed(self.grid)))):
                RunningBlock(self, number, (x, y, z)).run()


@dataclass
class RunningBlock:
    """Block `number` of a launch, at `coordinates` x, y, z of the grid."""

    launch: Launch
    number: int
    coordinates: Grid
    clocks: Clocks = field(init=False)
    mbarriers: dict[tuple[Memory, int], Any] = field(default_factory=dict[tuple[Memory, int], Any])
    """The state of the mbarriers that have been started, by buffer and element."""
    _shared: dict[Operation, Memory] = field(default_factory=dict[Operation, Memory])
    _at_barrier: dict[int, Operation] = field(default_factory=dict[int, Operation])
    """The warps that wait at a barrier, and which."""
    _barriers_passed: int = 0
    _finished: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        self.thread_count = prod(self.launch.block_shape)
        self.warp_count = -(-self.thread_count // WARP_SIZE)
        self.clocks = Clocks(self.number, self.warp_count)

    def shared(self, op: cuvil_gpu.SharedOp) -> Memory:
        """The block's buffer of an operation, undefined at first."""
        if op not in self._shared:
            buffer = op.buffer.type
            assert isinstance(buffer, MemRefType)
            data = new_buffer([buffer.element_count()], buffer.element_type)
            self._shared[op] = Memory("a shared buffer", data, buffer.element_type, is_written=False)
        return self._shared[op]

    # -- barriers ----------------------------------------------------------------------------------------------------

    def arrive_at_barrier(self, warp: Warp, op: Operation) -> Wait:
        """Have a warp wait until all warps have come to the same barrier."""
        for other, where in self._at_barrier.items():
            if where is not op:
                raise SimulationFault(
                    FaultKind.BARRIER_DIVERGENCE,
                    f"warp {warp.number} of block {self.number} is here while warp {other} waits at another barrier",
                    op,
                    where,
                )
        self._at_barrier[warp.number] = op
        self._refuse_missing()
        passed = self._barriers_passed
        if len(self._at_barrier) == self.warp_count:
            self._open_barrier()
        return Wait(op, lambda: self._barriers_passed > passed)

    def _refuse_missing(self) -> None:
        if self._finished and self._at_barrier:
            gone, (waiting, op) = min(self._finished), next(iter(self._at_barrier.items()))
            raise SimulationFault(
                FaultKind.BARRIER_DIVERGENCE,
                f"warp {waiting} of block {self.number} waits while warp {gone} has ended without coming here",
                op,
            )

    def _open_barrier(self) -> None:
        told = [self.clocks.release(warp) for warp in range(self.warp_count)]
        everything = np.max(told, axis=0)
        for warp in range(self.warp_count):
            self.clocks.acquire(warp, everything)
        self._at_barrier.clear()
        self._barriers_passed += 1

    # -- running -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all warps to their end, each as far as it gets before the next."""
        body = self.launch.kernel.body.blocks[0]
        arguments = [_for_lanes(argument) for argument in self.launch.arguments]
        running: dict[int, Steps] = {}
        waiting: dict[int, Wait] = {}
        for number in range(self.warp_count):
            running[number] = Warp(self, number).run(body, arguments)
        while running:
            moved = False
            for number in list(running):
                if number in waiting and not waiting[number].is_over():
                    continue
                moved = True
                waiting.pop(number, None)
                try:
                    waiting[number] = next(running[number])
                except StopIteration:
                    del running[number]
                    self._finished.add(number)
                    self._refuse_missing()
            if not moved:
                number, wait = next(iter(waiting.items()))
                raise SimulationFault(
                    FaultKind.DEADLOCK, f"warp {number} of block {self.number} waits for ever", wait.op
                )


def _for_lanes(argument: Any) -> Any:
    if isinstance(argument, Memory):
        return argument
    return np.broadcast_to(np.asarray(argument), (WARP_SIZE,))


def launch(frame: Frame, kernel: cuvil_gpu.KernelOp, grid: Sequence[int], arguments: Sequence[Any]) -> None:
    """Run a kernel over a grid; buffers are arrays, which it changes.

    Raises `SimulationFault` for what has no meaning on a GPU, and `UserError` where arguments or grid do not fit.
    """
    declared = kernel.body.blocks[0].args
    if len(arguments) != len(declared):
        raise UserError(f"kernel @{kernel.sym_name.data} takes {len(declared)} arguments, got {len(arguments)}", kernel)
    x, y, z = grid
    unwritten = frame.interpreter.unwritten
    memories: dict[int, Memory] = {}
    taken: list[Any] = []
    for number, (argument, formal) in enumerate(zip(arguments, declared, strict=True)):
        if isinstance(formal.type, MemRefType):
            # Two arguments may be one buffer: its accesses are watched together.
            address = argument.__array_interface__["data"][0]
            if address not in memories:
                data, name = _flat(argument), f"argument {formal.name_hint or number}"
                memories[address] = Memory(name, data, formal.type.element_type, address not in unwritten)
            argument = memories[address]
        taken.append(argument)
    Launch(frame, kernel, (x, y, z), taken).run()
    unwritten -= {address for address, memory in memories.items() if memory.written is None or memory.written.any()}


def _flat(array: Array) -> Array:
    flat = array.reshape(-1)
    if not np.shares_memory(flat, array) and array.size:
        raise UserError("a buffer of a kernel is not contiguous")
    return flat


__all__ = ["Launch", "RunningBlock", "launch"]
