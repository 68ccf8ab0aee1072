"""Tensor types as Cuvil reads them: shapes of dims, symbolic ones carried by the type's encoding.

`tensor<?x128xf32, #cuvil_tensor.dims<"s0", 128>>` has the shape (s0, 128). A type without an encoding has only known
dims; an unknown dim without a name is refused by the verifier of every Cuvil op, since nothing could be said of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from cuvil.semantics.dims import Dim, DimExpr, parse_dim


@irdl_attr_definition
class DimsAttr(ParametrizedAttribute):
    """The dims of a tensor type with unknown sizes, one expression or number per dim: `#cuvil_tensor.dims<"2*s0",
    8>`."""

    name = "cuvil_tensor.dims"

    dims: ArrayAttr[StringAttr | IntAttr] = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def one() -> Attribute:
            text = parser.parse_optional_str_literal()
            return IntAttr(parser.parse_integer()) if text is None else StringAttr(text)

        return [ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, one))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_list(
                self.dims,
                lambda dim: printer.print_string(str(dim.data) if isinstance(dim, IntAttr) else f'"{dim.data}"'),
            )

    def verify(self) -> None:
        for dim in self.dims:
            if isinstance(dim, StringAttr):
                try:
                    parsed = parse_dim(dim.data)
                except ValueError as error:
                    raise VerifyException(f"cuvil_tensor.dims: {error}") from error
                if str(parsed) != dim.data:
                    raise VerifyException(f"cuvil_tensor.dims: write '{dim.data}' in its normal form '{parsed}'")

    def shape(self) -> tuple[Dim, ...]:
        """The dims as numbers and expressions."""
        return tuple(dim.data if isinstance(dim, IntAttr) else parse_dim(dim.data) for dim in self.dims)


def shape_of(tensor_type: Attribute) -> tuple[Dim, ...]:
    """The shape of a tensor or memref type; a VerifyException where a dim is unknown and has no name."""
    assert isinstance(tensor_type, TensorType | MemRefType)
    shape = tensor_type.get_shape()
    if DYNAMIC_INDEX not in shape:
        return shape
    encoding = tensor_type.encoding if isinstance(tensor_type, TensorType) else tensor_type.memory_space
    if not isinstance(encoding, DimsAttr):
        raise VerifyException(
            f"{tensor_type} has an unknown dim without a name: give its dims by an encoding #cuvil_tensor.dims<...>"
        )
    dims = encoding.shape()
    if len(dims) != len(shape) or any(
        (number == DYNAMIC_INDEX) != isinstance(dim, DimExpr) or (number != DYNAMIC_INDEX and number != dim)
        for number, dim in zip(shape, dims, strict=True)
    ):
        raise VerifyException(f"the encoding of {tensor_type} does not describe its dims")
    return dims


def is_nameless(buffer_type: Attribute) -> bool:
    """Whether a memref has an unknown dim and no names for its dims: an arena, or a flat buffer."""
    if not isinstance(buffer_type, MemRefType) or isinstance(buffer_type.memory_space, DimsAttr):
        return False
    return DYNAMIC_INDEX in buffer_type.get_shape()


def tensor_of(element_type: Attribute, shape: Sequence[Dim]) -> TensorType[Attribute]:
    """The tensor type of a shape, with an encoding if a dim is symbolic."""
    return TensorType(element_type, _numbers(shape), _encoding(shape))


def buffer_of(element_type: Attribute, shape: Sequence[Dim]) -> MemRefType[Attribute]:
    """The memref type of a shape; symbolic dims are carried in the memory space, where memref types have room."""
    return MemRefType(element_type, _numbers(shape), NoneAttr(), _encoding(shape))


def _numbers(shape: Sequence[Dim]) -> list[int]:
    return [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in shape]


def _encoding(shape: Sequence[Dim]) -> Attribute:
    if all(isinstance(dim, int) for dim in shape):
        return NoneAttr()
    return DimsAttr(ArrayAttr([IntAttr(dim) if isinstance(dim, int) else StringAttr(str(dim)) for dim in shape]))


ELEMENT_TYPES = "f16, bf16, f32, f64, i1, index or an integer of 8, 16, 32 or 64 bits"
"""What tensors may hold, as messages say it: the types that PyTorch computes with."""


def is_element_type(element_type: Attribute) -> bool:
    """Whether tensors may hold elements of this type."""
    if isinstance(element_type, IntegerType):
        return element_type.width.data in (1, 8, 16, 32, 64)
    return isinstance(element_type, Float16Type | BFloat16Type | Float32Type | Float64Type | IndexType)


def element_domain(element_type: Attribute) -> str | None:
    """`f` for floats, `i` for integers, `b` for bool (i1); None for anything else."""
    if isinstance(element_type, AnyFloat):
        return "f"
    if isinstance(element_type, IntegerType):
        return "b" if element_type.width.data == 1 else "i"
    return None


def format_shape(shape: Sequence[Dim]) -> str:
    """`2x3xs0`, as messages spell a shape; `scalar` for rank 0."""
    return "x".join(str(dim) for dim in shape) if shape else "scalar"
