"""Kernels around an anchor: a contraction, convolution, pool or attention with the region's other ops as its epilogue.

The anchor's operands are strided views of the kernel's buffers (or packed weights); each finished register goes through
`RegionEpilogue`, which evaluates what the region yields at that place and stores it. Transposes and reshapes behind the
anchor only change where the store goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from cuvil.analysis.fusion import contraction_dims, merged_stride
from cuvil.codegen.access import StridedOperand
from cuvil.codegen.attention import AttentionSpec, emit_attention
from cuvil.codegen.contraction import ContractionSpec, emit_contraction
from cuvil.codegen.convolution import emit_convolution
from cuvil.codegen.convolution_packing import ConvolutionSpec, PackedWeight
from cuvil.codegen.loop_kernel import LoopKernel, active_lanes, attempt, store_lanes
from cuvil.codegen.loops import Index, LoopBuilder, element_type_of, width_of
from cuvil.codegen.packing import PackedOperand
from cuvil.codegen.points import (
    Coordinate,
    FlatGroup,
    Point,
    PointEvaluator,
    linear_position,
    reshape_point,
)
from cuvil.codegen.pooling import PoolSpec, emit_pool
from cuvil.codegen.reductions import narrowed
from cuvil.codegen.scalar_lowering import is_unsigned, storage_type
from cuvil.dialects import tensor as ct
from cuvil.errors import CuvilError
from cuvil.semantics.dims import Dim, product
from cuvil.semantics.views import View, dims_of, view_of


@dataclass
class RegionEpilogue:
    """Finishes and stores an anchor's results; see `access.Epilogue`.

    `row_dims` and `column_dims` say which dims of the anchor's result the rows and columns flatten, in order.
    """

    kernel: LoopKernel
    anchor: SSAValue
    row_dims: tuple[int, ...]
    column_dims: tuple[int, ...]
    aligned: bool = True
    shape: tuple[Dim, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.shape = dims_of(self.anchor)

    def store(self, b: LoopBuilder, row: Index, column: Index, value: SSAValue, mask: SSAValue | None) -> None:
        """Evaluate what the region yields where the anchor is `value`, and store it.

        Lane by lane, where a slice or concat of the region parts the dims that the lanes cross.
        """
        columns = tuple(self.shape[dim] for dim in self.column_dims)
        if product(columns) == 1 and width_of(value.type) > 1:
            value, mask = b.extract(value, 0), None
        width = width_of(value.type)
        if width == 1:
            self._store(b, row, column, value, mask)
        elif attempt(b, lambda: self._store(b, row, column, value, mask)) is not None:
            lanes = b.alloca(element_type_of(value.type), width)
            b.store(value, lanes, 0)
            with b.for_(0, width if mask is None else active_lanes(mask)) as loop:
                self._store(b, row, b.add(column, loop.index), b.load(lanes, loop.index), None)

    def _store(self, b: LoopBuilder, row: Index, column: Index, value: SSAValue, mask: SSAValue | None) -> None:
        width = width_of(value.type)
        evaluator = PointEvaluator(b, width, self.kernel.buffers, mask, self.aligned)
        finished = narrowed(b, value, ct.element_of(self.anchor))
        points = self._points(b, width, row, column, tuple(self.shape[dim] for dim in self.column_dims))
        self._follow(evaluator, finished, points)
        for result, buffer in self.kernel.results:
            computed = b.broadcast(evaluator.evaluate(result, points[result]), width)
            position, step = linear_position(b, dims_of(result), points[result])
            store_lanes(evaluator, computed, buffer, position, step)

    def _follow(self, evaluator: PointEvaluator, finished: SSAValue, points: dict[SSAValue, Point]) -> None:
        """Compute what follows from the anchor, in order, each at its own point.

        Forward, since a store's point cannot always be taken back through a reshape: the lanes may cross its dims.
        """
        evaluator.bound[self.anchor] = lambda _: finished
        for op in self.kernel.operations:
            if not op.results or op.results[0] not in points or op.results[0] is self.anchor:
                continue
            value = op.results[0]
            if isinstance(op, ct.TransposeOp | ct.ReshapeOp):
                evaluator.bound[value] = evaluator.bound[op.input]
            else:
                computed = evaluator.evaluate(value, points[value])
                evaluator.bound[value] = lambda _, computed=computed: computed

    def _points(
        self, b: LoopBuilder, width: int, row: Index, column: Index, columns: tuple[Dim, ...]
    ) -> dict[SSAValue, Point]:
        """The point of every value that follows from the anchor at (row, column)."""
        step = 1 if width > 1 else 0
        rows = FlatGroup(row, tuple(self.shape[dim] for dim in self.row_dims)).coordinates()
        wide = [place for place, extent in enumerate(columns) if extent != 1]
        if len(wide) <= 1:
            inside = [Coordinate(0, 0, 0, 1) for _ in columns]
            if wide:
                inside[wide[0]] = Coordinate(column, step, 0, columns[wide[0]])
        else:
            inside = FlatGroup(column, columns, step).coordinates()
        places = dict(zip((*self.row_dims, *self.column_dims), (*rows, *inside), strict=True))
        points: dict[SSAValue, Point] = {self.anchor: tuple(places[dim] for dim in range(len(self.shape)))}
        for op in self.kernel.operations:
            source = next((operand for operand in op.operands if operand in points), None)
            if source is None or not op.results or op.results[0] in points:
                continue
            if isinstance(op, ct.TransposeOp):
                points[op.result] = tuple(points[source][axis] for axis in ct.numbers(op.input_order))
            elif isinstance(op, ct.ReshapeOp):
                lane_width = width if self.aligned or width == 1 else 1 << 62
                points[op.result] = reshape_point(b, lane_width, points[source], dims_of(source), dims_of(op.result))
            else:
                points[op.results[0]] = points[source]
        return points


def emit_anchored_kernel(b: LoopBuilder, kernel: LoopKernel) -> None:
    """Append the loops of a kernel whose region has one anchor."""
    anchor = next((op for op in kernel.operations if type(op) in _EMITTERS), None)
    if anchor is None:
        raise CuvilError("a kernel of this family is of one contraction, convolution, pool or attention; it has none")
    _EMITTERS[type(anchor)](b, kernel, anchor)


def _operand(kernel: LoopKernel, view: View, shape: Sequence[Dim], strides: Sequence[Dim]) -> StridedOperand:
    return StridedOperand(kernel.buffers[view.root], view.offset, tuple(shape), tuple(strides))


def _number(op: Operation, what: str, dim: Dim) -> int:
    """A dim that shapes the code itself: a number, or an error."""
    if isinstance(dim, int):
        return dim
    raise CuvilError(f"{op.name}: {what} is {dim}, which is not known at compile time; give the dim a number")


def _view(kernel: LoopKernel, value: SSAValue) -> View:
    """An anchor's operand as a view of one of the kernel's buffers."""
    view = view_of(value)
    if view.root not in kernel.buffers:
        raise CuvilError("an anchor's operand must be a strided view of a kernel operand; run fuse on this module")
    return view


# -- contraction -----------------------------------------------------------------------------------------------------


def _emit_contraction(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ContractOp)
    batch, free, summed = contraction_dims(op, 0)
    left = _view(kernel, op.lhs)
    extents = [left.shape[dim] for dim in batch]
    m, k = product(left.shape[dim] for dim in free), product(left.shape[dim] for dim in summed)
    strides = [left.strides[dim] for dim in batch]
    lhs = _operand(kernel, left, [*extents, m, k], [*strides, _one_stride(left, free), _one_stride(left, summed)])
    rhs, n = _right_operand(kernel, op)
    spec = ContractionSpec.of(tuple(extents), m, n, k, storage_type(ct.element_of(op.lhs)), kernel.threads)
    rows = len(batch) + len(free)
    rank = len(dims_of(op.result))
    epilogue = RegionEpilogue(kernel, op.result, tuple(range(rows)), tuple(range(rows, rank)))
    emit_contraction(b, kernel.target, spec, lhs, rhs, epilogue)


def _one_stride(view: View, dims: Sequence[int]) -> Dim:
    stride = merged_stride(view, dims)
    if stride is None:
        raise CuvilError("cuvil_tensor.contract: its dims have no single stride; run fuse on this module")
    return stride


def _right_operand(kernel: LoopKernel, op: ct.ContractOp) -> tuple[StridedOperand | PackedOperand, Dim]:
    batch, free, summed = contraction_dims(op, 1)
    shape = dims_of(op.rhs)
    n = product(shape[dim] for dim in free)
    unpack = op.rhs.owner
    if isinstance(unpack, ct.UnpackOp):
        return PackedOperand(kernel.buffers[unpack.input], 0, ct.numbers(unpack.tiles)[0]), n
    view = _view(kernel, op.rhs)
    extents = [view.shape[dim] for dim in batch]
    strides = [view.strides[dim] for dim in batch]
    k = product(shape[dim] for dim in summed)
    return (
        _operand(kernel, view, [*extents, k, n], [*strides, _one_stride(view, summed), _one_stride(view, free)]),
        n,
    )


# -- convolution and pool --------------------------------------------------------------------------------------------


def _channels_last(kernel: LoopKernel, value: SSAValue, order: Sequence[int]) -> tuple[StridedOperand, tuple[int, ...]]:
    """The operand as [N, spatial..., C] whatever its order, and the places of those dims in the result."""
    view = _view(kernel, value)
    places = (order[0], *order[2:], order[1])
    operand = _operand(kernel, view, [view.shape[place] for place in places], [view.strides[place] for place in places])
    return operand, places


def convolution_spec(op: ct.ConvolutionOp) -> ConvolutionSpec:
    """The emitter's description of a convolution op."""
    order = ct.numbers(op.input_order)
    source, result, weight = dims_of(op.input), dims_of(op.result), dims_of(op.weight)
    return ConvolutionSpec(
        element_type=storage_type(ct.element_of(op.input)),
        in_channels=_number(op, "the number of input channels", source[order[1]]),
        out_channels=_number(op, "the number of output channels", weight[0]),
        input=tuple(source[place] for place in order[2:]),
        kernel=tuple(_number(op, "the kernel's size", extent) for extent in weight[2:]),
        output=tuple(result[place] for place in order[2:]),
        strides=ct.numbers(op.strides),
        padding=tuple(zip(ct.numbers(op.low), ct.numbers(op.high), strict=True)),
        dilation=ct.numbers(op.dilation),
        lhs_dilation=ct.numbers(op.input_dilation),
        groups=op.groups.value.data,
    )


def _emit_convolution(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.ConvolutionOp)
    spec = convolution_spec(op)
    operand, places = _channels_last(kernel, op.input, ct.numbers(op.input_order))
    weight = op.weight
    while isinstance(weight.owner, ct.ReshapeOp | ct.UnpackOp):
        weight = weight.owner.input
    if weight is op.weight or weight not in kernel.buffers:
        raise CuvilError(f"{op.name}: its weight is not packed; run pack-weights on this module")
    epilogue = RegionEpilogue(kernel, op.result, places[:-1], places[-1:], aligned=spec.groups == 1)
    emit_convolution(b, kernel.target, spec, operand, PackedWeight(kernel.buffers[weight]), epilogue, kernel.threads)


def _emit_pool(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.PoolOp)
    kind = op.kind.data
    operand, places = _channels_last(kernel, op.input, ct.numbers(op.input_order))
    source, result = dims_of(op.input), dims_of(op.result)
    spec = PoolSpec(
        kind="sum" if kind == "add" else kind,  # pyright: ignore[reportArgumentType]: a closed set
        element_type=storage_type(ct.element_of(op.input)),
        channels=_number(op, "the number of channels", source[places[-1]]),
        input=tuple(source[place] for place in places[1:-1]),
        kernel=ct.numbers(op.kernel),
        output=tuple(result[place] for place in places[1:-1]),
        strides=ct.numbers(op.strides),
        padding=tuple(zip(ct.numbers(op.low), ct.numbers(op.high), strict=True)),
        dilation=ct.numbers(op.dilation),
        is_unsigned=is_unsigned(ct.element_of(op.input)),
    )
    epilogue = RegionEpilogue(kernel, op.result, places[:-1], places[-1:])
    emit_pool(b, kernel.target, spec, operand, epilogue, kernel.threads)


# -- attention -------------------------------------------------------------------------------------------------------


def _four_dims(kernel: LoopKernel, view: View) -> StridedOperand:
    """[batch..., H, S, D] with the batch dims as one; a 3-d operand has a batch of 1."""
    lead = list(range(len(view.shape) - 3))
    stride = merged_stride(view, lead) if lead else 0
    if stride is None:
        raise CuvilError("cuvil_tensor.attention: its batch dims have no single stride; run fuse on this module")
    batch = product(view.shape[dim] for dim in lead)
    return _operand(kernel, view, [batch, *view.shape[-3:]], [stride, *view.strides[-3:]])


def _emit_attention(b: LoopBuilder, kernel: LoopKernel, op: Operation) -> None:
    assert isinstance(op, ct.AttentionOp)
    query, key, value = (_four_dims(kernel, _view(kernel, operand)) for operand in (op.query, op.key, op.value))
    mask = None if op.mask is None else _four_dims(kernel, _view(kernel, op.mask))
    shape, keys = dims_of(op.query), dims_of(op.key)
    spec = AttentionSpec(
        batch=product(shape[:-3]),
        heads=_number(op, "the number of heads", shape[-3]),
        kv_heads=_number(op, "the number of key heads", keys[-3]),
        queries=shape[-2],
        keys=keys[-2],
        head_dim=_number(op, "the size of a head", shape[-1]),
        value_dim=_number(op, "the size of a value", dims_of(op.value)[-1]),
        element_type=storage_type(ct.element_of(op.query)),
        scale=op.scale.value.data,
        causal=op.causal is not None,
        threads=kernel.threads,
    )
    rank = len(dims_of(op.result))
    epilogue = RegionEpilogue(kernel, op.result, tuple(range(rank - 1)), (rank - 1,))
    emit_attention(b, kernel.target, spec, query, key, value, mask, epilogue)


_EMITTERS: dict[type[Operation], Callable[[LoopBuilder, LoopKernel, Operation], None]] = {
    ct.ContractOp: _emit_contraction,
    ct.ConvolutionOp: _emit_convolution,
    ct.PoolOp: _emit_pool,
    ct.AttentionOp: _emit_attention,
}
