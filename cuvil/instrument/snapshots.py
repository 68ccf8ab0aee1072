"""Snapshots: the module after every pass, each in a numbered file of one directory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuvil.instrument.base import Instrument
from cuvil.ir_text import PrintOptions, print_op

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from cuvil.instrument.base import PassRun
    from cuvil.pipeline import Pipeline


@dataclass
class Snapshots(Instrument):
    """Writes `00-input.mlir`, `01-fuse.mlir`, `02-plan-memory.mlir`... into `directory`, which is made if need be."""

    directory: str
    options: PrintOptions = field(default_factory=PrintOptions)

    def before_pipeline(self, pipeline: Pipeline, module: ModuleOp) -> None:
        os.makedirs(self.directory, exist_ok=True)
        self._write("00-input.mlir", module)

    def after_pass(self, run: PassRun) -> None:
        self._write(f"{run.index + 1:02}-{run.name}.mlir", run.module)

    def _write(self, name: str, module: ModuleOp) -> None:
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.write(print_op(module, self.options))
