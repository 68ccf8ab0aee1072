"""`match`: which case fits a value. What Python values decide is decided now, what tensors decide is a condition.

A match becomes the statements of its case, or, where tensors decide, an `if` on the case's condition with the other
cases in its else.
"""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor

from cuvil.errors import UnsupportedError
from cuvil.frontends.source import numbers
from cuvil.frontends.source.control import is_dynamic, truth
from cuvil.frontends.source.expressions import Expressions
from cuvil.frontends.source.numbers import Number
from cuvil.frontends.source.scopes import Scope

_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Types of which a pattern's one positional part is the value itself."""


class Patterns(Expressions):
    """Reads match statements."""

    def statements_of(self, node: ast.Match, scope: Scope) -> list[ast.stmt]:
        """The statements to run in place of a match."""
        subject = self.expression(node.subject, scope)
        for number, case in enumerate(node.cases):
            bound: dict[str, Any] = {}
            fits = self.fits(case.pattern, subject, scope, bound)
            if fits is False:
                continue
            for name, value in bound.items():
                scope.set(name, value)
            if fits is True and case.guard is None:
                return case.body
            return [self.chosen_case(node, number, subject, fits, scope)]
        return []

    def chosen_case(self, node: ast.Match, number: int, subject: Any, fits: Any, scope: Scope) -> ast.stmt:
        """An if for a case that depends on tensors or on a guard, with the cases that follow in its else."""
        case = node.cases[number]
        held = f"the subject of line {node.lineno}"
        scope.names[held] = subject
        tests: list[ast.expr] = []
        if fits is not True:
            name = f"whether case {number} of line {node.lineno} fits"
            scope.names[name] = fits
            tests.append(ast.copy_location(ast.Name(name, ast.Load()), node.subject))
        if case.guard is not None:
            tests.append(case.guard)
        test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), tests[-1])
        again = ast.copy_location(ast.Name(held, ast.Load()), node.subject)
        rest = ast.copy_location(ast.Match(again, node.cases[number + 1 :]), node)
        return ast.copy_location(ast.If(test, case.body, [rest] if node.cases[number + 1 :] else []), node)

    # -- patterns ----------------------------------------------------------------------------------------------------

    def fits(self, pattern: ast.pattern, value: Any, scope: Scope, bound: dict[str, Any]) -> Any:
        """Whether a value is as a pattern says: True, False, or a number that tensors decide; names go into `bound`."""
        match pattern:
            case ast.MatchValue(value=node):
                return self.equals(value, self.expression(node, scope))
            case ast.MatchSingleton(value=constant):
                return value is constant
            case ast.MatchAs(pattern=inner, name=name):
                result = True if inner is None else self.fits(inner, value, scope, bound)
                if name is not None and result is not False:
                    bound[name] = value
                return result
            case ast.MatchOr(patterns=patterns):
                return self.one_fits(patterns, value, scope, bound)
            case ast.MatchSequence(patterns=patterns):
                return self.sequence_fits(patterns, value, scope, bound)
            case ast.MatchMapping():
                return self.mapping_fits(pattern, value, scope, bound)
            case ast.MatchClass():
                return self.class_fits(pattern, value, scope, bound)
            case _:
                raise UnsupportedError(f"a pattern of this form cannot be compiled: {ast.unparse(pattern)}")

    def equals(self, value: Any, wanted: Any) -> Any:
        """`value == wanted`, decided now or by tensors."""
        result = self.operate(operator.eq, value, wanted)
        return truth(result) if is_dynamic(result) else bool(result)

    def one_fits(self, patterns: Sequence[ast.pattern], value: Any, scope: Scope, bound: dict[str, Any]) -> Any:
        """Whether any of several patterns fits: `a | b`."""
        result: Any = False
        for pattern in patterns:
            fits = self.fits(pattern, value, scope, bound)
            if fits is True:
                return True
            if fits is not False:
                result = fits if result is False else numbers.binary(operator.or_, result, fits)
        return result

    def sequence_fits(self, patterns: Sequence[ast.pattern], value: Any, scope: Scope, bound: dict[str, Any]) -> Any:
        """Whether a sequence has items that fit, in order; `*rest` takes up those between."""
        if isinstance(value, str | bytes | Tensor | Number) or not isinstance(value, Sequence):
            return False
        items = list(cast("Sequence[Any]", value))
        star = next((place for place, each in enumerate(patterns) if isinstance(each, ast.MatchStar)), None)
        if star is None:
            return len(items) == len(patterns) and self.all_fit(list(zip(patterns, items, strict=True)), scope, bound)
        after = len(patterns) - star - 1
        if len(items) < star + after:
            return False
        end = len(items) - after
        starred = cast(ast.MatchStar, patterns[star])
        if starred.name is not None:
            bound[starred.name] = items[star:end]
        pairs = zip([*patterns[:star], *patterns[star + 1 :]], [*items[:star], *items[end:]], strict=True)
        return self.all_fit(list(pairs), scope, bound)

    def mapping_fits(self, pattern: ast.MatchMapping, value: Any, scope: Scope, bound: dict[str, Any]) -> Any:
        """Whether a mapping has the keys, with values that fit; `**rest` takes up the others."""
        if not isinstance(value, Mapping):
            return False
        held = dict(cast("Mapping[Any, Any]", value))
        keys = [self.expression(key, scope) for key in pattern.keys]
        if any(key not in held for key in keys):
            return False
        result = self.all_fit(
            [(each, held.pop(key)) for each, key in zip(pattern.patterns, keys, strict=True)], scope, bound
        )
        if pattern.rest is not None:
            bound[pattern.rest] = held
        return result

    def class_fits(self, pattern: ast.MatchClass, value: Any, scope: Scope, bound: dict[str, Any]) -> Any:
        """Whether a value is of the class, with attributes that fit."""
        kind = self.expression(pattern.cls, scope)
        if not (issubclass(value.kind, kind) if isinstance(value, Number) else isinstance(value, kind)):
            return False
        names = [*pattern.kwd_attrs]
        pairs: list[tuple[ast.pattern, Any]] = []
        if pattern.patterns and kind in _SELF_MATCHING:
            pairs.append((pattern.patterns[0], value))
        else:
            names = [*getattr(kind, "__match_args__", ())[: len(pattern.patterns)], *names]
        if any(not hasattr(value, name) for name in names):
            return False
        given = [*(pattern.patterns if not pairs else []), *pattern.kwd_patterns]
        return self.all_fit(
            [*pairs, *((each, getattr(value, name)) for each, name in zip(given, names, strict=True))], scope, bound
        )

    def all_fit(self, pairs: Sequence[tuple[ast.pattern, Any]], scope: Scope, bound: dict[str, Any]) -> Any:
        """Whether each value fits its pattern."""
        result: Any = True
        for pattern, value in pairs:
            fits = self.fits(pattern, value, scope, bound)
            if fits is False:
                return False
            if fits is not True:
                result = fits if result is True else numbers.binary(operator.and_, result, fits)
        return result

    @abstractmethod
    def block(self, statements: list[ast.stmt], scope: Scope) -> Any:
        """Run statements in order; the statements' part."""
