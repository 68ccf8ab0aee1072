"""Expressions of functions that are read: evaluated on Python values, emitted on tensors."""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn

from cuvil.errors import CuvilError, InternalError, UnsupportedError
from cuvil.frontends.source import numbers
from cuvil.frontends.source.calls import Calls, UserRaise
from cuvil.frontends.source.control import Clash, branch, is_dynamic, truth, truth_of
from cuvil.frontends.source.numbers import Number
from cuvil.frontends.source.outside import AttributeAssignedError
from cuvil.frontends.source.scopes import PLAIN, ReadFunction, Scope
from cuvil.frontends.source.syntax import SourceError, Syntax
from cuvil.frontends.source.trace import OutsideWrittenError

_BINARY: dict[type[ast.operator], tuple[Callable[..., Any], Callable[..., Any]]] = {
    ast.Add: (operator.add, operator.iadd),
    ast.Sub: (operator.sub, operator.isub),
    ast.Mult: (operator.mul, operator.imul),
    ast.Div: (operator.truediv, operator.itruediv),
    ast.FloorDiv: (operator.floordiv, operator.ifloordiv),
    ast.Mod: (operator.mod, operator.imod),
    ast.Pow: (operator.pow, operator.ipow),
    ast.MatMult: (operator.matmul, operator.imatmul),
    ast.BitAnd: (operator.and_, operator.iand),
    ast.BitOr: (operator.or_, operator.ior),
    ast.BitXor: (operator.xor, operator.ixor),
    ast.LShift: (operator.lshift, operator.ilshift),
    ast.RShift: (operator.rshift, operator.irshift),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


class Expressions(Calls):
    """Evaluates expressions in a scope."""

    def expression(self, node: ast.expr, scope: Scope) -> Any:
        """The value of an expression; whatever goes wrong is an error at its place."""
        evaluate = getattr(self, f"_{type(node).__name__.lower()}", None)
        if evaluate is None:
            raise SourceError(f"this {type(node).__name__} expression cannot be compiled", scope.source.place(node))
        here = self.tracer.builder.location
        self.tracer.at(scope.source.attribute(node))
        try:
            return evaluate(node, scope)
        except (SourceError, UserRaise, InternalError, RecursionError, OutsideWrittenError, AttributeAssignedError):
            raise
        except CuvilError as error:
            raise SourceError(error.message, scope.source.place(node)) from None
        except Exception as error:  # torch refuses what eager refuses, in its own words
            raise self.met(error, SourceError(explained(error), scope.source.place(node))) from None
        finally:
            self.tracer.at(here)

    # -- names and literals ------------------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant, scope: Scope) -> Any:
        return node.value

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        return self.seen(scope.get(node.id), node.id)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        holder = self.expression(node.value, scope)
        value = self.attributes.get((id(holder), node.attr), NotImplemented) if self.attributes else NotImplemented
        if value is NotImplemented:
            value = getattr(holder, node.attr)
            if isinstance(value, Tensor) and not isinstance(holder, Tensor):
                self.outside.found(value, holder, node.attr)
        if isinstance(value, Clash):
            raise UnsupportedError(value.reason)
        if type(value) in PLAIN and not isinstance(holder, Tensor | Number) and not self.is_own(holder):
            name = node.attr
            scope.guards.add(holder, name, f"{ast.unparse(node)}", lambda: getattr(holder, name), value)
        return self.seen(value, node.attr)

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope) -> str:
        return "".join(str(self.expression(part, scope)) for part in node.values)

    def _formattedvalue(self, node: ast.FormattedValue, scope: Scope) -> str:
        value = self.expression(node.value, scope)
        if is_dynamic(value):
            raise UnsupportedError("text of a tensor's value cannot be made in compiled code")
        form = self.expression(node.format_spec, scope) if node.format_spec is not None else ""
        return format({114: repr, 115: str, 97: ascii}.get(node.conversion, lambda same: same)(value), form)

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Any:
        return tuple(self._elements(node.elts, scope))

    def _list(self, node: ast.List, scope: Scope) -> Any:
        return self._elements(node.elts, scope)

    def _set(self, node: ast.Set, scope: Scope) -> Any:
        return self.made(set(self._elements(node.elts, scope)))

    def _dict(self, node: ast.Dict, scope: Scope) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                made.update(self.expression(value, scope))
            else:
                made[self.expression(key, scope)] = self.expression(value, scope)
        return made

    def _elements(self, nodes: list[ast.expr], scope: Scope) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.items(self.expression(node.value, scope)))
            else:
                found.append(self.expression(node, scope))
        return found

    # -- operators ---------------------------------------------------------------------------------------------------

    def _binop(self, node: ast.BinOp, scope: Scope) -> Any:
        lhs, rhs = self.expression(node.left, scope), self.expression(node.right, scope)
        return self.operate(_BINARY[type(node.op)][0], lhs, rhs)

    def augmented(self, op: ast.operator, old: Any, new: Any) -> Any:
        """`old op= new`: in place on tensors and lists, as in Python."""
        plain, in_place = _BINARY[type(op)]
        if isinstance(old, Number) or isinstance(new, Number):
            return self.operate(in_place if isinstance(old, Tensor) else plain, old, new)
        if isinstance(old, list | dict | set):
            self.check_own(old)
        return in_place(old, new)

    def operate(self, function: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
        """A binary operator or comparison."""
        if isinstance(lhs, Number) or isinstance(rhs, Number):
            return numbers.binary(function, lhs, rhs)
        return function(lhs, rhs)

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Any:
        value = self.expression(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return numbers.logical_not(truth(value)) if is_dynamic(value) else not value
        function = _UNARY[type(node.op)]
        return numbers.unary(function, value) if isinstance(value, Number) else function(value)

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Any:
        return self._chain(node.values, isinstance(node.op, ast.And), scope)

    def _chain(self, nodes: list[ast.expr], is_and: bool, scope: Scope) -> Any:
        """`and` and `or`: the right side is evaluated only where it is asked for, in compiled code too."""
        value = self.expression(nodes[0], scope)
        if len(nodes) == 1:
            return value
        if not is_dynamic(value):
            return self._chain(nodes[1:], is_and, scope) if bool(value) is is_and else value
        rest: Callable[[], Any] = lambda: self._chain(nodes[1:], is_and, scope)  # noqa: E731
        return self.chosen(value, rest if is_and else lambda: value, (lambda: value) if is_and else rest)

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Any:
        condition = self.expression(node.test, scope)
        if not is_dynamic(condition):
            return self.expression(node.body if condition else node.orelse, scope)
        return self.chosen(
            condition, lambda: self.expression(node.body, scope), lambda: self.expression(node.orelse, scope)
        )

    def chosen(self, condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """The value of one of two expressions; both of tensors of one type, or of numbers."""
        result = branch(self.tracer, self.frames, condition, then, otherwise)
        if isinstance(result, Clash):
            raise UnsupportedError(result.reason)
        return result

    def _compare(self, node: ast.Compare, scope: Scope) -> Any:
        result: Any = True
        left = self.expression(node.left, scope)
        for number, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.expression(right_node, scope)
            compared = self.operate(_COMPARE[type(op)], left, right)
            if number == 0:
                result = compared
            elif is_dynamic(result):
                result = self.chosen(result, lambda value=compared: truth_of(value), lambda: False)
            else:
                result = compared
            if not is_dynamic(result) and not result:
                return result
            left = right
        return result

    def _namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Any:
        value = self.expression(node.value, scope)
        scope.set(node.target.id, value)
        return value

    # -- indexing ----------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        holder, index = self.expression(node.value, scope), self.expression(node.slice, scope)
        if isinstance(holder, Tensor):
            holder, index = _picked(holder, index)
        value = holder[index]
        if isinstance(value, Clash):
            raise UnsupportedError(value.reason)
        if type(holder) in (list, dict) and type(value) in PLAIN and not self.is_own(holder):
            scope.guards.add(holder, repr(index), ast.unparse(node), lambda: holder[index], value)
        return self.seen(value, ast.unparse(node)) if isinstance(value, Tensor | nn.Module) else value

    def _slice(self, node: ast.Slice, scope: Scope) -> slice:
        bounds = (
            None if part is None else self.expression(part, scope) for part in (node.lower, node.upper, node.step)
        )
        return slice(*bounds)

    # -- functions ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        function = self.expression(node.func, scope)
        args = tuple(self._elements(node.args, scope))
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.expression(keyword.value, scope)
            kwargs.update(value if keyword.arg is None else {keyword.arg: value})
        if function is super and not args:
            return self.superclass(scope)
        return self.call(function, args, kwargs, scope.source.place(node))

    def _lambda(self, node: ast.Lambda, scope: Scope) -> ReadFunction:
        return self.defined(node, scope)

    def defined(self, node: ast.Lambda | ast.FunctionDef, scope: Scope) -> ReadFunction:
        """A function that a function defines."""
        defaults = tuple(self.expression(each, scope) for each in node.args.defaults)
        keyword_defaults = {
            parameter.arg: self.expression(default, scope)
            for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if default is not None
        }
        return ReadFunction(Syntax(node, scope.source), scope, defaults, keyword_defaults, self.call_read)

    # -- comprehensions ----------------------------------------------------------------------------------------------

    def _listcomp(self, node: ast.ListComp, scope: Scope) -> list[Any]:
        found: list[Any] = []
        self._comprehend(node.generators, scope, lambda inner: found.append(self.expression(node.elt, inner)))
        return found

    def _generatorexp(self, node: ast.GeneratorExp, scope: Scope) -> list[Any]:
        found: list[Any] = []
        self._comprehend(node.generators, scope, lambda inner: found.append(self.expression(node.elt, inner)))
        return found

    def _setcomp(self, node: ast.SetComp, scope: Scope) -> set[Any]:
        found: set[Any] = self.made(set())
        self._comprehend(node.generators, scope, lambda inner: found.add(self.expression(node.elt, inner)))
        return found

    def _dictcomp(self, node: ast.DictComp, scope: Scope) -> dict[Any, Any]:
        found: dict[Any, Any] = {}

        def put(inner: Scope) -> None:
            found[self.expression(node.key, inner)] = self.expression(node.value, inner)

        self._comprehend(node.generators, scope, put)
        return found

    def _comprehend(self, generators: list[ast.comprehension], scope: Scope, put: Callable[[Scope], None]) -> None:
        if not generators:
            put(scope)
            return
        first, *rest = generators
        inner = Scope(scope.source, {}, scope.guards, scope.globals, parent=scope)
        for item in self.items(self.expression(first.iter, scope)):
            self.assign(first.target, item, inner)
            tests = [self.expression(test, inner) for test in first.ifs]
            if any(is_dynamic(test) for test in tests):
                raise UnsupportedError("a comprehension cannot select by tensor values; use torch.where")
            if all(tests):
                self._comprehend(rest, inner, put)

    @abstractmethod
    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind what stands left of `=`; the statements' part."""


def position(index: Any, size: int) -> Tensor | None:
    """An index that the running program knows, counted from the start, as a tensor of one element; None of others."""
    index = index.tensor if isinstance(index, Number) else index
    if not isinstance(index, Tensor) or index.dim() or index.dtype in (torch.bool, torch.uint8):
        return None
    index = index.to(torch.int64)
    return torch.where(index < 0, index + size, index).reshape(1)


def _picked(holder: Tensor, index: Any) -> tuple[Tensor, Any]:
    """A tensor cut down to the indices that the running program knows, and the index that is left to take of it."""
    parts: list[Any] = list(cast("tuple[Any, ...]", index)) if isinstance(index, tuple) else [index]
    for axis, part in enumerate(parts):
        if not isinstance(part, int | slice | Number | Tensor) or axis >= holder.dim():
            break
        place = position(part, holder.shape[axis])
        if place is not None:
            holder, parts[axis] = torch.index_select(holder, axis, place), 0
    return holder, tuple(parts) if isinstance(index, tuple) else parts[0]


def explained(error: Exception) -> str:
    """What Python would say of an error; tensors without elements are tensors to the user."""
    text = " ".join(str(error).split())[:400].replace("FakeTensor", "Tensor")
    name = type(error).__name__
    if name in ("DynamicOutputShapeException", "DataDependentOutputException"):
        return f"the result of {text} depends on the values of tensors; use torch.where or a mask of fixed size instead"
    return f"{name}: {text}"
