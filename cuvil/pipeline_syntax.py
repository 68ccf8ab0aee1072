"""The syntax of pass pipelines: text to tree, with the place of everything, for errors with a caret.

pipeline ::= (element (`,` element)*)?
element  ::= name options? | anchor `(` pipeline `)` | name `[` raw text `]`
options  ::= `{` (option (space option)*)? `}`
option   ::= name (`=` value (`,` value)*)?
value    ::= `"` escaped text `"` | `'` text `'` | text without space, comma, brace or quote

The flat form `cse,fuse{max-ops=32}` and MLIR's nested one `builtin.module(func.func(cse))` are one grammar; the form
with brackets is xDSL's `mlir-opt[...]`. Names are resolved by `cuvil.pipeline`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from cuvil.errors import PipelineError, SourceLocation

SOURCE_NAME = "pass-pipeline"
"""The file name under which diagnostics show a pipeline's text."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_RAW_VALUE = re.compile(r"[^\s,{}()\"'=]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'', re.DOTALL)
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class OptionNode:
    """`name=value,value`: the values are None for a bare `name`."""

    name: str
    values: tuple[str, ...] | None
    name_span: tuple[int, int]
    value_span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PassNode:
    """`name{options}`."""

    name: str
    options: tuple[OptionNode, ...]
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class AnchorNode:
    """`op.name(elements)`."""

    op_name: str
    elements: tuple[Node, ...]
    span: tuple[int, int]


Node = PassNode | AnchorNode


def parse(text: str) -> tuple[Node, ...]:
    """The elements of a pipeline's text. Raises `PipelineError`, located in the text."""
    return _Parser(text).parse()


def error(text: str, message: str, span: tuple[int, int]) -> PipelineError:
    """A `PipelineError` about `text[span]`."""
    start, end = span
    line_start = text.rfind("\n", 0, start) + 1
    location = SourceLocation(SOURCE_NAME, text.count("\n", 0, start) + 1, start - line_start + 1, max(end - start, 1))
    return PipelineError(message, location, text)


def quote(value: str) -> str:
    """`value` as it must be written in a pipeline, quoted if need be."""
    if _RAW_VALUE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class _Parser:
    """Recursive descent over the text; `position` is the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def parse(self) -> tuple[Node, ...]:
        elements = self.parse_elements()
        if self.position < len(self.text):
            found = self.text[self.position]
            self.fail("unbalanced ')'" if found == ")" else f"expected ',' before {found!r}")
        return elements

    def parse_elements(self) -> tuple[Node, ...]:
        self.skip_space()
        if self.position >= len(self.text) or self.text[self.position] == ")":
            return ()
        elements = [self.parse_element()]
        while self.take(","):
            elements.append(self.parse_element())
        return tuple(elements)

    def parse_element(self) -> Node:
        name, span = self.parse_name("a pass name")
        if self.take("("):
            return self.parse_anchor(name, span)
        if self.text.startswith("[", self.position):
            return self.parse_bracketed(name, span)
        return PassNode(name, self.parse_options() if self.take("{") else (), span)

    def parse_anchor(self, name: str, span: tuple[int, int]) -> AnchorNode:
        opening = self.position - 1
        elements = self.parse_elements()
        if not self.take(")"):
            if self.position < len(self.text):
                self.fail(f"expected ',' or ')' before {self.text[self.position]!r}")
            raise error(self.text, "'(' is never closed", (opening, opening + 1))
        return AnchorNode(name, elements, span)

    def parse_bracketed(self, name: str, span: tuple[int, int]) -> PassNode:
        """xDSL's `mlir-opt[a,b]`: the passes of another tool, left as they are."""
        end = self.text.find("]", self.position)
        if name != "mlir-opt":
            self.fail(f"only 'mlir-opt' takes a pipeline in brackets, not '{name}'")
        if end < 0:
            self.fail("'[' is never closed")
        inner = self.text[self.position + 1 : end]
        value_span = (self.position, end + 1)
        self.position = end + 1
        self.skip_space()
        arguments = ("--mlir-print-op-generic", "--allow-unregistered-dialect", "-p", f"builtin.module({inner})")
        return PassNode(name, (OptionNode("arguments", arguments, span, value_span),), span)

    def parse_options(self) -> tuple[OptionNode, ...]:
        opening = self.position - 1
        options: list[OptionNode] = []
        self.skip_space()
        while not self.take("}"):
            if self.position >= len(self.text):
                raise error(self.text, "'{' is never closed", (opening, opening + 1))
            options.append(self.parse_option())
        return tuple(options)

    def parse_option(self) -> OptionNode:
        name, name_span = self.parse_name("an option name")
        if not self.take("="):
            return OptionNode(name, None, name_span, name_span)
        start = self.position
        values = [self.parse_value()]
        end = self.position
        self.skip_space()
        while self.take(","):
            values.append(self.parse_value())
            end = self.position
            self.skip_space()
        if len(values) > 1 and self.text.startswith("=", self.position):
            self.fail("options are separated by spaces; a comma continues the value")
        return OptionNode(name, tuple(values), name_span, (start, end))

    def parse_value(self) -> str:
        if match := _QUOTED.match(self.text, self.position):
            self.position = match.end()
            return _unescape(match[1]) if match[1] is not None else match[2]
        if match := _RAW_VALUE.match(self.text, self.position):
            self.position = match.end()
            return match[0]
        if self.text[self.position : self.position + 1] in ('"', "'"):
            self.fail("the quote is never closed")
        return self.fail("expected a value")

    def parse_name(self, what: str) -> tuple[str, tuple[int, int]]:
        self.skip_space()
        match = _NAME.match(self.text, self.position)
        if match is None:
            return self.fail(f"expected {what}")
        self.position = match.end()
        self.skip_space()
        return match[0], match.span()

    def take(self, character: str) -> bool:
        """Consume `character` and the space after it, if it comes next."""
        if not self.text.startswith(character, self.position):
            return False
        self.position += 1
        self.skip_space()
        return True

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def fail(self, message: str) -> NoReturn:
        raise error(self.text, message, (self.position, self.position + 1))


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text, flags=re.DOTALL)
