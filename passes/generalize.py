"""One form for each meaning: special cases of a core op become the general op that later passes know best.

    pool over all of its spatial dims         =>  reduce with keepdims
    concat of one operand                     =>  that operand
    reciprocal x                              =>  1 / x
    scatter assign over a whole axis          stays: it has no other form

Requires: cuvil_tensor core.   Ensures: bit-identical results (a pool's sum may be added in another order).
Declines: windows that leave a part of the input out, pools with padding.
Source: linalg's generalization of named ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from cuvil.dialects import tensor as ct


@dataclass(frozen=True)
class GeneralizePass(ModulePass):
    """Special cases => the general op."""

    name: ClassVar[str] = "generalize"
    function_local: ClassVar[bool] = True
    tolerance: ClassVar[float] = 1e-6

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in list(op.walk()):
            general = _general_form(inner)
            if general is None:
                continue
            made, value = general
            block = inner.parent
            assert block is not None
            for new in made:
                new.location = inner.location
            block.insert_ops_before(made, inner)
            value.name_hint = value.name_hint or inner.results[0].name_hint
            inner.results[0].replace_all_uses_with(value)
            block.erase_op(inner)


def _general_form(op: Operation) -> tuple[list[Operation], SSAValue] | None:
    """The ops that say the same as `op` more generally, and the value they give; None if there are none."""
    match op:
        case ct.PoolOp() if _covers_everything(op):
            made = ct.ReduceOp(op.kind.data, op.input, sorted(ct.numbers(op.input_order)[2:]), keepdims=True)
            return [made], made.result
        case ct.ConcatOp() if len(op.inputs) == 1:
            return [], op.inputs[0]
        case ct.UnaryOp() if op.kind.data == "reciprocal" and all(isinstance(d, int) for d in ct.shape_of(op.input.type)):
            one = ct.ConstantOp.splat(1.0, op.input.type)
            made = ct.BinaryOp("div", one, op.input)
            return [one, made], made.result
        case _:
            return None


def _covers_everything(op: ct.PoolOp) -> bool:
    """Whether one window takes in all of the input, and nothing else."""
    shape = ct.shape_of(op.input.type)
    spatial = tuple(shape[place] for place in ct.numbers(op.input_order)[2:])
    return ct.numbers(op.kernel) == spatial and not any((*ct.numbers(op.low), *ct.numbers(op.high)))
