"""IR as text: parsing with source locations, and printing as a user asked for it.

Where the text carries no `loc(...)`, an operation gets the place it was written at, so that verifier errors and remarks
about a .mlir file point into it. Printing shows locations only if asked to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, AttributeInvT, Operation, SSAValue
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from cuvil.errors import SourceLocation, UserError, location_of_span

_SPLIT_MARKER = r"// -----"


@dataclass(frozen=True)
class PrintOptions:
    """How IR is printed."""

    generic: bool = False
    properties_as_attributes: bool = False
    locations: bool = False
    elide_elements_if_larger: int | None = None
    """Constants with more elements than this are printed as `dense_resource<__elided__>`."""
    syntax_highlight: bool = False


@dataclass
class Reproducer:
    """What `{-# external_resources: { mlir_reproducer: {...} } #-}` at the end of a file says."""

    pipeline: str | None = None
    verify_each: bool = True


@dataclass
class ParsedText:
    """A module and what came with it."""

    module: ModuleOp
    reproducer: Reproducer | None = None


@dataclass(frozen=True)
class Chunk:
    """A part of an input file; `first_line` is the zero-based line of the file on which it starts."""

    text: str
    first_line: int = 0


def parse_text(
    context: Context, text: str, name: str = "<input>", *, first_line: int = 0, implicit_module: bool = True
) -> ParsedText:
    """Parse a module from text that starts on line `first_line` of the file `name`.

    Raises xDSL's `ParseError` for what its parser refuses, `UserError` for whatever else goes wrong on the way; both
    are located.
    """
    # Line numbers come out right for every error and location if the missing lines are there.
    parser = LocatingParser(context, "\n" * first_line + text, name)
    try:
        return ParsedText(parser.parse_module(implicit_module), parser.reproducer)
    except ParseError:
        raise
    except RecursionError as error:
        raise UserError("operations or attributes are nested too deeply", parser.here()) from error
    except MemoryError as error:  # a constant of many equal elements is held as all of them
        raise UserError("cannot parse: memory does not hold what is described here", parser.here()) from error
    except Exception as error:  # the parsers of upstream's dialects raise whatever they like for malformed input
        message = " ".join(str(error).split()) or "the text from here on is malformed"
        raise UserError(f"cannot parse: {message}", parser.here()) from error


def parse_module(context: Context, text: str, name: str = "<input>") -> ModuleOp:
    """The module that `text` describes; raises as `parse_text` does."""
    return parse_text(context, text, name).module


def print_op(op: Operation, options: PrintOptions | None = None, context: Context | None = None) -> str:
    """The operation as text, ending in a newline; with a context, dialect resources are printed too."""
    options = options or PrintOptions()
    stream = StringIO()
    printer = _printer_class(options)(
        stream,
        print_generic_format=options.generic,
        print_properties_as_attributes=options.properties_as_attributes,
        print_debuginfo=options.locations,
    )
    if isinstance(printer, _ElidingPrinter):
        printer.largest = options.elide_elements_if_larger
    printer.print_op(op)
    if context is not None:
        printer.print_metadata(context.loaded_dialects)
    stream.write("\n")
    return stream.getvalue()


def split_chunks(text: str, marker: str = _SPLIT_MARKER) -> Iterator[Chunk]:
    """The parts of a file between lines that hold `marker` alone.

    A line that only starts with it, such as the header of an IR dump, does not split.
    """
    separator = re.compile(rf"^[ \t]*{re.escape(marker)}[ \t]*\r?$", re.MULTILINE)
    start, first_line = 0, 0
    for match in separator.finditer(text):
        yield Chunk(text[start : match.start()], first_line)
        first_line += text.count("\n", start, match.end())
        start = match.end()
    yield Chunk(text[start:], first_line)


class _Lexer(MLIRLexer):
    """Upstream's lexer; its expression for strings takes exponential time for one that is never closed."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class LocatingParser(Parser):
    """A parser that gives every operation without `loc(...)` the place of its name in the text."""

    reproducer: Reproducer | None = None

    def __init__(self, ctx: Context, input: str, name: str = "<input>") -> None:
        # As upstream's, but for the lexer, which it makes itself.
        AttrParser.__init__(self, ParserState(_Lexer(Input(input, name))), ctx)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self._file = StringAttr(name)
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", input))]
        self._name_positions: list[int] = []
        self._first_uses: dict[str, Span] = {}

    def here(self) -> SourceLocation:
        """The place of the next token."""
        return location_of_span(self._current_token.span)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        if allow_implicit_module and self._current_token.kind is MLIRTokenKind.EOF:
            return ModuleOp([])
        first = self._current_token.span
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError as error:
            if not allow_implicit_module and error.msg.startswith("builtin.module operation expected"):
                raise ParseError(first, error.msg) from error
            # Upstream finds out at the end of the file; the user wants to see the use.
            if self.forward_ssa_references and self._current_token.kind is MLIRTokenKind.EOF:
                name, span = next((name, self._first_uses[name]) for name in self.forward_ssa_references)
                raise ParseError(span, f"value %{name} is used but not defined") from error
            raise

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def parse_operation(self) -> Operation:
        op = super().parse_operation()
        position = self._name_positions.pop()
        # Identity, not equality: an explicit loc(unknown) is another instance and stays.
        if op.location is UNKNOWN_LOC:
            line = bisect_right(self._line_starts, position)
            column = position - self._line_starts[line - 1] + 1
            op.location = FileLineColLoc(self._file, IntAttr(line), IntAttr(column))
        return op

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        # The last thing before the name of an operation: the token that follows is the name.
        results = super()._parse_op_result_list()
        self._name_positions.append(self._current_token.span.start)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if (found := self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)) is not None:
            return found
        start = self._name_positions[-1]
        quotes = 2 if self._current_token.span.input.at(start) == '"' else 0
        span = Span(start, start + len(name) + quotes, self._current_token.span.input)
        raise ParseError(span, _unknown_operation(self.ctx, name))

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        if element.span.text[:2] in ("0x", "0X"):
            return _HexadecimalElement(element.is_negative, element.value, element.span)
        return element

    def _parse_external_resources(self) -> None:
        self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_external_resource)

    def _parse_external_resource(self) -> None:
        name = self._parse_token(MLIRTokenKind.BARE_IDENT, "expected a resource name").text
        self.parse_punctuation(":")
        entries: list[tuple[str, str | bool]] = []
        self.parse_comma_separated_list(self.Delimiter.BRACES, lambda: entries.append(self._parse_resource_entry()))
        if name == "mlir_reproducer":
            found = dict(entries)
            pipeline = found.get("pipeline")
            self.reproducer = Reproducer(
                pipeline if isinstance(pipeline, str) else None, bool(found.get("verify_each", True))
            )

    def _parse_resource_entry(self) -> tuple[str, str | bool]:
        key = self._parse_token(MLIRTokenKind.BARE_IDENT, "expected a resource key").text
        self.parse_punctuation(":")
        boolean = self.parse_optional_boolean()
        return key, self.parse_str_literal() if boolean is None else boolean


class _HexadecimalElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of `dense<...>` in hexadecimal: of a float type it is the bits, which upstream reads as a number.

    NaN, infinities and large round numbers are printed so.
    """

    def to_type(self, parser: AttrParser, type: Any) -> Any:
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        size = type.compile_time_size
        return type.unpack(int(self.span.text, 16).to_bytes(size, "little"), 1)[0]


@dataclass(eq=False, repr=False, init=False)
class _ElidingPrinter(Printer):
    """A printer that leaves out the elements of large constants."""

    largest: int | None = field(default=None)

    def print_attribute(self, attribute: Attribute) -> None:
        if self.largest is not None and isinstance(attribute, DenseIntOrFPElementsAttr):
            dense = cast(Any, attribute)
            if not dense.is_splat() and len(dense) > self.largest:
                self.print_string("dense_resource<__elided__> : ")
                super().print_attribute(dense.type)
                return
        super().print_attribute(cast(Attribute, attribute))


def _unknown_operation(context: Context, name: str) -> str:
    from difflib import get_close_matches

    dialect = context.get_optional_dialect(name.partition(".")[0])
    if dialect is None:
        return f"operation '{name}' is not registered, nor is its dialect; --allow-unregistered-dialect accepts any"
    near = get_close_matches(name, [op.name for op in dialect.operations], 1)
    return f"operation '{name}' is not registered" + (f"; did you mean '{near[0]}'?" if near else "")


def _printer_class(options: PrintOptions) -> type[Printer]:
    if options.elide_elements_if_larger is not None:
        return _ElidingPrinter
    if options.syntax_highlight:
        from xdsl.syntax_printer import SyntaxPrinter

        return SyntaxPrinter
    return Printer


def symbol_of(op: Operation) -> str | None:
    """The symbol that an operation defines, without the `@`."""
    symbol = op.get_attr_or_prop("sym_name")
    return symbol.data if isinstance(symbol, StringAttr) else None


def describe(ops: Sequence[Operation]) -> str:
    """The names of operations, for a message."""
    return ", ".join(op.name + (f" @{symbol}" if (symbol := symbol_of(op)) else "") for op in ops)
