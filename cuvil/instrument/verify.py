"""The verifier: every operation's own checks, and that values are defined before they are used.

`verify_module` raises a `VerificationError` that names and locates the operation at fault.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException

from cuvil.errors import CuvilError, Diagnostic, SourceLocation, VerificationError, source_location
from cuvil.instrument.base import Instrument
from cuvil.instrument.dominance import verify_dominance
from cuvil.ir_text import symbol_of

if TYPE_CHECKING:
    from cuvil.instrument.base import PassRun
    from cuvil.instrument.timing import Timing


def verify_module(module: ModuleOp, dominance: bool = True) -> None:
    """Check the module and everything in it. Raises `VerificationError` at the first operation at fault."""
    try:
        module.verify()
    except RecursionError:
        raise
    except Exception as error:  # verifiers of upstream's dialects raise whatever they like for malformed operations
        raise as_verification_error(error, module) from error
    if dominance:
        verify_dominance(module)


def as_verification_error(error: Exception, module: ModuleOp) -> VerificationError:
    """The error that a verifier raised, with the operation that it is about."""
    op = operation_at_fault(error.__traceback__) or module
    place = source_location(op)
    notes: list[Diagnostic] = []
    if isinstance(error, CuvilError):
        place, notes = error.location or place, error.notes
    message = " ".join(line.strip() for line in str(error).splitlines())
    if not isinstance(error, DiagnosticException | ValueError) and type(error) is not Exception:
        message = f"{type(error).__name__}: {message}"
    if (redefined := re.search(r'[Rr]edefinition of symbol "(.*)"', message)) is not None:
        place = _second_definition(op, redefined[1]) or place
    if not message.startswith(op.name):
        message = f"{op.name}: {message[:1].lower()}{message[1:]}"
    return VerificationError(message, place, notes)


def _second_definition(table: Operation, symbol: str) -> SourceLocation | None:
    """Where a symbol table defines `symbol` again: the table's own place is of no use to the user."""
    found = [op for region in table.regions for block in region.blocks for op in block.ops if symbol_of(op) == symbol]
    return source_location(found[1]) if len(found) > 1 else None


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
