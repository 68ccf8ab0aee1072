"""Where a thread is, and what threads do together: a warp's exchanges and a block's barriers."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import gpu
from xdsl.ir import Operation

from cuvil.dialects import gpu as cuvil_gpu
from cuvil.dialects.gpu import ReduceKind, ShuffleKind
from cuvil.semantics.arrays import rounded
from cuvil.semantics.simulator.faults import FaultKind, SimulationFault
from cuvil.semantics.simulator.memory import WARP_SIZE, Array
from cuvil.semantics.simulator.warp import Rule, Wait, WaitingRule, Warp

Values = Sequence[Any]

_AXES = "xyz"
_LANES = np.arange(WARP_SIZE)


def _axis(op: gpu.ThreadIdOp | gpu.BlockIdOp | gpu.BlockDimOp | gpu.GridDimOp) -> int:
    return _AXES.index(str(op.dimension.data.value))


def _uniform(number: int) -> Array:
    return np.full(WARP_SIZE, number, np.int64)


def _thread_id(warp: Warp, op: gpu.ThreadIdOp, operands: Values) -> Values:
    x, y, _ = warp.block.launch.block_shape
    numbers = warp.threads.astype(np.int64)
    parts = (numbers % x, numbers // x % y, numbers // (x * y))
    return [parts[_axis(op)]]


def _block_id(warp: Warp, op: gpu.BlockIdOp, operands: Values) -> Values:
    return [_uniform(warp.block.coordinates[_axis(op)])]


def _block_dim(warp: Warp, op: gpu.BlockDimOp, operands: Values) -> Values:
    return [_uniform(warp.block.launch.block_shape[_axis(op)])]


def _grid_dim(warp: Warp, op: gpu.GridDimOp, operands: Values) -> Values:
    return [_uniform(warp.block.launch.grid[_axis(op)])]


def _lane_id(warp: Warp, op: Operation, operands: Values) -> Values:
    return [_LANES.astype(np.int64)]


# -- warps -------------------------------------------------------------------------------------------------------------

_COMBINE = {ReduceKind.ADD: np.add, ReduceKind.MAX: np.maximum, ReduceKind.MIN: np.minimum}


def need_whole_warp(warp: Warp, op: Operation) -> None:
    """Raise where an operation of a warp is not executed by 32 lanes."""
    warp.need_everyone(op)
    if not warp.everyone.all():
        raise SimulationFault(
            FaultKind.WARP_DIVERGENCE, f"the last warp of a block of {warp.block.thread_count} threads has no 32", op
        )


def _warp_reduce(warp: Warp, op: cuvil_gpu.WarpReduceOp, operands: Values) -> Values:
    need_whole_warp(warp, op)
    value, distance = operands[0], WARP_SIZE // 2
    while distance:
        value = rounded(_COMBINE[op.kind.data](value, value[_LANES ^ distance]), op.result.type)
        distance //= 2
    return [value]


def _warp_shuffle(warp: Warp, op: cuvil_gpu.WarpShuffleOp, operands: Values) -> Values:
    need_whole_warp(warp, op)
    value, offset = operands
    other = {
        ShuffleKind.XOR: _LANES ^ offset,
        ShuffleKind.UP: _LANES - offset,
        ShuffleKind.DOWN: _LANES + offset,
        ShuffleKind.INDEX: offset,
    }[op.kind.data]
    return [value[np.where((other >= 0) & (other < WARP_SIZE), other, _LANES)]]


def _warp_sync(warp: Warp, op: Operation, operands: Values) -> Values:
    warp.synchronise(op)
    return ()


# -- blocks ------------------------------------------------------------------------------------------------------------


def _barrier(warp: Warp, op: gpu.BarrierOp, operands: Values) -> Generator[Wait, None, Values]:
    if not np.array_equal(warp.mask, warp.everyone):
        missing = int(warp.threads[warp.everyone & ~warp.mask][0])
        raise SimulationFault(
            FaultKind.BARRIER_DIVERGENCE,
            f"thread {missing} of block {warp.block.number} is in another branch",
            op,
        )
    yield warp.block.arrive_at_barrier(warp, op)
    return ()


RULES: dict[str, Rule] = {
    "gpu.thread_id": _thread_id,
    "gpu.block_id": _block_id,
    "gpu.block_dim": _block_dim,
    "gpu.grid_dim": _grid_dim,
    "gpu.lane_id": _lane_id,
    "cuvil_gpu.warp_reduce": _warp_reduce,
    "cuvil_gpu.warp_shuffle": _warp_shuffle,
    "cuvil_gpu.warp_sync": _warp_sync,
}

WAITING_RULES: dict[str, WaitingRule] = {"gpu.barrier": _barrier}
