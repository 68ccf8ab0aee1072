"""Passes that misbehave, or report, on request: what the tests of cuvil-opt need and no real pass does."""

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FunctionType, ModuleOp, i32
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.utils.exceptions import PassFailedException

from cuvil.errors import CuvilError
from cuvil.instrument import remarks, statistics, warnings


def adds(op: ModuleOp) -> list[arith.AddfOp]:
    """The additions in a module."""
    return [inner for inner in op.walk() if isinstance(inner, arith.AddfOp)]


class ReportPass(ModulePass):
    """Report every addition: remarks, counters and a warning."""

    name = "test-report"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in adds(op):
            remarks.emit("missed", pass_name=self.name, op=add, message="left an addition", args={"width": 32})
            statistics.count(self.name, "additions")
        for function in op.body.block.ops:
            remarks.emit("passed", pass_name=self.name, op=function, message="looked at a function")
            remarks.emit("analysis", pass_name="test-other", op=function, message="found a function")
        if len(op.body.block.ops) > 1:
            warnings.warn("more than one function", op=op.body.block.last_op)


class FailPass(ModulePass):
    """Fail at the first addition, with a Cuvil error that has the operation's place."""

    name = "test-fail"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in adds(op):
            raise CuvilError("arith.addf: additions are not welcome", add)


class FailInPattern(RewritePattern):
    """Raises at the first addition."""

    def match_and_rewrite(self, op: object, rewriter: PatternRewriter, /) -> None:
        if isinstance(op, arith.AddfOp):
            raise PassFailedException("no additions here")


class FailInPatternPass(ModulePass):
    """Fail in a rewrite pattern, with an exception that says nothing about the place."""

    name = "test-fail-in-pattern"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(FailInPattern()).rewrite_module(op)


class CrashPass(ModulePass):
    """Break, as a pass with a bug does."""

    name = "test-crash"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if adds(op):
            raise KeyError("lost")


class InvalidPass(ModulePass):
    """Leave invalid IR: every function claims to return an i32."""

    name = "test-invalid"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.walk():
            if isinstance(function, func.FuncOp):
                function.properties["function_type"] = FunctionType.from_lists(
                    function.function_type.inputs.data, [i32]
                )


class AddFunctionPass(ModulePass):
    """Declare another function in the module."""

    name = "test-add-function"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.body.block.add_op(func.FuncOp.external("declared", [], []))


@dataclass(frozen=True)
class OptionsPass(ModulePass):
    """Take options of every type."""

    name = "test-options"

    size: int
    ratio: float = 0.5
    verbose: bool = False
    label: str = "none given"
    tiles: tuple[int, ...] = (8, 4)
    mode: Literal["fast", "exact"] = "fast"
    limit: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


class MiscompilePass(ModulePass):
    """Turn every addition into a subtraction."""

    name = "test-miscompile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in adds(op):
            subtract = arith.SubfOp(add.lhs, add.rhs)
            block = add.parent
            assert block is not None
            block.insert_op_before(subtract, add)
            add.result.replace_all_uses_with(subtract.result)
            block.erase_op(add)
