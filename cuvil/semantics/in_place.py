"""Whether a kernel may write a result over one of its operands.

A loop nest that reads an operand at a point and writes the result at that same point may use one buffer for both. It
may not where it reads the operand elsewhere too (a reduction, a movement, a broadcast), nor where several results
follow from the operand, since the emitter may compute them one after the other.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from cuvil.dialects.fused import KernelOp, YieldOp
from cuvil.dialects.tensor import CastOp, ElementwiseOp


def can_write_over(kernel: KernelOp, operand: int, result: int) -> bool:
    """Whether result number `result` of `kernel`, on values, may be written into the buffer of operand `operand`."""
    if kernel.family.data != "loop" or kernel.access is None:
        return False
    if kernel.access.patterns.data[operand].data != "streaming":
        return False
    source = kernel.inputs[operand]
    if source.type != kernel.outputs[result].type:
        return False
    if sum(value is source for value in kernel.inputs) > 1:
        return False
    return _results_from(kernel, operand) == {result}


def _results_from(kernel: KernelOp, operand: int) -> set[int] | None:
    """The numbers of the results that follow from an operand by element-wise operations; None if others read it."""
    reached: set[int] = set()
    seen: set[Operation] = set()
    pending: list[SSAValue] = [kernel.body.block.args[operand]]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, YieldOp):
                reached.add(use.index)
            elif not isinstance(op, ElementwiseOp | CastOp):
                return None
            elif op not in seen:
                seen.add(op)
                pending += op.results
    return reached
