"""What the simulator finds wrong with a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.utils.str_enum import StrEnum

from cuvil.errors import CuvilError, Diagnostic, source_location


class FaultKind(StrEnum):
    """The classes of faults."""

    DATA_RACE = "data race"
    OUT_OF_BOUNDS = "access out of bounds"
    UNINITIALISED = "read of uninitialised memory"
    MISALIGNED = "misaligned access"
    BARRIER_DIVERGENCE = "barrier divergence"
    WARP_DIVERGENCE = "warp divergence"
    DEADLOCK = "deadlock"
    IN_FLIGHT = "access to memory of an unfinished copy"


@dataclass(frozen=True)
class Thread:
    """A thread by the numbers of its block and within the block."""

    block: int
    number: int

    def __str__(self) -> str:
        return f"thread {self.number} of block {self.block}"


class SimulationFault(CuvilError):
    """A kernel did what has no meaning on a GPU; the location is that of the operation."""

    kind: FaultKind

    def __init__(self, kind: FaultKind, message: str, op: Operation, other: Operation | None = None) -> None:
        notes = [] if other is None else [Diagnostic("note", f"the other is {other.name}", source_location(other))]
        super().__init__(f"{op.name}: {kind.value}: {message}", op, notes)
        self.kind = kind
