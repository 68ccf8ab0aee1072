"""Crash reproducers: a file with the IR and the pipeline that made a pass fail, for `cuvil-opt --run-reproducer`.

The pipeline is kept as MLIR keeps it, in `{-# external_resources #-}`, so that the file stays a module like any other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuvil.errors import CuvilError, Diagnostic
from cuvil.instrument.base import Instrument
from cuvil.ir_text import print_op

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from cuvil.instrument.base import PassRun
    from cuvil.pipeline import Pipeline


@dataclass
class CrashReproducer(Instrument):
    """On failure writes a reproducer to `path`: of the whole pipeline, or with `local` of the failing pass alone."""

    path: str
    local: bool = False
    verify_each: bool = True
    _module: ModuleOp | None = None
    _pipeline: str = ""

    def before_pipeline(self, pipeline: Pipeline, module: ModuleOp) -> None:
        if not self.local:
            self._keep(module, pipeline.nested_text())

    def before_pass(self, run: PassRun) -> None:
        if self.local:
            self._keep(run.module, run.pipeline_text)

    def on_failure(self, run: PassRun, error: Exception) -> None:
        if self._module is None:
            return
        try:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(reproducer_text(self._module, self._pipeline, self.verify_each))
        except OSError as problem:
            message = f"the reproducer could not be written: {problem}"
        else:
            message = f"a reproducer was written to '{self.path}'; run it with: cuvil-opt --run-reproducer {self.path}"
        if isinstance(error, CuvilError):
            error.notes.append(Diagnostic("note", message))

    def _keep(self, module: ModuleOp, pipeline: str) -> None:
        # A clone costs a fraction of printing, and is only printed if the pass fails.
        self._module, self._pipeline = module.clone(), pipeline


def reproducer_text(module: ModuleOp, pipeline: str, verify_each: bool = True) -> str:
    """The text of a reproducer: parses as the module, and names the pipeline to run."""
    return (
        print_op(module) + "\n{-#\n  external_resources: {\n    mlir_reproducer: {\n"
        f"      pipeline: {json.dumps(pipeline)},\n"
        f"      disable_threading: true,\n      verify_each: {str(verify_each).lower()}\n"
        "    }\n  }\n#-}\n"
    )
