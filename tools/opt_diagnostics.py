"""Where cuvil-opt's diagnostics go: to the terminal, or against the expectations written in the input.

`// expected-error @+1 {{message}}` expects an error on the next line whose text contains `message`; likewise warning,
remark and note. The place is this line, `@+N`, `@-N`, `@above`, `@below` or `@unknown`; `expected-error-re` takes a
regular expression.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, Protocol

from cuvil.errors import Diagnostic, Severity, SourceLocation, SourceTexts, render

_EXPECTATION = re.compile(
    r"expected-(error|warning|remark|note)(-re)?[ \t]*(?:@([+-]\d+|above|below|unknown))?[ \t]*\{\{(.*?)\}\}(?!\})"
)
_MALFORMED = re.compile(r"expected-(?:error|warning|remark|note)\b(?![^\n]*\{\{.*\}\})")


class Sink(Protocol):
    """Takes diagnostics while a part of the input is processed."""

    def report(self, diagnostic: Diagnostic) -> None:
        """Take a diagnostic."""
        ...

    def finish(self) -> bool:
        """Called at the end; True if all is well as far as diagnostics are concerned."""
        ...


@dataclass
class PrintingSink:
    """Shows diagnostics; any error is a failure."""

    stream: IO[str]
    sources: SourceTexts
    failed: bool = False

    def report(self, diagnostic: Diagnostic) -> None:
        self.failed |= diagnostic.severity == "error"
        print(render(diagnostic, self.sources), file=self.stream, flush=True)

    def finish(self) -> bool:
        return not self.failed


@dataclass
class Expectation:
    """A diagnostic that the input announces; `line` is None for one without a location."""

    severity: Severity
    text: str
    is_regex: bool
    line: int | None
    place: SourceLocation
    was_met: bool = False

    def matches(self, diagnostic: Diagnostic) -> bool:
        """True if the diagnostic is the one announced."""
        if diagnostic.severity != self.severity or not self._is_at(diagnostic.location):
            return False
        message = " ".join(diagnostic.message.split())
        return bool(re.search(self.text, message)) if self.is_regex else " ".join(self.text.split()) in message

    def _is_at(self, location: SourceLocation | None) -> bool:
        if location is None or self.line is None:
            return location is None and self.line is None
        return location.file == self.place.file and location.line == self.line


@dataclass
class ExpectingSink:
    """Compares diagnostics with expectations; shows those that are unexpected, and those that never came."""

    expectations: list[Expectation]
    stream: IO[str]
    sources: SourceTexts
    only_expected: bool = False
    failed: bool = field(default=False)

    def report(self, diagnostic: Diagnostic) -> None:
        self._match(diagnostic)
        for note in diagnostic.notes:
            self._match(note)

    def finish(self) -> bool:
        for expectation in self.expectations:
            if not expectation.was_met:
                self._complain(
                    f'expected {expectation.severity} "{expectation.text}" was not produced', expectation.place
                )
        return not self.failed

    def _match(self, diagnostic: Diagnostic) -> None:
        candidates = [expectation for expectation in self.expectations if expectation.matches(diagnostic)]
        if candidates:
            # Prefer one that is still open, so that the same text may be expected twice on a line.
            next((candidate for candidate in candidates if not candidate.was_met), candidates[0]).was_met = True
        elif not self.only_expected:
            self._complain(f"unexpected {diagnostic.severity}: {diagnostic.message}", diagnostic.location)

    def _complain(self, message: str, location: SourceLocation | None) -> None:
        self.failed = True
        print(render(Diagnostic("error", message, location), self.sources), file=self.stream, flush=True)


def parse_expectations(text: str, name: str, first_line: int) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations in the comments of a text, and errors for those that are malformed."""
    lines = text.split("\n")
    expectations: list[Expectation] = []
    problems: list[Diagnostic] = []
    for index, line in enumerate(lines):
        for match in _EXPECTATION.finditer(line):
            place = SourceLocation(name, first_line + index + 1, match.start() + 1, match.end() - match.start())
            target = _target_line(lines, index, match[3])
            line_number = None if target is None else first_line + target + 1
            problem = _regex_problem(match[4]) if match[2] else None
            if problem:
                problems.append(Diagnostic("error", problem, place))
                continue
            severity: Severity = match[1]  # pyright: ignore[reportAssignmentType]
            expectations.append(Expectation(severity, match[4], bool(match[2]), line_number, place))
        if "//" in line and (match := _MALFORMED.search(line)):
            place = SourceLocation(name, first_line + index + 1, match.start() + 1, match.end() - match.start())
            problems.append(Diagnostic("error", "expectation without {{message}}", place))
    return expectations, problems


def _target_line(lines: list[str], index: int, designator: str | None) -> int | None:
    """The index of the line that an expectation on line `index` is about; None for an unknown location."""
    match designator:
        case None:
            return index
        case "unknown":
            return None
        case "above":
            return next((i for i in range(index - 1, -1, -1) if not _EXPECTATION.search(lines[i])), index)
        case "below":
            return next((i for i in range(index + 1, len(lines)) if not _EXPECTATION.search(lines[i])), index)
        case _:
            return index + int(designator)


def _regex_problem(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except re.error as error:
        return f"expectation is not a regular expression: {error}"
    return None
