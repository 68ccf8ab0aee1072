"""Rules as patterns of upstream's rewriter, and what rules share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from cuvil.dialects import tensor as ct
from cuvil.semantics.core_builder import CoreBuilder
from cuvil.semantics.dims import Dim
from cuvil.semantics.splats import LARGEST_SPLAT

Rule = Callable[[Any, CoreBuilder], SSAValue | None]
"""From an op to the value that says the same, made with the builder; None where the law does not apply."""


@dataclass(frozen=True)
class RulePattern(RewritePattern):
    """The first of an op's rules that applies.

    An op without rules has it too: upstream is fastest with one pattern an op.
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


def repeated(element: DenseIntOrFPElementsAttr, result: SSAValue, b: CoreBuilder) -> SSAValue:
    """`element` at every point of the type of `result`: a constant, or a broadcast of one where that is large."""
    dims = shape(result)
    known = [dim for dim in dims if isinstance(dim, int)]
    if len(known) < len(dims) or prod(known) > LARGEST_SPLAT:
        return b.broadcast(b.add(ct.ConstantOp(element)), (), dims)
    return b.add(ct.ConstantOp.splat(element.get_values()[0], result.type))  # pyright: ignore[reportArgumentType]
