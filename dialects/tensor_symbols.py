"""Symbolic dims in `cuvil_tensor`: what a function says of its symbols, and a dim's value as a number.

    func.func @main(%x: tensor<?x8xf32, #cuvil_tensor.dims<"s0", 8>>) -> tensor<f32>
        attributes {cuvil_tensor.symbols = {s0 = #cuvil_tensor.range<1, 512, multiple_of = 2>}} {
      %0 = cuvil_tensor.size "8*s0" : tensor<f32>
      ...
    }

The attribute lists the symbols of a function with their ranges, at every level down to native code; its order is the
order in which compiled code takes the symbols' values. A function without it has symbols of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr, IndexType, IntAttr, NoneAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, param_def, prop_def, result_def, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.base import TensorOp
from cuvil.dialects.types import ELEMENT_TYPES, element_domain, is_element_type
from cuvil.errors import VerificationError
from cuvil.semantics.dims import Dim, DimExpr, ShapeEnvironment, SymbolRange, parse_dim

SYMBOLS = "cuvil_tensor.symbols"
"""The function attribute that lists a function's symbols with their ranges."""


@irdl_attr_definition
class RangeAttr(ParametrizedAttribute):
    """What is known of a symbol: least and greatest value (`?`: any), and what divides it.

    `#cuvil_tensor.range<1, 512>`, `#cuvil_tensor.range<0, ?, multiple_of = 8>`
    """

    name = "cuvil_tensor.range"

    minimum: IntAttr = param_def()
    maximum: IntAttr | NoneAttr = param_def()
    multiple_of: IntAttr = param_def()

    @classmethod
    def of(cls, known: SymbolRange) -> RangeAttr:
        """The attribute for a range."""
        maximum = NoneAttr() if known.maximum is None else IntAttr(known.maximum)
        return cls(IntAttr(known.minimum), maximum, IntAttr(known.multiple_of))

    def range(self) -> SymbolRange:
        """The range that the attribute says."""
        maximum = self.maximum.data if isinstance(self.maximum, IntAttr) else None
        return SymbolRange(self.minimum.data, maximum, self.multiple_of.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            minimum = parser.parse_integer()
            parser.parse_punctuation(",")
            is_open = parser.parse_optional_punctuation("?") is not None
            maximum = NoneAttr() if is_open else IntAttr(parser.parse_integer())
            multiple_of = 1
            if parser.parse_optional_punctuation(",") is not None:
                parser.parse_keyword("multiple_of")
                parser.parse_punctuation("=")
                multiple_of = parser.parse_integer()
        return [IntAttr(minimum), maximum, IntAttr(multiple_of)]

    def print_parameters(self, printer: Printer) -> None:
        known = self.range()
        with printer.in_angle_brackets():
            printer.print_string(f"{known.minimum}, {'?' if known.maximum is None else known.maximum}")
            if known.multiple_of != 1:
                printer.print_string(f", multiple_of = {known.multiple_of}")

    def verify(self) -> None:
        known = self.range()
        if known.minimum < 0:
            raise VerifyException(f"cuvil_tensor.range: a dim is at least 0, got {known.minimum}")
        if known.multiple_of < 1:
            raise VerifyException(f"cuvil_tensor.range: multiple_of is at least 1, got {known.multiple_of}")
        if known.maximum is None:
            return
        if known.maximum < known.minimum:
            raise VerifyException(f"cuvil_tensor.range: {known.minimum} is greater than {known.maximum}")
        if known.maximum // known.multiple_of * known.multiple_of < known.minimum:
            raise VerifyException(
                f"cuvil_tensor.range: no multiple of {known.multiple_of} is in {known.minimum}..{known.maximum}"
            )


def symbols_attribute(ranges: Mapping[str, SymbolRange]) -> DictionaryAttr:
    """What `cuvil_tensor.symbols` is for symbols with these ranges, in this order."""
    return DictionaryAttr({name: RangeAttr.of(known) for name, known in ranges.items()})


def symbols_of(function: Operation) -> dict[str, SymbolRange]:
    """A function's symbols with their ranges, in order; none where it does not say.

    Raises `VerificationError` if the attribute is something else than a dictionary of ranges.
    """
    return ranges_of(function.attributes.get(SYMBOLS), function)


def ranges_of(attribute: Attribute | None, place: Operation) -> dict[str, SymbolRange]:
    """The ranges that an attribute lists by symbol; none without it. Raises as `symbols_of` does."""
    if attribute is None:
        return {}
    if not isinstance(attribute, DictionaryAttr):
        raise VerificationError(f"{SYMBOLS}: expected a dictionary of ranges, got {attribute}", place)
    ranges: dict[str, SymbolRange] = {}
    for name, known in attribute.data.items():
        if not isinstance(known, RangeAttr):
            raise VerificationError(f"{SYMBOLS}: {name} is {known}, expected a #cuvil_tensor.range", place)
        ranges[name] = known.range()
    return ranges


def environment_of(op: Operation) -> ShapeEnvironment:
    """What is known of the symbols at an operation: what the function around it says."""
    place: Operation | None = op
    while place is not None and not isinstance(place, FuncOp):
        place = place.parent_op()
    return ShapeEnvironment({} if place is None else symbols_of(place))


@irdl_op_definition
class SizeOp(TensorOp):
    """The value of a dim expression: an `index`, or a number in a 0-d tensor, rounded or wrapped to its type.

    `%0 = cuvil_tensor.size "2*s0 + 1" : index`, `%1 = cuvil_tensor.size "s0" : tensor<f32>`
    """

    name = "cuvil_tensor.size"

    dim = prop_def(StringAttr)
    result = result_def(TensorType | IndexType)

    traits = traits_def(Pure())

    def __init__(self, dim: Dim, result_type: Attribute):
        super().__init__(properties={"dim": StringAttr(str(dim))}, result_types=[result_type])

    @classmethod
    def parse(cls, parser: Parser) -> SizeOp:
        text = parser.parse_str_literal("a dim expression")
        parser.parse_punctuation(":")
        result_type = parser.parse_type()
        return cls.create(properties={"dim": StringAttr(text)}, result_types=[result_type])

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{self.dim.data}" : ')
        printer.print_attribute(self.result.type)

    @property
    def value(self) -> Dim:
        """The dim as an expression, or a number where it is one."""
        return parse_dim(self.dim.data)

    def verify_(self) -> None:
        for name in self.attributes:
            raise self.fault(f"unknown attribute '{name}'; it takes none")
        try:
            value = self.value
        except ValueError as error:
            raise self.fault(str(error)) from error
        if str(value) != self.dim.data:
            raise self.fault(f"write '{self.dim.data}' in its normal form '{value}'")
        self._check_result()
        self._check_symbols(value)

    def _check_result(self) -> None:
        declared = self.result.type
        if not isinstance(declared, TensorType):
            return
        if declared.get_shape():
            raise self.fault(f"the result is an index or a 0-d tensor, got {declared}")
        if not is_element_type(declared.element_type):
            raise self.fault(f"element type {declared.element_type} is not one of {ELEMENT_TYPES}")
        if element_domain(declared.element_type) not in ("i", "f"):
            raise self.fault(f"a size is a number, got element type {declared.element_type}")

    def _check_symbols(self, value: Dim) -> None:
        known = environment_of(self).ranges
        unknown = sorted(value.symbols() - known.keys()) if isinstance(value, DimExpr) and known else []
        if unknown:
            raise self.fault(f"the function has no symbol {unknown[0]}; {SYMBOLS} lists {', '.join(known)}")
