"""Evaluate ops whose operands are constants, by their reference meaning.

    %0 = cuvil_tensor.constant dense<2.0> : tensor<f32>
    %1 = cuvil_tensor.unary sqrt %0 : tensor<f32>
=>
    %1 = cuvil_tensor.constant dense<1.41421354> : tensor<f32>

What repeats one number is folded whatever its size where the op works element by element; other results up to
`max-elements`, and what is larger is for `hoist-parameters`. An attention's mask that depends on constants alone is
looked at: one that masks nothing goes, one that lets each query see what is not after it becomes `causal`, which
skips half of the work.

Requires: cuvil_tensor core.   Ensures: bit-identical results in the reference.
Declines: results of more than `max-elements` elements that are no splats, symbolic shapes, bf16, ops inside kernels
(which hold splats alone), ops that cannot be evaluated (an index out of range).
Source: sparse conditional constant propagation without the conditions (Wegman and Zadeck 1991); conditions are folded
by upstream's canonicalization of scf.if.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import BFloat16Type, BytesAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct
from cuvil.dialects.fused import KernelOp
from cuvil.errors import CuvilError
from cuvil.instrument import statistics
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.splats import LARGEST_SPLAT, repeated_element
from cuvil.semantics.views import static_shape

_MASK_ELEMENTS = 1 << 24
"""The largest mask that is evaluated to see what it masks."""


@dataclass(frozen=True)
class FoldConstantsPass(ModulePass):
    """Ops on constants => constants."""

    name: ClassVar[str] = "fold-constants"
    function_local: ClassVar[bool] = True

    max_elements: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        masks = _Masks()
        for inner in list(_outside_kernels(op)):
            if isinstance(inner, ct.AttentionOp):
                masks.simplify(inner)
                continue
            folded = _folded(inner, self.max_elements)
            if folded is not None:
                _replace(inner, folded)
                statistics.count(self.name, "folded")


def _outside_kernels(op: Operation) -> Iterator[Operation]:
    """The ops below `op` in order, but not those inside kernels."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.ops:
                yield inner
                if inner.regions and not isinstance(inner, KernelOp):
                    yield from _outside_kernels(inner)


def _replace(op: Operation, folded: DenseIntOrFPElementsAttr) -> None:
    """`folded` in the place of the op's result, broadcast if it is one element and the result is large."""
    block = op.parent
    assert block is not None
    b = CoreBuilder(op.location)
    value = b.add(ct.ConstantOp(folded))
    if value.type != op.results[0].type:
        value = b.broadcast(value, (), ct.shape_of(op.results[0].type))
    for made in list(b.block.ops):
        made.detach()
        block.insert_op_before(made, op)
    value.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(value)
    block.erase_op(op)


def _folded(op: Operation, max_elements: int) -> DenseIntOrFPElementsAttr | None:
    """What `op` gives, one element if it is repeated; None if it depends on more than constants or is too large."""
    if not isinstance(op, ct.TensorOp) or len(op.results) != 1 or not op.operands or isinstance(op, ct.CompositeOp):
        return None
    if any(isinstance(ct.element_of(value), BFloat16Type) for value in (*op.operands, *op.results)):
        return None
    result_type = op.results[0].type
    assert isinstance(result_type, TensorType)
    if isinstance(op, ct.ElementwiseOp | ct.CastOp):
        elements = [repeated_element(operand) for operand in op.operands]
        one = _evaluated(op, elements, TensorType(result_type.element_type, ()))
        if one is not None:
            size = _size(op.results[0])
            if size is None or size > LARGEST_SPLAT:
                return one
            return DenseIntOrFPElementsAttr(result_type, BytesAttr(one.data.data * size))
    size = _size(op.results[0])
    constants = [_constant(operand, max_elements) for operand in op.operands]
    return None if size is None or size > max_elements else _evaluated(op, constants, result_type)


def _constant(value: SSAValue, max_elements: int) -> DenseIntOrFPElementsAttr | None:
    """The elements of a constant that is not too large."""
    owner = value.owner
    size = _size(value)
    return owner.value if isinstance(owner, ct.ConstantOp) and size is not None and size <= max_elements else None


def _size(value: SSAValue) -> int | None:
    """The elements of a tensor; None if a dim is symbolic."""
    shape = static_shape(value)
    return None if shape is None else prod(shape)


def _evaluated(
    op: ct.TensorOp, values: Sequence[DenseIntOrFPElementsAttr | None], result_type: TensorType[Any]
) -> DenseIntOrFPElementsAttr | None:
    """`op` applied to constants by the reference interpreter; None where one is missing, or where it fails."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    import numpy as np

    from cuvil.semantics.arrays import array_of_constant, constant_of_array
    from cuvil.semantics.interpreter import Frame, Interpreter

    frame = Frame(Interpreter(ModuleOp([])), {})
    try:
        with np.errstate(all="ignore"):
            results = frame.execute(op, [array_of_constant(value) for value in known])
    except CuvilError:
        return None
    return constant_of_array(results[0], result_type)


# -- masks -------------------------------------------------------------------------------------------------------------


@dataclass
class _Masks:
    """What the masks of a module's attentions say, each evaluated once."""

    kinds: dict[SSAValue, str | None] = field(default_factory=dict[SSAValue, "str | None"])

    def simplify(self, op: ct.AttentionOp) -> None:
        """attention mask = nothing masked => without; mask = nothing after the query => causal."""
        if op.mask is None:
            return
        mask = op.mask
        while isinstance(mask.owner, ct.BroadcastOp) and len(ct.shape_of(mask.owner.input.type)) >= 2:
            if ct.numbers(mask.owner.axes)[-2:] != tuple(range(len(ct.shape_of(mask.type))))[-2:]:
                break
            mask = mask.owner.input
        if mask not in self.kinds:
            self.kinds[mask] = _kind_of_mask(mask)
        kind = self.kinds[mask]
        if kind is None or (kind == "causal" and ct.shape_of(mask.type)[-2:] != ct.shape_of(op.mask.type)[-2:]):
            return
        causal = kind == "causal" or op.causal is not None
        made = ct.AttentionOp(op.query, op.key, op.value, op.scale.value.data, None, causal)
        block = op.parent
        assert block is not None
        made.location = op.location
        made.result.name_hint = op.result.name_hint
        block.insert_op_before(made, op)
        op.result.replace_all_uses_with(made.result)
        block.erase_op(op)
        statistics.count("fold-constants", f"{kind}-masks")


def _kind_of_mask(mask: SSAValue) -> str | None:
    """`empty` for a mask that hides nothing, `causal` for one that hides what is after the query; else None."""
    import numpy as np

    value = _known_array(mask)
    if value is None:
        return None
    if value.dtype != np.bool_:
        if np.any((value != 0) & ~np.isneginf(value)):
            return None
        value = value == 0
    if value.all():
        return "empty"
    return "causal" if value.ndim >= 2 and bool((value == np.tri(*value.shape[-2:], dtype=bool)).all()) else None


def _known_array(value: SSAValue) -> Any:
    """The array that a value is whatever the inputs are; None if it depends on them, or is too large."""
    from cuvil.semantics.arrays import array_of_constant
    from cuvil.semantics.interpreter import Frame, Interpreter

    frame = Frame(Interpreter(ModuleOp([])), {})
    arrays: dict[SSAValue, Any] = {}
    stack = [value]
    while stack:
        current = stack[-1]
        op = current.owner
        missing = [operand for operand in op.operands if operand not in arrays] if isinstance(op, ct.TensorOp) else []
        size = _size(current) if isinstance(current.type, TensorType) else None
        if current in arrays:
            stack.pop()
        elif not isinstance(op, ct.TensorOp) or size is None or size > _MASK_ELEMENTS:
            return None
        elif isinstance(op, ct.ConstantOp):
            import numpy as np

            arrays[current] = np.broadcast_to(array_of_constant(op.value), static_shape(current) or ())
        elif missing:
            stack += missing
        else:
            try:
                arrays.update(zip(op.results, frame.execute(op, [arrays[o] for o in op.operands]), strict=True))
            except CuvilError:
                return None
    return arrays[value]
