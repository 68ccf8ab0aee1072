"""Printing the IR before and after passes, to a stream or into a tree of files.

The header is MLIR's, with the pass's name: `// -----// IR Dump After fuse //----- //`.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from cuvil.instrument.base import Instrument
from cuvil.ir_text import PrintOptions, print_op, symbol_of

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from cuvil.instrument.base import PassRun


@dataclass
class PrintIR(Instrument):
    """Prints what passes run on: the operation, or the whole module with `module_scope`."""

    before: frozenset[str] = frozenset()
    """Names of passes before which to print."""
    after: frozenset[str] = frozenset()
    """Names of passes after which to print."""
    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    """Print after a pass only if it changed the IR."""
    after_failure: bool = False
    module_scope: bool = False
    tree_dir: str | None = None
    """Write each dump to a file of its own below this directory, not to `stream`."""
    options: PrintOptions = field(default_factory=PrintOptions)
    stream: IO[str] | None = None
    """Standard error if None."""
    _text_before: str = ""
    _counts: dict[str, int] = field(default_factory=dict[str, int])

    def before_pass(self, run: PassRun) -> None:
        if self.after_change:
            self._text_before = _safe_text(run.op, self.options)
        if self.before_all or run.name in self.before:
            self._emit(run, "Before")

    def after_pass(self, run: PassRun) -> None:
        changed = not self.after_change or self._text_before != _safe_text(run.op, self.options)
        if changed and (self.after_all or run.name in self.after):
            self._emit(run, "After")
        if self.tree_dir is not None:
            self._count(run)

    def on_failure(self, run: PassRun, error: Exception) -> None:
        if self.after_failure:
            self._emit(run, "After", " Failed")

    def _emit(self, run: PassRun, when: str, outcome: str = "") -> None:
        header = f"// -----// IR Dump {when} {run.name}{outcome}{_subject(run)} //----- //\n"
        text = header + _safe_text(run.module if self.module_scope else run.op, self.options) + "\n"
        if self.tree_dir is None:
            stream = self.stream or sys.stderr
            stream.write(text)
            stream.flush()
            return
        path = self._path(run, when + outcome)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _path(self, run: PassRun, when: str) -> str:
        """The file of a dump: a folder an operation, files numbered by the passes run on it and around it."""
        assert self.tree_dir is not None
        folders = _folders(run.op)
        numbers = [str(self._counts.get("/".join(folders[: depth + 1]), 0)) for depth in range(len(folders))]
        suffix = "" if when == "After" else "_" + when.lower().replace(" ", "_")
        return os.path.join(self.tree_dir, *folders, f"{'_'.join(numbers)}_{run.name}{suffix}.mlir")

    def _count(self, run: PassRun) -> None:
        key = "/".join(_folders(run.op))
        self._counts[key] = self._counts.get(key, 0) + 1


def _subject(run: PassRun) -> str:
    """What a nested pass runs on, as MLIR says it in the header."""
    if not run.is_nested:
        return ""
    symbol = symbol_of(run.op)
    return f" ('{run.op.name}' operation" + (f": @{symbol})" if symbol else ")")


def _folders(op: Operation) -> list[str]:
    """Folder names for an operation and those around it, outermost first: `builtin_module_no-symbol-name`."""
    folders: list[str] = []
    ancestor: Operation | None = op
    while ancestor is not None:
        name = f"{ancestor.name}_{symbol_of(ancestor) or 'no-symbol-name'}"
        folders.append(re.sub(r"[^A-Za-z0-9_-]", "_", name))
        ancestor = ancestor.parent_op()
    return folders[::-1]


def _safe_text(op: Operation, options: PrintOptions) -> str:
    """The operation as text; in generic form if it is too broken for its own printer."""
    try:
        return print_op(op, options)
    except Exception:  # a failed pass may leave anything behind
        try:
            return print_op(op, PrintOptions(generic=True))
        except Exception as error:
            return f"// not printable: {type(error).__name__}: {error}\n"
