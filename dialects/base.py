"""What all Cuvil tensor operations share: one textual grammar, closed attributes, and a shape rule checked by the
verifier.

Grammar, the same for every op (the op's declaration decides which parts it has):

    op       ::= results `=` name kind? operands? keyword* `:` types (`->` type | `->` `(` types `)`)?
    operands ::= ssa (`,` ssa)*                 positional ones, in order of declaration
    keyword  ::= id                             a flag (unit property)
               | id `=` ssa                     an optional operand
               | id `=` (int | float | id | symbol | `[` (int (`,` int)*)? `]`)
    types    ::= operand types, without parentheses where there is one; `same-type` ops give the one shared type only

For example:

    %1 = cuvil_tensor.binary add %0, %b : tensor<4xf32>
    %2 = cuvil_tensor.reduce max %1 axes = [0] keepdims : tensor<4xf32> -> tensor<1xf32>
    %3 = cuvil_tensor.layer_norm %x weight = %w axes = [1] eps = 1.0e-05 : tensor<2x8xf32>, tensor<8xf32> ->
    tensor<2x8xf32>
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptOperandDef, VarOperandDef, traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, SymbolTable
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.types import ELEMENT_TYPES, format_shape, is_element_type, shape_of

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern


def ints(values: Sequence[int]) -> DenseArrayBase:
    """The i64 array attribute of `values`."""
    return DenseArrayBase.from_list(i64, values)


def numbers(attribute: DenseArrayBase) -> tuple[int, ...]:
    """The numbers of an integer array attribute."""
    return tuple(int(value) for value in attribute.get_values())  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def int_attr(value: int) -> IntegerAttr:
    """The i64 attribute of `value`."""
    return IntegerAttr(value, i64)


def float_attr(value: float) -> FloatAttr:
    """The f64 attribute of `value`."""
    return FloatAttr(value, f64)


class CanonicalizesByTable(HasCanonicalizationPatternsTrait):
    """Gives the patterns of `cuvil.canonicalization`, imported when `canonicalize` first asks for them."""

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        from cuvil.canonicalization import patterns_of

        return patterns_of(op)

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return ()


class TensorOp(IRDLOperation):
    """Base of the ops of `cuvil_tensor`: parsing, printing and verification by declaration."""

    traits = traits_def(CanonicalizesByTable())

    SAME_TYPE: ClassVar[bool] = False
    """Whether all operands share one type from which the result's follows; the text then gives that type only."""

    def infer_types(self) -> Sequence[Attribute] | None:
        """The result types that the op's shape rule gives; None where the declared ones are the definition."""
        return None

    def check(self) -> None:
        """What the op requires beyond its result types; raise `self.fault(...)` where it is broken."""

    def fault(self, message: str) -> VerifyException:
        """A verification error that names this op first."""
        return VerifyException(f"{self.name}: {message}")

    def verify_(self) -> None:
        for name in self.attributes:
            raise self.fault(f"unknown attribute '{name}'{_nearest(name, self._keywords())}")
        for value in (*self.operands, *self.results):
            try:
                shape_of(value.type)
            except VerifyException as error:
                raise self.fault(str(error)) from error
        self.check()
        for value in (*self.operands, *self.results):
            if isinstance(value.type, TensorType) and not is_element_type(value.type.element_type):
                raise self.fault(f"element type {value.type.element_type} is not one of {ELEMENT_TYPES}")
        expected = self.infer_types()
        if expected is None:
            return
        for number, (result, wanted) in enumerate(zip(self.results, expected, strict=True)):
            if result.type != wanted:
                which = "result" if len(self.results) == 1 else f"result {number}"
                raise self.fault(f"{which} has type {result.type}, expected {wanted} by the shape rule")

    # -- text --------------------------------------------------------------------------------------------------------

    @classmethod
    def _keywords(cls) -> list[str]:
        definition = cls.get_irdl_definition()
        optional = [name for name, operand in definition.operands if isinstance(operand, OptOperandDef)]
        return [*(n for n in definition.properties if n not in ("kind", "operandSegmentSizes")), *optional]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        definition = cls.get_irdl_definition()
        start = parser.pos
        properties: dict[str, Attribute] = {}
        if "kind" in definition.properties:
            properties["kind"] = StringAttr(parser.parse_identifier())
        elif "sym_name" in definition.properties:
            properties["sym_name"] = parser.parse_symbol_name()
        elif "value" in definition.properties and not definition.operands:
            properties["value"] = parser.parse_attribute()
        positional: list[UnresolvedOperand] = []
        while (operand := parser.parse_optional_unresolved_operand()) is not None:
            positional.append(operand)
            if parser.parse_optional_punctuation(",") is None:
                break
        optional: dict[str, UnresolvedOperand] = {}
        place = parser.pos
        while (name := parser.parse_optional_identifier()) is not None:
            cls._parse_keyword(parser, place, name, properties, optional)
            place = parser.pos
        types, result_types = cls._parse_types(parser, len(positional) + len(optional))
        return cls._assemble(parser, start, positional, optional, types, result_types, properties)

    @classmethod
    def _parse_keyword(
        cls,
        parser: Parser,
        place: int,
        name: str,
        properties: dict[str, Attribute],
        optional: dict[str, UnresolvedOperand],
    ) -> None:
        known = cls._keywords()
        if name not in known:
            parser.raise_error(f"{cls.name}: unknown attribute '{name}'{_nearest(name, known)}", place)
        if name in properties or name in optional:
            parser.raise_error(f"{cls.name}: attribute '{name}' is given twice", place)
        if parser.parse_optional_punctuation("=") is None:
            properties[name] = UnitAttr()
        elif (operand := parser.parse_optional_unresolved_operand()) is not None:
            optional[name] = operand
        else:
            properties[name] = _parse_value(parser)

    @classmethod
    def _parse_types(cls, parser: Parser, operand_count: int) -> tuple[list[Attribute], list[Attribute] | None]:
        parser.parse_punctuation(":")
        if operand_count == 0:
            return [], parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        types: list[Attribute] = list(parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type))
        if cls.SAME_TYPE:
            return types * operand_count if len(types) == 1 else types, None
        parser.parse_punctuation("->")
        if parser.parse_optional_punctuation("(") is None:
            return types, [parser.parse_type()]
        results = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation(")")
        return types, list(results)

    @classmethod
    def _assemble(
        cls,
        parser: Parser,
        start: int,
        positional: list[UnresolvedOperand],
        optional: dict[str, UnresolvedOperand],
        types: list[Attribute],
        result_types: list[Attribute] | None,
        properties: dict[str, Attribute],
    ) -> Self:
        definition = cls.get_irdl_definition()
        written = [*positional, *optional.values()]
        if len(types) != len(written):
            parser.raise_error(f"{cls.name}: {len(written)} operands but {len(types)} operand types", start)
        resolved = parser.resolve_operands(written, types, parser.pos)
        rest = list(resolved[: len(positional)])
        by_name = dict(zip(optional, resolved[len(positional) :], strict=True))
        operands: list[SSAValue | Sequence[SSAValue] | None] = []
        for name, operand in definition.operands:
            if isinstance(operand, OptOperandDef):
                operands.append(by_name.get(name))
            elif isinstance(operand, VarOperandDef):
                operands.append(rest)
                rest = []
            elif rest:
                operands.append(rest.pop(0))
            else:
                parser.raise_error(f"{cls.name}: operand '{name}' is missing", start)
        if rest:
            parser.raise_error(f"{cls.name}: {len(rest)} operands too many", start)
        if result_types is None:
            result_types = list(cls.result_types_for_text(parser, start, resolved, properties))
        results: list[Any] = result_types
        if any(name for name, result in definition.results if type(result).__name__ == "VarResultDef"):
            results = [result_types]
        if len(results) != len(definition.results):
            parser.raise_error(f"{cls.name}: {len(definition.results)} results but {len(results)} result types", start)
        return cls.build(operands=operands, result_types=results, properties=properties)

    @classmethod
    def result_types_for_text(
        cls, parser: Parser, start: int, operands: Sequence[SSAValue], properties: dict[str, Attribute]
    ) -> Sequence[Attribute]:
        """The result types of a `same_type` op, whose text leaves them out; errors are located at `start`."""
        return [operands[0].type]

    def print(self, printer: Printer) -> None:
        definition = self.get_irdl_definition()
        leading: list[str] = []
        for name in ("kind", "sym_name", "value"):
            attribute = self.properties.get(name)
            if attribute is None or (name == "value" and definition.operands):
                continue
            leading.append(name)
            printer.print_string(" ")
            if name == "sym_name":
                assert isinstance(attribute, StringAttr)
                printer.print_symbol_name(attribute.data)
            elif isinstance(attribute, StringAttr):
                printer.print_string(attribute.data)
            else:
                printer.print_attribute(attribute)
        positional: list[SSAValue] = []
        keyword_operands: list[tuple[str, SSAValue]] = []
        for name, operand in definition.operands:
            value = getattr(self, name)
            if isinstance(operand, OptOperandDef):
                keyword_operands += [] if value is None else [(name, value)]
            else:
                positional += value if isinstance(operand, VarOperandDef) else [value]
        if positional:
            printer.print_string(" ")
            printer.print_list(positional, printer.print_ssa_value)
        for name, value in keyword_operands:
            printer.print_string(f" {name} = ")
            printer.print_ssa_value(value)
        for name in definition.properties:
            if name in self.properties and name not in leading and name != "operandSegmentSizes":
                _print_keyword(printer, name, self.properties[name])
        self._print_types(printer, [*positional, *(value for _, value in keyword_operands)])

    def _print_types(self, printer: Printer, operands: Sequence[SSAValue]) -> None:
        printer.print_string(" : ")
        if not operands:
            printer.print_list(self.results, lambda result: printer.print_attribute(result.type))
            return
        types = [operand.type for operand in operands]
        if self.SAME_TYPE and len(set(types)) == 1:
            types = types[:1]
        printer.print_list(types, printer.print_attribute)
        if self.SAME_TYPE:
            return
        printer.print_string(" -> ")
        if len(self.results) == 1:
            printer.print_attribute(self.results[0].type)
        else:
            with printer.in_parens():
                printer.print_list(self.results, lambda result: printer.print_attribute(result.type))


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; it takes {', '.join(known)}" if known else "; it takes none"


def _parse_value(parser: Parser) -> Attribute:
    if parser.parse_optional_punctuation("[") is not None:
        values: list[int] = []
        if parser.parse_optional_punctuation("]") is None:
            values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer)
            parser.parse_punctuation("]")
        return ints(values)
    if (symbol := parser.parse_optional_symbol_name()) is not None:
        return SymbolRefAttr(symbol)
    if (word := parser.parse_optional_identifier()) is not None:
        return StringAttr(word)
    number = parser.parse_number()
    return float_attr(number) if isinstance(number, float) else int_attr(number)


def _print_keyword(printer: Printer, name: str, value: Attribute) -> None:
    printer.print_string(f" {name}")
    if isinstance(value, UnitAttr):
        return
    printer.print_string(" = ")
    if isinstance(value, DenseArrayBase):
        printer.print_string("[" + ", ".join(str(number) for number in numbers(value)) + "]")
    elif isinstance(value, IntegerAttr) and value.type == i64:
        printer.print_string(str(value.value.data))
    elif isinstance(value, StringAttr) and value.data.isidentifier():
        printer.print_string(value.data)
    elif isinstance(value, FloatAttr):
        printer.print_float(value.value.data, value.type)
    else:
        printer.print_attribute(value)


def shapes_of(values: Sequence[SSAValue]) -> str:
    """The shapes of values, as messages list them."""
    return ", ".join(format_shape(shape_of(value.type)) for value in values)


def symbol_table_of(op: Operation) -> Operation | None:
    """The nearest op around `op` that is a symbol table; None if there is none."""
    table = op.parent_op()
    while table is not None and not table.has_trait(SymbolTable):
        table = table.parent_op()
    return table


def symbol_in(table: Operation, name: str) -> Operation | None:
    """The op of a symbol table that defines `name`: upstream's lookup, without asking every op for its traits."""
    for block in table.regions[0].blocks:
        for op in block.ops:
            symbol = op.properties.get("sym_name")
            if isinstance(symbol, StringAttr) and symbol.data == name:
                return op
    return None
