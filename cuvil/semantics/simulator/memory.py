"""Simulated memory: arrays with a shadow that knows who wrote and read each element, and when.

*When* is a warp's clock, which ticks at each of its synchronisations. A block's warps know of each other's clocks what
barriers have told them (`Clocks.known`), so that one access happens before another exactly if a chain of
synchronisations leads from it to the other. Two accesses of one element by different threads, at least one a write and
not both atomic, that are not so ordered are a data race, whatever order they ran in. Of an element's readers since its
last write two are remembered; a race with a third one only may stay unseen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Attribute, Operation

from cuvil.semantics.arrays import bf16_bits, from_bf16_bits
from cuvil.semantics.simulator.faults import FaultKind, SimulationFault, Thread

Array = np.ndarray[Any, Any]

WARP_SIZE = 32
_NOBODY = -1


class Clocks:
    """The clocks of a block's warps, and what each warp knows of the others'."""

    def __init__(self, block: int, warps: int) -> None:
        self.block = block
        self.now = np.ones(warps, np.int64)
        self.known = np.zeros((warps, warps), np.int64)

    def release(self, warp: int) -> Array:
        """What `warp` has done and knows, as another will know it; its next accesses come later."""
        self.known[warp, warp] = self.now[warp]
        told = self.known[warp].copy()
        self.now[warp] += 1
        return told

    def acquire(self, warp: int, told: Array) -> None:
        """`warp` learns what a release told."""
        np.maximum(self.known[warp], told, out=self.known[warp])


@dataclass(frozen=True)
class Access:
    """Who accesses: the active lanes of a warp, at its present clock."""

    op: Operation
    clocks: Clocks
    warp: int
    threads: Array
    """Numbers within the block, one for each row of positions."""


class _Trace:
    """The last access of each element by some threads: block, thread, the warp's clock, and the operation."""

    def __init__(self, size: int) -> None:
        self.block = np.full(size, _NOBODY, np.int32)
        self.thread = np.zeros(size, np.int32)
        self.clock = np.zeros(size, np.int64)
        self.op = np.zeros(size, np.int32)
        self.is_atomic = np.zeros(size, np.bool_)

    def unordered(self, places: Array, access: Access, threads: Array) -> Array:
        """Which of the places hold an access by another thread that does not happen before this one."""
        block, thread, clock = self.block[places], self.thread[places], self.clock[places]
        clocks, warp = access.clocks, access.warp
        here = block == clocks.block
        theirs = np.where(here, thread // WARP_SIZE, warp)
        same_warp = theirs == warp
        before = np.where(same_warp, clock < clocks.now[warp], clock <= clocks.known[warp][theirs])
        return (block != _NOBODY) & ~(here & (before | (thread == threads)))

    def note(self, places: Array, access: Access, threads: Array, op: int, is_atomic: bool) -> None:
        """Remember this access."""
        self.block[places] = access.clocks.block
        self.thread[places] = threads
        self.clock[places] = access.clocks.now[access.warp]
        self.op[places] = op
        self.is_atomic[places] = is_atomic


class Memory:
    """A flat buffer that several threads use, `name` as messages call it.

    `data` is what it holds: bf16 as its bits. `written` says which elements have a value; None: all of them.
    """

    def __init__(self, name: str, data: Array, element_type: Attribute, is_written: bool = True) -> None:
        self.name = name
        self.data = data.reshape(-1)
        self.element_type = element_type
        self.written = None if is_written else np.zeros(self.data.size, np.bool_)
        self.in_flight: Array | None = None
        """Elements that an asynchronous copy is writing, once there has been one."""
        size = self.data.size
        self._writes, self._reads, self._other_reads = _Trace(size), _Trace(size), _Trace(size)
        self._ops: list[Operation] = []
        self._numbers: dict[Operation, int] = {}

    def read(self, places: Array, access: Access, is_atomic: bool = False) -> Array:
        """The elements at `places`, of the shape [threads] or [threads, lanes of a vector]."""
        self._check_bounds(places, access)
        flat, threads = _flattened(places, access)
        self._check_in_flight(flat, access, threads)
        self._check_written(flat, access, threads)
        self._check_race(self._writes, flat, access, threads, is_atomic, "was written")
        # A read that happens before this one need not be remembered: a write that races with it races with this too.
        other = self._reads.unordered(flat, access, threads)
        number = self._number(access.op)
        self._reads.note(flat[~other], access, threads[~other], number, is_atomic)
        self._other_reads.note(flat[other], access, threads[other], number, is_atomic)
        return self._value(self.data[places])

    def write(self, places: Array, values: Array, access: Access) -> None:
        """Store `values`, of the shape of `places`."""
        self._check_bounds(places, access)
        flat, threads = _flattened(places, access)
        self._check_lanes_apart(flat, access, threads)
        self._begin_write(flat, access, threads, False)
        self.data[places] = self._stored(values)
        if self.written is not None:
            self.written[flat] = True

    def begin_copy(self, places: Array, access: Access) -> None:
        """An asynchronous copy to `places` begins: nobody may touch them until it is finished."""
        self._check_bounds(places, access)
        flat, threads = _flattened(places, access)
        self._check_lanes_apart(flat, access, threads)
        self._begin_write(flat, access, threads, False)
        if self.in_flight is None:
            self.in_flight = np.zeros(self.data.size, np.bool_)
        self.in_flight[flat] = True

    def finish_copy(self, places: Array, values: Array, access: Access) -> None:
        """The values of an asynchronous copy have arrived."""
        assert self.in_flight is not None
        self.in_flight[places] = False
        self.write(places, values, access)

    def add(self, places: Array, values: Array, access: Access) -> None:
        """Add to elements, lane after lane, each addition rounded to the element type."""
        self._check_bounds(places, access)
        flat, threads = _flattened(places, access)
        self._check_written(flat, access, threads)
        self._begin_write(flat, access, threads, True)
        np.add.at(self.data, flat, values.reshape(-1).astype(self.data.dtype))

    def _begin_write(self, flat: Array, access: Access, threads: Array, is_atomic: bool) -> None:
        self._check_in_flight(flat, access, threads)
        for trace, what in ((self._writes, "was written"), (self._reads, "was read"), (self._other_reads, "was read")):
            self._check_race(trace, flat, access, threads, is_atomic, what)
        self._writes.note(flat, access, threads, self._number(access.op), is_atomic)
        # Readers before an ordered write happen before whatever is ordered after the write.
        self._reads.block[flat] = _NOBODY
        self._other_reads.block[flat] = _NOBODY

    # -- checks ------------------------------------------------------------------------------------------------------

    def _check_bounds(self, places: Array, access: Access) -> None:
        outside = (places < 0) | (places >= self.data.size)
        if outside.any():
            flat, threads = _flattened(places, access)
            number = int(np.argmax(outside.reshape(-1)))
            self._fault(FaultKind.OUT_OF_BOUNDS, access, flat[number], threads[number], f", which has {self.data.size}")

    def check_aligned(self, places: Array, lanes: int, access: Access) -> None:
        """The first elements of accesses of `lanes` elements stand at multiples of `lanes`."""
        wrong = places % lanes != 0
        if wrong.any():
            number = int(np.argmax(wrong))
            detail = f", {lanes} elements at once"
            self._fault(FaultKind.MISALIGNED, access, places[number], access.threads[number], detail)

    def _check_written(self, flat: Array, access: Access, threads: Array) -> None:
        if self.written is not None and not self.written[flat].all():
            number = int(np.argmin(self.written[flat]))
            self._fault(FaultKind.UNINITIALISED, access, flat[number], threads[number])

    def _check_in_flight(self, flat: Array, access: Access, threads: Array) -> None:
        if self.in_flight is not None and self.in_flight[flat].any():
            number = int(np.argmax(self.in_flight[flat]))
            self._fault(FaultKind.IN_FLIGHT, access, flat[number], threads[number])

    def _check_lanes_apart(self, flat: Array, access: Access, threads: Array) -> None:
        ordered = np.sort(flat)
        if (ordered[1:] == ordered[:-1]).any():
            place = ordered[1:][ordered[1:] == ordered[:-1]][0]
            first, second = threads[flat == place][:2]
            self._fault(FaultKind.DATA_RACE, access, place, first, f", also written by thread {second} at once")

    def _check_race(
        self, trace: _Trace, flat: Array, access: Access, threads: Array, is_atomic: bool, what: str
    ) -> None:
        racing = trace.unordered(flat, access, threads)
        if is_atomic:
            racing &= ~trace.is_atomic[flat]
        if racing.any():
            number = int(np.argmax(racing))
            place = flat[number]
            other = Thread(int(trace.block[place]), int(trace.thread[place]))
            detail = f", which {what} by {other} without a barrier in between"
            earlier = self._ops[int(trace.op[place])]
            self._fault(FaultKind.DATA_RACE, access, place, threads[number], detail, earlier)

    def _fault(
        self, kind: FaultKind, access: Access, place: Any, thread: Any, detail: str = "", other: Operation | None = None
    ) -> None:
        who = Thread(access.clocks.block, int(thread))
        raise SimulationFault(kind, f"{who} at element {int(place)} of {self.name}{detail}", access.op, other)

    def _number(self, op: Operation) -> int:
        number = self._numbers.get(op)
        if number is None:
            number = self._numbers[op] = len(self._ops)
            self._ops.append(op)
        return number

    # -- element types -----------------------------------------------------------------------------------------------

    def _value(self, data: Array) -> Array:
        return from_bf16_bits(data) if isinstance(self.element_type, BFloat16Type) else data

    def _stored(self, values: Array) -> Array:
        return bf16_bits(values) if isinstance(self.element_type, BFloat16Type) else values


def _flattened(places: Array, access: Access) -> tuple[Array, Array]:
    """All places one after the other, and the thread of each."""
    if places.ndim == 1:
        return places, access.threads
    return places.reshape(-1), np.repeat(access.threads, places.shape[1])
