"""Reference meaning of custom ops, and of calls that compiled code makes back to them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block

from cuvil.dialects.tensor import CustomOp
from cuvil.semantics.custom_meaning import expanded, reference_results
from cuvil.semantics.interpreter import Frame, Meaning, Value


def _custom(frame: Frame, op: CustomOp, operands: Sequence[Value]) -> Sequence[Value]:
    results = reference_results(op, operands)
    if results is not None:
        return results
    # Of a copy on operands of its own: the module's values must not get uses that its passes would count.
    arguments = Block(arg_types=op.operand_types).args
    copy = CustomOp.create(
        operands=arguments, result_types=op.result_types, properties=op.properties, location=op.location
    )
    block, values = expanded(copy)
    return frame.run_apart(block, dict(zip(arguments, operands, strict=True)), values)


MEANINGS: dict[str, Meaning] = {"cuvil_tensor.custom": _custom}
