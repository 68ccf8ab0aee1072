"""What upstream's `canonicalize` does to our ops: the same values from fewer ops, and one form where there are several.

A *rule* takes an op and a builder, and gives the value that says the same, made with the builder, or None. Every rule's
docstring is its law, `lhs => rhs`; every law has a lit test below `lit_tests/canonicalization` with a twin that it
declines.

The laws of each op are in `movement.RULES`, `elementwise.RULES` and `products.RULES`; those of kernels, which are
changed rather than replaced, in `kernels.PATTERNS`.

Laws never compute more than they save: movement ops cost nothing until a kernel reads through them, so that these may
be repeated, others not. Floats keep the sign of zero; a NaN stays a NaN, whatever its bits.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern


@cache
def patterns_of(op: type[Operation]) -> tuple[RewritePattern, ...]:
    """The patterns rooted at an op: one, which tries the op's rules in turn; none where it has no rules."""
    from cuvil.canonicalization import elementwise, kernels, movement, products
    from cuvil.canonicalization.rules import RulePattern

    if op in kernels.PATTERNS:
        return kernels.PATTERNS[op]
    tables = (movement.RULES, elementwise.RULES, products.RULES)
    rules = tuple(rule for table in tables for rule in table.get(op, ()))
    return (RulePattern(rules),)
