"""Errors and diagnostics: what went wrong, where, and how it is shown.

Three kinds of error, told apart by type: what the user did (`UserError`), what Cuvil did (`InternalError`), and what
went wrong while compiled code ran (`CuvilRuntimeError`). All derive from `CuvilError`, which is an xDSL
`DiagnosticException`, so that every tool built on xDSL, `--verify-diagnostics` included, sees them.

A message starts in lower case with the operation, says what it got and what it expected, and names the remedy if there
is one: `cuvil_tensor.contract: contracted dims differ: lhs dim 1 is 8, rhs dim 0 is 7`.

A `Diagnostic` is an error ready to be shown: `file:line:column: error: message`, the source line and a caret.
Importing this module costs nothing: the runtime, which knows no compiler, raises these errors too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from xdsl.utils.exceptions import DiagnosticException, ParseError

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation
    from xdsl.utils.lexer import Span

Severity: TypeAlias = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A place in a text: one-based line and column; `length` characters are underlined when it is shown."""

    file: str
    line: int
    column: int
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


Locatable: TypeAlias = "SourceLocation | Attribute | Operation | None"
"""What a location can be given as: a `SourceLocation`, an xDSL location attribute, or an operation that has one."""


class CuvilError(DiagnosticException):
    """Base of every error that Cuvil raises on purpose; `location` is the place it is about, if known."""

    location: SourceLocation | None
    message: str
    notes: list[Diagnostic]

    def __init__(self, message: str, location: Locatable = None, notes: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.location = source_location(location)
        self.notes = list(notes)


class UserError(CuvilError):
    """The input, the options or the model are at fault: the message tells the user what to change."""


class UnsupportedError(UserError):
    """The input is legal, but Cuvil does not handle it."""


class PipelineError(UserError):
    """A pass pipeline's text is malformed, or names a pass or an option that does not exist; `text` is all of it."""

    text: str

    def __init__(self, message: str, location: SourceLocation | None = None, text: str = "") -> None:
        super().__init__(message, location)
        self.text = text

    def __str__(self) -> str:
        sources = {self.location.file: self.text} if self.location else {}
        return render(diagnostic_of(self), sources).replace(": error: ", ": ", 1)


class PassError(UserError):
    """A pass could not do its work on this module."""

    pass_name: str

    def __init__(
        self, pass_name: str, message: str, location: Locatable = None, notes: Iterable[Diagnostic] = ()
    ) -> None:
        super().__init__(f"pass '{pass_name}' failed: {message}", location, notes)
        self.pass_name = pass_name


class VerificationError(UserError):
    """An operation breaks an invariant of its dialect."""


class ValidationError(CuvilError):
    """A pass changed what a function computes."""


class InternalError(CuvilError):
    """Cuvil broke one of its own invariants: a bug of ours, never the user's."""


class CuvilRuntimeError(CuvilError, RuntimeError):
    """Compiled code could not run, or refused its arguments."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message at a place, ready to be shown; `notes` follow it."""

    severity: Severity
    message: str
    location: SourceLocation | None = None
    notes: tuple[Diagnostic, ...] = ()


@dataclass
class SourceTexts:
    """Finds the source line that a location names: in texts given by name (stdin, a pipeline), else on disk."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    _lines: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"], init=False, repr=False)

    def add(self, name: str, text: str) -> None:
        """Make `text` the contents of `name`, which may or may not exist on disk."""
        self.texts[name] = text
        self._lines.pop(name, None)

    def line(self, location: SourceLocation) -> str | None:
        """The line that `location` names, or None if its text cannot be had."""
        lines = self._lines.get(location.file)
        if lines is None:
            lines = self._lines[location.file] = self._read(location.file)
        return lines[location.line - 1] if 0 < location.line <= len(lines) else None

    def _read(self, name: str) -> list[str]:
        text = self.texts.get(name)
        if text is None:
            try:
                with open(name, encoding="utf-8", errors="replace") as file:
                    text = file.read()
            except OSError:
                return []
        return text.split("\n")


def source_location(place: Locatable) -> SourceLocation | None:
    """The `SourceLocation` of an operation, location attribute or `SourceLocation`; None if it is unknown.

    Of a fused location the first known part counts, of a call site the callee, of a named location its child.
    """
    if place is None or isinstance(place, SourceLocation):
        return place
    # By name, not by class: importing the attribute classes costs 60 ms, which the runtime must not pay.
    attribute: Any = getattr(place, "location", None) if hasattr(place, "regions") else place
    match getattr(attribute, "name", None):
        case "file_line_loc":
            return SourceLocation(attribute.filename.data, attribute.line.data, attribute.column.data)
        case "builtin.name_loc":
            return source_location(attribute.location)
        case "builtin.callsite_loc":
            return source_location(attribute.callee) or source_location(attribute.caller)
        case "builtin.fused_loc":
            found = (source_location(part) for part in attribute.locations)
            return next((location for location in found if location is not None), None)
        case _:
            return None


def location_of_span(span: Span[str] | Span[bytes]) -> SourceLocation:
    """The place a parser's span starts at, as long as the span is on its first line."""
    place = span.get_location()
    end_of_line = span.input.get_end_of_line(span.start)
    return SourceLocation(place.file, place.line, place.col, max(min(span.end, end_of_line) - span.start, 1))


def diagnostic_of(error: BaseException) -> Diagnostic:
    """The diagnostic that shows `error`: a `CuvilError`, a parse error, or any other exception by its text."""
    if isinstance(error, CuvilError):
        return Diagnostic("error", error.message, error.location, tuple(error.notes))
    if isinstance(error, ParseError):
        refs: list[tuple[Any, str | None]] = getattr(error, "refs", [])
        text: str = getattr(error, "ref_text", None) or "see here"
        notes = tuple(Diagnostic("note", message or text, location_of_span(span)) for span, message in refs)
        return Diagnostic("error", _first_lower(error.msg), location_of_span(error.span), notes)
    text = str(error) or type(error).__name__
    return Diagnostic("error", text)


def render(diagnostic: Diagnostic, sources: SourceTexts | Mapping[str, str] | None = None) -> str:
    """The diagnostic as text: `file:line:column: error: message`, then the source line, a caret, and the notes.

    Example:
        f.mlir:2:8: error: operation foo.bar is not registered
          %0 = foo.bar
               ^~~~~~~
    """
    if not isinstance(sources, SourceTexts):
        sources = SourceTexts(dict(sources or {}))
    place = f"{diagnostic.location}: " if diagnostic.location else ""
    lines = [f"{place}{diagnostic.severity}: {diagnostic.message}"]
    if diagnostic.location is not None:
        lines += _excerpt(diagnostic.location, sources)
    lines += [render(note, sources) for note in diagnostic.notes]
    return "\n".join(lines)


def _excerpt(location: SourceLocation, sources: SourceTexts) -> list[str]:
    """The source line of `location` with a caret beneath, or nothing if the line cannot be had."""
    line = sources.line(location)
    if line is None:
        return []
    line = line.removesuffix("\r")
    column = min(max(location.column - 1, 0), len(line))
    # A tab before the caret must stay a tab, or the caret points elsewhere.
    padding = "".join("\t" if character == "\t" else " " for character in line[:column])
    underline = "~" * (min(location.length, len(line) - column) - 1)
    return [line, f"{padding}^{underline}"]


def _first_lower(text: str) -> str:
    """`text` starting in lower case, unless its first word is a name such as SSA."""
    return text if len(text) > 1 and text[1].isupper() else text[:1].lower() + text[1:]
