"""Lay weights out for the micro-kernels: pack them outside of the kernel, unpack them (in name only) inside.

    %1 = cuvil_fused.kernel @k(%a = %x, %w1 = %w) ... { %c = cuvil_tensor.contract %a, %w1 ... }
=>
    %p = cuvil_tensor.pack %w axes = [0] tiles = [32] input_order = [0, 1] : tensor<768x64xf32> -> tensor<24x64x32xf32>
    %1 = cuvil_fused.kernel @k(%a = %x, %p1 = %p) ... {
      %w1 = cuvil_tensor.unpack %p1 axes = [0] tiles = [32] input_order = [0, 1] : ... -> tensor<768x64xf32>
      %c = cuvil_tensor.contract %a, %w1 ...
    }

The kernel's emitter reads the packed operand directly; the `unpack` says what it holds, so that the region keeps its
meaning. `hoist-parameters` then evaluates the pack of a weight once, at compile time.

Requires: kernels of `fuse`.   Ensures: bit-identical results; every convolution's weight is packed; so is the right
operand of a contraction that is a weight. A convolution weight that is computed at run time is packed by a kernel of
its own.
Declines: contractions whose right operand is not a weight (their emitter packs as it goes) or has more than one free
and one summed dim.   Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication (2008), section
4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from cuvil.analysis.fusion import Movement, contraction_dims
from cuvil.codegen.anchored_kernels import convolution_spec
from cuvil.codegen.convolution_packing import layout_of
from cuvil.codegen.packing import choose_panel
from cuvil.codegen.scalar_lowering import storage_type
from cuvil.dialects import tensor as ct
from cuvil.dialects.fused import AccessAttr, KernelOp, YieldOp
from cuvil.errors import UserError
from cuvil.instrument import statistics
from cuvil.semantics.views import static_shape, view_of
from cuvil.targets.cpu import CpuTarget

Packing = Callable[[SSAValue], tuple[list[Operation], SSAValue]]
"""From a weight to the ops that pack it and their result."""


@dataclass(frozen=True)
class PackWeightsPass(ModulePass):
    """Pack the weights of contractions and convolutions for `target`."""

    name: ClassVar[str] = "pack-weights"

    target: str = "host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            target = CpuTarget.named(self.target)
        except ValueError as error:
            raise UserError(f"pack-weights: {error}") from error
        for kernel in [inner for inner in op.walk() if isinstance(inner, KernelOp)]:
            if kernel.is_destination_style:
                message = "the kernel is on buffers already; run pack-weights before bufferize"
                raise UserError(f"{self.name}: {message}", kernel)
            for inner in list(kernel.body.block.ops):
                if isinstance(inner, ct.ContractOp):
                    _pack_right_operand(kernel, inner, target)
                elif isinstance(inner, ct.ConvolutionOp):
                    _pack_convolution(kernel, inner, target)
                else:
                    continue
                _drop_unused_inputs(kernel)


def _is_weight(value: SSAValue) -> bool:
    return isinstance(value.owner, ct.ParameterOp)


def _pack_right_operand(kernel: KernelOp, op: ct.ContractOp, target: CpuTarget) -> None:
    batch, free, summed = contraction_dims(op, 1)
    view = view_of(op.rhs)
    if isinstance(op.rhs.owner, ct.UnpackOp) or batch or len(free) != 1 or len(summed) != 1:
        return
    if not isinstance(view.root, BlockArgument) or not _is_weight(kernel.inputs[view.root.index]):
        return
    shape = static_shape(op.rhs)
    assert shape is not None
    panel = choose_panel(target, storage_type(ct.element_of(op.rhs)), shape[free[0]])
    order = [free[0], summed[0]]

    def pack(weight: SSAValue) -> tuple[list[Operation], SSAValue]:
        made = ct.PackOp(weight, [free[0]], [panel], order)
        return [made], made.result

    unpack = _swap(kernel, view.root, op.rhs, pack)
    made = ct.UnpackOp(unpack, [free[0]], [panel], order, shape)
    _use(op, 1, [made], made.result)


def _pack_convolution(kernel: KernelOp, op: ct.ConvolutionOp, target: CpuTarget) -> None:
    weight = op.weight
    if isinstance(weight.owner, ct.UnpackOp | ct.ReshapeOp):
        return
    if not isinstance(weight, BlockArgument):
        raise UserError(f"{op.name}: its weight is not an operand of the kernel; run fuse on this module", op)
    shape = static_shape(weight)
    if shape is None:
        raise UserError(f"{op.name}: a weight of symbolic shape cannot be packed: {weight.type}", op)
    spec = convolution_spec(op)
    layout = layout_of(spec, target)
    spatial = list(range(2, len(shape)))
    groups = spec.groups
    grouped = shape
    if layout.by_lanes:
        axes, tiles, order = [0], [-(-shape[0] // layout.lanes) * layout.lanes], [0, 1, *spatial]
    elif groups == 1:
        axes, tiles, order = [0], [layout.panel], [0, *spatial, 1]
    else:
        grouped = (groups, shape[0] // groups, *shape[1:])
        axes, tiles, order = [1], [layout.panel], [0, 1, *(dim + 1 for dim in spatial), 2]

    def pack(value: SSAValue) -> tuple[list[Operation], SSAValue]:
        made: list[Operation] = []
        if grouped != shape:
            made.append(ct.ReshapeOp(value, grouped))
            value = made[-1].results[0]
        made.append(ct.PackOp(value, axes, tiles, order))
        return made, made[-1].results[0]

    packed = _swap(kernel, weight, weight, pack)
    made: list[Operation] = [ct.UnpackOp(packed, axes, tiles, order, grouped)]
    if grouped != shape:
        made.append(ct.ReshapeOp(made[0].results[0], shape))
    _use(op, 1, made, made[-1].results[0])


def _use(op: Operation, index: int, made: Sequence[Operation], value: SSAValue) -> None:
    """Let `op` read `value`, which `made` computes, in place of its operand; drop what is then unused."""
    block = op.parent
    assert block is not None
    block.insert_ops_before(list(made), op)
    old = op.operands[index]
    op.operands[index] = value
    while isinstance(old.owner, Operation) and isinstance(old.owner, Movement) and old.first_use is None:
        source = old.owner.operands[0]
        block.erase_op(old.owner)
        old = source


def _swap(kernel: KernelOp, argument: BlockArgument, view: SSAValue, pack: Packing) -> SSAValue:
    """A new argument of the kernel that holds `view` (a movement chain from `argument`) packed."""
    block = kernel.parent
    assert block is not None
    chain = _chain(argument, view)
    weight = kernel.inputs[argument.index]
    values: dict[SSAValue, SSAValue] = {argument: weight}
    made: list[Operation] = [op.clone(values) for op in chain]
    packing, packed = pack(values[view])
    made += packing
    for op in made:
        op.location = kernel.location
    if not _is_weight(weight):
        made, packed = _as_kernel(kernel, weight, made, packed)
    block.insert_ops_before(made, kernel)
    statistics.count("pack-weights", "packed")
    return _add_input(kernel, argument, packed)


def _chain(argument: BlockArgument, view: SSAValue) -> list[Operation]:
    """The movement ops from `argument` to `view`, in order."""
    chain: list[Operation] = []
    while view is not argument:
        assert isinstance(view.owner, Operation)
        chain.append(view.owner)
        view = view.owner.operands[0]
    return chain[::-1]


def _as_kernel(
    kernel: KernelOp, weight: SSAValue, made: Sequence[Operation], packed: SSAValue
) -> tuple[list[Operation], SSAValue]:
    """A run-time weight is packed by a kernel: the pack taken apart into movement that a loop computes."""
    body = Block(arg_types=[weight.type])
    values: dict[SSAValue, SSAValue] = {weight: body.args[0]}
    for op in made:
        if isinstance(op, ct.PackOp):
            steps, result = _pack_steps(op, values[op.input])
            body.add_ops(steps)
            values[op.result] = result
        else:
            body.add_op(op.clone(values))
    body.add_op(YieldOp(values[packed]))
    name = f"{kernel.kernel_name.data}_pack"
    packer = KernelOp(
        name, [weight], Region([body]), family="loop", results=[packed.type], access=AccessAttr.of(["movement"])
    )
    packer.location = kernel.location
    return [packer], packer.outputs[0]


def _pack_steps(op: ct.PackOp, value: SSAValue) -> tuple[list[Operation], SSAValue]:
    """A pack of `value` as pad, reshape and transpose, which a loop computes."""
    axes, tiles, order = ct.numbers(op.axes), ct.numbers(op.tiles), ct.numbers(op.input_order)
    shape = static_shape(op.input)
    assert shape is not None
    tile_of = dict(zip(axes, tiles, strict=True))
    high = [-extent % tile_of.get(axis, 1) for axis, extent in enumerate(shape)]
    zero = ct.ConstantOp.splat(0, ct.tensor_of(ct.element_of(op.input), ()))
    padded = ct.PadOp(value, zero, [0] * len(shape), high)
    split: list[int] = []
    place: dict[int, int] = {}
    for axis, extent in enumerate(shape):
        place[axis] = len(split)
        tile = tile_of.get(axis)
        split += [extent + high[axis]] if tile is None else [(extent + high[axis]) // tile, tile]
    reshaped = ct.ReshapeOp(padded, split)
    moved = ct.TransposeOp(reshaped, [*(place[axis] for axis in order), *(place[axis] + 1 for axis in axes)])
    return [zero, padded, reshaped, moved], moved.result


def _add_input(kernel: KernelOp, like: BlockArgument, packed: SSAValue) -> SSAValue:
    """A new argument of the kernel that stands for `packed`, read as `like` is."""
    new = kernel.body.block.insert_arg(packed.type, len(kernel.inputs))
    new.name_hint = like.name_hint
    patterns = [pattern.data for pattern in kernel.access.patterns] if kernel.access else None
    _set_inputs(kernel, [*kernel.inputs, packed], None if patterns is None else [*patterns, patterns[like.index]])
    return new


def _drop_unused_inputs(kernel: KernelOp) -> None:
    """Operands that the region does not read any more go."""
    body = kernel.body.block
    used = [argument.first_use is not None for argument in body.args]
    patterns = [pattern.data for pattern in kernel.access.patterns] if kernel.access else None
    kept = [value for value, is_used in zip(kernel.inputs, used, strict=True) if is_used]
    if patterns is not None:
        patterns = [pattern for pattern, is_used in zip(patterns, used, strict=True) if is_used]
    for argument in [argument for argument, is_used in zip(body.args, used, strict=True) if not is_used]:
        body.erase_arg(argument)
    _set_inputs(kernel, kept, patterns)


def _set_inputs(kernel: KernelOp, inputs: Sequence[SSAValue], patterns: Sequence[str] | None) -> None:
    into = list(kernel.into)
    kernel.operands = [*inputs, *into]
    kernel.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(inputs), len(into)])
    if patterns is not None:
        kernel.properties["access"] = AccessAttr.of(patterns)
