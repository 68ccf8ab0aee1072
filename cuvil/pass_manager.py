"""Running pipelines on modules, with instruments around every pass.

    manager = PassManager("normalize,func.func(cse)", instruments=[VerifyEach(), Timing()])
    manager.run(module)

    print(run_on_text("cse,canonicalize", "func.func @f() { ... }"))

A pass nested in `func.func(...)` sees a module that holds one function alone; what it would do outside of that function
is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException, ParseError, ShrinkException

from cuvil.errors import (
    CuvilError,
    InternalError,
    PassError,
    UserError,
    ValidationError,
    VerificationError,
    source_location,
)
from cuvil.garbage import collection_suspended
from cuvil.instrument.base import Instrument, PassRun
from cuvil.instrument.verify import operation_at_fault
from cuvil.ir_text import describe, parse_module, print_op
from cuvil.pipeline import Nested, Pipeline, Step
from cuvil.universe import make_context

PassT = TypeVar("PassT", bound=ModulePass)
Part = str | ModulePass | type[ModulePass] | Nested | Pipeline


@dataclass
class PassManager:
    """Runs a pipeline, given as text, passes or both, on modules."""

    pipeline: Pipeline
    instruments: list[Instrument] = field(default_factory=list[Instrument])
    context: Context = field(default_factory=make_context)

    def __init__(
        self,
        pipeline: Part | Sequence[Part] = (),
        instruments: Iterable[Instrument] = (),
        context: Context | None = None,
    ) -> None:
        parts = [pipeline] if isinstance(pipeline, str | ModulePass | type | Nested | Pipeline) else pipeline
        self.pipeline = Pipeline.of(*parts)
        self.instruments = list(instruments)
        for instrument in self.instruments:
            if not isinstance(instrument, Instrument):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UserError(f"expected an instrument such as cuvil.instrument.Timing(), got {instrument!r}")
        self.context = make_context() if context is None else context

    def run(self, module: ModuleOp) -> None:
        """Run the pipeline on `module`, in place.

        Raises `PassError` if a pass refuses the module, `VerificationError` or `ValidationError` if an instrument finds
        the result wrong, `InternalError` if a pass breaks. The module is then in the state in which the pass left it.
        """
        for instrument in self.instruments:
            instrument.before_pipeline(self.pipeline, module)
        with collection_suspended():
            _Run(self, module).steps(self.pipeline.steps, module, ())
        for instrument in reversed(self.instruments):
            instrument.after_pipeline(self.pipeline, module)

    def run_on_text(self, text: str, name: str = "<input>") -> str:
        """Parse `text`, run the pipeline on it, and return the result as text."""
        module = parse_module(self.context, text, name)
        self.run(module)
        return print_op(module)


def run_on_text(pipeline: Part | Sequence[Part], text: str, instruments: Iterable[Instrument] = ()) -> str:
    """The text of a module after a pipeline has run on it."""
    return PassManager(pipeline, instruments).run_on_text(text)


@dataclass
class _Run:
    """One run of a pipeline on one module."""

    manager: PassManager
    module: ModuleOp
    count: int = 0

    def steps(self, steps: Sequence[Step], op: Operation, anchors: tuple[str, ...]) -> Operation:
        """Run the steps on `op`; returns the operation that is in its place afterwards."""
        for step in steps:
            if isinstance(step, Nested):
                for inner in _anchored(op, step.anchor):
                    self.steps(step.steps, inner, (*anchors, step.anchor))
            else:
                op = self.one_pass(step, op, anchors)
        return op

    def one_pass(self, pass_: ModulePass, op: Operation, anchors: tuple[str, ...]) -> Operation:
        run = PassRun(pass_, self.module, op, self.count, anchors, self.manager.context)
        self.count += 1
        try:
            for instrument in self.manager.instruments:
                instrument.before_pass(run)
            op = self.apply(run)
            if op is not run.op:
                run = PassRun(pass_, self.module, op, run.index, anchors, self.manager.context)
            for instrument in reversed(self.manager.instruments):
                instrument.after_pass(run)
        except (ShrinkException, KeyboardInterrupt, MemoryError):
            raise
        except Exception as error:
            failure = _as_failure(run, error)
            for instrument in self.manager.instruments:
                instrument.on_failure(run, failure)
            raise failure from error
        return op

    def apply(self, run: PassRun) -> Operation:
        """Apply the pass to what it runs on; returns the operation that is in its place afterwards."""
        if isinstance(run.op, ModuleOp):
            run.pass_.apply(run.context, run.op)
            return run.op
        return _isolated(run.op, lambda module: run.pass_.apply(run.context, module))


def _anchored(op: Operation, anchor: str) -> list[Operation]:
    """The operations called `anchor` directly inside `op`."""
    return [inner for region in op.regions for block in region.blocks for inner in block.ops if inner.name == anchor]


def _isolated(op: Operation, apply: Callable[[ModuleOp], None]) -> Operation:
    """Run `apply` on a module that holds `op` alone, and put the result in its place.

    Raises `CuvilError` if `op` is not isolated from above, or if anything but one operation is left in the module.
    """
    if not op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        raise CuvilError(f"{op.name} is not isolated from above: no pass can be anchored on it", op)
    block = op.parent
    assert block is not None, "an anchored operation is inside the module"
    successor = op.next_op
    op.detach()
    holder = ModuleOp([op])
    try:
        apply(holder)
    finally:
        results = list(holder.body.block.ops)
        for result in results:
            result.detach()
            _insert(block, result, successor)
    if len(results) != 1:
        raise CuvilError(f"left {describe(results) or 'nothing'} in place of one {op.name}; run it on the module", op)
    return results[0]


def _insert(block: Block, op: Operation, successor: Operation | None) -> None:
    if successor is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, successor)


def _as_failure(run: PassRun, error: Exception) -> CuvilError:
    """The error to report for what a pass or an instrument raised."""
    if isinstance(error, VerificationError):
        return VerificationError(f"after pass '{run.name}': {error.message}", error.location, error.notes)
    if isinstance(error, ValidationError | InternalError | PassError):
        return error
    if isinstance(error, ParseError):
        return PassError(run.name, error.msg)
    if isinstance(error, CuvilError):
        return PassError(run.name, error.message, error.location or _location_at_fault(error), error.notes)
    if isinstance(error, DiagnosticException):
        op = operation_at_fault(error.__traceback__)
        message = " ".join(line.strip() for line in str(error).splitlines())
        if op is not None and not message.startswith(op.name):
            message = f"{op.name}: {message}"
        return PassError(run.name, message, op)
    text = " ".join(f"{type(error).__name__}: {error}".splitlines())
    return InternalError(f"pass '{run.name}' broke: {text}", operation_at_fault(error.__traceback__))


def _location_at_fault(error: Exception):
    return source_location(operation_at_fault(error.__traceback__))
