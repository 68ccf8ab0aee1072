"""Attributes of the `nvvm` dialect, spelled as in MLIR, and the constraints that its operations share.

MLIR writes a kind that an operation's syntax names bare (`shfl.sync bfly`) as `#nvvm<shfl_kind bfly>` elsewhere, and
one that stands in a dictionary as `#nvvm.mma_layout<row>`: `_InBrackets` is the second form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.dialects.builtin import IntAttr, IntegerAttr, i32
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

GENERIC, GLOBAL, SHARED, SHARED_CLUSTER = 0, 1, 3, 7
"""NVPTX's address spaces; `SHARED_CLUSTER` is the shared memory of every block of a cluster."""


def pointer(space: int) -> LLVMPointerType:
    """The pointer type of an address space."""
    return LLVMPointerType(IntAttr(space)) if space else LLVMPointerType()


def space_of(pointer_type: Attribute) -> int:
    """The address space of a pointer type."""
    assert isinstance(pointer_type, LLVMPointerType)
    return pointer_type.addr_space.data if isinstance(pointer_type.addr_space, IntAttr) else GENERIC


def require_space(op_name: str, what: str, pointer_type: Attribute, *spaces: int) -> None:
    """Raise `VerifyException` unless a pointer is into one of `spaces`."""
    if space_of(pointer_type) not in spaces:
        expected = " or ".join(str(pointer(space)) for space in spaces)
        raise VerifyException(f"{op_name}: expected {what} of type {expected}, got {pointer_type}")


def i32_attr(number: int) -> IntegerAttr:
    """A number as nvvm's operations carry it."""
    return IntegerAttr(number, i32)


# -- kinds that the syntax names bare ----------------------------------------------------------------------------------


class ShflKind(StrEnum):
    """From which lane a shuffle reads."""

    BFLY = "bfly"
    UP = "up"
    DOWN = "down"
    IDX = "idx"


@irdl_attr_definition
class ShflKindAttr(EnumAttribute[ShflKind], SpacedOpaqueSyntaxAttribute):
    """From which lane a shuffle reads: lane ^ offset, lane - offset, lane + offset, or a lane by its number."""

    name = "nvvm.shfl_kind"


class VoteKind(StrEnum):
    """What a vote tells."""

    ALL = "all"
    ANY = "any"
    BALLOT = "ballot"
    UNI = "uni"


@irdl_attr_definition
class VoteKindAttr(EnumAttribute[VoteKind], SpacedOpaqueSyntaxAttribute):
    """What a vote tells: whether all, any, or equally many lanes agree, or which (a bit each)."""

    name = "nvvm.vote_sync_kind"


class ReduxKind(StrEnum):
    """How integers are combined."""

    ADD = "add"
    AND = "and"
    MAX = "max"
    MIN = "min"
    OR = "or"
    UMAX = "umax"
    UMIN = "umin"
    XOR = "xor"


@irdl_attr_definition
class ReduxKindAttr(EnumAttribute[ReduxKind], SpacedOpaqueSyntaxAttribute):
    """How a warp's integers are combined."""

    name = "nvvm.redux_kind"


class CacheModifier(StrEnum):
    """Which caches a copy goes through."""

    CA = "ca"
    CG = "cg"


@irdl_attr_definition
class CacheModifierAttr(EnumAttribute[CacheModifier], SpacedOpaqueSyntaxAttribute):
    """Which caches an asynchronous copy goes through: all (`ca`), or the second level only (`cg`)."""

    name = "nvvm.load_cache_modifier"


class RegisterAction(StrEnum):
    """What a warpgroup does with registers."""

    INCREASE = "increase"
    DECREASE = "decrease"


@irdl_attr_definition
class RegisterActionAttr(EnumAttribute[RegisterAction], SpacedOpaqueSyntaxAttribute):
    """Whether a warpgroup takes registers or gives them up."""

    name = "nvvm.action"


class GridDependency(StrEnum):
    """A half of programmatic dependent launch."""

    WAIT = "wait"
    LAUNCH_DEPENDENTS = "launch_dependents"


@irdl_attr_definition
class GridDependencyAttr(EnumAttribute[GridDependency], SpacedOpaqueSyntaxAttribute):
    """Programmatic dependent launch: wait for the grid before, or let the grid after start."""

    name = "nvvm.grid_dep_action"


# -- kinds in brackets -------------------------------------------------------------------------------------------------


class _InBrackets:
    """`#nvvm.name<value>`, in an operation's syntax `<value>`."""

    enum_type: ClassVar[type[StrEnum]]
    data: Any

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.enum_type)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)


class MmaLayout(StrEnum):
    """The order of elements."""

    ROW = "row"
    COL = "col"


@irdl_attr_definition
class MmaLayoutAttr(_InBrackets, EnumAttribute[MmaLayout]):
    """The order of a matrix's elements in memory or in a fragment."""

    name = "nvvm.mma_layout"


class MmaType(StrEnum):
    """Element types of a warp's product."""

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"
    F32 = "f32"
    F64 = "f64"
    S8 = "s8"
    U8 = "u8"
    S32 = "s32"


@irdl_attr_definition
class MmaTypeAttr(_InBrackets, EnumAttribute[MmaType]):
    """PTX's element type of a matrix, where the fragment's type leaves it open."""

    name = "nvvm.mma_type"


class MmaIntOverflow(StrEnum):
    """What an integer product does on overflow."""

    WRAPPED = "wrapped"
    SATFINITE = "satfinite"


@irdl_attr_definition
class MmaIntOverflowAttr(_InBrackets, EnumAttribute[MmaIntOverflow]):
    """What an integer product does on overflow."""

    name = "nvvm.mma_int_overflow"


class WgmmaType(StrEnum):
    """Element types of a warpgroup's product."""

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"
    F32 = "f32"
    E4M3 = "e4m3"
    E5M2 = "e5m2"
    S8 = "s8"
    U8 = "u8"
    S32 = "s32"


@irdl_attr_definition
class WgmmaTypeAttr(_InBrackets, EnumAttribute[WgmmaType]):
    """An element type of a warpgroup's product."""

    name = "nvvm.wgmma_type"


class WgmmaScaleIn(StrEnum):
    """The sign of an operand."""

    ONE = "one"
    NEG = "neg"


@irdl_attr_definition
class WgmmaScaleInAttr(_InBrackets, EnumAttribute[WgmmaScaleIn]):
    """The sign an operand of a warpgroup's product is taken with."""

    name = "nvvm.wgmma_scale_in"


class WgmmaScaleOut(StrEnum):
    """What happens to the accumulators."""

    ZERO = "zero"
    ONE = "one"


@irdl_attr_definition
class WgmmaScaleOutAttr(_InBrackets, EnumAttribute[WgmmaScaleOut]):
    """Whether a warpgroup's product starts from zero or adds to its accumulators."""

    name = "nvvm.wgmma_scale_out"


class ProxyKind(StrEnum):
    """What a proxy fence orders."""

    ALIAS = "alias"
    ASYNC = "async"
    ASYNC_GLOBAL = "async.global"
    ASYNC_SHARED = "async.shared"


@irdl_attr_definition
class ProxyKindAttr(_InBrackets, EnumAttribute[ProxyKind]):
    """Between which kinds of memory access a proxy fence orders."""

    name = "nvvm.proxy_kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ProxyKind:
        with parser.in_angle_brackets():
            # A kind with a dot is one token to nobody but us.
            start = parser.pos
            name = parser.parse_identifier()
            if name not in tuple(ProxyKind):
                parser.raise_error(f"unknown proxy kind '{name}': expected one of {', '.join(ProxyKind)}", start)
            return ProxyKind(name)


class SharedSpace(StrEnum):
    """Whose shared memory."""

    CTA = "cta"
    CLUSTER = "cluster"


@irdl_attr_definition
class SharedSpaceAttr(_InBrackets, EnumAttribute[SharedSpace]):
    """The shared memory of one block, or of every block of the cluster."""

    name = "nvvm.shared_space"


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute):
    """The shape of a matrix product: `#nvvm.shape<m = 16, n = 8, k = 16>`."""

    name = "nvvm.shape"

    m: IntAttr = param_def()
    n: IntAttr = param_def()
    k: IntAttr = param_def()

    @classmethod
    def of(cls, m: int, n: int, k: int) -> ShapeAttr:
        """The shape of a product of [m, k] and [k, n]."""
        return cls(IntAttr(m), IntAttr(n), IntAttr(k))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """m, n, k."""
        return self.m.data, self.n.data, self.k.data

    def __str__(self) -> str:
        return "m{}n{}k{}".format(*self.sizes)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            sizes: list[Attribute] = []
            for position, letter in enumerate("mnk"):
                if position:
                    parser.parse_punctuation(",")
                parser.parse_keyword(letter)
                parser.parse_punctuation("=")
                sizes.append(IntAttr(parser.parse_integer()))
            return sizes

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("m = {}, n = {}, k = {}".format(*self.sizes))


ATTRIBUTES: list[type[Attribute]] = [
    CacheModifierAttr,
    GridDependencyAttr,
    MmaIntOverflowAttr,
    MmaLayoutAttr,
    MmaTypeAttr,
    ProxyKindAttr,
    ReduxKindAttr,
    RegisterActionAttr,
    ShapeAttr,
    SharedSpaceAttr,
    ShflKindAttr,
    VoteKindAttr,
    WgmmaScaleInAttr,
    WgmmaScaleOutAttr,
    WgmmaTypeAttr,
]
