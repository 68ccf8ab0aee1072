"""Laws of kernels: operands that the region does not read go."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from cuvil.dialects.fused import AccessAttr, KernelOp


class DropUnusedOperands(RewritePattern):
    """kernel(%a = %x, %b = %y) { reads %a alone } => kernel(%a = %x) { ... }"""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, KernelOp):
            return
        arguments = op.body.block.args
        if all(argument.first_use is not None for argument in arguments):
            return
        kept = [argument.index for argument in arguments if argument.first_use is not None]
        patterns = [pattern.data for pattern in op.access.patterns] if op.access is not None else None
        inputs = [op.inputs[index] for index in kept]
        for argument in [argument for argument in arguments if argument.first_use is None]:
            op.body.block.erase_arg(argument)
        made = KernelOp(
            op.kernel_name.data,
            inputs,
            rewriter.move_region_contents_to_new_regions(op.body),
            family=op.family.data,
            results=op.result_types,
            into=list(op.into),
            access=None if patterns is None else AccessAttr.of([patterns[index] for index in kept]),
            schedule=op.schedule,
        )
        made.location = op.location
        rewriter.replace(op, made)


PATTERNS: dict[type[Operation], tuple[RewritePattern, ...]] = {KernelOp: (DropUnusedOperands(),)}
"""Patterns that change an op in place of a value for its one result."""
