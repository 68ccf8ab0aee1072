"""Operations of `nvvm` on tensor cores: matrix fragments of a warp, products of a warp and of a warpgroup."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I32,
    I64,
    AnyFloat,
    IntegerAttr,
    IntegerType,
    VectorType,
    f16,
    f32,
    i32,
)
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects.nvvm_attributes import (
    SHARED,
    MmaIntOverflowAttr,
    MmaLayout,
    MmaLayoutAttr,
    MmaType,
    MmaTypeAttr,
    ShapeAttr,
    WgmmaScaleIn,
    WgmmaScaleInAttr,
    WgmmaScaleOut,
    WgmmaScaleOutAttr,
    WgmmaType,
    WgmmaTypeAttr,
    i32_attr,
    require_space,
)
from cuvil.dialects.nvvm_memory import BareOp, WaitGroupOp

HALVES = VectorType(f16, [2])
"""Two f16 in one register."""


def struct_of(element: Attribute, count: int) -> Attribute:
    """`count` elements as LLVM returns them: one by itself, more in a struct."""
    return element if count == 1 else LLVMStructType.from_type_list([element] * count)


def _check_count(op: Operation, what: str, got: int, expected: int) -> None:
    if got != expected:
        raise VerifyException(f"{op.name}: expected {expected} registers of {what}, got {got}")


# -- fragments ---------------------------------------------------------------------------------------------------------


@irdl_op_definition
class LdMatrixOp(IRDLOperation):
    """Load 1, 2 or 4 matrices of 8 x 8 16-bit elements, each lane the address of one row.

    `nvvm.ldmatrix %p {num = 2 : i32, layout = #nvvm.mma_layout<row>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>`; the
    layout `col` transposes.
    """

    name = "nvvm.ldmatrix"

    ptr = operand_def(LLVMPointerType)
    num = prop_def(IntegerAttr[I32])
    layout = prop_def(MmaLayoutAttr)
    res = result_def(IntegerType | LLVMStructType)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr attr-dict `:` functional-type(operands, $res)"

    def __init__(self, address: SSAValue, count: int, layout: MmaLayout = MmaLayout.ROW) -> None:
        properties = {"num": i32_attr(count), "layout": MmaLayoutAttr(layout)}
        super().__init__(operands=[address], properties=properties, result_types=[struct_of(i32, count)])

    def verify_(self) -> None:
        require_space(self.name, "an address", self.ptr.type, SHARED)
        count = self.num.value.data
        if count not in (1, 2, 4):
            raise VerifyException(f"{self.name}: expected 1, 2 or 4 matrices, got {count}")
        if self.res.type != struct_of(i32, count):
            raise VerifyException(
                f"{self.name}: expected a result of type {struct_of(i32, count)}, got {self.res.type}"
            )


@irdl_op_definition
class StMatrixOp(IRDLOperation):
    """Store 1, 2 or 4 matrices of 8 x 8 16-bit elements, each lane the address of one row. sm_90 and up.

    `nvvm.stmatrix %p, %r0, %r1 {layout = #nvvm.mma_layout<row>} : !llvm.ptr<3>, i32, i32`
    """

    name = "nvvm.stmatrix"

    ptr = operand_def(LLVMPointerType)
    sources = var_operand_def(I32)
    layout = prop_def(MmaLayoutAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$ptr `,` $sources attr-dict `:` type($ptr) `,` type($sources)"

    def __init__(self, address: SSAValue, sources: Sequence[SSAValue], layout: MmaLayout = MmaLayout.ROW) -> None:
        super().__init__(operands=[address, sources], properties={"layout": MmaLayoutAttr(layout)})

    def verify_(self) -> None:
        require_space(self.name, "an address", self.ptr.type, SHARED)
        if len(self.sources) not in (1, 2, 4):
            raise VerifyException(f"{self.name}: expected 1, 2 or 4 matrices, got {len(self.sources)}")


# -- a warp's product --------------------------------------------------------------------------------------------------

_BITS = {MmaType.F16: 16, MmaType.BF16: 16, MmaType.TF32: 32, MmaType.F64: 64, MmaType.S8: 8, MmaType.U8: 8}
_LANES = 32


def register_bits(register: Attribute) -> int:
    """Bits of a fragment's register, a scalar or a vector."""
    if isinstance(register, VectorType):
        return register_bits(register.element_type) * register.element_count()
    assert isinstance(register, IntegerType | AnyFloat)
    return register.bitwidth


@irdl_op_definition
class MmaSyncOp(IRDLOperation):
    """A warp's matrix product A B + C on fragments in registers.

    `nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%c0, %c1, %c2, %c3] {layoutA = #nvvm.mma_layout<row>, layoutB =
    #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32) ->
    !llvm.struct<(f32, f32, f32, f32)>`

    A register of f16 is a `vector<2xf16>`; other types travel in `i32`, and `multiplicandAPtxType`,
    `multiplicandBPtxType` say which.
    """

    name = "nvvm.mma.sync"

    operand_a = var_operand_def()
    operand_b = var_operand_def()
    operand_c = var_operand_def()
    shape = prop_def(ShapeAttr)
    layout_a = prop_def(MmaLayoutAttr, prop_name="layoutA")
    layout_b = prop_def(MmaLayoutAttr, prop_name="layoutB")
    type_a = opt_prop_def(MmaTypeAttr, prop_name="multiplicandAPtxType")
    type_b = opt_prop_def(MmaTypeAttr, prop_name="multiplicandBPtxType")
    overflow = opt_prop_def(MmaIntOverflowAttr, prop_name="intOverflowBehavior")
    res = result_def(LLVMStructType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        shape: tuple[int, int, int],
        a: Sequence[SSAValue],
        b: Sequence[SSAValue],
        c: Sequence[SSAValue],
        element: MmaType | None = None,
    ) -> None:
        ptx_type = None if element is None else MmaTypeAttr(element)
        properties = {
            "shape": ShapeAttr.of(*shape),
            "layoutA": MmaLayoutAttr(MmaLayout.ROW),
            "layoutB": MmaLayoutAttr(MmaLayout.COL),
            "multiplicandAPtxType": ptx_type,
            "multiplicandBPtxType": ptx_type,
        }
        result = LLVMStructType.from_type_list([value.type for value in c])
        super().__init__(operands=[a, b, c], properties=properties, result_types=[result])

    @property
    def element(self) -> MmaType:
        """The type of A's elements."""
        return self.type_a.data if self.type_a is not None else MmaType.F16

    @classmethod
    def parse(cls, parser: Parser) -> MmaSyncOp:
        start = parser.pos
        groups = [_parse_fragment(parser, letter) for letter in "ABC"]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        if len(types) != 3:
            parser.raise_error(f"{cls.name}: expected the types of A, B and C, got {len(types)}", start)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        operands = [
            parser.resolve_operands(group, [group_type] * len(group), start)
            for group, group_type in zip(groups, types, strict=True)
        ]
        names = cls.get_irdl_definition().properties
        properties = {name: attributes.pop(name) for name in list(attributes) if name in names}
        return cls.build(operands=operands, properties=properties, attributes=attributes, result_types=[result])

    def print(self, printer: Printer) -> None:
        groups = (self.operand_a, self.operand_b, self.operand_c)
        for letter, group in zip("ABC", groups, strict=True):
            printer.print_string(f" {letter}[")
            printer.print_list(group, printer.print_ssa_value)
            printer.print_string("]")
        shown = {name: value for name, value in self.properties.items() if name != "operandSegmentSizes"}
        printer.print_op_attributes({**self.attributes, **dict(sorted(shown.items()))})
        printer.print_string(" : (")
        printer.print_list([group[0].type for group in groups], printer.print_attribute)
        printer.print_string(") -> ")
        printer.print_attribute(self.res.type)

    def verify_(self) -> None:
        groups = {"A": self.operand_a, "B": self.operand_b, "C": self.operand_c}
        for letter, group in groups.items():
            if not group or any(value.type != group[0].type for value in group):
                raise VerifyException(f"{self.name}: expected registers of one type in {letter}")
        self._verify_element()
        m, n, k = self.shape.sizes
        bits = _BITS.get(self.element)
        if bits is None:
            raise VerifyException(f"{self.name}: there is no product of '{self.element.value}'")
        for letter, group, elements in (("A", self.operand_a, m * k), ("B", self.operand_b, k * n)):
            _check_count(self, letter, len(group), elements * bits // (_LANES * register_bits(group[0].type)))
        result_bits = _accumulator_bits(self.res.type)
        _check_count(self, "the result", len(self.res.type.types), m * n * result_bits[0] // (_LANES * result_bits[1]))

    def _verify_element(self) -> None:
        if (self.layout_a.data, self.layout_b.data) != (MmaLayout.ROW, MmaLayout.COL):
            raise VerifyException(f"{self.name}: expected A in rows and B in columns")
        if self.type_a is None and self.operand_a[0].type != HALVES:
            raise VerifyException(f"{self.name}: registers of {self.operand_a[0].type} need multiplicandAPtxType")
        if self.type_a != self.type_b and MmaType.S8 not in (self.element, self.type_b and self.type_b.data):
            raise VerifyException(f"{self.name}: A and B differ in type")


def _accumulator_bits(result: LLVMStructType) -> tuple[int, int]:
    """Bits of an element of the result and of a register of it."""
    register = next(iter(result.types))
    element = register.element_type if isinstance(register, VectorType) else register
    return register_bits(element), register_bits(register)


def _parse_fragment(parser: Parser, letter: str):  # pyright: ignore[reportUnknownParameterType]
    parser.parse_keyword(letter)
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)


# -- a warpgroup's product ---------------------------------------------------------------------------------------------


@irdl_op_definition
class WgmmaFenceAlignedOp(BareOp):
    """Order registers and shared memory before the products that follow: `nvvm.wgmma.fence.aligned`. sm_90a."""

    name = "nvvm.wgmma.fence.aligned"


@irdl_op_definition
class WgmmaGroupSyncAlignedOp(BareOp):
    """Close a group of products: `nvvm.wgmma.commit.group.sync.aligned`. sm_90a."""

    name = "nvvm.wgmma.commit.group.sync.aligned"


@irdl_op_definition
class WgmmaWaitGroupSyncOp(WaitGroupOp):
    """Wait until at most so many groups of products are in flight: `nvvm.wgmma.wait.group.sync.aligned 1`. sm_90a."""

    name = "nvvm.wgmma.wait.group.sync.aligned"


_WGMMA_K = {
    WgmmaType.F16: 16,
    WgmmaType.BF16: 16,
    WgmmaType.TF32: 8,
    WgmmaType.E4M3: 32,
    WgmmaType.E5M2: 32,
    WgmmaType.S8: 32,
    WgmmaType.U8: 32,
}


@irdl_op_definition
class WgmmaMmaAsyncOp(IRDLOperation):
    """Start a warpgroup's product of two tiles in shared memory, each named by a descriptor.

    `nvvm.wgmma.mma_async %a, %b, %acc, <m = 64, n = 128, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>],
    B[<bf16>, <one>, <col>] : T -> T`. `D`'s scale `zero` ignores the accumulators. The layouts are those in memory: K
    runs fastest in a row of A and in a column of B; 16-bit types may have the other one.
    """

    name = "nvvm.wgmma.mma_async"

    descriptor_a = operand_def(I64)
    descriptor_b = operand_def(I64)
    inouts = operand_def(LLVMStructType)
    shape = prop_def(ShapeAttr)
    type_d = prop_def(WgmmaTypeAttr)
    scale_d = prop_def(WgmmaScaleOutAttr)
    type_a = prop_def(WgmmaTypeAttr)
    scale_a = prop_def(WgmmaScaleInAttr)
    layout_a = prop_def(MmaLayoutAttr)
    type_b = prop_def(WgmmaTypeAttr)
    scale_b = prop_def(WgmmaScaleInAttr)
    layout_b = prop_def(MmaLayoutAttr)
    res = result_def(LLVMStructType)

    assembly_format = (
        "$descriptor_a `,` $descriptor_b `,` $inouts `,` $shape `,` `D` `[` $type_d `,` $scale_d `]` `,` "
        "`A` `[` $type_a `,` $scale_a `,` $layout_a `]` `,` `B` `[` $type_b `,` $scale_b `,` $layout_b `]` attr-dict "
        "`:` type($inouts) `->` type($res)"
    )

    def __init__(
        self,
        descriptor_a: SSAValue,
        descriptor_b: SSAValue,
        accumulators: SSAValue,
        shape: tuple[int, int, int],
        element: WgmmaType,
        scale: WgmmaScaleOut = WgmmaScaleOut.ONE,
        layout_a: MmaLayout = MmaLayout.ROW,
        layout_b: MmaLayout = MmaLayout.COL,
    ) -> None:
        properties: dict[str, Attribute] = {
            "shape": ShapeAttr.of(*shape),
            "type_d": WgmmaTypeAttr(WgmmaType.F32),
            "scale_d": WgmmaScaleOutAttr(scale),
            "type_a": WgmmaTypeAttr(element),
            "scale_a": WgmmaScaleInAttr(WgmmaScaleIn.ONE),
            "layout_a": MmaLayoutAttr(layout_a),
            "type_b": WgmmaTypeAttr(element),
            "scale_b": WgmmaScaleInAttr(WgmmaScaleIn.ONE),
            "layout_b": MmaLayoutAttr(layout_b),
        }
        operands = [descriptor_a, descriptor_b, accumulators]
        super().__init__(operands=operands, properties=properties, result_types=[accumulators.type])

    def verify_(self) -> None:
        (m, n, k), element = self.shape.sizes, self.type_a.data
        if m != 64 or not 8 <= n <= 256 or n % 8:
            raise VerifyException(f"{self.name}: expected m = 64 and n a multiple of 8 up to 256, got m = {m}, n = {n}")
        if _WGMMA_K.get(element) != k:
            raise VerifyException(f"{self.name}: k of '{element.value}' is {_WGMMA_K.get(element)}, got {k}")
        if self.type_d.data != WgmmaType.F32:
            raise VerifyException(f"{self.name}: accumulators are 'f32', got '{self.type_d.data.value}'")
        expected = struct_of(f32, n // 2)
        if self.inouts.type != expected or self.res.type != expected:
            raise VerifyException(f"{self.name}: expected {n // 2} accumulators of f32, got {self.inouts.type}")
        if k != 16 and (self.layout_a.data, self.layout_b.data) != (MmaLayout.ROW, MmaLayout.COL):
            raise VerifyException(f"{self.name}: only 16-bit types can be transposed, got '{element.value}'")


OPERATIONS: list[type[Operation]] = [
    LdMatrixOp,
    MmaSyncOp,
    StMatrixOp,
    WgmmaFenceAlignedOp,
    WgmmaGroupSyncAlignedOp,
    WgmmaMmaAsyncOp,
    WgmmaWaitGroupSyncOp,
]
