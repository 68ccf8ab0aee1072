"""`cuvil_tensor.custom`: an op of the user's, by the name under which `cuvil.register_op` made it known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr, FunctionType, SymbolRefAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from cuvil.custom_ops import RegisteredOp, find_op
from cuvil.dialects.base import TensorOp
from cuvil.dialects.types import format_shape, shape_of


@irdl_op_definition
class CustomOp(TensorOp):
    """A registered op on tensors; `arguments` are what else its schema names, by name.

    `%1 = cuvil_tensor.custom @"mylib::scaled_add"(%x, %y) {alpha = 2.000000e+00 : f64} : (tensor<4xf32>,
    tensor<4xf32>) -> tensor<4xf32>`
    """

    name = "cuvil_tensor.custom"

    op = prop_def(SymbolRefAttr)
    arguments = opt_prop_def(DictionaryAttr)
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(
        self,
        op: str,
        inputs: Sequence[SSAValue],
        results: Sequence[Attribute],
        arguments: Mapping[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[inputs],
            result_types=[results],
            properties={
                "op": SymbolRefAttr(op),
                "arguments": DictionaryAttr(dict(arguments)) if arguments else None,
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> CustomOp:
        name = parser.parse_symbol_name()
        start = parser.pos
        unresolved = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        arguments = parser.parse_optional_attribute()
        if arguments is not None and not isinstance(arguments, DictionaryAttr):
            parser.raise_error(f"{cls.name}: expected the op's other arguments in braces, got {arguments}", start)
        parser.parse_punctuation(":")
        declared = parser.parse_type()
        if not isinstance(declared, FunctionType):
            parser.raise_error(f"{cls.name}: expected a function type, got {declared}", start)
        operands = parser.resolve_operands(unresolved, declared.inputs.data, start)
        return cls(name.data, operands, declared.outputs.data, arguments.data if arguments is not None else None)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.op_name)
        with printer.in_parens():
            printer.print_list(self.inputs, printer.print_ssa_value)
        if self.arguments is not None:
            printer.print_string(" ")
            printer.print_attribute(self.arguments)
        printer.print_string(" : ")
        types = FunctionType.from_lists([each.type for each in self.inputs], [each.type for each in self.outputs])
        printer.print_attribute(types)

    @property
    def op_name(self) -> str:
        """The name that the op is registered under."""
        return self.op.string_value()

    @property
    def registered(self) -> RegisteredOp:
        """The registration. Raises `VerifyException` if there is none."""
        found = find_op(self.op_name)
        if found is None:
            raise self.fault(
                f"op '{self.op_name}' is not registered; call cuvil.register_op('{self.op_name}', ...) before, "
                "cuvil-opt by --load-pass-plugin=FILE"
            )
        return found

    def check(self) -> None:
        registered = self.registered
        if not self.outputs:
            raise self.fault(f"op '{self.op_name}' gives no tensor")
        if registered.result is None:
            return
        shapes = [tuple(shape) for shape in registered.result(*(shape_of(each.type) for each in self.inputs))]
        declared = [shape_of(each.type) for each in self.outputs]
        if shapes != declared:
            said, wanted = (", ".join(f"[{format_shape(each)}]" for each in some) for some in (declared, shapes))
            raise self.fault(f"op '{self.op_name}' gives {said}, expected {wanted} by its result function")
