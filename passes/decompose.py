"""Take composites apart into core ops, by their declared decompositions.

    %1 = cuvil_tensor.silu %0 : tensor<4xf32> -> tensor<4xf32>
=>
    %s = cuvil_tensor.unary sigmoid %0 : tensor<4xf32>
    %1 = cuvil_tensor.binary mul %0, %s : tensor<4xf32>

    %1 = cuvil_tensor.custom @"mylib::add_relu"(%0, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
=>
    %s = cuvil_tensor.binary add %0, %b : tensor<4xf32>          (what its registration computes it with)
    %1 = cuvil_tensor.unary relu %s : tensor<4xf32>

Requires: cuvil_tensor.   Ensures: no composites but those named in `keep`; bit-identical results in the reference, of
custom ops those of their own reference to rounding.
Declines: composites in `keep`, which a later pass matches whole; custom ops that are computed by a call-back.
Source: cuvil/semantics/decompositions.py, the same that the reference interpreter runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from cuvil.dialects.tensor import COMPOSITES, CompositeOp, CustomOp
from cuvil.semantics.decompositions import decompose

_PREFIX = "cuvil_tensor."
COMPOSITE_NAMES = tuple(composite.name.removeprefix(_PREFIX) for composite in COMPOSITES)


def take_apart(op: CompositeOp | CustomOp) -> list[Operation]:
    """Put the decomposition of `op` in its place; the ops that it is."""
    parent = op.parent
    assert parent is not None
    if isinstance(op, CustomOp):
        from cuvil.semantics.custom_meaning import expanded

        block, results = expanded(op)
    else:
        block, result = decompose(op)
        results = [result]
    made = list(block.ops)
    for new in made:
        new.detach()
    parent.insert_ops_before(made, op)
    for old, result in zip(op.results, results, strict=True):
        if result.owner in made:
            result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    parent.erase_op(op)
    return made


@dataclass(frozen=True)
class DecomposePass(ModulePass):
    """Composites => core ops, but those named in `keep` (`keep=attention,softmax`)."""

    name = "decompose"
    function_local: ClassVar[bool] = True

    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for kept in self.keep:
            if kept not in COMPOSITE_NAMES:
                raise ValueError(f"keep: there is no composite '{kept}'; it is one of {', '.join(COMPOSITE_NAMES)}")

    def goes(self, op: Operation) -> bool:
        """Whether `op` is a composite that is not kept, or a custom op that is not opaque."""
        if isinstance(op, CustomOp):
            return not op.registered.is_opaque
        return isinstance(op, CompositeOp) and op.name.removeprefix(_PREFIX) not in self.keep

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Take apart every composite of the module, and what custom ones are made of."""
        waiting = [inner for inner in op.walk() if self.goes(inner)]
        while waiting:
            composite = waiting.pop()
            assert isinstance(composite, CompositeOp | CustomOp)
            waiting += [inner for made in take_apart(composite) for inner in made.walk() if self.goes(inner)]
