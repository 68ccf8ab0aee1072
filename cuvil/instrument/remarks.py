"""Remarks: what a pass did, what it declined to do, and what it found, at the operation concerned.

A pass reports with `emit`; whoever wants to know listens with `collect` or `listening`. When nobody listens, `emit` is
a context-variable read. A message that is dear to build is guarded with `if remarks.is_enabled():`.

    remarks.emit("missed", pass_name="fuse", op=op, message="producer has two uses", args={"uses": 2})

Kinds are LLVM's: `passed` (a transformation was done), `missed` (declined, and why), `analysis` (a fact found),
`failed` (requested by the user, yet impossible).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from cuvil.errors import Diagnostic, Locatable, SourceLocation, UserError, source_location

if TYPE_CHECKING:
    from xdsl.ir import Operation

Kind: TypeAlias = Literal["passed", "missed", "analysis", "failed"]
Scalar: TypeAlias = str | int | float | bool | None
KINDS: tuple[Kind, ...] = ("passed", "missed", "analysis", "failed")


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark of a pass about an operation."""

    kind: Kind
    pass_name: str
    message: str
    op_name: str | None = None
    function: str | None = None
    location: SourceLocation | None = None
    args: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])

    @property
    def text(self) -> str:
        """The remark on one line, without its location: `[missed] fuse: producer has two uses (uses=2)`."""
        details = ", ".join(f"{key}={value}" for key, value in self.args.items())
        return f"[{self.kind}] {self.pass_name}: {self.message}" + (f" ({details})" if details else "")

    def diagnostic(self) -> Diagnostic:
        """The remark as a diagnostic with severity `remark`."""
        return Diagnostic("remark", self.text, self.location)

    def as_dict(self) -> dict[str, object]:
        """The remark as plain data: keys kind, pass, message, op, function, file, line, column, args."""
        place = self.location
        return {
            "kind": self.kind,
            "pass": self.pass_name,
            "message": self.message,
            "op": self.op_name,
            "function": self.function,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "args": dict(self.args),
        }


Listener: TypeAlias = Callable[[Remark], None]
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("cuvil_remark_listeners", default=())


def is_enabled() -> bool:
    """True if somebody listens to remarks."""
    return bool(_listeners.get())


def emit(
    kind: Kind,
    *,
    pass_name: str,
    message: str,
    op: Operation | None = None,
    args: Mapping[str, Scalar] | None = None,
    op_name: str | None = None,
    location: Locatable = None,
) -> None:
    """Report `message` about `op` to everybody who listens; does nothing when nobody does.

    What is not in the IR yet has a name and a location of its own in place of an `op`.
    """
    listeners = _listeners.get()
    if not listeners:
        return
    about = (op_name, None, source_location(location)) if op is None else _describe(op)
    remark = Remark(kind, pass_name, message, *about, dict(args or {}))
    for listener in listeners:
        listener(remark)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Call `listener` with every remark emitted inside the `with` block."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def collect() -> Generator[list[Remark]]:
    """The list of the remarks emitted inside the `with` block."""
    remarks: list[Remark] = []
    with listening(remarks.append):
        yield remarks


@dataclass(frozen=True)
class RemarkFilter:
    """Selects remarks: by a regex over `kind` or pass name, and by one over pass names for a kind.

    `RemarkFilter.parse("missed")` takes all missed ones, `"fuse"` all of a pass, `"passed|missed"` two kinds,
    `"missed=fuse|tile"` the missed ones of two passes.
    """

    patterns: tuple[tuple[str | None, re.Pattern[str]], ...]

    @staticmethod
    def parse(texts: Iterable[str]) -> RemarkFilter:
        """The filter that takes what any of `texts` takes. Raises `UserError` for a malformed regex."""
        return RemarkFilter(tuple(_parse_filter(text) for text in texts))

    def takes(self, remark: Remark) -> bool:
        """True if any pattern matches the remark."""
        return any(
            pattern.search(remark.pass_name) or (kind is None and pattern.search(remark.kind))
            for kind, pattern in self.patterns
            if kind is None or kind == remark.kind
        )


def to_json(remarks: Iterable[Remark]) -> str:
    """The remarks as JSON, one object a line."""
    return "".join(json.dumps(remark.as_dict()) + "\n" for remark in remarks)


def to_yaml(remarks: Iterable[Remark]) -> str:
    """The remarks as YAML documents, tagged as LLVM's optimization remarks are."""
    return "".join(_yaml_document(remark) for remark in remarks)


def _parse_filter(text: str) -> tuple[str | None, re.Pattern[str]]:
    kind, equals, pattern = text.partition("=")
    if not equals or kind not in KINDS:
        kind, pattern = None, text
    try:
        return kind, re.compile(pattern)
    except re.error as error:
        raise UserError(f"remarks filter '{text}' is not a regular expression: {error}") from error


def _yaml_document(remark: Remark) -> str:
    lines = [f"--- !{remark.kind.capitalize()}", f"Pass: {json.dumps(remark.pass_name)}"]
    lines += [f"Name: {json.dumps(remark.op_name)}"] if remark.op_name else []
    if place := remark.location:
        lines.append(f"DebugLoc: {{ File: {json.dumps(place.file)}, Line: {place.line}, Column: {place.column} }}")
    lines += [f"Function: {json.dumps(remark.function)}"] if remark.function else []
    # A JSON scalar is a YAML scalar, quoted where it must be.
    lines += ["Args:", f"  - String: {json.dumps(remark.message)}"]
    lines += [f"  - {key}: {json.dumps(value)}" for key, value in remark.args.items()]
    return "\n".join([*lines, "...", ""])


def _describe(op: Operation) -> tuple[str | None, str | None, SourceLocation | None]:
    """The name of `op`, the symbol of the function around it, and its location or the nearest one outwards."""
    function: str | None = None
    location: SourceLocation | None = None
    ancestor: Operation | None = op
    while ancestor is not None:
        location = location or source_location(ancestor)
        symbol = ancestor.get_attr_or_prop("sym_name") if ancestor.name != "builtin.module" else None
        function = function or getattr(symbol, "data", None)
        ancestor = ancestor.parent_op()
    return op.name, function, location
