"""What an instrument is: hooks around every pass of a pipeline.

    class CountRuns(Instrument):
        def before_pass(self, run: PassRun) -> None: ...

Instruments are called in order before a pass and in reverse order after it, so that each pair of calls encloses the
later instruments' pairs. An exception from a hook fails the pass: every instrument then gets `on_failure`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuvil.pass_options import pass_text

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation
    from xdsl.passes import ModulePass

    from cuvil.pipeline import Pipeline


@dataclass(frozen=True, slots=True, eq=False)
class PassRun:
    """One pass on one operation: what a hook is told."""

    pass_: ModulePass
    module: ModuleOp
    """The whole module."""
    op: Operation
    """What the pass runs on: the module, or an operation in it for a nested pass."""
    index: int
    """The number of passes run before in this pipeline."""
    anchors: tuple[str, ...]
    """The names of the operations around a nested pass in the pipeline: `("func.func",)`."""
    context: Context

    @property
    def name(self) -> str:
        """The pass's name."""
        return self.pass_.name

    @property
    def is_nested(self) -> bool:
        """True if the pass runs on a part of the module."""
        return self.op is not self.module

    @property
    def pipeline_text(self) -> str:
        """The pipeline that runs this pass alone: `builtin.module(func.func(cse))`."""
        text = pass_text(self.pass_)
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        return f"builtin.module({text})"


class Instrument:
    """Hooks that do nothing; subclasses override those that they need."""

    def before_pipeline(self, pipeline: Pipeline, module: ModuleOp) -> None:
        """Called once, before the first pass."""

    def after_pipeline(self, pipeline: Pipeline, module: ModuleOp) -> None:
        """Called once, after the last pass, unless one failed."""

    def before_pass(self, run: PassRun) -> None:
        """Called before each pass."""

    def after_pass(self, run: PassRun) -> None:
        """Called after each pass that succeeded."""

    def on_failure(self, run: PassRun, error: Exception) -> None:
        """Called when a pass, or the check of an instrument after it, failed; the IR may be invalid."""
