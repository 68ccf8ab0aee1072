"""`cuvil_fused`: kernels, and the buffers between them.

A `kernel` is a region of core `cuvil_tensor` ops that one loop nest computes: isolated from above, its operands named
as block arguments, its results what the region yields. `fuse` produces it; `lower-fused-to-loops` turns each into a
function. It carries what scheduling decides as attributes, so that autotuning and layout change attributes only:

- `family`: which emitter computes it (`loop`, `contraction`, `convolution`, `pool`, `attention`, `ordering`,
  `callback`),
- `access`: how each operand is read (`streaming`, `broadcast`, `window`, `reduction`, `contraction`, `gather`,
  `movement`),
- `schedule`: tiles, vector width, parallel loops, unroll.

It has two forms. On *values* its operands are tensors and it has results. In *destination style*, after `bufferize`,
its operands are memrefs, it has no results, and it writes what it yields into `into` operands, which it must not read
except where an operand is read `streaming` and has the same shape (an element-wise kernel may work in place). The
region is the same in both forms: its block arguments are tensors.

Buffers: `alloc` and `free` bracket a lifetime until `plan-memory` puts each into one arena as an `arena_view`.

Not checked here: that `access` tells the truth (the pass `fuse` and its tests answer for that).
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    param_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    MemoryAllocEffect,
    MemoryEffect,
    MemoryEffectKind,
    MemoryFreeEffect,
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.base import CanonicalizesByTable, int_attr, ints, numbers, symbol_in, symbol_table_of
from cuvil.dialects.types import buffer_of, shape_of, tensor_of
from cuvil.semantics.dims import DimExpr, product

FAMILIES = ("loop", "contraction", "convolution", "pool", "attention", "ordering", "callback")
"""The kinds of kernels, one emitter each. `ordering` is sort, topk, scan, arg_reduce and scatter."""

ACCESSES = ("streaming", "broadcast", "window", "reduction", "contraction", "gather", "movement")
"""How a kernel reads an operand: once at each point; repeated; by windows; over a whole axis; by rows and columns of a
product; at computed places; rearranged (transposed, sliced, reshaped)."""


@irdl_attr_definition
class AccessAttr(ParametrizedAttribute):
    """How each operand of a kernel is read, in order: `#cuvil_fused.access<streaming, broadcast>`."""

    name = "cuvil_fused.access"

    patterns: ArrayAttr[StringAttr] = param_def()

    @classmethod
    def of(cls, patterns: Sequence[str]) -> AccessAttr:
        """The attribute for the given pattern names."""
        return cls(ArrayAttr([StringAttr(pattern) for pattern in patterns]))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def one() -> StringAttr:
            return StringAttr(parser.parse_identifier())

        return [ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, one))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(self.patterns, lambda pattern: printer.print_string(pattern.data))

    def verify(self) -> None:
        for pattern in self.patterns:
            if pattern.data not in ACCESSES:
                raise VerifyException(
                    f"cuvil_fused.access: unknown pattern '{pattern.data}'; it is one of {', '.join(ACCESSES)}"
                )


SCHEDULE_ENTRIES = ("tiles", "vector", "parallel", "unroll", "stages", "panel")
"""What a schedule can say: tile sizes, lanes, how many outer loops run in parallel, unrolling, pipeline stages, panel
width."""


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """How a kernel's loops run: `#cuvil_fused.schedule<tiles = [12, 32], vector = 16>`; what it leaves out is the
    emitter's choice."""

    name = "cuvil_fused.schedule"

    names: ArrayAttr[StringAttr] = param_def()
    values: ArrayAttr[DenseArrayBase] = param_def()

    @classmethod
    def of(cls, **entries: Sequence[int]) -> ScheduleAttr:
        """The attribute for entries given as lists of numbers."""
        return cls(
            ArrayAttr([StringAttr(name) for name in entries]), ArrayAttr([ints(values) for values in entries.values()])
        )

    def get(self, name: str) -> tuple[int, ...] | None:
        """The numbers of an entry, None where the schedule leaves it out."""
        for key, value in zip(self.names, self.values, strict=True):
            if key.data == name:
                return numbers(value)
        return None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        names: list[StringAttr] = []

        def entry() -> DenseArrayBase:
            names.append(StringAttr(parser.parse_identifier()))
            parser.parse_punctuation("=")
            if parser.parse_optional_punctuation("[") is None:
                return ints([parser.parse_integer()])
            if parser.parse_optional_punctuation("]") is not None:
                return ints([])
            values = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_integer)
            parser.parse_punctuation("]")
            return ints(values)

        values = parser.parse_comma_separated_list(parser.Delimiter.ANGLE, entry)
        return [ArrayAttr(names), ArrayAttr(values)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            entries = list(zip(self.names, self.values, strict=True))
            printer.print_list(entries, lambda entry: printer.print_string(_entry_text(*entry)))

    def verify(self) -> None:
        for name in self.names:
            if name.data not in SCHEDULE_ENTRIES:
                raise VerifyException(
                    f"cuvil_fused.schedule: unknown entry '{name.data}'; it is one of {', '.join(SCHEDULE_ENTRIES)}"
                )


def _entry_text(name: StringAttr, value: DenseArrayBase) -> str:
    shown = [str(number) for number in numbers(value)]
    return f"{name.data} = {shown[0] if len(shown) == 1 else '[' + ', '.join(shown) + ']'}"


def tensor_type_of(value_type: Attribute) -> Attribute:
    """The tensor type of the same shape and element type as a memref type; a tensor type itself."""
    if isinstance(value_type, MemRefType):
        return tensor_of(value_type.element_type, shape_of(value_type))
    return value_type


def buffer_type_of(value_type: Attribute) -> Attribute:
    """The memref type of the same shape and element type as a tensor type; any other type itself."""
    if isinstance(value_type, TensorType):
        return buffer_of(value_type.element_type, shape_of(value_type))
    return value_type


def size_bytes(value_type: Attribute) -> int | DimExpr:
    """The bytes of a tensor or memref; a bool takes one."""
    assert isinstance(value_type, TensorType | MemRefType)
    element = value_type.element_type
    bits = element.width.data if isinstance(element, IntegerType) else getattr(element, "bitwidth", 64)
    return product(shape_of(value_type)) * max(bits // 8, 1)


class KernelMemoryEffect(MemoryEffect):
    """None on values; in destination style a kernel reads its operands and writes its destinations.

    Its region says nothing of that: it is on values in both forms.
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, KernelOp)
        if not op.is_destination_style:
            return set()
        reads = {EffectInstance(MemoryEffectKind.READ, value) for value in op.inputs}
        return reads | {EffectInstance(MemoryEffectKind.WRITE, value) for value in op.into}


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A region of core ops computed by one loop nest.

    On values, then in destination style:

        %0 = cuvil_fused.kernel @add_relu(%a = %x, %b = %y) family = loop access = <streaming, streaming>
          : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
          %1 = cuvil_tensor.binary add %a, %b : tensor<4xf32>
          %2 = cuvil_tensor.unary relu %1 : tensor<4xf32>
          cuvil_fused.yield %2 : tensor<4xf32>
        }
        cuvil_fused.kernel @add_relu(%a = %x, %b = %y) into(%o) family = loop access = <streaming, streaming>
          : (memref<4xf32>, memref<4xf32>) into (memref<4xf32>) { ... the same ... }
    """

    name = "cuvil_fused.kernel"

    kernel_name = prop_def(StringAttr)
    inputs = var_operand_def(TensorType | MemRefType)
    into = var_operand_def(MemRefType)
    family = prop_def(StringAttr)
    access = opt_prop_def(AccessAttr)
    schedule = opt_prop_def(ScheduleAttr)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsolatedFromAbove(), KernelMemoryEffect(), CanonicalizesByTable())

    def __init__(
        self,
        kernel_name: str,
        inputs: Sequence[SSAValue],
        body: Region,
        *,
        family: str,
        results: Sequence[Attribute] = (),
        into: Sequence[SSAValue] = (),
        access: AccessAttr | None = None,
        schedule: ScheduleAttr | None = None,
    ):
        super().__init__(
            operands=[inputs, into],
            result_types=[results],
            properties={
                "kernel_name": StringAttr(kernel_name),
                "family": StringAttr(family),
                "access": access,
                "schedule": schedule,
            },
            regions=[body],
        )

    @property
    def is_destination_style(self) -> bool:
        """Whether it writes into buffers rather than giving results."""
        return bool(self.into)

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The values of the region that become the kernel's results."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.values

    def verify_(self) -> None:
        for name in self.attributes:
            raise VerifyException(f"{self.name}: unknown attribute '{name}'")
        if self.family.data not in FAMILIES:
            raise VerifyException(
                f"{self.name}: unknown family '{self.family.data}'; it is one of {', '.join(FAMILIES)}"
            )
        if self.access is not None and len(self.access.patterns) != len(self.inputs):
            raise VerifyException(
                f"{self.name}: {len(self.access.patterns)} access patterns for {len(self.inputs)} operands"
            )
        block = self.body.block
        expected = [tensor_type_of(value.type) for value in self.inputs]
        if [arg.type for arg in block.args] != expected:
            raise VerifyException(f"{self.name}: block arguments do not have the operands' types")
        if not isinstance(block.last_op, YieldOp):
            raise VerifyException(f"{self.name}: the region must end in cuvil_fused.yield")
        if self.into and self.outputs:
            raise VerifyException(f"{self.name}: a kernel that writes into buffers has no results")
        if not self.into and any(isinstance(value.type, MemRefType) for value in self.inputs):
            raise VerifyException(f"{self.name}: a kernel that reads buffers must write into buffers")
        targets = [tensor_type_of(value.type) for value in (self.into or self.outputs)]
        yielded = [value.type for value in block.last_op.values]
        if yielded != targets:
            raise VerifyException(
                f"{self.name}: yields {', '.join(map(str, yielded))}, expected {', '.join(map(str, targets))}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        kernel_name = parser.parse_symbol_name().data
        names: list[Parser.Argument] = []

        def binding():
            argument = parser.parse_argument(expect_type=False)
            names.append(Parser.Argument(argument.name, IntegerType(1)))
            parser.parse_punctuation("=")
            return parser.parse_unresolved_operand()

        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, binding)
        into = []
        if parser.parse_optional_keyword("into") is not None:
            into = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        properties: dict[str, Attribute] = {}
        while (keyword := parser.parse_optional_identifier()) is not None:
            parser.parse_punctuation("=")
            if keyword == "family":
                properties[keyword] = StringAttr(parser.parse_identifier())
            elif keyword == "access":
                properties[keyword] = AccessAttr.new(AccessAttr.parse_parameters(parser))
            elif keyword == "schedule":
                properties[keyword] = ScheduleAttr.new(ScheduleAttr.parse_parameters(parser))
            else:
                parser.raise_error(f"{cls.name}: unknown attribute '{keyword}'; it takes family, access, schedule")
        parser.parse_punctuation(":")
        input_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        into_types: list[Attribute] = []
        result_types: list[Attribute] = []
        if parser.parse_optional_keyword("into") is not None:
            into_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        else:
            parser.parse_punctuation("->")
            result_types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        if len(input_types) != len(inputs) or len(into_types) != len(into):
            parser.raise_error(f"{cls.name}: as many types as operands are needed")
        arguments = [
            Parser.Argument(argument.name, tensor_type_of(input_type))
            for argument, input_type in zip(names, input_types, strict=True)
        ]
        body = parser.parse_region(arguments)
        operands = parser.resolve_operands([*inputs, *into], [*input_types, *into_types], parser.pos)
        return cls.build(
            operands=[operands[: len(inputs)], operands[len(inputs) :]],
            result_types=[result_types],
            properties={"kernel_name": StringAttr(kernel_name), **properties},
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.kernel_name.data)
        with printer.in_parens():
            for number, (argument, value) in enumerate(zip(self.body.block.args, self.inputs, strict=True)):
                printer.print_string(", " if number else "")
                printer.print_ssa_value(argument)
                printer.print_string(" = ")
                printer.print_ssa_value(value)
        if self.into:
            printer.print_string(" into")
            with printer.in_parens():
                printer.print_list(self.into, printer.print_ssa_value)
        printer.print_string(f" family = {self.family.data}")
        if self.access is not None:
            printer.print_string(" access = ")
            self.access.print_parameters(printer)
        if self.schedule is not None:
            printer.print_string(" schedule = ")
            self.schedule.print_parameters(printer)
        printer.print_string(" : ")
        with printer.in_parens():
            printer.print_list(self.inputs, lambda value: printer.print_attribute(value.type))
        printer.print_string(" into " if self.into else " -> ")
        with printer.in_parens():
            printer.print_list(self.into or self.outputs, lambda value: printer.print_attribute(value.type))
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a kernel's region with its results: `cuvil_fused.yield %2 : tensor<4xf32>`."""

    name = "cuvil_fused.yield"

    values = var_operand_def(TensorType)

    traits = traits_def(IsTerminator(), HasParent(KernelOp), Pure())

    assembly_format = "$values attr-dict `:` type($values)"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[[SSAValue.get(value) for value in values]])


class BufferOp(IRDLOperation):
    """Base of the buffer ops: attributes are closed."""

    def verify_(self) -> None:
        for name in self.attributes:
            raise VerifyException(f"{self.name}: unknown attribute '{name}'")
        self.check()

    def check(self) -> None:
        """What the op requires beyond its operand types."""


@irdl_op_definition
class AllocOp(BufferOp):
    """A buffer whose lifetime begins: `%b = cuvil_fused.alloc : memref<4x8xf32>`. Its contents are undefined."""

    name = "cuvil_fused.alloc"

    buffer = result_def(MemRefType)

    traits = traits_def(MemoryAllocEffect())

    assembly_format = "attr-dict `:` type($buffer)"

    def __init__(self, buffer_type: Attribute):
        super().__init__(result_types=[buffer_type])


@irdl_op_definition
class FreeOp(BufferOp):
    """A buffer whose lifetime ends; nothing reads or writes it afterwards: `cuvil_fused.free %b : memref<4x8xf32>`."""

    name = "cuvil_fused.free"

    buffer = operand_def(MemRefType)

    traits = traits_def(MemoryFreeEffect())

    assembly_format = "$buffer attr-dict `:` type($buffer)"

    def __init__(self, buffer: SSAValue | Operation):
        super().__init__(operands=[buffer])


@irdl_op_definition
class CopyOp(BufferOp):
    """All elements of one buffer written into another of its type, not overlapping:
    `cuvil_fused.copy %a, %b : memref<4x8xf32>`."""

    name = "cuvil_fused.copy"

    source = operand_def(MemRefType)
    target = operand_def(MemRefType)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    assembly_format = "$source `,` $target attr-dict `:` type($source) `,` type($target)"

    def __init__(self, source: SSAValue | Operation, target: SSAValue | Operation):
        super().__init__(operands=[source, target])

    def check(self) -> None:
        if self.source.type != self.target.type:
            raise VerifyException(f"{self.name}: source is {self.source.type}, target {self.target.type}")


@irdl_op_definition
class ParameterOp(BufferOp):
    """The buffer of a module-level `cuvil_tensor.global`, read-only: `%w = cuvil_fused.parameter @w :
    memref<8x8xf32>`."""

    name = "cuvil_fused.parameter"

    symbol = prop_def(SymbolRefAttr)
    buffer = result_def(MemRefType)

    traits = traits_def(Pure())

    assembly_format = "$symbol attr-dict `:` type($buffer)"

    def __init__(self, symbol: str, buffer_type: Attribute):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)}, result_types=[buffer_type])

    def check(self) -> None:
        table = symbol_table_of(self)
        if table is None:
            return
        found = symbol_in(table, self.symbol.string_value())
        declared = None if found is None else found.properties.get("value_type")
        if declared is None or buffer_type_of(declared) != self.buffer.type:
            raise VerifyException(
                f"{self.name}: @{self.symbol.string_value()} is no cuvil_tensor.global of shape and type "
                f"{self.buffer.type}"
            )


@irdl_op_definition
class ArenaViewOp(BufferOp):
    """A buffer at a byte offset of the arena.

    `%b = cuvil_fused.arena_view %arena at 64 : memref<4096xi8> to memref<4x8xf32>`
    `%c = cuvil_fused.arena_view %arena at 64 + %n : memref<?xi8> to memref<?xf32, #cuvil_tensor.dims<"s0">>`

    The second form adds an `index` that only running tells, a multiple of 64 too: where buffers have symbolic sizes.
    Two views may overlap; only their contents' lifetimes, which `plan-memory` kept apart, make that right.
    """

    name = "cuvil_fused.arena_view"

    arena = operand_def(MemRefType)
    offset_bytes = prop_def(IntegerAttr[I64])
    offset = opt_operand_def(IndexType)
    buffer = result_def(MemRefType)

    traits = traits_def(Pure())

    assembly_format = "$arena `at` $offset_bytes (`+` $offset^)? attr-dict `:` type($arena) `to` type($buffer)"

    def __init__(
        self,
        arena: SSAValue | Operation,
        offset_bytes: int,
        buffer_type: Attribute,
        offset: SSAValue | Operation | None = None,
    ):
        super().__init__(
            operands=[arena, offset],
            properties={"offset_bytes": int_attr(offset_bytes)},
            result_types=[buffer_type],
        )

    def check(self) -> None:
        arena = self.arena.type
        assert isinstance(arena, MemRefType)
        if arena.element_type != IntegerType(8) or len(arena.get_shape()) != 1:
            raise VerifyException(f"{self.name}: the arena is a flat buffer of i8, got {arena}")
        offset = self.offset_bytes.value.data
        size = size_bytes(self.buffer.type)
        if offset < 0 or offset % 64:
            raise VerifyException(f"{self.name}: offset {offset} is not a multiple of 64 bytes")
        is_open = self.offset is not None or arena.get_shape()[0] < 0
        if isinstance(size, int) and not is_open and offset + size > arena.get_shape()[0]:
            raise VerifyException(
                f"{self.name}: {size} bytes at {offset} do not fit an arena of {arena.get_shape()[0]} bytes"
            )


CuvilFused = Dialect(
    "cuvil_fused",
    [KernelOp, YieldOp, AllocOp, FreeOp, CopyOp, ParameterOp, ArenaViewOp],
    [AccessAttr, ScheduleAttr],
)
