"""The verifier: every operation's own checks, and that values are defined before they are used.

xDSL's verifier does not check dominance, so that IR read from text may use a value above its definition;
`verify_module` does. It raises a `VerificationError` that names and locates the operation at fault.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException

from cuvil.errors import CuvilError, Diagnostic, VerificationError, source_location
from cuvil.instrument.base import Instrument

if TYPE_CHECKING:
    from cuvil.instrument.base import PassRun
    from cuvil.instrument.timing import Timing


def verify_module(module: ModuleOp, dominance: bool = True) -> None:
    """Check the module and everything in it. Raises `VerificationError` at the first operation at fault."""
    try:
        module.verify()
    except (DiagnosticException, ValueError) as error:
        raise as_verification_error(error, module) from error
    if dominance:
        for region in module.regions:
            _verify_dominance(region, set())


def as_verification_error(error: Exception, module: ModuleOp) -> VerificationError:
    """The error that a verifier raised, with the operation that it is about."""
    op = operation_at_fault(error.__traceback__) or module
    place = source_location(op)
    notes: list[Diagnostic] = []
    if isinstance(error, CuvilError):
        place, notes = error.location or place, error.notes
    message = " ".join(line.strip() for line in str(error).splitlines())
    if not message.startswith(op.name):
        message = f"{op.name}: {message[:1].lower()}{message[1:]}"
    return VerificationError(message, place, notes)


def operation_at_fault(traceback: TracebackType | None) -> Operation | None:
    """The operation that xDSL's verifier or pattern walker was at when it raised.

    Their exceptions carry it only as a printed module; the innermost of their frames has the object.
    """
    found: Operation | None = None
    while traceback is not None:
        code, local_values = traceback.tb_frame.f_code, traceback.tb_frame.f_locals
        if code is Operation.verify.__code__:
            found = local_values.get("self")
        elif code.co_name == "_process_worklist":
            found = local_values.get("op")
        traceback = traceback.tb_next
    return found


@dataclass
class VerifyEach(Instrument):
    """Verifies the module after every pass; with `timing`, the time it takes shows up there."""

    timing: Timing | None = None

    def after_pass(self, run: PassRun) -> None:
        with self.timing.scope("(verify)") if self.timing else nullcontext():
            verify_module(run.module)


def _verify_dominance(region: Region, visible: set[SSAValue]) -> None:
    """Check the uses in `region`; `visible` are the values defined around it, and is left as it was."""
    if len(region.blocks) == 1:
        block = region.blocks[0]
        added = _verify_block(block, visible)
        visible.difference_update(added)
        return
    dominance = DominanceInfo(region)
    defined = {block: _defined_in(block) for block in region.blocks}
    entry = region.blocks.first
    for block in region.blocks:
        dominators = [other for other in region.blocks if dominance.strictly_dominates(other, block)]
        if block is not entry and not dominators:
            continue  # unreachable: anything is allowed
        above = [value for other in dominators for value in defined[other]]
        visible.update(above)
        visible.difference_update(_verify_block(block, visible))
        visible.difference_update(above)


def _verify_block(block: Block, visible: set[SSAValue]) -> list[SSAValue]:
    """Check the uses in `block`; adds the values it defines to `visible`, and returns them."""
    added: list[SSAValue] = list(block.args)
    visible.update(added)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise VerificationError(f"{op.name}: operand #{index} does not dominate this use", op)
        for region in op.regions:
            _verify_dominance(region, set() if op.has_trait(IsolatedFromAbove) else visible)
        results = op.results
        visible.update(results)
        added += results
    return added


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]
