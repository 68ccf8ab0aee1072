"""Evaluate ops whose operands are constants, by their reference meaning.

    %0 = cuvil_tensor.constant dense<2.0> : tensor<f32>
    %1 = cuvil_tensor.unary sqrt %0 : tensor<f32>
=>
    %1 = cuvil_tensor.constant dense<1.41421354> : tensor<f32>

Splats are folded whatever their size where the op works element by element; other results up to `max-elements`, and what is
larger is for `hoist-parameters`.

Requires: cuvil_tensor core.   Ensures: bit-identical results in the reference.
Declines: results of more than `max-elements` elements that are no splats, symbolic shapes, bf16.
Source: sparse conditional constant propagation without the conditions (Wegman and Zadeck 1991); conditions are folded by
upstream's canonicalization of scf.if.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct
from cuvil.instrument import statistics

@dataclass(frozen=True)
class FoldConstantsPass(ModulePass):
    """Ops on constants => constants."""

    name: ClassVar[str] = "fold-constants"
    function_local: ClassVar[bool] = True

    max_elements: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            folded = _folded(inner, self.max_elements)
            if folded is None:
                continue
            block = inner.parent
            assert block is not None
            folded.location = inner.location
            block.insert_op_before(folded, inner)
            folded.result.name_hint = inner.results[0].name_hint
            inner.results[0].replace_all_uses_with(folded.result)
            block.erase_op(inner)
            statistics.count(self.name, "folded")


def _folded(op: Operation, max_elements: int) -> ct.ConstantOp | None:
    """The constant that `op` gives; None if it depends on more than constants or is too large."""
    if not isinstance(op, ct.TensorOp) or len(op.results) != 1 or isinstance(op, ct.ConstantOp | ct.CompositeOp):
        return None
    result_type = op.results[0].type
    if not isinstance(result_type, TensorType) or any(dim < 0 for dim in result_type.get_shape()):
        return None
    if isinstance(result_type.element_type, BFloat16Type):
        return None
    constants = [_constant(operand) for operand in op.operands]
    if not constants or any(constant is None for constant in constants):
        return None
    known = [constant for constant in constants if constant is not None]
    if all(constant.value.is_splat() for constant in known) and isinstance(
        op, ct.ElementwiseOp | ct.CastOp | ct.BroadcastOp | ct.ReshapeOp | ct.TransposeOp | ct.SliceOp
    ):
        return _splat(op, known, result_type)
    size = max(_size(constant.result) for constant in known)
    if max(_size(op.results[0]), size) > max_elements:
        return None
    return _evaluated(op, [constant.value for constant in known], result_type)


def _constant(value: SSAValue) -> ct.ConstantOp | None:
    owner = value.owner
    if not isinstance(owner, ct.ConstantOp) or isinstance(ct.element_of(value), BFloat16Type):
        return None
    return owner


def _size(value: SSAValue) -> int:
    assert isinstance(value.type, TensorType)
    total = 1
    for dim in value.type.get_shape():
        total *= dim
    return total


def _splat(op: ct.TensorOp, constants: list[ct.ConstantOp], result_type: TensorType[Any]) -> ct.ConstantOp | None:
    """An op on splats that works element by element, evaluated on one element."""
    if isinstance(op, ct.BroadcastOp | ct.ReshapeOp | ct.TransposeOp | ct.SliceOp):
        return ct.ConstantOp.splat(constants[0].value.get_values()[0], result_type) if _size(op.results[0]) else None
    small = [
        DenseIntOrFPElementsAttr.from_list(TensorType(ct.element_of(c.result), []), [c.value.get_values()[0]])  # pyright: ignore
        for c in constants
        if _size(c.result)
    ]
    if len(small) != len(constants):
        return None
    one = _evaluated(op, small, TensorType(result_type.element_type, []))
    return None if one is None else ct.ConstantOp.splat(one.value.get_values()[0], result_type)


def _evaluated(
    op: ct.TensorOp, values: list[DenseIntOrFPElementsAttr], result_type: TensorType[Any]
) -> ct.ConstantOp | None:
    """`op` applied to the constants `values` by the reference interpreter."""
    import numpy as np

    from cuvil.semantics.arrays import array_of_constant, constant_of_array
    from cuvil.semantics.interpreter import Frame, Interpreter, meanings

    frame = Frame(Interpreter(ModuleOp([])), {})
    with np.errstate(all="ignore"):
        results = meanings()[op.name](frame, op, [array_of_constant(value) for value in values])
    return None if results is None else ct.ConstantOp(constant_of_array(results[0], result_type))
