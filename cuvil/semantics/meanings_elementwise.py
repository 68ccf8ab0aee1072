"""Reference meaning of the element-wise ops of `cuvil_tensor`: the scalar-function table's, and casts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from cuvil.dialects.tensor import CastOp, ElementwiseOp, element_of
from cuvil.semantics.arrays import Array, dtype_of, rounded, widened
from cuvil.semantics.interpreter import Frame, Meaning


def apply_scalar_function(kind: str, operands: Sequence[Array], result_type: Attribute) -> Array:
    """A row of the scalar-function table on arrays, rounded once to the element type `result_type`."""
    from cuvil.semantics.scalars import SCALAR_FUNCTIONS

    result = SCALAR_FUNCTIONS[kind].meaning(np, *(widened(np.asarray(operand)) for operand in operands))
    return rounded(result, result_type)


def cast(array: Array, source: Attribute, target: Attribute) -> Array:
    """The elements converted as `Tensor.to` does: to bool by `!= 0`, float to integer towards zero, integers wrapping.

    A NaN or a number too large for the integer type is undefined in PyTorch; here it is what x86-64 gives for int64
    (the smallest number), narrowed.
    """
    dtype = dtype_of(target)
    if dtype == np.bool_:
        return np.asarray(array != 0)
    if array.dtype.kind == "f" and isinstance(target, IntegerType):
        inside = np.isfinite(array) & (np.abs(array) < 2.0**63)
        wide = np.where(inside, array, 0).astype(np.int64)
        return np.where(inside, wide, np.int64(-(2**63))).astype(dtype)
    return rounded(array, target)


def _elementwise(frame: Frame, op: ElementwiseOp, operands: Sequence[Array]) -> Sequence[Array]:
    return [apply_scalar_function(op.kind.data, operands, element_of(op.result))]


def _cast(frame: Frame, op: CastOp, operands: Sequence[Array]) -> Sequence[Array]:
    return [cast(operands[0], element_of(op.input), element_of(op.result))]


MEANINGS: dict[str, Meaning] = {
    "cuvil_tensor.unary": _elementwise,
    "cuvil_tensor.binary": _elementwise,
    "cuvil_tensor.ternary": _elementwise,
    "cuvil_tensor.cast": _cast,
}
