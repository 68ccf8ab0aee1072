"""`cuvil_tensor`: an immutable flow of tensors, from PyTorch's ops down to the core that fusion works on.

Front ends produce it, `fuse` consumes it. Values only: no implicit broadcast, no aliasing, no in-place update; element
types never mix without a `cast`. *Composites* (softmax, layer_norm, attention, ...) are whole until `decompose` takes
them apart; the other ops are the *core*. Control flow is upstream's `scf` on tensors, and a 0-d condition becomes a
scalar by upstream's `tensor.extract`. Weights live outside the text: a module-level `global` names them, `parameter`
uses them.

Attributes are closed: an op refuses any that it did not declare. Shapes follow from operands by shape rules
(`cuvil.semantics.shape_rules`) that the verifier applies, on symbolic dims too. Not checked here: that index values of
gather and scatter are in range.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr, SymbolRefAttr, TensorType
from xdsl.ir import Attribute, Block, Dialect, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_region_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasParent, IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.base import TensorOp, symbol_in, symbol_table_of
from cuvil.dialects.tensor_composite import (
    AttentionOp,
    BatchNormOp,
    CompositeOp,
    GeluOp,
    GroupNormOp,
    LayerNormOp,
    LinearOp,
    LogSoftmaxOp,
    RmsNormOp,
    RopeOp,
    SiluOp,
    SoftmaxOp,
)
from cuvil.dialects.tensor_contraction import ContractOp, ConvolutionOp, PoolOp
from cuvil.dialects.tensor_custom import CustomOp
from cuvil.dialects.tensor_elementwise import BinaryOp, CastOp, ElementwiseOp, TernaryOp, UnaryOp
from cuvil.dialects.tensor_movement import (
    BroadcastOp,
    ConcatOp,
    GatherOp,
    IotaOp,
    PackOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    ScatterOp,
    SliceOp,
    TransposeOp,
    UnpackOp,
    element_of,
    numbers,
)
from cuvil.dialects.tensor_reduction import ArgReduceOp, ReduceOp, ScanOp, SortOp, TopkOp
from cuvil.dialects.tensor_symbols import RangeAttr, SizeOp, environment_of, symbols_attribute, symbols_of
from cuvil.dialects.types import DimsAttr, buffer_of, element_domain, format_shape, shape_of, tensor_of


@irdl_op_definition
class ConstantOp(TensorOp):
    """A tensor given in the text: `%0 = cuvil_tensor.constant dense<1.0> : tensor<f32>`."""

    name = "cuvil_tensor.constant"

    value = prop_def(DenseIntOrFPElementsAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, value: DenseIntOrFPElementsAttr):
        super().__init__(properties={"value": value}, result_types=[value.type])

    @classmethod
    def splat(cls, number: int | float | bool, result_type: Attribute) -> ConstantOp:
        """`number` at every point of a tensor type of known shape."""
        assert isinstance(result_type, TensorType)
        return cls(DenseIntOrFPElementsAttr.from_list(result_type, [number]))  # pyright: ignore

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        start = parser.pos
        value = parser.parse_attribute()
        if not isinstance(value, DenseIntOrFPElementsAttr):
            parser.raise_error(f"{cls.name}: expected a dense<...> value", start)
        return cls(value)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.value)

    def infer_types(self) -> Sequence[Attribute]:
        return [self.value.type]


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """A module-level tensor by name: a weight bound at compile time, or one computed from others by a region.

    `cuvil_tensor.global @weight : tensor<8x8xf32>`
    `cuvil_tensor.global @packed : tensor<1x8x16xf32> { ... cuvil_tensor.init_yield %v : tensor<1x8x16xf32> }`

    An initializer has no side effects and is evaluated once, at compile time, by the reference meaning.
    """

    name = "cuvil_tensor.global"

    sym_name = prop_def(StringAttr)
    value_type = prop_def(TensorType)
    initializer = opt_region_def("single_block")

    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(self, name: str, value_type: TensorType[Attribute], initializer: Region | None = None):
        super().__init__(
            properties={"sym_name": StringAttr(name), "value_type": value_type},
            regions=[[] if initializer is None else [initializer]],
        )

    @classmethod
    def parse(cls, parser: Parser) -> GlobalOp:
        name = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        start = parser.pos
        value_type = parser.parse_type()
        if not isinstance(value_type, TensorType):
            parser.raise_error(f"{cls.name}: expected a tensor type, got {value_type}", start)
        return cls(name.data, value_type, parser.parse_optional_region())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" : ")
        printer.print_attribute(self.value_type)
        if self.initializer is not None:
            printer.print_string(" ")
            printer.print_region(self.initializer)

    def verify_(self) -> None:
        if self.attributes:
            raise VerifyException(f"{self.name}: unknown attribute '{next(iter(self.attributes))}'")
        if self.initializer is None:
            return
        block = self.initializer.block
        if block.args or not isinstance(block.last_op, InitYieldOp):
            raise VerifyException(f"{self.name}: an initializer takes nothing and ends in cuvil_tensor.init_yield")
        if block.last_op.value.type != self.value_type:
            raise VerifyException(
                f"{self.name}: @{self.sym_name.data} is {self.value_type}, "
                f"its initializer yields {block.last_op.value.type}"
            )


@irdl_op_definition
class InitYieldOp(IRDLOperation):
    """Ends a global's initializer with its value: `cuvil_tensor.init_yield %0 : tensor<8xf32>`."""

    name = "cuvil_tensor.init_yield"

    value = operand_def(TensorType)

    traits = traits_def(IsTerminator(), HasParent(GlobalOp), Pure())

    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue | Operation):
        super().__init__(operands=[value])


@irdl_op_definition
class ParameterOp(IRDLOperation):
    """The value of a module-level `global`: `%0 = cuvil_tensor.parameter @weight : tensor<8x8xf32>`."""

    name = "cuvil_tensor.parameter"

    symbol = prop_def(SymbolRefAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    assembly_format = "$symbol attr-dict `:` type($result)"

    def __init__(self, name: str, result_type: Attribute):
        super().__init__(properties={"symbol": SymbolRefAttr(name)}, result_types=[result_type])

    def verify_(self) -> None:
        if self.attributes:
            raise VerifyException(f"{self.name}: unknown attribute '{next(iter(self.attributes))}'")
        table = symbol_table_of(self)
        if table is None:
            return
        found = symbol_in(table, self.symbol.string_value())
        if not isinstance(found, GlobalOp):
            raise VerifyException(
                f"{self.name}: @{self.symbol.string_value()} is not a cuvil_tensor.global of the module"
            )
        if found.value_type != self.result.type:
            raise VerifyException(
                f"{self.name}: @{self.symbol.string_value()} is {found.value_type}, used as {self.result.type}"
            )


def initializer_of(operations: Sequence[Operation], value: SSAValue) -> Region:
    """A global's initializer region made of `operations`, yielding `value`."""
    return Region([Block([*operations, InitYieldOp(value)])])


COMPOSITES: tuple[type[CompositeOp], ...] = (
    SoftmaxOp,
    LogSoftmaxOp,
    LayerNormOp,
    RmsNormOp,
    BatchNormOp,
    GroupNormOp,
    GeluOp,
    SiluOp,
    LinearOp,
    AttentionOp,
    RopeOp,
)

CuvilTensor = Dialect(
    "cuvil_tensor",
    [
        ConstantOp,
        GlobalOp,
        InitYieldOp,
        ParameterOp,
        UnaryOp,
        BinaryOp,
        TernaryOp,
        CastOp,
        BroadcastOp,
        ReshapeOp,
        TransposeOp,
        SliceOp,
        ConcatOp,
        PadOp,
        GatherOp,
        ScatterOp,
        IotaOp,
        SizeOp,
        ReverseOp,
        PackOp,
        UnpackOp,
        ReduceOp,
        ArgReduceOp,
        ScanOp,
        SortOp,
        TopkOp,
        ContractOp,
        ConvolutionOp,
        PoolOp,
        CustomOp,
        *COMPOSITES,
    ],
    [DimsAttr, RangeAttr],
)

__all__ = [
    "COMPOSITES",
    "ArgReduceOp",
    "AttentionOp",
    "BatchNormOp",
    "BinaryOp",
    "BroadcastOp",
    "CastOp",
    "CompositeOp",
    "ConcatOp",
    "ConstantOp",
    "ContractOp",
    "ConvolutionOp",
    "CustomOp",
    "CuvilTensor",
    "DimsAttr",
    "ElementwiseOp",
    "GatherOp",
    "GeluOp",
    "GlobalOp",
    "GroupNormOp",
    "InitYieldOp",
    "IotaOp",
    "LayerNormOp",
    "LinearOp",
    "LogSoftmaxOp",
    "PackOp",
    "PadOp",
    "ParameterOp",
    "PoolOp",
    "RangeAttr",
    "ReduceOp",
    "ReshapeOp",
    "ReverseOp",
    "RmsNormOp",
    "RopeOp",
    "ScanOp",
    "ScatterOp",
    "SiluOp",
    "SizeOp",
    "SliceOp",
    "SoftmaxOp",
    "SortOp",
    "TensorOp",
    "TernaryOp",
    "TopkOp",
    "TransposeOp",
    "UnaryOp",
    "UnpackOp",
    "buffer_of",
    "element_domain",
    "element_of",
    "environment_of",
    "format_shape",
    "initializer_of",
    "numbers",
    "shape_of",
    "symbols_attribute",
    "symbols_of",
    "tensor_of",
]
