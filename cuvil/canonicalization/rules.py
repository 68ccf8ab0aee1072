"""Rules as patterns of upstream's rewriter, and what rules share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from cuvil.dialects import tensor as ct
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.dims import Dim

Rule = Callable[[Any, CoreBuilder], SSAValue | None]
"""From an op to the value that says the same, made with the builder; None where the law does not apply."""


@dataclass(frozen=True)
class RulePattern(RewritePattern):
    """The first of an op's rules that applies. An op without rules has it too: upstream is fastest with one pattern an
    op.
    """

    rules: Sequence[Rule]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        for rule in self.rules:
            builder = CoreBuilder(op.location)
            value = rule(op, builder)
            if value is None or value.type != op.results[0].type:
                continue
            made = list(builder.block.ops)
            for new in made:
                new.detach()
            rewriter.replace(op, made, [value])
            return


def shape(value: SSAValue) -> tuple[Dim, ...]:
    """The dims of a tensor value."""
    return ct.shape_of(value.type)


def splat_number(value: SSAValue) -> int | float | bool | None:
    """The one number that a constant repeats; None for anything else."""
    owner = value.owner
    if not isinstance(owner, ct.ConstantOp) or not owner.value.is_splat() or 0 in shape(value):
        return None
    return owner.value.get_values()[0]  # pyright: ignore[reportReturnType]


def repeated_number(value: SSAValue) -> int | float | bool | None:
    """The one number at every point of a value: a splat constant, or one broadcast along (symbolic) dims."""
    while isinstance(value.owner, ct.BroadcastOp):
        value = value.owner.input
    return splat_number(value)


def resplat(value: SSAValue, result: SSAValue, b: CoreBuilder) -> SSAValue | None:
    """A splat constant of the type of `result` that repeats the element of `value`; None if there is none, or no known
    shape.
    """
    number = splat_number(value)
    if number is None or not all(isinstance(dim, int) for dim in shape(result)):
        return None
    return b.add(ct.ConstantOp.splat(number, result.type))
