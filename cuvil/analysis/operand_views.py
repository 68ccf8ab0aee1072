"""Which strided views of a buffer the emitters of contractions, convolutions, pools and attention read directly."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from cuvil.dialects import tensor as ct
from cuvil.semantics.dims import Dim, ShapeEnvironment, product
from cuvil.semantics.views import View, reshaped_strides


def takes_view(op: Operation, index: int, view: View) -> bool:
    """Whether the emitter of an anchor reads its operand `index` as this view; else it needs a buffer of its own."""
    match op:
        case ct.ContractOp():
            return _contraction_takes(op, index, view)
        case ct.ConvolutionOp() | ct.PoolOp():
            return view.is_identity
        case ct.AttentionOp():
            lead = range(len(view.shape) - 3)
            is_merged = not lead or merged_stride(view, lead) is not None
            return is_merged and (index >= 3 or view.strides[-1] == 1 or view.shape[-1] == 1)
        case _:
            return False


def contraction_dims(op: ct.ContractOp, index: int) -> tuple[list[int], list[int], list[int]]:
    """(batch, free, contracted) dims of operand `index` of a contraction, in the order that the result and sums use."""
    batch = list(ct.numbers(op.lhs_batch if index == 0 else op.rhs_batch))
    summed = list(ct.numbers(op.lhs_contract if index == 0 else op.rhs_contract))
    rank = len(ct.shape_of(op.operands[index].type))
    return batch, [dim for dim in range(rank) if dim not in batch and dim not in summed], summed


def merged_stride(view: View, dims: Sequence[int]) -> Dim | None:
    """The one stride of several dims of a view taken as one, None if there is none."""
    shape = [view.shape[dim] for dim in dims]
    merged = reshaped_strides(shape, [view.strides[dim] for dim in dims], [product(shape)])
    return None if merged is None else merged[0]


def _contraction_takes(op: ct.ContractOp, index: int, view: View) -> bool:
    """Free dims and summed dims each have one stride; of the right operand one of the two is contiguous."""
    _, free, summed = contraction_dims(op, index)
    strides = merged_stride(view, free), merged_stride(view, summed)
    if None in strides or any(_may_be_negative(stride) for stride in view.strides):
        return False
    extents = [product(view.shape[dim] for dim in dims) for dims in (free, summed)]
    return index == 0 or any(stride == 1 or extent == 1 for stride, extent in zip(strides, extents, strict=True))


def _may_be_negative(stride: Dim) -> bool:
    """A reversed dim has a negative stride; what an expression of symbols is, their not being negative says."""
    low, _ = ShapeEnvironment().bounds(stride)
    return low is None or low < 0
