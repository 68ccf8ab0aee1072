"""One form for each meaning: special cases of a core op become the general op that later passes know best.

    pool over all of its spatial dims, without padding   =>  reduce with keepdims
    pool min x                                           =>  the pool max of the negated x, negated
    concat of one operand                                =>  that operand
    reciprocal x                                         =>  1 / x
    contract whose dims lie in no order that strides say =>  the same on transposed operands
    convolution, pool of any other order of dims         =>  channels-first, between transposes

After it the free dims and the summed dims of every contraction's operand can each be taken as one dim, and the last
dim of its right operand is no batch dim, whatever their order in the op was: that is what the emitters of products
read.

Requires: cuvil_tensor core.   Ensures: bit-identical results (a pool's sum may be added in another order).
Declines: windows that leave a part of the input out, pools with padding.
Source: linalg's generalization of named ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct
from cuvil.instrument import statistics
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.dims import Dim
from cuvil.semantics.window_ops import convolution_like, pool_like


@dataclass(frozen=True)
class GeneralizePass(ModulePass):
    """Special cases => the general op."""

    name: ClassVar[str] = "generalize"
    function_local: ClassVar[bool] = True
    tolerance: ClassVar[float] = 1e-6

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            builder = CoreBuilder(inner.location)
            value = _general_form(inner, builder)
            if value is not None:
                _replace(inner, builder, value)
                statistics.count(self.name, "generalized")


def _replace(op: Operation, builder: CoreBuilder, value: SSAValue) -> None:
    """`value`, with the ops that `builder` made for it, in the place of `op`."""
    block = op.parent
    assert block is not None
    made = list(builder.block.ops)
    for new in made:
        new.detach()
    block.insert_ops_before(made, op)
    value.name_hint = value.name_hint or op.results[0].name_hint
    op.results[0].replace_all_uses_with(value)
    block.erase_op(op)


def _general_form(op: Operation, b: CoreBuilder) -> SSAValue | None:
    """The value that says the same as `op` more generally; None if `op` is general."""
    match op:
        case ct.PoolOp() if _covers_everything(op):
            return b.add(ct.ReduceOp(op.kind.data, op.input, sorted(ct.numbers(op.input_order)[2:]), keepdims=True))
        case ct.PoolOp() if op.kind.data == "min":
            return _turned(b, b.add(pool_like(op, _turned(b, op.input), kind="max")))
        case ct.PoolOp() | ct.ConvolutionOp() if not _is_usual_order(ct.numbers(op.input_order)):
            return _channels_first(op, b)
        case ct.ConcatOp() if len(op.inputs) == 1:
            return op.inputs[0]
        case ct.UnaryOp() if op.kind.data == "reciprocal":
            one = b.full(1.0, ct.element_of(op.input), ct.shape_of(op.input.type))
            return b.binary("div", one, op.input)
        case ct.ContractOp():
            return _ordered_contraction(op, b)
        case _:
            return None


def _covers_everything(op: ct.PoolOp) -> bool:
    """Whether one window takes in all of the input, and nothing else."""
    shape = ct.shape_of(op.input.type)
    spatial = tuple(shape[place] for place in ct.numbers(op.input_order)[2:])
    return ct.numbers(op.kernel) == spatial and not any((*ct.numbers(op.low), *ct.numbers(op.high)))


def _turned(b: CoreBuilder, value: SSAValue) -> SSAValue:
    """A bijection that turns the order of numbers round: -x for floats, and for integers ~x, since -x can overflow."""
    return b.unary("neg" if ct.element_domain(ct.element_of(value)) == "f" else "not", value)


def _is_usual_order(order: Sequence[int]) -> bool:
    """Channels-first, or channels-last."""
    rank = len(order)
    return list(order) in (list(range(rank)), [0, rank - 1, *range(1, rank - 1)])


def _channels_first(op: ct.PoolOp | ct.ConvolutionOp, b: CoreBuilder) -> SSAValue:
    order = ct.numbers(op.input_order)
    source, first = b.add(ct.TransposeOp(op.input, order)), list(range(len(order)))
    is_pool = isinstance(op, ct.PoolOp)
    made = pool_like(op, source, order=first) if is_pool else convolution_like(op, source, order=first)
    return b.add(ct.TransposeOp(b.add(made), [order.index(place) for place in first]))


# -- contractions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Side:
    """One operand of a contraction and what its dims are."""

    value: SSAValue
    batch: tuple[int, ...]
    summed: tuple[int, ...]

    @property
    def shape(self) -> tuple[Dim, ...]:
        return ct.shape_of(self.value.type)

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(dim for dim in range(len(self.shape)) if dim not in self.batch and dim not in self.summed)

    def is_ordered(self, ends_in_batch: bool) -> bool:
        """Whether row-major strides say the free dims as one dim, and the summed dims as one."""
        wide = [dim for dim, extent in enumerate(self.shape) if extent != 1]
        if wide and wide[-1] in self.batch and not ends_in_batch:
            return False
        return _is_run(wide, self.free) and _is_run(wide, self.summed)

    def ordered(self, b: CoreBuilder) -> _Side:
        """The operand transposed to [batch, free, summed]."""
        order = (*self.batch, *self.free, *self.summed)
        batch = range(len(self.batch))
        summed = range(len(order) - len(self.summed), len(order))
        return _Side(b.add(ct.TransposeOp(self.value, order)), tuple(batch), tuple(summed))


def _is_run(wide: Sequence[int], dims: Sequence[int]) -> bool:
    """Whether the dims that are not 1 follow each other without another one between."""
    places = [wide.index(dim) for dim in dims if dim in wide]
    return places == list(range(places[0], places[0] + len(places))) if places else True


def _ordered_contraction(op: ct.ContractOp, b: CoreBuilder) -> SSAValue | None:
    left = _Side(op.lhs, ct.numbers(op.lhs_batch), ct.numbers(op.lhs_contract))
    right = _Side(op.rhs, ct.numbers(op.rhs_batch), ct.numbers(op.rhs_contract))
    if left.is_ordered(True) and right.is_ordered(False):
        return None
    left = left if left.is_ordered(True) else left.ordered(b)
    right = right if right.is_ordered(False) else right.ordered(b)
    return b.add(
        ct.ContractOp(
            left.value,
            right.value,
            lhs_batch=left.batch,
            rhs_batch=right.batch,
            lhs_contract=left.summed,
            rhs_contract=right.summed,
        )
    )
