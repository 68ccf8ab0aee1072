"""What builders of aten ops work with: emission at a location, constants, broadcasts, PyTorch's type promotion.

A *builder* is a function `(builder, *arguments)` with the arguments of an aten op's schema, tensors as SSA values and
sizes as dims, that emits `cuvil_tensor` ops and returns the op's result (a tuple, if there are several). It is put in
the table by `@aten("add", "add.Scalar")`: the name of an op stands for all of its overloads that have no row of their
own.

A builder that returns NotImplemented leaves the node to PyTorch's own decomposition. Where builders' results have
another element type than PyTorch computed, the importer casts; another shape is an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import torch
from xdsl.dialects.builtin import BFloat16Type, Float16Type, LocationAttr, TensorType, f32, i1, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from cuvil.dialects.tensor import (
    BinaryOp,
    BroadcastOp,
    CastOp,
    ConstantOp,
    GatherOp,
    IotaOp,
    ReduceOp,
    ReshapeOp,
    ReverseOp,
    SizeOp,
    SliceOp,
    TernaryOp,
    TransposeOp,
    UnaryOp,
    element_domain,
    element_of,
    shape_of,
    tensor_of,
)
from cuvil.errors import InternalError, UnsupportedError
from cuvil.frontends.aten_types import could_be_size, dtype_of, element_type_of
from cuvil.semantics.dims import Dim, DimExpr, product

Number: TypeAlias = int | float | bool
Operand: TypeAlias = SSAValue | Number | DimExpr
Builder: TypeAlias = Callable[..., Any]
OpT = TypeVar("OpT", bound=Operation)

ATEN_BUILDERS: dict[str, Builder] = {}
"""aten op (`add`) or overload (`add.Scalar`) => what builds it."""


def aten(*names: str) -> Callable[[Builder], Builder]:
    """Put a builder in the table under the names of ops or overloads."""

    def put(builder: Builder) -> Builder:
        for name in names:
            ATEN_BUILDERS[name] = builder
        return builder

    return put


@dataclass(frozen=True)
class Deferred:
    """One of several results, built where something reads it."""

    build: Callable[[], SSAValue]


@dataclass
class GraphBuilder:
    """Emits operations into a block; `result_shapes` and `result_dtypes` are what PyTorch says the current node
    gives."""

    block: Block
    location: LocationAttr
    result_shapes: tuple[tuple[Dim, ...], ...] = ()
    result_dtypes: tuple[torch.dtype, ...] = ()

    # -- emission ----------------------------------------------------------------------------------------------------

    def emit(self, op: OpT) -> OpT:
        """Append an operation at the current location."""
        op.location = self.location
        self.block.add_op(op)
        return op

    def value(self, op: Operation) -> SSAValue:
        """Append an operation and return its only result."""
        return self.emit(op).results[0]

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The shape of the current node's (first) result."""
        return self.result_shapes[0]

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the current node's (first) result."""
        return self.result_dtypes[0]

    # -- creation ----------------------------------------------------------------------------------------------------

    def constant(self, number: Number | DimExpr, element_type: Attribute) -> SSAValue:
        """A 0-d constant, or the number that a symbolic size is when the program runs."""
        if isinstance(number, DimExpr):
            # Floats are exact in the type that they are computed in; of bool is asked whether there are any.
            wanted = i64 if element_domain(element_type) == "b" else element_type
            return self.cast(self.value(SizeOp(number, TensorType(wanted, []))), element_type)
        domain = element_domain(element_type)
        if domain == "f":
            number = _as_float(number, element_type)
        elif isinstance(number, float) and not math.isfinite(number):
            raise UnsupportedError(f"{number} has no value in {element_type}")
        else:
            number = bool(number) if domain == "b" else _wrapped(int(number), element_type)
        return self.value(ConstantOp.splat(number, TensorType(element_type, [])))

    def full(self, number: Number | DimExpr, element_type: Attribute, shape: Sequence[Dim]) -> SSAValue:
        """A tensor of one value everywhere."""
        return self.broadcast(self.constant(number, element_type), shape)

    def iota(self, axis: int, shape: Sequence[Dim], element_type: Attribute = i64) -> SSAValue:
        """Each element its position along `axis`."""
        return self.value(IotaOp(axis, element_type, shape))

    def count(self, sizes: Sequence[Dim], element_type: Attribute) -> SSAValue:
        """The product of sizes as a 0-d tensor, symbolic ones included."""
        total = product(sizes)
        return self.constant(total, element_type)

    # -- movement ----------------------------------------------------------------------------------------------------

    def broadcast(self, value: SSAValue, shape: Sequence[Dim], axes: Sequence[int] | None = None) -> SSAValue:
        """Repeat to `shape`; without `axes`, dims align at the end, as PyTorch aligns them."""
        source = shape_of(value.type)
        if source == tuple(shape):
            return value
        if axes is None:
            axes = range(len(shape) - len(source), len(shape))
        return self.value(BroadcastOp(value, list(axes), shape))

    def reshape(self, value: SSAValue, shape: Sequence[Dim]) -> SSAValue:
        """The same elements under another shape."""
        return value if shape_of(value.type) == tuple(shape) else self.value(ReshapeOp(value, shape))

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Result dim i is dim order[i]."""
        return value if list(order) == list(range(len(order))) else self.value(TransposeOp(value, list(order)))

    def slice(self, value: SSAValue, axis: int, start: Dim, size: Dim, step: int = 1) -> SSAValue:
        """`size` elements of one dim from `start` on."""
        shape = list(shape_of(value.type))
        if not isinstance(start, int):
            return self._slice_from(value, axis, start, size, step)
        if start == 0 and step == 1 and shape[axis] == size:
            return value
        starts, steps = [0] * len(shape), [1] * len(shape)
        starts[axis], steps[axis], shape[axis] = start, step, size
        return self.value(SliceOp(value, starts, shape, steps))

    def _slice_from(self, value: SSAValue, axis: int, start: DimExpr, size: Dim, step: int) -> SSAValue:
        """A slice whose start is symbolic: counted from the end where that is a number, else gathered."""
        shape = shape_of(value.type)
        behind = shape[axis] - start - size
        if step == 1 and isinstance(behind, int) and behind >= 0:
            turned = self.slice(self.value(ReverseOp(value, [axis])), axis, behind, size)
            return self.value(ReverseOp(turned, [axis]))
        if not could_be_size(start) or not could_be_size(behind):
            raise UnsupportedError(
                f"a slice from {start} on, of {size} elements, may begin before or end behind its dim"
            )
        places = self.iota(0, [size])
        places = self.apply("mul", places, step) if step != 1 else places
        picked = self.value(GatherOp(value, [self.apply("add", places, start)], [axis]))
        return self.transpose(picked, [*range(1, axis + 1), 0, *range(axis + 1, len(shape))])

    def cast(self, value: SSAValue, element_type: Attribute) -> SSAValue:
        """The elements converted."""
        return value if element_of(value) == element_type else self.value(CastOp(value, element_type))

    def reduce(self, kind: str, value: SSAValue, axes: Sequence[int], keepdims: bool = False) -> SSAValue:
        """All elements along `axes` combined."""
        return self.value(ReduceOp(kind, value, list(axes), keepdims)) if len(axes) else value

    # -- scalar functions --------------------------------------------------------------------------------------------

    def apply(self, kind: str, *operands: Operand) -> SSAValue:
        """A scalar function on operands broadcast to one shape; numbers take the tensors' element type.

        Tensors must agree in element type already (`promoted` sees to that); the condition of `select` is its own.
        """
        tensors = [operand for operand in operands if isinstance(operand, SSAValue)]
        data = tensors[1:] if kind == "select" and len(tensors) > 1 else tensors
        element_type = element_of(data[0])
        shape = broadcast_shape([shape_of(tensor.type) for tensor in tensors])
        values = [
            self.broadcast(operand if isinstance(operand, SSAValue) else self.constant(operand, element_type), shape)
            for operand in operands
        ]
        match values:
            case [one]:
                return self.value(UnaryOp(kind, one))
            case [one, two]:
                return self.value(BinaryOp(kind, one, two))
            case [one, two, three]:
                return self.value(TernaryOp(kind, one, two, three))
            case _:
                raise InternalError(f"no scalar function takes {len(values)} operands")

    def promoted(self, *operands: Operand, as_float: bool = False) -> list[SSAValue]:
        """Operands cast to PyTorch's common dtype, numbers as 0-d tensors; `as_float`: integers become float."""
        dtype = promoted_dtype(operands)
        if as_float and not dtype.is_floating_point:
            dtype = torch.get_default_dtype()
        element_type = element_type_of(dtype)
        if is_half(element_type) and any(_is_inexact(number, dtype) for number in operands):
            # PyTorch keeps a Python number exact: it computes in float32 and rounds the result.
            element_type = f32
        return [
            self.cast(operand, element_type) if isinstance(operand, SSAValue) else self.constant(operand, element_type)
            for operand in operands
        ]

    def condition(self, operand: Operand) -> SSAValue:
        """An operand as bool: `!= 0`."""
        return self.cast(operand, i1) if isinstance(operand, SSAValue) else self.constant(bool(operand), i1)


def promoted_dtype(operands: Sequence[Operand]) -> torch.dtype:
    """PyTorch's result type: tensors with dims decide, then 0-d tensors, then numbers, each only by a higher
    category."""
    ranks: list[list[torch.dtype]] = [[], [], []]
    for operand in operands:
        if isinstance(operand, SSAValue):
            ranks[0 if shape_of(operand.type) else 1].append(dtype_of(element_of(operand)))
        else:
            ranks[2].append(_number_dtype(operand))
    result: torch.dtype | None = None
    for dtypes in ranks:
        if not dtypes:
            continue
        joined = dtypes[0]
        for dtype in dtypes[1:]:
            joined = torch.promote_types(joined, dtype)
        if result is None or _category(joined) > _category(result):
            result = joined
    if result is None:
        raise InternalError("no operands to promote")
    return result


def broadcast_shape(shapes: Sequence[Sequence[Dim]]) -> tuple[Dim, ...]:
    """The shape that all of these broadcast to."""
    rank = max(len(shape) for shape in shapes)
    result: list[Dim] = [1] * rank
    for shape in shapes:
        for axis, dim in enumerate(shape, rank - len(shape)):
            if dim != 1:
                result[axis] = dim
    return tuple(result)


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    return axis + max(rank, 1) if axis < 0 else axis


def normal_axes(axes: int | Sequence[int] | None, rank: int) -> list[int]:
    """Axes counted from the front; None or none mean all."""
    if axes is None or axes == []:
        return list(range(rank))
    return [normal_axis(axis, rank) for axis in ([axes] if isinstance(axes, int) else axes)] if rank else []


def is_half(element_type: Attribute) -> bool:
    """True for the 16-bit float types."""
    return isinstance(element_type, Float16Type | BFloat16Type)


def known(size: Dim, what: str) -> int:
    """A size that must be a number. Raises `UnsupportedError` where it is symbolic."""
    if not isinstance(size, int):
        raise UnsupportedError(f"{what} must be a known number, got the symbolic size {size}")
    return size


def _category(dtype: torch.dtype) -> int:
    return 2 if dtype.is_floating_point else int(dtype != torch.bool)


def _number_dtype(number: Number | DimExpr) -> torch.dtype:
    if isinstance(number, bool):
        return torch.bool
    return torch.int64 if isinstance(number, int | DimExpr) else torch.get_default_dtype()


def _is_inexact(number: Operand, dtype: torch.dtype) -> bool:
    if isinstance(number, DimExpr):
        return True  # as it may be
    if isinstance(number, SSAValue) or not math.isfinite(number):
        return False
    return float(torch.tensor(number, dtype=dtype)) != float(number)


def _wrapped(number: int, element_type: Attribute) -> int:
    """A number as the integer type stores it: as PyTorch does, -7 is 249 among bytes."""
    info = torch.iinfo(dtype_of(element_type))
    return (number - info.min) % (1 << info.bits) + info.min


def _as_float(number: Number, element_type: Attribute) -> float:
    """A number as the element type stores it: struct refuses what overflows, PyTorch makes it infinite."""
    return float(torch.tensor(float(number), dtype=dtype_of(element_type)))


def element_type(builder: GraphBuilder) -> Attribute:
    """The element type of the current node's (first) result."""
    return element_type_of(builder.dtype)


def tensor_type(builder: GraphBuilder) -> TensorType[Attribute]:
    """The type of the current node's (first) result."""
    return tensor_of(element_type_of(builder.dtype), builder.shape)
