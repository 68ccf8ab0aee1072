"""A warp: 32 lanes that execute a kernel's body in lockstep, those that a branch leaves out masked off.

A value is an array with one row a lane: [32] for a scalar, [32, n] for a vector of n lanes of its own. What masked-off
lanes hold means nothing. A warp runs as a generator: it yields where it must wait for other warps.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from cuvil.errors import CuvilError, source_location
from cuvil.semantics.arrays import dtype_of
from cuvil.semantics.interpreter import Frame, InterpretationError
from cuvil.semantics.simulator.faults import FaultKind, SimulationFault
from cuvil.semantics.simulator.memory import WARP_SIZE, Access, Array, Memory

if TYPE_CHECKING:
    from cuvil.semantics.simulator.block import RunningBlock

Value: TypeAlias = Any
"""An array of lanes, a `Memory`, or a `Local`."""


@dataclass(frozen=True)
class Wait:
    """What a warp yields: it goes on once `is_over` holds. A barrier is the same operation for all warps of a block."""

    op: Operation
    is_over: Callable[[], bool]


Steps: TypeAlias = Generator[Wait, None, Any]
Rule: TypeAlias = "Callable[[Warp, Any, Sequence[Value]], Sequence[Value] | None]"
"""The meaning of an operation that does not wait."""
WaitingRule: TypeAlias = "Callable[[Warp, Any, Sequence[Value]], Generator[Wait, None, Sequence[Value] | None]]"


@dataclass
class Local:
    """A buffer on each thread's stack: one row a lane."""

    data: Array
    written: Array
    element_type: Attribute


class Warp:
    """Warp `number` of a block on its way through the kernel."""

    def __init__(self, block: RunningBlock, number: int) -> None:
        self.block = block
        self.number = number
        first = number * WARP_SIZE
        self.threads = np.arange(first, first + WARP_SIZE, dtype=np.int32)
        self.mask = self.threads < block.thread_count
        self.everyone = self.mask
        """The lanes that exist."""
        self.values: dict[SSAValue, Value] = {}
        self.frame: Frame = block.launch.frame
        self.copies: list[Any] = []
        """Asynchronous copies that no group has yet."""
        self.copy_groups: list[list[Any]] = []

    def access(self, op: Operation, lanes: Any = None) -> Access:
        """The lanes given, else the active ones, for a check of memory."""
        return Access(op, self.block.clocks, self.number, self.threads[self.mask if lanes is None else lanes])

    def synchronise(self, op: Operation) -> None:
        """All lanes are here: what they did before happens before what any of them does next."""
        self.need_everyone(op)
        self.block.clocks.release(self.number)

    def need_everyone(self, op: Operation) -> None:
        """Raise where a branch has left lanes out."""
        if not np.array_equal(self.mask, self.everyone):
            missing = int(self.threads[self.everyone & ~self.mask][0])
            raise SimulationFault(
                FaultKind.WARP_DIVERGENCE,
                f"thread {missing} of block {self.block.number} does not execute it with its warp",
                op,
            )

    # -- running -----------------------------------------------------------------------------------------------------

    def run(self, body: Block, arguments: Sequence[Value]) -> Steps:
        """Run the kernel's body."""
        self.values.update(zip(body.args, arguments, strict=True))
        yield from self.run_block(body)

    def run_block(self, block: Block) -> Steps:
        """Run a block; the values of its terminator's operands."""
        values = self.values
        last = block.last_op
        for op in block.ops:
            operands = [values[operand] for operand in op.operands]
            if op is last:
                return operands
            control = _CONTROL.get(op.name)
            if control is not None:
                results = yield from control(self, op, operands)
            elif op.name in waiting_rules():
                results = yield from self._explained(op, waiting_rules()[op.name], operands)
            else:
                results = self.execute(op, operands)
            values.update(zip(op.results, results or (), strict=True))
        return ()

    def _explained(self, op: Operation, rule: WaitingRule, operands: Sequence[Value]) -> Steps:
        try:
            return (yield from rule(self, op, operands))
        except CuvilError as error:
            error.location = error.location or source_location(op)
            raise

    def execute(self, op: Operation, operands: Sequence[Value]) -> Sequence[Value]:
        """The results of an operation without regions or waiting."""
        rule = rules().get(op.name)
        if rule is None:
            raise InterpretationError(f"{op.name}: the simulator has no meaning for this operation", op)
        try:
            return rule(self, op, operands) or ()
        except CuvilError as error:
            error.location = error.location or source_location(op)
            raise
        except DiagnosticException as error:
            raise InterpretationError(str(error), op) from error
        except Exception as error:  # whatever NumPy raises, the user must see which operation it was
            raise InterpretationError(f"{op.name}: {error}", op) from error


def chosen(mask: Array, new: Array, old: Array) -> Array:
    """`new` in the lanes of the mask, `old` in others."""
    return np.where(mask if new.ndim == 1 else mask[:, None], new, old)


def undefined(value_type: Attribute) -> Array:
    """A value of which no lane has been computed."""
    if isinstance(value_type, VectorType):
        (lanes,) = value_type.get_shape()
        return np.zeros((WARP_SIZE, lanes), dtype_of(value_type.element_type))
    return np.zeros(WARP_SIZE, dtype_of(value_type))


# -- control flow ------------------------------------------------------------------------------------------------------


def _masked(warp: Warp, mask: Array, block: Block) -> Steps:
    outside, warp.mask = warp.mask, mask
    results = yield from warp.run_block(block)
    warp.mask = outside
    return results


def _if(warp: Warp, op: scf.IfOp, operands: Sequence[Value]) -> Steps:
    condition = operands[0]
    results = [undefined(result.type) for result in op.results]
    for region, taken in ((op.true_region, condition), (op.false_region, ~condition)):
        mask = warp.mask & taken
        if region.blocks and mask.any():
            values = yield from _masked(warp, mask, region.block)
            results = [chosen(mask, new, old) for new, old in zip(values, results, strict=True)]
    return results


def _for(warp: Warp, op: scf.ForOp, operands: Sequence[Value]) -> Steps:
    position, end, step, *carried = operands
    if (warp.mask & (step <= 0)).any():
        raise InterpretationError(f"{op.name}: the step is not positive", op)
    while (mask := warp.mask & (position < end)).any():
        warp.values.update(zip(op.body.block.args, [position, *carried], strict=True))
        values = yield from _masked(warp, mask, op.body.block)
        carried = [chosen(mask, new, old) for new, old in zip(values, carried, strict=True)]
        position = position + step
    return carried


def _while(warp: Warp, op: scf.WhileOp, operands: Sequence[Value]) -> Steps:
    mask, carried = warp.mask, list(operands)
    results = [undefined(result.type) for result in op.results]
    while mask.any():
        warp.values.update(zip(op.before_region.block.args, carried, strict=True))
        condition, *passed = yield from _masked(warp, mask, op.before_region.block)
        leaving = mask & ~condition
        results = [chosen(leaving, new, old) for new, old in zip(passed, results, strict=True)]
        mask = mask & condition
        if mask.any():
            warp.values.update(zip(op.after_region.block.args, passed, strict=True))
            values = yield from _masked(warp, mask, op.after_region.block)
            carried = [chosen(mask, new, old) for new, old in zip(values, carried, strict=True)]
    return results


_CONTROL: Mapping[str, Callable[[Warp, Any, Sequence[Value]], Steps]] = {
    "scf.if": _if,
    "scf.for": _for,
    "scf.while": _while,
}

_FAMILIES = ("rules_values", "rules_memory", "rules_threads", "rules_async", "rules_matrix")


@cache
def rules() -> Mapping[str, Rule]:
    """The meaning of every operation that does not wait, by name."""
    table: dict[str, Rule] = {}
    for family in _FAMILIES:
        table.update(import_module(f"cuvil.semantics.simulator.{family}").RULES)
    return table


@cache
def waiting_rules() -> Mapping[str, WaitingRule]:
    """The meaning of every operation that may wait for other warps, by name."""
    table: dict[str, WaitingRule] = {}
    for family in _FAMILIES:
        table.update(getattr(import_module(f"cuvil.semantics.simulator.{family}"), "WAITING_RULES", {}))
    return table


__all__ = ["Local", "Memory", "Rule", "Steps", "Value", "Wait", "WaitingRule", "Warp", "chosen", "undefined"]
