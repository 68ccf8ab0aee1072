"""Tensors that repeat one number: constants, and their broadcasts.

xDSL stores every element of a `dense` attribute, so that large splats are dear. Where we make one, `full` in
`core_builder.py` and the functions here prefer a 0-d constant that is broadcast, which costs nothing inside a kernel.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue

from cuvil.dialects import tensor as ct

LARGEST_SPLAT = 1024
"""Elements up to which a splat is a constant of its own shape."""

Number = int | float | bool


def splat_element(op: ct.ConstantOp) -> DenseIntOrFPElementsAttr | None:
    """The element that a constant repeats, as a 0-d attribute; None if its elements differ or if there are none."""
    value_type = op.value.type
    count = prod(value_type.get_shape())
    data = op.value.data.data
    width = len(data) // max(count, 1)
    if count == 0 or data != data[:width] * count:
        return None
    return DenseIntOrFPElementsAttr(TensorType(op.value.get_element_type(), ()), BytesAttr(data[:width]))


def is_splat(op: ct.ConstantOp) -> bool:
    """Whether all elements of a constant are the same; one without elements is no splat."""
    return splat_element(op) is not None


def repeated_element(value: SSAValue) -> DenseIntOrFPElementsAttr | None:
    """The one element at every point of a value: of a splat constant, or of one broadcast along any dims."""
    while isinstance(value.owner, ct.BroadcastOp):
        value = value.owner.input
    return splat_element(value.owner) if isinstance(value.owner, ct.ConstantOp) else None


def repeated_number(value: SSAValue) -> Number | None:
    """The number that `repeated_element` holds; bools are 0 and -1."""
    element = repeated_element(value)
    return None if element is None else element.get_values()[0]  # pyright: ignore[reportReturnType]
