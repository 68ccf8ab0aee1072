"""Upstream's passes with the options that MLIR users know.

They are not plugins, since a plugin may not define a name that xDSL has; `cuvil.universe.find_pass` prefers them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern, CanonicalizePass
from xdsl.transforms.dead_code_elimination import region_dce


@dataclass(eq=False)
class _BoundedWalker(PatternRewriteWalker):
    """A walker that goes over the region a bounded number of times."""

    max_iterations: int = 1

    def rewrite_region(self, region: Region) -> bool:
        listener = self._get_rewriter_listener()
        result = False
        for _ in range(self.max_iterations):
            self._populate_worklist(region)
            modified = self._process_worklist(listener)
            modified |= region_dce(region, listener)
            result |= modified
            if not modified:
                break
        return result


@dataclass(frozen=True)
class Canonicalize(CanonicalizePass):
    """Apply every operation's canonicalization patterns and folders, and remove dead code.

    canonicalize                    to the fixpoint, as upstream does
    canonicalize{max-iterations=5}  over the module at most five times; -1 is no bound
    """

    max_iterations: int = -1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_iterations < 0:
            super().apply(ctx, op)
            return
        pattern = GreedyRewritePatternApplier([CanonicalizationRewritePattern()], ctx=ctx, folding_enabled=True)
        _BoundedWalker(pattern, max_iterations=self.max_iterations).rewrite_module(op)
