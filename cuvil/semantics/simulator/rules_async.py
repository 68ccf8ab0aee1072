"""Asynchronous copies and mbarriers.

A copy is carried out when the thread waits for it: until then its destination is *in flight*, and an access to it is a
fault. That is the latest a GPU may be, so that a kernel which reads too early is found whatever a GPU would have done.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation

from cuvil.dialects import gpu_async
from cuvil.errors import UserError
from cuvil.semantics.simulator.faults import FaultKind, SimulationFault
from cuvil.semantics.simulator.memory import Access, Array, Memory
from cuvil.semantics.simulator.warp import Rule, Wait, WaitingRule, Warp

Values = Sequence[Any]


@dataclass(frozen=True)
class Copy:
    """A warp's copy on its way: [lanes, elements] places of the target, and the values read."""

    op: Operation
    target: Memory
    places: Array
    values: Array
    threads: Array


@dataclass
class Mbarrier:
    """The state of one mbarrier."""

    expected: int
    pending: int
    phase: int = 0
    told: Array | None = None
    """What those know who arrived in this phase."""
    over: list[Array | None] = field(default_factory=list["Array | None"])
    """What those knew who arrived in each phase that is over."""


def _copy_async(warp: Warp, op: gpu_async.CopyAsyncOp, operands: Values) -> Values:
    source, source_index, target, target_index = operands
    if not warp.mask.any():
        return ()
    count = op.elements.value.data
    access = warp.access(op)
    steps = np.arange(count)
    source.check_aligned(source_index[warp.mask], count, access)
    target.check_aligned(target_index[warp.mask], count, access)
    places = target_index[warp.mask][:, None] + steps
    values = source.read(source_index[warp.mask][:, None] + steps, access)
    target.begin_copy(places, access)
    warp.copies.append(Copy(op, target, places, values, access.threads))
    return ()


def _commit_copies(warp: Warp, op: Operation, operands: Values) -> Values:
    warp.need_everyone(op)
    warp.copy_groups.append(warp.copies)
    warp.copies = []
    return ()


def _wait_copies(warp: Warp, op: gpu_async.WaitCopiesOp, operands: Values) -> Values:
    warp.need_everyone(op)
    while len(warp.copy_groups) > op.in_flight.value.data:
        for copy in warp.copy_groups.pop(0):
            access = Access(copy.op, warp.block.clocks, warp.number, copy.threads)
            copy.target.finish_copy(copy.places, copy.values, access)
    return ()


# -- mbarriers ---------------------------------------------------------------------------------------------------------


def _each(warp: Warp, op: Operation, buffer: Memory, index: Array) -> list[int]:
    """The mbarrier that each active lane means, after a check that it has been started and all know it."""
    places = index[warp.mask]
    buffer.read(places, warp.access(op), is_atomic=True)
    found = [int(place) for place in places]
    for place in found:
        if (buffer, place) not in warp.block.mbarriers:
            raise UserError(f"{op.name}: element {place} of {buffer.name} is no mbarrier; begin with mbarrier_init", op)
    return found


def _init(warp: Warp, op: gpu_async.MbarrierInitOp, operands: Values) -> Values:
    buffer, index, arrivals = operands
    places = index[warp.mask]
    buffer.write(places, np.zeros(places.shape, np.int64), warp.access(op))
    for place, count in zip(places, arrivals[warp.mask], strict=True):
        warp.block.mbarriers[buffer, int(place)] = Mbarrier(int(count), int(count))
    return ()


def _arrive(warp: Warp, op: gpu_async.MbarrierArriveOp, operands: Values) -> Values:
    buffer, index = operands
    places = _each(warp, op, buffer, index)
    told = warp.block.clocks.release(warp.number)
    for place in places:
        barrier = warp.block.mbarriers[buffer, place]
        barrier.told = told if barrier.told is None else np.maximum(barrier.told, told)
        barrier.pending -= 1
        if barrier.pending == 0:
            barrier.over.append(barrier.told)
            barrier.phase, barrier.pending, barrier.told = barrier.phase + 1, barrier.expected, None
    return ()


def _wait(warp: Warp, op: gpu_async.MbarrierWaitOp, operands: Values) -> Generator[Wait, None, Values]:
    buffer, index, parity = operands
    places = _each(warp, op, buffer, index)
    if len(set(places)) > 1 or len({int(each) for each in parity[warp.mask]}) > 1:
        raise SimulationFault(FaultKind.WARP_DIVERGENCE, "lanes of a warp wait for different phases", op)
    barrier, wanted = warp.block.mbarriers[buffer, places[0]], int(parity[warp.mask][0])
    mask = warp.mask
    yield Wait(op, lambda: barrier.phase % 2 != wanted)
    warp.mask = mask
    if barrier.over and (told := barrier.over[-1]) is not None:
        warp.block.clocks.acquire(warp.number, told)
    return ()


RULES: dict[str, Rule] = {
    "cuvil_gpu.copy_async": _copy_async,
    "cuvil_gpu.commit_copies": _commit_copies,
    "cuvil_gpu.wait_copies": _wait_copies,
    "cuvil_gpu.mbarrier_init": _init,
    "cuvil_gpu.mbarrier_arrive": _arrive,
}

WAITING_RULES: dict[str, WaitingRule] = {"cuvil_gpu.mbarrier_wait": _wait}
