"""Make result types follow operand types, by the ops' shape rules, on known and symbolic dims.

    %1 = cuvil_tensor.unary exp %0 : tensor<2x4xf32> -> tensor<?x4xf32, #cuvil_tensor.dims<"s0", 4>>
    %2 = cuvil_tensor.reduce add %1 axes = [1]       -> tensor<?xf32, #cuvil_tensor.dims<"s0">>
=>
    %1 = cuvil_tensor.unary exp %0                   -> tensor<2x4xf32>
    %2 = cuvil_tensor.reduce add %1 axes = [1]       -> tensor<2xf32>

Whoever narrows the type of a value (a front end, a specialization to known sizes) leaves what depends on it to this
pass. Where every type is right already, nothing changes.

Requires: cuvil_tensor, not verified yet.   Ensures: every result type is the one its op's shape rule gives; function
types follow; bit-identical results.
Declines: ops of other dialects (control flow keeps its declared types); shapes that a rule cannot derive: reshape,
broadcast and slice keep theirs. An op whose operands contradict its rule is an error at the op.
Source: MLIR's InferTypeOpInterface; shape refinement of StableHLO.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from cuvil.dialects import tensor as ct
from cuvil.errors import PassError


@dataclass(frozen=True)
class InferShapesPass(ModulePass):
    """Result types by shape rules."""

    name: ClassVar[str] = "infer-shapes"
    function_local: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if not isinstance(inner, ct.TensorOp):
                continue
            try:
                types = inner.infer_types()
            except VerifyException as error:
                raise PassError(self.name, str(error), inner) from error
            for result, wanted in zip(inner.results, types or (), strict=False):
                if result.type != wanted:
                    result._type = wanted  # pyright: ignore[reportPrivateUsage]
        for function in op.walk():
            if isinstance(function, FuncOp) and not function.is_declaration:
                last = function.body.blocks[-1].last_op
                if isinstance(last, ReturnOp):
                    outputs = [value.type for value in last.operands]
                    function.function_type = FunctionType.from_lists(function.function_type.inputs.data, outputs)
