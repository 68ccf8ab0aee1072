"""Expand `math` functions that are no machine instruction into arithmetic.

    %y = math.exp %x : vector<8xf32>
=>
    %n = vector.fma %x, %log2e, %magic : vector<8xf32>
    ...  arith, vector.fma, and math.{absf, sqrt, floor, trunc, roundeven, copysign}

Requires: loop-level IR; `math` operations on scalars and rank-1 vectors of f16, bf16, f32 or f64.
Ensures: only `math` operations are left that every target has as instructions; errors within docs/vector-math.md.
Declines: nothing; another operand type is an error. Fast-math flags are ignored: the expansions are fast already.
Source: each family's file under cuvil/codegen/vector_math*.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.math import IPowIOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from cuvil.codegen.loops import LoopBuilder, element_type_of
from cuvil.codegen.vector_math import EXPANSIONS, expand, is_supported
from cuvil.errors import UnsupportedError

_Builders: TypeAlias = dict[Block, LoopBuilder]


def check_types(op: Operation) -> None:
    """Raise `UnsupportedError` if `op` cannot be expanded on its result's type."""
    result = op.results[0].type
    is_flat = not isinstance(result, VectorType) or len(result.get_shape()) == 1
    if not is_flat or not is_supported(type(op), element_type_of(result)):
        expected = "i8, i16, i32, i64" if isinstance(op, IPowIOp) else "f16, bf16, f32, f64"
        raise UnsupportedError(
            f"{op.name}: cannot expand on {result}: expected one of {expected} or a rank-1 vector of it", op
        )


def replace(op: Operation, builders: _Builders) -> None:
    """Put the expansion of `op` in its place."""
    block = op.parent
    assert block is not None
    # One builder for a block: its constants, once inserted, dominate all that follows.
    builder = builders.setdefault(block, LoopBuilder(Block()))
    result = expand(builder, type(op), op.operands)
    made = list(builder.block.ops)
    for new in made:
        new.detach()
    block.insert_ops_before(made, op)
    op.results[0].replace_all_uses_with(result)
    block.erase_op(op)


@dataclass(frozen=True)
class LowerMathPass(ModulePass):
    """Expand `math` functions into arithmetic."""

    name = "lower-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [inner for inner in op.walk() if type(inner) in EXPANSIONS]
        builders: _Builders = {}
        for inner in found:
            check_types(inner)
            replace(inner, builders)
